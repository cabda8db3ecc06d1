"""The checker finds rules that are slightly wrong."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.derivative_checks import check, function_of
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.transform import linearizations, partials, transposes

X = np.linspace(0.2, 1.7, 6).reshape(2, 3)


def _wrong_partial(monkeypatch: pytest.MonkeyPatch) -> Callable[[UOp], UOp]:
    monkeypatch.setitem(partials.PARTIALS, Ops.SIN, lambda out, x: (x.unary(Ops.COS) * 1.001,))
    return lambda x: x.unary(Ops.SIN)


def _wrong_transpose(monkeypatch: pytest.MonkeyPatch) -> Callable[[UOp], UOp]:
    monkeypatch.setitem(transposes.TRANSPOSES, Ops.FLIP, lambda node, ct: (ct.flip(node.arg) * 0.999,))
    return lambda x: x.flip((0,))


def _wrong_linearization(monkeypatch: pytest.MonkeyPatch) -> Callable[[UOp], UOp]:
    right = linearizations.LINEARIZATIONS[Ops.ABS]
    monkeypatch.setitem(linearizations.LINEARIZATIONS, Ops.ABS, lambda node, dx: right(node, dx) * 1.001)
    return lambda x: x.unary(Ops.ABS)


def _wrong_second_derivative(monkeypatch: pytest.MonkeyPatch) -> Callable[[UOp], UOp]:
    monkeypatch.setitem(partials.PARTIALS, Ops.COS, lambda out, x: (x.unary(Ops.SIN) * -1.001,))
    return lambda x: x.unary(Ops.SIN)


WRONG = {
    "partial": _wrong_partial,
    "transpose": _wrong_transpose,
    "linearization": _wrong_linearization,
    "second derivative": _wrong_second_derivative,
}


@pytest.mark.parametrize("plant", WRONG.values(), ids=WRONG.keys())
def test_a_rule_that_is_off_by_a_thousandth_is_found(
    plant: Callable[[pytest.MonkeyPatch], Callable[[UOp], UOp]], monkeypatch: pytest.MonkeyPatch
) -> None:
    f = function_of(plant(monkeypatch), [X])
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(f, [X])


def test_right_rules_pass() -> None:
    check(function_of(lambda x: x.unary(Ops.SIN).flip((0,)).unary(Ops.ABS), [X]), [X], order=3)
