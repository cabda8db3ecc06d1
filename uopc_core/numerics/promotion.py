"""Which dtype an operation computes in: the rules of NumPy and those of PyTorch, as two settings of one table.

Both know four categories, bool, integer, floating and complex; both take a Python scalar for weak: it lifts an operand
into its category and never widens it there. They differ in two facts, as the libraries do whose users they serve:
what a scalar lifts to (64 bits in `Array`, 32 in `Tensor`), and what an integer array does beside a floating one: in
NumPy both become a dtype that holds both (int32 with float32 is float64), in PyTorch the integers become floating.
Source: https://numpy.org/neps/nep-0050-scalar-promotion.html, https://pytorch.org/docs/stable/tensor_attributes.html
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from uopc_core.dtype import DTYPES, DType, as_dtype, dtypes
from uopc_core.ir import Scalar
from uopc_core.records import record

__all__ = ["Promotion", "kind_of_scalar"]

_CATEGORIES = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


@record
class Promotion:
    """Rules of promotion, as tables by dtype.

    Attributes:
        integer, floating, complex: what a scalar lifts an operand of a lower category to; complex of float32 and of
            float64 is the complex dtype of that width.
        integers_give_way: whether an integer array takes the dtype of a floating one.
        together: the common dtype of two arrays; where no integer dtype holds both, none for rules by which integers
            stay integers.
        beside: the kind of a scalar -> the dtype of an array -> that of their operation.
        inexact: the dtype in which a function of real or complex numbers computes.
    """

    integer: DType
    floating: DType
    complex: DType
    integers_give_way: bool
    together: dict[tuple[DType, DType], DType] = field(init=False)
    beside: dict[str, dict[DType, DType]] = field(init=False)
    inexact: dict[DType, DType] = field(init=False)

    def __post_init__(self) -> None:
        pairs = {(x, y): self._common(x, y) for x in DTYPES for y in DTYPES}
        integers = {x: self.integer if x.kind == "b" else x for x in DTYPES}
        inexact = {x: x if x.kind in "fc" else self.floating for x in DTYPES}
        complexes = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
        beside = {
            "b": {x: x for x in DTYPES},
            "i": integers,
            "u": integers,
            "f": inexact,
            "c": {x: x if x.kind == "c" else complexes.get(x, self.complex) for x in DTYPES},
        }
        object.__setattr__(self, "together", {pair: found for pair, found in pairs.items() if found is not None})
        object.__setattr__(self, "beside", beside)
        object.__setattr__(self, "inexact", inexact)

    def _common(self, x: DType, y: DType) -> DType | None:
        common = as_dtype(np.promote_types(x, y))
        if not self.integers_give_way:
            return common
        low, high = sorted((x, y), key=lambda dtype: _CATEGORIES[dtype.kind])
        if _CATEGORIES[low.kind] < min(2, _CATEGORIES[high.kind]):
            return high
        return common if _CATEGORIES[common.kind] == _CATEGORIES[high.kind] else None


def kind_of_scalar(x: Scalar) -> str:
    """The kind of a Python scalar, as dtypes name theirs: b, i, f or c."""
    return "b" if isinstance(x, bool) else "i" if isinstance(x, int) else "f" if isinstance(x, float) else "c"
