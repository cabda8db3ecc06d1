"""The operators of arrays: Python's arithmetic, comparison and bitwise syntax, with short cuts where dtypes agree.

Each operator is a function of two operands to a node; the methods wrap its result in a handle.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np

from uopc_array._array.assignment import assign, part_in_place
from uopc_array._array.at_once import at_once, in_place_at_once, of_one_at_once, run_quietly
from uopc_array._array.foreign import is_operand
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import as_node, cast_node, const_node, is_scalar
from uopc_array._array.products import product_at_once
from uopc_array._array.programs import of_known
from uopc_array._array.promotion import promote, promote_comparison, promote_dtypes, promote_floating
from uopc_array._array.view import View
from uopc_core import DType, Ops, UOp, name_of
from uopc_core.errors import DTypeError, ShapeError, shortened
from uopc_core.numerics import elementwise, products

__all__ = ["Operators", "check_same_kind", "divide_nodes", "matmul_nodes", "power_nodes"]

A = TypeVar("A", bound=Handle)
_python: Any = operator  # whose functions have no types
NodeFunction = Callable[[Any, Any], UOp]
_OPERANDS = (Handle, int, float, complex, np.ndarray, np.generic, list, tuple)
_new, _const = UOp.new, UOp.const
_EITHER, _NODES = (None, None), (True, True)  # what operands may be, see `of_known`
# kinds of dtypes, see `at_once`: for complex numbers NumPy has other products, quotients and absolute values, and an
# order; for floats divided by zero, and infinite ones, other floors
_REALS, _NUMBERS, _WHOLE = "biuf", "iuf", "biu"


# what writes to part of an array in memory, where NumPy does not warn; of what has NumPy's bits
_IN_MEMORY = {
    "add": partial(run_quietly, _python.iadd),
    "subtract": partial(run_quietly, _python.isub),
    "multiply": partial(run_quietly, _python.imul),
    "divide": partial(run_quietly, _python.itruediv),
}
_REMEDIES = {"biuf": "take real(x), imag(x) or abs(x) first", "biu": "convert them with astype(xp.int64)"}


def _arithmetic(name: str, operator: str, general: NodeFunction) -> NodeFunction:
    """A binary operator that takes the short way to its node when the operands agree already.

    Args:
        operator: as Python calls it, see `DIRECT`.
        general: the operator for any operands.
    """
    op, direct = DIRECT[operator]

    def function(x: Any, y: Any) -> UOp:
        if isinstance(x, Handle) and not x._weak:
            node = x._uop
            kind = node.dtype.kind
            if kind in direct:
                if isinstance(y, Handle):
                    other = y._uop
                    if other.dtype is node.dtype and other.shape == node.shape:
                        return _new(op, (node, other))
                elif (type(y) is int and kind != "b") or (type(y) is float and kind in "fc"):
                    return _new(op, (node, const_node(name, y, node.dtype, node.shape)))
        elif (type(x) is float or type(x) is int) and isinstance(y, Handle) and not y._weak:
            node = y._uop
            kind = node.dtype.kind
            if kind in direct and (kind in "fc" or (type(x) is int and kind != "b")):
                return _new(op, (const_node(name, x, node.dtype, node.shape), node))
        return general(x, y)

    return function


def _promoted(name: str, body: Callable[[UOp, UOp], UOp], takes: str = "biufc") -> NodeFunction:
    """`body` on the operands in their common dtype, whose kind must be one that the operator takes."""
    wanted = {"biuf": "real numbers", "biu": "integers or bool"}.get(takes)

    def function(x: Any, y: Any) -> UOp:
        operands = promote(name, x, y)
        if operands[0].dtype.kind not in takes:
            raise DTypeError(f"{name}: expected {wanted}, got {name_of(operands[0].dtype)}; {_REMEDIES[takes]}")
        return body(*operands)

    return function


def divide_nodes(x: Any, y: Any) -> UOp:
    """``x / y``; bool and integers as float64."""
    return elementwise.divide(*promote_floating("divide", x, y))


def power_nodes(x: Any, y: Any) -> UOp:
    """``x ** y``; small constant exponents become products, roots and reciprocals.

    Raises:
        ValueError: an integer to a negative integer power.
    """
    if not is_scalar(y) or isinstance(y, bool | complex):
        return elementwise.power(*promote("pow", x, y))
    if type(y) is int and y == 2 and isinstance(x, Handle) and not x._weak and x._uop.dtype.kind != "b":
        node = x._uop
        return node * node
    base, exponent = promote("pow", x, y)
    return elementwise.power_by(base, y, exponent)


def _comparison(name: str, operator: str, body: Callable[[UOp, UOp], UOp]) -> NodeFunction:
    op, direct = DIRECT[operator]
    swapped = operator in ("gt", "ge")

    def function(x: Any, y: Any) -> UOp:
        if isinstance(x, Handle) and not x._weak:
            node = x._uop
            other = None
            if isinstance(y, Handle):
                other = y._uop
            elif type(y) is float and node.dtype.kind == "f":
                other = _const(y, node.dtype, node.shape)
            if (
                other is not None
                and other.dtype is node.dtype
                and other.shape == node.shape
                and node.dtype.kind in direct
            ):
                return _new(op, (other, node) if swapped else (node, other))
        return body(*promote_comparison(name, x, y))

    return function


def _and(x: UOp, y: UOp) -> UOp:
    return x & y


def _or(x: UOp, y: UOp) -> UOp:
    return x | y


def _xor(x: UOp, y: UOp) -> UOp:
    return x ^ y


_LEFT, _RIGHT = "bitwise_left_shift", "bitwise_right_shift"
# by the name of the operator in Python: its op, and the kinds of dtypes for which the result is just that; numbers that
# are compared have kinds of their own
DIRECT = {
    "add": (Ops.ADD, "iufc"), "sub": (Ops.SUB, "iufc"), "mul": (Ops.MUL, "iufc"), "truediv": (Ops.DIV, "fc"),
    "floordiv": (Ops.FLOORDIV, "iu"), "mod": (Ops.FLOORMOD, "iuf"), "neg": (Ops.NEG, "iufc"),
    "and": (Ops.AND, "biu"), "or": (Ops.OR, "biu"), "xor": (Ops.XOR, "biu"),
    "lshift": (Ops.SHL, "iu"), "rshift": (Ops.SHR, "iu"),
    "lt": (Ops.CMPLT, "biuf"), "le": (Ops.CMPLE, "biuf"), "gt": (Ops.CMPLT, "biuf"), "ge": (Ops.CMPLE, "biuf"),
    "eq": (Ops.CMPEQ, "biuf"), "ne": (Ops.CMPNE, "biuf"),
}  # fmt: skip
_ADD = _arithmetic("add", "add", _promoted("add", elementwise.add))
_SUBTRACT = _arithmetic("subtract", "sub", _promoted("subtract", elementwise.subtract))
_MULTIPLY = _arithmetic("multiply", "mul", _promoted("multiply", elementwise.multiply))
_DIVIDE = _arithmetic("divide", "truediv", divide_nodes)
_FLOOR_DIVIDE = _arithmetic("floor_divide", "floordiv", _promoted("floor_divide", elementwise.floor_divide, "biuf"))
_REMAINDER = _arithmetic("remainder", "mod", _promoted("remainder", elementwise.remainder, "biuf"))
_AND = _arithmetic("bitwise_and", "and", _promoted("bitwise_and", _and, "biu"))
_OR = _arithmetic("bitwise_or", "or", _promoted("bitwise_or", _or, "biu"))
_XOR = _arithmetic("bitwise_xor", "xor", _promoted("bitwise_xor", _xor, "biu"))
_LEFT_SHIFT = _arithmetic(_LEFT, "lshift", _promoted(_LEFT, elementwise.left_shift, "biu"))
_RIGHT_SHIFT = _arithmetic(_RIGHT, "rshift", _promoted(_RIGHT, elementwise.right_shift, "biu"))
_LESS = _comparison("less", "lt", elementwise.less)
_LESS_EQUAL = _comparison("less_equal", "le", elementwise.less_equal)
_GREATER = _comparison("greater", "gt", elementwise.greater)
_GREATER_EQUAL = _comparison("greater_equal", "ge", elementwise.greater_equal)
_EQUAL = _comparison("equal", "eq", elementwise.equal)
_NOT_EQUAL = _comparison("not_equal", "ne", elementwise.not_equal)


def check_same_kind(name: str, given: DType, dtype: DType) -> None:
    """
    Raises:
        DTypeError: storing values of `given` in `dtype` would change their kind (float to integer, complex to real).
    """
    if given is not dtype and not np.can_cast(given, dtype, "same_kind"):
        raise DTypeError(
            f"{name}: the result is {name_of(given)} and cannot be stored in the array of {name_of(dtype)} in place; "
            "write x = x + y instead of x += y, or convert the operand"
        )


def matmul_nodes(name: str, x: UOp, y: UOp) -> UOp:
    """The matrix product of (..., M, K) or (K,) and (..., K, N) or (K,), of any dtypes.

    Raises:
        ShapeError: an operand has no axes, the K differ, or the leading axes cannot be broadcast.
    """
    if x.dtype is not y.dtype:
        dtype = promote_dtypes(x.dtype, y.dtype)
        x, y = cast_node(x, dtype, name), cast_node(y, dtype, name)
    return products.matmul(name, x, y)


def _matmul(x: Any, y: Any) -> UOp:
    return matmul_nodes("matmul", as_node(x, name="matmul"), as_node(y, name="matmul"))


def _named_absolute(name: str, x: UOp) -> UOp:
    return elementwise.absolute(x)


def _named_multiply(name: str, x: Any, y: Any) -> UOp:
    return _MULTIPLY(x, y)


def _named_divide(name: str, x: Any, y: Any) -> UOp:
    return divide_nodes(x, y)


def _named_floor_divide(name: str, x: Any, y: Any) -> UOp:
    return _FLOOR_DIVIDE(x, y)


def _named_power(name: str, x: Any, y: Any) -> UOp:
    return power_nodes(x, y)


def _is_weak(x: Any) -> bool:
    return x._weak if isinstance(x, Handle) else is_scalar(x)


def _binary(function: NodeFunction, x: A, y: Any) -> A:
    if not (isinstance(y, _OPERANDS) or is_operand(y, type(x))):
        return NotImplemented
    try:
        return x._from_uop(function(x, y), x._weak and _is_weak(y))
    except Exception as error:
        raise shortened(error) from None


def _compared(function: NodeFunction, x: A, y: Any) -> A:
    if not (isinstance(y, _OPERANDS) or is_operand(y, type(x))):
        return NotImplemented
    try:
        return x._from_uop(function(x, y))
    except Exception as error:
        raise shortened(error) from None


def _reflected(function: NodeFunction, x: Any, y: A) -> A:
    if not (isinstance(x, _OPERANDS) or is_operand(x, type(y))):
        return NotImplemented
    try:
        return y._from_uop(function(x, y), y._weak and _is_weak(x))
    except Exception as error:
        raise shortened(error) from None


def _in_place(name: str, function: NodeFunction, x: A, y: Any) -> A:
    """``x op= y``: the dtype and shape of an array stay; a number is immutable, so the name gets another value."""
    if not (isinstance(y, _OPERANDS) or is_operand(y, type(x))):
        return NotImplemented
    alias = x._alias
    if alias is None:
        if not x._node.shape:
            return _binary(function, x, y)
    elif not alias.is_writable:
        x._refuse_write(name)
    is_view = isinstance(alias, View)
    if is_view and name in _IN_MEMORY and x._node.dtype.kind in _REALS and part_in_place(_IN_MEMORY[name], x, y):
        return x
    while True:
        target = x._node if is_view else x._uop
        if not is_view and target is not x._own_node:
            target = x._node_to_change()
        try:
            uop = function(x, y)
        except Exception as error:
            raise shortened(error) from None
        check_same_kind(name, uop.dtype, target.dtype)
        if uop.shape != target.shape:
            raise ShapeError(
                f"{name}: the result of shape {uop.shape} does not fit the array of shape {target.shape} in place"
            )
        if is_view:
            value = x._from_uop(uop.cast(target.dtype))
            del uop, target  # what is held here is seen by others, says `write_in_memory`
            assign(x, ..., value)
            return x
        if x._replace(target, uop.cast(target.dtype)):
            return x


def _unary(function: Callable[[UOp], UOp], x: A) -> A:
    return x._from_uop(function(x._uop), x._weak)


def _invert(x: UOp) -> UOp:
    if x.dtype.kind not in "biu":
        raise DTypeError(f"bitwise_invert: expected integers or bool, got {name_of(x.dtype)}; {_REMEDIES['biu']}")
    return elementwise.bitwise_invert(x)


class Operators(Handle):
    """The operator methods of `Array`."""

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]  # mutable and compared elementwise, as ndarray

    def __neg__(self) -> Self:
        result = of_one_at_once(_python.neg, self)
        return _unary(elementwise.negative, self) if result is None else result

    def __pos__(self) -> Self:
        result = of_one_at_once(_python.pos, self)
        return _unary(elementwise.positive, self) if result is None else result

    def __abs__(self) -> Self:
        result = of_one_at_once(_python.abs, self, _REALS)
        if result is None and self._value is not None:
            result = of_known(type(self), _named_absolute, "abs", (True,), (self,), False, True)
        return _unary(elementwise.absolute, self) if result is None else result

    def __invert__(self) -> Self:
        result = of_one_at_once(_python.invert, self)
        return _unary(_invert, self) if result is None else result

    def __add__(self, other: Any) -> Self:
        result = at_once(_python.add, self, other)
        return _binary(_ADD, self, other) if result is None else result

    def __radd__(self, other: Any) -> Self:
        result = at_once(_python.add, self, other, True)
        return _reflected(_ADD, other, self) if result is None else result

    def __iadd__(self, other: Any) -> Self:
        result = in_place_at_once(_python.iadd, self, other)
        return _in_place("add", _ADD, self, other) if result is None else result

    def __sub__(self, other: Any) -> Self:
        result = at_once(_python.sub, self, other)
        return _binary(_SUBTRACT, self, other) if result is None else result

    def __rsub__(self, other: Any) -> Self:
        result = at_once(_python.sub, self, other, True)
        return _reflected(_SUBTRACT, other, self) if result is None else result

    def __isub__(self, other: Any) -> Self:
        result = in_place_at_once(_python.isub, self, other)
        return _in_place("subtract", _SUBTRACT, self, other) if result is None else result

    def __mul__(self, other: Any) -> Self:
        result = at_once(_python.mul, self, other, False, _REALS)
        if result is None and self._value is not None:
            result = of_known(type(self), _named_multiply, "multiply", _EITHER, (self, other), False, True)
        return _binary(_MULTIPLY, self, other) if result is None else result

    def __rmul__(self, other: Any) -> Self:
        result = at_once(_python.mul, self, other, True, _REALS)
        if result is None and self._value is not None:
            result = of_known(type(self), _named_multiply, "multiply", _EITHER, (other, self), False, True)
        return _reflected(_MULTIPLY, other, self) if result is None else result

    def __imul__(self, other: Any) -> Self:
        result = in_place_at_once(_python.imul, self, other, _REALS)
        return _in_place("multiply", _MULTIPLY, self, other) if result is None else result

    def __truediv__(self, other: Any) -> Self:
        result = at_once(_python.truediv, self, other, False, _REALS)
        if result is None and self._value is not None:
            result = of_known(type(self), _named_divide, "divide", _EITHER, (self, other), False, True)
        return _binary(_DIVIDE, self, other) if result is None else result

    def __rtruediv__(self, other: Any) -> Self:
        result = at_once(_python.truediv, self, other, True, _REALS)
        if result is None and self._value is not None:
            result = of_known(type(self), _named_divide, "divide", _EITHER, (other, self), False, True)
        return _reflected(_DIVIDE, other, self) if result is None else result

    def __itruediv__(self, other: Any) -> Self:
        result = in_place_at_once(_python.itruediv, self, other, _REALS)
        return _in_place("divide", _DIVIDE, self, other) if result is None else result

    def __floordiv__(self, other: Any) -> Self:
        result = at_once(_python.floordiv, self, other, False, _WHOLE)
        if result is None:
            result = of_known(type(self), _named_floor_divide, "floor_divide", _EITHER, (self, other), False, True)
        return _binary(_FLOOR_DIVIDE, self, other) if result is None else result

    def __rfloordiv__(self, other: Any) -> Self:
        result = at_once(_python.floordiv, self, other, True, _WHOLE)
        if result is None:
            result = of_known(type(self), _named_floor_divide, "floor_divide", _EITHER, (other, self), False, True)
        return _reflected(_FLOOR_DIVIDE, other, self) if result is None else result

    def __ifloordiv__(self, other: Any) -> Self:
        result = in_place_at_once(_python.ifloordiv, self, other, _WHOLE)
        return _in_place("floor_divide", _FLOOR_DIVIDE, self, other) if result is None else result

    def __mod__(self, other: Any) -> Self:
        result = at_once(_python.mod, self, other)
        return _binary(_REMAINDER, self, other) if result is None else result

    def __rmod__(self, other: Any) -> Self:
        result = at_once(_python.mod, self, other, True)
        return _reflected(_REMAINDER, other, self) if result is None else result

    def __imod__(self, other: Any) -> Self:
        result = in_place_at_once(_python.imod, self, other)
        return _in_place("remainder", _REMAINDER, self, other) if result is None else result

    def __pow__(self, other: Any) -> Self:
        result = None
        if type(other) is int and other == 2:  # a product, whose bits NumPy's are
            result = at_once(_python.mul, self, self, False, _NUMBERS)
        if result is None:
            result = of_known(type(self), _named_power, "pow", _EITHER, (self, other), False, True, True)
        return _binary(power_nodes, self, other) if result is None else result

    def __rpow__(self, other: Any) -> Self:
        result = of_known(type(self), _named_power, "pow", _EITHER, (other, self), False, True, True)
        return _reflected(power_nodes, other, self) if result is None else result

    def __ipow__(self, other: Any) -> Self:
        return _in_place("pow", power_nodes, self, other)

    def __and__(self, other: Any) -> Self:
        result = at_once(_python.and_, self, other)
        return _binary(_AND, self, other) if result is None else result

    def __rand__(self, other: Any) -> Self:
        result = at_once(_python.and_, self, other, True)
        return _reflected(_AND, other, self) if result is None else result

    def __iand__(self, other: Any) -> Self:
        result = in_place_at_once(_python.iand, self, other)
        return _in_place("bitwise_and", _AND, self, other) if result is None else result

    def __or__(self, other: Any) -> Self:
        result = at_once(_python.or_, self, other)
        return _binary(_OR, self, other) if result is None else result

    def __ror__(self, other: Any) -> Self:
        result = at_once(_python.or_, self, other, True)
        return _reflected(_OR, other, self) if result is None else result

    def __ior__(self, other: Any) -> Self:
        result = in_place_at_once(_python.ior, self, other)
        return _in_place("bitwise_or", _OR, self, other) if result is None else result

    def __xor__(self, other: Any) -> Self:
        result = at_once(_python.xor, self, other)
        return _binary(_XOR, self, other) if result is None else result

    def __rxor__(self, other: Any) -> Self:
        result = at_once(_python.xor, self, other, True)
        return _reflected(_XOR, other, self) if result is None else result

    def __ixor__(self, other: Any) -> Self:
        result = in_place_at_once(_python.ixor, self, other)
        return _in_place("bitwise_xor", _XOR, self, other) if result is None else result

    def __lshift__(self, other: Any) -> Self:
        result = at_once(_python.lshift, self, other)
        return _binary(_LEFT_SHIFT, self, other) if result is None else result

    def __rlshift__(self, other: Any) -> Self:
        result = at_once(_python.lshift, self, other, True)
        return _reflected(_LEFT_SHIFT, other, self) if result is None else result

    def __ilshift__(self, other: Any) -> Self:
        result = in_place_at_once(_python.ilshift, self, other)
        return _in_place("bitwise_left_shift", _LEFT_SHIFT, self, other) if result is None else result

    def __rshift__(self, other: Any) -> Self:
        result = at_once(_python.rshift, self, other)
        return _binary(_RIGHT_SHIFT, self, other) if result is None else result

    def __rrshift__(self, other: Any) -> Self:
        result = at_once(_python.rshift, self, other, True)
        return _reflected(_RIGHT_SHIFT, other, self) if result is None else result

    def __irshift__(self, other: Any) -> Self:
        result = in_place_at_once(_python.irshift, self, other)
        return _in_place("bitwise_right_shift", _RIGHT_SHIFT, self, other) if result is None else result

    def __lt__(self, other: Any) -> Self:
        result = at_once(_python.lt, self, other, False, _REALS)
        return _compared(_LESS, self, other) if result is None else result

    def __le__(self, other: Any) -> Self:
        result = at_once(_python.le, self, other, False, _REALS)
        return _compared(_LESS_EQUAL, self, other) if result is None else result

    def __gt__(self, other: Any) -> Self:
        result = at_once(_python.gt, self, other, False, _REALS)
        return _compared(_GREATER, self, other) if result is None else result

    def __ge__(self, other: Any) -> Self:
        result = at_once(_python.ge, self, other, False, _REALS)
        return _compared(_GREATER_EQUAL, self, other) if result is None else result

    def __eq__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]  # elementwise
        result = at_once(_python.eq, self, other)
        return _compared(_EQUAL, self, other) if result is None else result

    def __ne__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]  # elementwise
        result = at_once(_python.ne, self, other)
        return _compared(_NOT_EQUAL, self, other) if result is None else result

    def __matmul__(self, other: Any) -> Self:
        result = product_at_once(type(self), self, other)
        if result is None:
            result = of_known(type(self), matmul_nodes, "matmul", _NODES, (self, other), False)
        return _binary(_matmul, self, other) if result is None else result

    def __rmatmul__(self, other: Any) -> Self:
        result = product_at_once(type(self), other, self)
        return _reflected(_matmul, other, self) if result is None else result

    def __imatmul__(self, other: Any) -> Self:
        return _in_place("matmul", _matmul, self, other)

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        known = isinstance(other, _OPERANDS) or is_operand(other, type(self))
        return (self // other, self % other) if known else NotImplemented

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        if not (isinstance(other, _OPERANDS) or is_operand(other, type(self))):
            return NotImplemented
        return self.__rfloordiv__(other), self.__rmod__(other)
