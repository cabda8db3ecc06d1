"""Numbers among the arguments of functions: the one place that decides what becomes of an array given for one.

A number that the values of the result depend on is an operand of the graph (`operand`, `filler`, `number_or_node`): it
keeps its derivative and its trace. A number that the structure of the result depends on (an axis, a shape, a count) is
read as a Python number (`integer`, `integers`, `integer_array`, `number`).
Invariant: an array that has no value yet, or that is under differentiation, is never read; the error says what to do.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex, cast

import numpy as np

from uopc_array._array.handle import Handle
from uopc_array._array.nodes import Operand, as_node, cast_node, const_node, is_scalar, to_operand
from uopc_array._array.realize import NumPyArray, buffer_of_node
from uopc_array._array.tracing import trace_error
from uopc_core import TRACED, TRACKED, DType, UOp, composite, is_bool, is_complex, is_integer, name_of
from uopc_core.errors import DTypeError, GradientError, ShapeError, shortened
from uopc_core.numerics.axes import filled_shape

__all__ = [
    "filler",
    "inferred_shape",
    "integer",
    "integer_array",
    "integers",
    "is_sequence",
    "known",
    "number",
    "number_or_node",
    "operand",
]

_STATIC = (
    "mark the argument static (static_argnums of jit, None in in_axes of vmap), "
    "or take a Python number from outside the function"
)


# ---------------------------------------------------------------------------------------------- read as Python numbers


def integer(name: str, what: str, value: Any, error: type[TypeError] = TypeError) -> int:
    """`value`, the argument `what` of the function `name`, as a Python int: an int, or what knows `__index__`.

    Args:
        error: the class for what is no integer.
    Raises:
        TypeError: it is no integer.
        TraceError: it has no value yet.
        GradientError: it is under differentiation.
    """
    if type(value) is int:
        return value
    if isinstance(value, Handle):
        try:
            return _integer_of_array(name, what, value._uop, error)
        except Exception as refused:
            raise shortened(refused) from None
    try:
        return operator.index(value)
    except TypeError:
        raise error(f"{name}: expected an integer for {what}, got {_shown(value)}{_remedy(value)}") from None


def _remedy(value: Any) -> str:
    return "; convert it with int(...)" if isinstance(value, float | np.floating) else ""


def _integer_of_array(name: str, what: str, node: UOp, error: type[TypeError]) -> int:
    if node.shape or not is_integer(node.dtype):
        _refuse_derivative(name, what, node, "an integer")
        raise error(f"{name}: expected an integer for {what}, got {_shown(node)}")
    return int(_value(name, what, node).item())


def integers(name: str, what: str, value: Any) -> tuple[int, ...]:
    """`value` as a tuple of Python ints: one integer, or a sequence or an array of one axis of them.

    Raises:
        TypeError: it is neither.
        TraceError, GradientError: see `integer`.
    """
    if type(cast("object", value)) is int:
        return (value,)
    if type(cast("object", value)) is tuple and all([type(item) is int for item in value]):
        return value
    try:
        if not is_sequence(value):
            if isinstance(value, SupportsIndex):
                return (integer(name, what, value),)
        elif getattr(value, "ndim", 1) == 1:
            return tuple([integer(name, what, item) for item in cast("Iterable[Any]", value)])
    except Exception as error:
        raise shortened(error) from None
    raise TypeError(
        f"{name}: expected an integer or a sequence of them for {what}, got {_shown(value)}{_remedy(value)}"
    )


def inferred_shape(name: str, node: UOp, shape: Any) -> tuple[int, ...]:
    """A shape for the elements of `node`, with -1 replaced by what is left over.

    Raises:
        ShapeError: the number of elements differs.
        TypeError: no integer, and no sequence of integers.
    """
    try:
        return filled_shape(name, node.shape, integers(name, "shape", shape))
    except Exception as error:
        raise shortened(error) from None


def is_sequence(value: Any) -> bool:
    """Whether `value` holds numbers, and is none itself: an array without axes is one number."""
    return isinstance(value, Iterable) and getattr(cast("Any", value), "ndim", 1) != 0


def known(name: str, what: str, value: Any) -> Any:
    """`value` with the arrays in it as Python ints, for a function that hands it on to one of another name.

    Raises:
        TypeError, TraceError, GradientError: see `integer`.
    """
    try:
        if isinstance(value, Handle):
            return integer(name, what, value)
        if isinstance(value, tuple | list):
            return tuple([known(name, what, item) for item in cast("tuple[Any, ...]", value)])
    except Exception as error:
        raise shortened(error) from None
    return value


def integer_array(name: str, what: str, value: Any, bools: bool = False) -> NumPyArray:
    """`value`, integers in nested sequences or arrays, as an array of NumPy.

    Args:
        bools: whether True and False are taken as well.
    Raises:
        DTypeError: (a TypeError) they are no integers.
        TraceError, GradientError: see `integer`.
    """
    try:
        node = as_node(value, name=name)
    except DTypeError:
        raise DTypeError(f"{name}: expected {what} of an integer dtype, got {_shown(value)}") from None
    except Exception as error:
        raise shortened(error) from None
    if not (is_integer(node.dtype) or (bools and is_bool(node.dtype)) or node.size == 0):
        _refuse_derivative(name, what, node, "integers")
        raise DTypeError(f"{name}: expected {what} of an integer dtype, got {name_of(node.dtype)}")
    return _value(name, what, node)


def number(name: str, what: str, value: Any, instead: str = "") -> int | float:
    """`value` as a Python int or float: a real number, or an array of one without axes.

    Args:
        instead: what a caller might do who wants a derivative, for the message.
    Raises:
        TypeError: it is something else.
        TraceError: it has no value yet.
        GradientError: it is under differentiation.
    """
    if type(value) is float or type(value) is int:
        return value
    if isinstance(value, Handle | np.ndarray | np.generic):
        try:
            value = _number_of_array(name, what, as_node(value, name=name), instead)
        except Exception as error:
            raise shortened(error) from None
    try:
        if isinstance(value, str | bytes | complex):
            raise TypeError
        return int(value) if isinstance(value, int) else float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a real number for {what}, got {_shown(value)}") from None


def number_or_node(name: str, what: str, value: Any) -> int | float | UOp:
    """`value` as a Python number where it is known and constant, else as a node without axes, in the graph.

    Raises:
        TypeError, ShapeError: it is no real number, or more than one.
    """
    try:
        if not isinstance(value, Handle) or not value._uop.flags & (TRACED | TRACKED):
            return number(name, what, value)
    except Exception as error:
        raise shortened(error) from None
    node = value._uop
    if node.shape or is_complex(node.dtype):
        raise DTypeError(f"{name}: expected one real number for {what}, got {_shown(node)}")
    return node


def _number_of_array(name: str, what: str, node: UOp, instead: str) -> Any:
    if node.shape:
        raise ShapeError(f"{name}: expected one number for {what}, got {_shown(node)}")
    _refuse_derivative(name, what, node, "a number", instead)
    return _value(name, what, node).item()


def _value(name: str, what: str, node: UOp) -> NumPyArray:
    if node.flags & TRACED:
        raise trace_error(f"{name}: {what}", node, _STATIC)
    return buffer_of_node(node, name).array


def _refuse_derivative(name: str, what: str, node: UOp, expected: str, instead: str = "") -> None:
    if node.flags & TRACKED:
        raise GradientError(
            f"{name}: expected {expected} for {what} by which nothing is differentiated, got {_shown(node)}, under "
            f"differentiation; pass xp.stop_gradient(x) if it is meant to be constant{instead}"
        )


def _shown(value: Any) -> str:
    """A wrong argument in a message: arrays by their shape and dtype."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"an array of shape {value.shape}, {value.dtype}"
    return f"{value!r:.60} ({type(value).__name__})"


