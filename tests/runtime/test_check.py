"""What the comparison of compiled kernels with the interpreter lets pass, and what it refuses."""

from collections.abc import Callable

import numpy as np
import pytest

from uopc_core.dtype import dtypes
from uopc_core.errors import VerifyError
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.check import check_kernel
from uopc_core.runtime.interpreted import evaluate_kernel
from uopc_core.schedule.kernel import Kernel

Z = UOp.param(0, (4,), dtypes.complex128)
W = UOp.param(1, (4,), dtypes.complex128)
# products whose real parts, and whose sum's real part, are what two equal products leave of each other
VALUES = [np.asarray([3.1 + 0.7j, 1j, -2.3 + 1.9j, 0.3 - 0.9j]), np.asarray([0.7 + 3.1j, 2.0, 1.9 + 2.3j, -0.9 - 0.3j])]
EPS = float(np.finfo(np.float64).eps)

PARTS: dict[str, Callable[[UOp], UOp]] = {
    "real": lambda x: x.unary(Ops.REAL),
    "imag": lambda x: (x * 1j).unary(Ops.IMAG),
    "whole": lambda x: x,
}
COMPUTED: dict[str, UOp] = {
    "product": Z * W,
    "quotient": Z / W.recip(),
    "reciprocal": (Z * W).recip().recip(),
    "sum": (Z * W).reduce(Ops.ADD, 1),
    "running sum": (Z * W).scan(Ops.ADD),
    "product of all": (Z * W).reduce(Ops.MUL, 1),
}


def _check(root: UOp, change: Callable[[np.ndarray], np.ndarray]) -> None:
    kernel = Kernel((root,), 2)
    (right,) = evaluate_kernel(kernel, VALUES)
    check_kernel(kernel, VALUES, [np.asarray(change(np.asarray(right)))], "")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", COMPUTED)
def test_a_part_of_a_complex_number_may_be_off_by_the_error_of_the_whole(name: str, part: str) -> None:
    _check(PARTS[part](COMPUTED[name]), lambda right: right + EPS)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", COMPUTED)
def test_a_part_of_a_complex_number_off_by_far_more_is_refused(name: str, part: str) -> None:
    with pytest.raises(VerifyError, match="compiled code and interpreter differ at"):
        _check(PARTS[part](COMPUTED[name]), lambda right: right + 1e-9 * (1 + np.abs(right)))


def test_sums_of_complex_numbers_are_exact() -> None:
    with pytest.raises(VerifyError, match="compiled code and interpreter differ at"):
        _check(Z + W, lambda right: right * (1 + EPS))


def test_an_extreme_zero_has_either_sign() -> None:
    x = UOp.param(0, (2,), dtypes.float64)
    zeros = [np.asarray([0.0, -0.0])]
    for how in (Ops.MAX, Ops.MIN):
        kernel = Kernel((x.reduce(how, 1),), 1)
        check_kernel(kernel, zeros, [np.asarray(0.0)], "")
        check_kernel(kernel, zeros, [np.asarray(-0.0)], "")
        with pytest.raises(VerifyError, match="compiled code and interpreter differ at"):
            check_kernel(kernel, zeros, [np.asarray(5e-324)], "")
    with pytest.raises(VerifyError, match="compiled code and interpreter differ at"):
        check_kernel(Kernel((-x,), 1), zeros, [np.asarray([0.0, 0.0])], "")


@pytest.mark.parametrize("n_ulps", [1, 1e9])
@pytest.mark.parametrize("share", [False, True])
def test_numbers_that_might_be_equal_may_be_found_equal(n_ulps: float, share: bool) -> None:
    """As where an extreme in memory is compared with what it is the extreme of, and split by how many attain it."""
    z, w = VALUES
    equal = (Z * W).eq(UOp.param(2, (4,), dtypes.complex128)).cast(dtypes.float64).reduce(Ops.ADD, 1)
    kernel = Kernel((equal / equal if share else equal,), 3)
    values = [z, w, z * w * (1 + n_ulps * EPS) + 1e-12 * n_ulps * EPS]
    (wanted,) = evaluate_kernel(kernel, values)
    assert np.isnan(wanted) if share else wanted == 0
    if n_ulps == 1:
        check_kernel(kernel, values, [np.asarray(1.0 if share else 4.0)], "")
    else:
        with pytest.raises(VerifyError, match="compiled code and interpreter differ at"):
            check_kernel(kernel, values, [np.asarray(1.0 if share else 4.0)], "")
