"""Which dtype and shape an operation computes in: promotion by NEP 50, with weak Python scalars, and broadcasting.

Invariant: `promote` returns nodes of one dtype and one shape, as the elementwise ops of the graph demand.
Source: https://numpy.org/neps/nep-0050-scalar-promotion.html; the rules are in `uopc_core.numerics.promotion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.handle import Handle
from uopc_array._array.nodes import (
    Operand,
    as_node,
    cast_handle,
    cast_node,
    const_node,
    default_dtype,
    is_scalar,
    to_operand,
)
from uopc_core import DType, Scalar, UOp, as_dtype, composite, dtypes, name_of
from uopc_core.errors import DTypeError, DTypeValueError, ShapeError, shortened
from uopc_core.numerics.axes import common_shape
from uopc_core.numerics.promotion import Promotion, kind_of_scalar

__all__ = [
    "CASTINGS",
    "check_cast",
    "check_casting",
    "floating_dtype",
    "promote",
    "promote_comparison",
    "promote_dtypes",
    "promote_floating",
    "promote_to",
    "result_dtype",
]

NUMPY = Promotion(dtypes.int64, dtypes.float64, dtypes.complex128, integers_give_way=False)
_PROMOTED, _FLOAT_OF, _NEXT_TO_WEAK = NUMPY.together, NUMPY.inexact, NUMPY.beside
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_RANK = "biufc"


def promote_dtypes(x: DType, y: DType) -> DType:
    """The dtype that holds both, as NumPy has it: int64 with uint64 and int32 with float32 give float64."""
    return _PROMOTED[x, y]


def floating_dtype(dtype: DType) -> DType:
    """The dtype in which a function of real or complex numbers computes: float64 for bool and integers."""
    return _FLOAT_OF[dtype]


def result_dtype(*operands: Any, name: str = "result_type") -> DType:
    """The dtype of an operation on `operands`: arrays, dtypes, nodes, and Python scalars, which are weak.

    Python scalars only decide the kind: ``float32`` with ``2.5`` is float32, ``int8`` with ``2.5`` is float64.
    """
    strong: DType | None = None
    weak = ""
    for x in operands:
        if is_scalar(x):
            weak = _higher(weak, kind_of_scalar(x))
        elif isinstance(x, Handle) and x._weak:
            weak = _higher(weak, x._uop.dtype.kind)
        else:
            try:
                dtype = _dtype_of(name, x)
            except Exception as error:
                raise shortened(error) from None
            strong = dtype if strong is None else _PROMOTED[strong, dtype]
    if strong is None:
        if not weak:
            raise DTypeValueError(f"{name}: expected one operand or more, got none")
        return _dtype_of_weak_alone(weak, operands)
    return _NEXT_TO_WEAK[weak][strong] if weak else strong


def _dtype_of(name: str, x: Any) -> DType:
    if isinstance(x, Handle):
        return x._uop.dtype
    if isinstance(x, UOp | np.ndarray | np.generic):
        return as_dtype(cast("UOp", x).dtype, name)
    if isinstance(x, np.dtype | type | str):
        return as_dtype(x, name)
    return as_node(x, name=name).dtype


def _higher(x: str, y: str) -> str:
    return y if not x or _RANK.index(y) > _RANK.index(x) else x


def _dtype_of_weak_alone(kind: str, operands: tuple[Any, ...]) -> DType:
    if kind in "iu":
        ints = [default_dtype(x) for x in operands if is_scalar(x)]
        return dtypes.uint64 if dtypes.uint64 in ints else dtypes.int64
    return {"b": dtypes.bool, "f": dtypes.float64, "c": dtypes.complex128}[kind]


def check_casting(name: str, casting: object) -> None:
    """
    Raises:
        ValueError: `casting` is none of NumPy's rules.
    """
    if casting not in CASTINGS:
        raise ValueError(f"{name}: expected casting {', '.join(CASTINGS)}, got {casting!r}")


def check_cast(name: str, given: DType, dtype: DType, casting: Any) -> None:
    """
    Raises:
        DTypeError: the rule `casting` does not let values of `given` become `dtype`.
    """
    if not np.can_cast(given, dtype, casting):
        raise DTypeError(
            f'{name}: {name_of(given)} cannot be converted to {name_of(dtype)} under the rule casting="{casting}"; '
            f'convert the values first, or choose casting="unsafe"'
        )


def _alike(name: str, operands: Sequence[Any]) -> tuple[UOp, UOp] | None:
    """Two arrays of one dtype, or one of floats and a Python number, in their common shape, the short way of `promote`;
    None of all else.
    """
    if len(operands) != 2:
        return None
    x, y = operands
    if type(y) is int or type(y) is float:
        number = _beside(name, y, x)
        return None if number is None else (x._uop, number)
    if type(x) is int or type(x) is float:
        number = _beside(name, x, y)
        return None if number is None else (number, y._uop)
    if not (isinstance(x, Handle) and isinstance(y, Handle)) or x._weak or y._weak:
        return None
    a, b = x._uop, y._uop
    if a.dtype is not b.dtype:
        return None
    if a.shape == b.shape:
        return a, b
    try:
        shape = composite.broadcast_shapes(a.shape, b.shape)
    except ShapeError:  # the long way names the function
        return None
    return composite.broadcast_to(a, shape), composite.broadcast_to(b, shape)


def promote(name: str, *operands: Any) -> tuple[UOp, ...]:
    """`operands` as nodes of their common dtype and shape.

    Args:
        name: the operation as the user called it, for messages.
        operands: arrays, Python scalars, NumPy arrays and scalars, nested sequences.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
        OverflowError: a Python int that the common integer dtype cannot hold.
    """
    try:
        alike = _alike(name, operands)
        if alike is not None:
            return alike
        ready = [to_operand(x, name) for x in operands]
        return promote_to(name, result_dtype(*ready, name=name), *ready)
    except Exception as error:
        raise shortened(error) from None


def promote_floating(name: str, *operands: Any) -> tuple[UOp, ...]:
    """`operands` as nodes of their common shape and floating dtype, which every Python int fits; see `promote`."""
    try:
        alike = _alike(name, operands)
        if alike is not None and alike[0].dtype.kind in "fc":
            return alike
        ready = [to_operand(x, name) for x in operands]
        return promote_to(name, _FLOAT_OF[result_dtype(*ready, name=name)], *ready)
    except Exception as error:
        raise shortened(error) from None


def promote_to(name: str, dtype: DType, *operands: Any) -> tuple[UOp, ...]:
    """`operands` as nodes of `dtype` in their common shape; see `promote`."""
    try:
        ready = [to_operand(x, name) for x in operands]
        shape = common_shape(name, *[_shape_of(x) for x in ready])
        return tuple([_node_in(name, x, dtype, shape) for x in ready])
    except Exception as error:
        raise shortened(error) from None


def _beside(name: str, x: float, y: Any) -> UOp | None:
    """A number as a node beside an array of floats, whose dtype it takes; None beside all else."""
    if not isinstance(y, Handle) or y._weak:
        return None
    node = y._uop
    return const_node(name, x, node.dtype, node.shape) if node.dtype.kind == "f" else None


def _shape_of(x: Operand) -> tuple[int, ...]:
    return x._uop.shape if isinstance(x, Handle) else x.shape if isinstance(x, UOp) else ()


def _node_in(name: str, x: Operand, dtype: DType, shape: tuple[int, ...]) -> UOp:
    if isinstance(x, Handle):
        x = cast_handle(x, dtype, name) if x._weak else x._uop
    elif not isinstance(x, UOp):
        return const_node(name, x, dtype, shape)
    return composite.broadcast_to(cast_node(x, dtype, name), shape)


def promote_comparison(name: str, x: Any, y: Any) -> tuple[UOp, UOp]:
    """Two operands of a comparison in one shape and, as far as possible, one dtype.

    uint64 stays beside a signed integer dtype, since their common dtype float64 would round; a Python int that the
    other operand's dtype cannot hold is compared by value and is no error. A traced one, of which nobody knows whether
    it fits, is compared by value as well.
    """
    try:
        alike = _alike(name, (x, y))
        if alike is not None:
            return alike
        x, y = to_operand(x, name), to_operand(y, name)
        dtype_x, dtype_y = _comparison_dtypes(x, y)
        shape = common_shape(name, _shape_of(x), _shape_of(y))
        return _node_in(name, x, dtype_x, shape), _node_in(name, y, dtype_y, shape)
    except Exception as error:
        raise shortened(error) from None


def _comparison_dtypes(x: Operand, y: Operand) -> tuple[DType, DType]:
    if is_scalar(x) and is_scalar(y):
        dtype_x, dtype_y = default_dtype(x), default_dtype(y)
    elif is_scalar(x):
        dtype_x, dtype_y = _scalar_beside(x, result_dtype(y))
    elif is_scalar(y):
        dtype_y, dtype_x = _scalar_beside(y, result_dtype(x))
    else:
        dtype_x, dtype_y = result_dtype(x), result_dtype(y)
        if (_is_weak(x) or _is_weak(y)) and not (dtype_x.kind in "iu" and dtype_y.kind in "iu"):
            dtype_x = dtype_y = result_dtype(x, y)
    if {dtype_x.kind, dtype_y.kind} == {"i", "u"} and dtypes.uint64 in (dtype_x, dtype_y):
        return dtype_x, dtype_y
    common = _PROMOTED[dtype_x, dtype_y]
    return common, common


def _is_weak(x: Operand) -> bool:
    return isinstance(x, Handle) and x._weak


def _scalar_beside(x: Scalar, dtype: DType) -> tuple[DType, DType]:
    """The dtypes in which a Python scalar and an array of `dtype` are compared."""
    if not isinstance(x, int) or isinstance(x, bool) or dtype.kind not in "iu":
        wanted = result_dtype(x, dtype)
        return wanted, wanted
    limits = np.iinfo(dtype)
    if limits.min <= x <= limits.max:
        return dtype, dtype
    if -(2**63) <= x < 2**64:
        return default_dtype(x), dtype
    return dtypes.float64, dtypes.float64