# ---------------------------------------------------------------------------------------------- operands of the graph


def operand(name: str, what: str, value: Any) -> Operand:
    """`value`, one real number or an array of them, ready for promotion: Python's numbers stay weak.

    Raises:
        TypeError: it is complex, or no number at all.
    """
    try:
        out = to_operand(value, name)
    except DTypeError:
        raise DTypeError(f"{name}: expected a real number for {what}, got {_shown(value)}") from None
    except Exception as error:
        raise shortened(error) from None
    dtype = out._uop.dtype if isinstance(out, Handle) else out.dtype if isinstance(out, UOp) else None
    if isinstance(out, complex) or (dtype is not None and is_complex(dtype)):
        raise DTypeError(f"{name}: expected a real number for {what}, got {_shown(value)}")
    return out


def filler(name: str, what: str, value: Any, dtype: DType, shape: tuple[int, ...]) -> UOp:
    """`value`, one number or an array of them, as a node of the dtype and the shape of what it is put into.

    Raises:
        DTypeError: it is complex, and `dtype` is not.
        ShapeError: it cannot be broadcast to `shape`.
        OverflowError: a Python int that `dtype` cannot hold.
    """
    try:
        if not is_scalar(value):
            node = as_node(value, dtype if isinstance(value, Handle) else None, name=name)
            node = cast_node(node, dtype, name)
        elif isinstance(value, complex) and not (is_complex(dtype) or is_bool(dtype)):
            raise DTypeError(f"{name}: expected a real number for {what}, got {_shown(value)}")
        else:
            return const_node(name, value, dtype, shape)
    except Exception as error:
        raise shortened(error) from None
    try:
        return composite.broadcast_to(node, shape)
    except ShapeError:
        raise ShapeError(f"{name}: {what} of shape {node.shape} cannot be broadcast to {shape}") from None
