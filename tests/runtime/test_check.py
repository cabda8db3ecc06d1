"""What the comparison of compiled kernels with the interpreter lets pass, and what it refuses."""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from uopc_core.dtype import dtypes
from uopc_core.errors import VerifyError
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.runtime.check import check_kernel, check_same
from uopc_core.runtime.interpreted import evaluate_kernel
from uopc_core.schedule.kernel import Kernel

Z = UOp.param(0, (4,), dtypes.complex128)
W = UOp.param(1, (4,), dtypes.complex128)
VALUES = [np.asarray([3.1 + 0.7j, 1j, -2.3 + 1.9j, 0.3 - 0.9j]), np.asarray([0.7 + 3.1j, 2.0, 1.9 + 2.3j, -0.9 - 0.3j])]
OTHER_NAN: float = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]

COMPUTED: dict[str, UOp] = {
    "product": Z * W,
    "real part": (Z / W).unary(Ops.REAL),
    "function": Z.unary(Ops.EXP),
    "sum": (Z * W).reduce(Ops.ADD, 1),
    "running sum": (Z * W).scan(Ops.ADD),
    "product of all": (Z * W).reduce(Ops.MUL, 1),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_unit_in_the_last_place_is_refused(name: str) -> None:
    kernel = Kernel((COMPUTED[name],), 2)
    (right,) = evaluate_kernel(kernel, VALUES)
    check_kernel(kernel, VALUES, [right.copy()], "")
    wrong = right.copy()
    first = wrong.reshape(-1).view(np.float64)
    first[-1] = np.nextafter(first[-1], np.inf)
    with pytest.raises(VerifyError, match="compiled code and interpreter differ at"):
        check_kernel(kernel, VALUES, [wrong], "the source")


ALIKE: list[tuple[Any, Any]] = [
    (np.nan, OTHER_NAN),
    (np.nan, -np.nan),
    (complex(np.nan, -0.0), complex(-np.nan, -0.0)),
    (np.float32(np.nan), np.float32(-np.nan)),
    (np.inf, np.inf),
    (3, 3),
    (True, True),
]
UNLIKE: list[tuple[Any, Any]] = [
    (0.0, -0.0),
    (complex(0.0, 1.0), complex(-0.0, 1.0)),
    (complex(np.nan, 0.0), complex(np.nan, -0.0)),
    (complex(np.nan, 1.0), complex(1.0, np.nan)),
    (np.nan, np.inf),
    (np.float32(1), np.nextafter(np.float32(1), np.float32(2))),
    (3, 4),
    (True, False),
]


@pytest.mark.parametrize("make", [np.asarray, lambda x: np.full((2, 3), x)], ids=["one", "many"])
@pytest.mark.parametrize(("got", "want"), ALIKE)
def test_the_same_bits_pass_and_so_does_any_nan(got: Any, want: Any, make: Callable[[Any], Any]) -> None:
    check_same(make(got), make(want), "it")


@pytest.mark.parametrize("make", [np.asarray, lambda x: np.full((2, 3), x)], ids=["one", "many"])
@pytest.mark.parametrize(("got", "want"), UNLIKE)
def test_other_bits_are_refused(got: Any, want: Any, make: Callable[[Any], Any]) -> None:
    with pytest.raises(VerifyError, match=r"differ at .* in it"):
        check_same(make(got), make(want), "it")
