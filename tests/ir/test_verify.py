"""The verifier accepts what `UOp.new` makes and finds what could not have been made by it."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.graph_samples import SAMPLES
from uopc_core.dtype import dtypes
from uopc_core.errors import VerifyError
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import TRACKED, UOp
from uopc_core.ir.verify import verify
from uopc_core.runtime.buffer import Buffer

X = UOp.param(0, (2, 3), dtypes.float32)


def _forged(like: UOp, **changes: object) -> UOp:
    """A node past the interning, with some fields changed."""
    node = UOp.__new__(UOp)
    for field in ("op", "src", "arg", "dtype", "shape", "flags", "depth", "held", "realized"):
        setattr(node, field, changes.get(field, getattr(like, field)))
    return node


def _cycle() -> UOp:
    first = _forged(-X)
    second = _forged(first, src=(first,))
    first.src = (second,)
    return first


def test_every_sample_is_well_formed():
    verify(SAMPLES.values())


def test_a_graph_over_memory_is_well_formed():
    buffer = Buffer.from_numpy(np.ones(3))
    buffer.requires_grad = True
    x = UOp.buffer(buffer)
    verify([(x * x).reduce(Ops.ADD, 1), x.detach() + 1.0, (x < 1.0).where(x, 0.0)])


WRONG: dict[str, tuple[Callable[[], UOp], str]] = {
    "shape": (lambda: _forged(-X, shape=(3, 2)), r"expected float32\[2, 3\] by the type rule, got float32\[3, 2\]"),
    "dtype": (lambda: _forged(-X, dtype=dtypes.int8), r"expected float32\[2, 3\] by the type rule, got int8"),
    "type rule": (lambda: _forged(X + X, src=(X, X.cast("int8"))), "ADD: expected two operands of one numeric dtype"),
    "float for an axis": (
        lambda: _forged(X.permute((1, 0)), arg=(1.0, 0.0)),
        r"expected for axes a tuple of axes, got",
    ),
    "flag for a count": (lambda: _forged(X.reduce(Ops.ADD, 1), arg=(Ops.ADD, True)), "expected for n a number of axes"),
    "second node": (lambda: _forged(-X), "expected one node per op, sources and argument, got a second one"),
    "depth": (lambda: _changed(-UOp.param(90, (2,), dtypes.float32), depth=0), "expected a depth of 1 or more, got 0"),
    "depth of a leaf": (lambda: _changed(UOp.param(93, (2,), dtypes.float32), depth=1), "expected a depth of 0, got 1"),
    "traced": (lambda: _changed(-UOp.param(91, (2,), dtypes.float32), flags=0), "TRACED exactly where a source is"),
    "tracked integer": (
        lambda: _changed(UOp.new(Ops.IOTA, (), 91, dtypes.int64), flags=TRACKED),
        "TRACKED on floating nodes only",
    ),
    "cycle": (_cycle, "no cycles"),
    "memory": (
        lambda: _changed(-UOp.param(92, (2,), dtypes.float64), depth=0, realized=Buffer.from_numpy(np.ones(3))),
        r"memory of the node's own type, got float64\[3\]",
    ),
}


def _changed(node: UOp, **changes: object) -> UOp:
    for field, value in changes.items():
        setattr(node, field, value)
    return node


@pytest.mark.parametrize(("make", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_fault_is_found_and_the_node_named(make: Callable[[], UOp], message: str):
    with pytest.raises(VerifyError, match=f"(?s){message}.*in UOp"):
        verify([make()])
