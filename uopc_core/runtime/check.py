"""Compare compiled kernels with the interpreter, one by one, on the values they meet (`UOPC_VERIFY=1`): bit for bit,
since both compute every operation by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.dtype import is_complex, is_float, real_dtype
from uopc_core.errors import VerifyError
from uopc_core.ir.text import to_uir
from uopc_core.runtime.interpreted import evaluate_kernel
from uopc_core.schedule.kernel import Kernel

__all__ = ["check_kernel", "check_same"]

Array = np.ndarray[Any, Any]


def check_kernel(kernel: Kernel, values: Sequence[Any], results: Sequence[Array], source: str) -> None:
    """Assert that `results`, from compiled code, are what the interpreter gives for `values`.

    Raises:
        VerifyError: they differ; the message holds the kernel and its C.
    """
    for i, (got, want) in enumerate(zip(results, evaluate_kernel(kernel, values), strict=True)):
        check_same(got, want, f"output {i} of\n{to_uir(kernel.outputs)}\n{source}")


def check_same(got: Array, want: Array, what: str) -> None:
    """Assert equality bit for bit, any nan being equal to any other.

    Raises:
        VerifyError: they differ.
    """
    same = _is_same(got, want)
    if not same.all():
        where = tuple(int(i) for i in np.argwhere(~same)[0])
        raise VerifyError(
            f"compiled code and interpreter differ at {where} ({int((~same).sum())} of {same.size} elements): "
            f"compiled {got[where]!r}, interpreted {want[where]!r}, in {what}"
        )


def _is_same(got: Array, want: Array) -> Array:
    if is_complex(got.dtype):
        parts = [x.reshape((*x.shape, 1)).view(real_dtype(got.dtype)) for x in (got, want)]
        return np.asarray(_is_same(*parts).all(-1))
    if not is_float(got.dtype):
        return np.asarray(got == want)
    bits = np.dtype(f"u{got.dtype.itemsize}")
    return np.asarray((got.view(bits) == want.view(bits)) | (np.isnan(got) & np.isnan(want)))
