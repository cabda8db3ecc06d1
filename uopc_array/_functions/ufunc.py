"""The ufuncs: functions of each element that are called, reduced, accumulated as NumPy's are.

A ufunc is an object, no function: as an attribute of a class it does not become a method, as with NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Self, TypeVar, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.assignment import changed_in_place, scattered
from uopc_array._array.at_once import at_once, of_one_at_once
from uopc_array._array.index import is_basic, parse_key
from uopc_array._array.lenses import write_back
from uopc_array._array.nodes import (
    as_node,
    cast_node,
    default_dtype,
    is_scalar,
    mask_node,
    node_from_numpy,
    to_operand,
)
from uopc_array._array.operators import check_same_kind
from uopc_array._array.programs import of_known
from uopc_array._array.promotion import check_cast, check_casting, promote_dtypes, result_dtype
from uopc_array._functions.arguments import node_of, normalize_axis, wrap
from uopc_array._functions.describe import function_of_numpy
from uopc_array._functions.host import call_host, from_host, to_host
from uopc_array._functions.outputs import only, store
from uopc_array._functions.public import FUNCTIONS, ROUTES
from uopc_array._functions.reductions import accumulator, reduced_by
from uopc_array._functions.searching import where as chosen
from uopc_core import DTYPES, DType, Ops, UOp, as_dtype, composite, dtypes, is_complex, is_inexact
from uopc_core.errors import shortened
from uopc_core.numerics.indexing import view_of

__all__ = ["BinaryUfunc", "HostUfunc", "PairUfunc", "UnaryUfunc", "entered", "ufunc"]

U = TypeVar("U", bound="ufunc")
_new: Callable[..., UOp] = UOp.new
_SCANS = {"add": Ops.ADD, "multiply": Ops.MUL, "maximum": Ops.MAX, "minimum": Ops.MIN}
_SCATTERS = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}
_OPERANDS = (None, None)
_REDUCED = (True, False, False, False, False)  # see `of_known`
_NUMPYS: dict[Any, Any] = {float: np.float64, complex: np.complex128}  # what numbers of Python's are by themselves
# of which NumPy's bits are ours, and the kinds of dtypes for which they are; "" is all. And those of floats
_EXACT = {
    **dict.fromkeys(("add", "subtract", "equal", "not_equal", "logical_and", "logical_or", "logical_xor"), ""),
    **dict.fromkeys(("multiply", "divide", "less", "less_equal", "greater", "greater_equal"), "biuf"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"), "biu"),
}
_EXACT_OF_FLOATS = frozenset({"sqrt", "floor", "ceil", "trunc", "rint", "negative", "absolute", "square"})
_ORDERS = ("C", "F", "A", "K")
# the defaults; an equal text that is another object takes the longer way, to the same end
_CASTING, _ORDER = "same_kind", "K"
_NOTHING: Mapping[str, Any] = {}
_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


def entered(new: ufunc) -> None:
    """Make a ufunc public, and take the calls of NumPy's of its name."""
    FUNCTIONS[new.__name__] = new
    theirs = function_of_numpy(new.__name__)
    if theirs is not None and theirs.__name__ == new.__name__:
        ROUTES[theirs] = new


class ufunc:
    """A function of each element; it takes what NumPy's of the same name takes.

    `add`, `sin`, `matmul` and the like are its objects; nobody else makes them.

    Attributes:
        nin, nout, nargs, ntypes, types, identity, signature: as of NumPy's ufunc.
    Example:
        >>> import uopc_array as xp
        >>> isinstance(xp.add, xp.ufunc)
        True
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls is ufunc:
            raise TypeError("ufunc: expected no call of the class; frompyfunc makes a ufunc of a function of Python")
        return object.__new__(_class_of_its_own(cls, args[0]))

    def __init__(self, name: str, numpy: np.ufunc, text: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = text
        self.__module__ = "uopc_array"
        self._numpy = numpy
        self._host_name = f"numpy.{name}"  # what the log of calls on the host has, see `log_host_calls`
        for fact in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
            setattr(self, fact, getattr(numpy, fact))

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _otherwise(
        self,
        inputs: tuple[Any, ...],
        out: Any,
        where: Any,
        casting: Any,
        order: Any,
        dtype: Any,
        signature: Any,
        how: Mapping[str, Any] = _NOTHING,
    ) -> Any:
        """The call with more than operands; `how` is what the class takes beyond what all take."""
        name = self.__name__
        check_casting(name, casting)
        if order not in _ORDERS:
            raise ValueError(f"{name}: expected order C, F, A or K, got {order!r}")
        if signature is not None:
            more = {"signature": signature, "dtype": dtype, "casting": casting, **how}
            result = call_host(f"numpy.{name}", self._numpy, inputs, {k: v for k, v in more.items() if v is not None})
        else:
            if dtype is not None and not self._is_of_result(dtype):
                inputs = tuple([_cast_input(name, x, dtype, casting) for x in inputs])
            result = self(*inputs, **how)
        return self._delivered(result, out, casting, where)

    def _is_of_result(self, dtype: Any) -> bool:
        """Whether `dtype` is bool because the ufunc asks something of numbers; it says nothing of the inputs then."""
        loops = [loop for loop in self._numpy.types if "O" not in loop]
        return as_dtype(dtype, self.__name__).kind == "b" and all([loop.endswith("->?") for loop in loops])

    def _delivered(self, result: Any, out: Any, casting: str, where: Any) -> Any:
        """`result` where the mask holds, stored in the given output."""
        return _stored(self.__name__, result, only(self.__name__, out), casting, where)

    # --- methods ---

    def reduce(
        self,
        array: Any,
        /,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The function applied between the elements along axes; see `numpy.ufunc.reduce`."""
        name = f"{self.__name__}.reduce"
        try:
            if out is None and where is True:
                value = of_known(Array, self._reduced, name, _REDUCED, (array, axis, dtype, keepdims, initial), False)
                if value is not None:
                    return value
            node = node_of(name, array)
            result = reduced_by(name, self._numpy.__name__, node, axis, dtype, keepdims, initial, where)
            if not isinstance(result, UOp):
                more = {"dtype": dtype, "keepdims": keepdims, "initial": initial, "where": where}
                given = {key: value for key, value in more.items() if value is not None}
                result = self._hosted("reduce", array, axis=axis, **given)
            result = wrap(result) if isinstance(result, UOp) else result
            return result if only(name, out) is None else store(name, result, only(name, out), "unsafe")
        except Exception as error:
            raise shortened(error) from error.__cause__

    def _reduced(self, name: str, node: UOp, axis: Any, dtype: Any, keepdims: Any, initial: Any) -> Any:
        return reduced_by(name, self._numpy.__name__, node, axis, dtype, keepdims, initial, True)

    def accumulate(self, array: Any, /, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """The function applied between the first elements along an axis; see `numpy.ufunc.accumulate`."""
        name = f"{self.__name__}.accumulate"
        try:
            op = _SCANS.get(self._numpy.__name__)
            if op is None:
                result = self._hosted("accumulate", array, axis=axis, dtype=dtype)
            else:
                result = wrap(_scanned(name, op, node_of(name, array), axis, dtype))
            return result if only(name, out) is None else store(name, result, only(name, out), "unsafe")
        except Exception as error:
            raise shortened(error) from error.__cause__

    def reduceat(self, array: Any, /, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reductions of slices, by NumPy; see `numpy.ufunc.reduceat`."""
        name = f"{self.__name__}.reduceat"
        try:
            result = self._hosted("reduceat", array, indices, axis=axis, dtype=dtype)
            return result if only(name, out) is None else store(name, result, only(name, out), "unsafe")
        except Exception as error:
            raise shortened(error) from error.__cause__

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """The function of every pair of an element of ``A`` and one of ``B``; the keywords are those of a call."""
        name = f"{self.__name__}.outer"
        try:
            x, y = [z if type(z) is Array else wrap(node_of(name, z)) for z in (A, B)]
            return self(x.reshape(x.shape + (1,) * y.ndim) if y.ndim else x, y, **kwargs)
        except Exception as error:
            raise shortened(error, name) from error.__cause__

    def at(self, a: Any, indices: Any, /, *b: Any) -> None:
        """``a[indices] = f(a[indices], b)``, in which an index given twice counts twice."""
        name = f"{self.__name__}.at"
        try:
            _at(name, self, a, indices, *b)
        except Exception as error:
            raise shortened(error, name) from error.__cause__

    def _hosted(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return call_host(f"{self._host_name}.{method}", getattr(self._numpy, method), args, kwargs)


class UnaryUfunc(ufunc):
    """A ufunc of one operand.

    Args:
        rule: the node of the result, from the name that was called and the node of the operand.
        op, direct: kinds of dtypes for which the result is just `op`.
    """

    def __init__(
        self, name: str, numpy: np.ufunc, text: str, rule: Callable[[str, UOp], UOp], op: Ops | None, direct: str
    ) -> None:
        super().__init__(name, numpy, text)
        self._rule = rule
        self._op = op
        self._direct = direct if op is not None else ""
        self._exact = numpy if numpy.__name__ in _EXACT_OF_FLOATS else None

    def __call__(
        self,
        x: Any,
        /,
        out: Any = None,
        *,
        where: Any = True,
        casting: Any = _CASTING,
        order: Any = _ORDER,
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
    ) -> Array:
        try:
            if out is None and where is True and casting is _CASTING and order is _ORDER and dtype is signature is None:
                value = None
                if type(x) is Array and self._exact is not None:
                    value = of_one_at_once(self._exact, x, "f")
                if value is None:
                    operand = _NUMPYS[type(x)](x) if type(x) in _NUMPYS else x
                    value = of_known(Array, self._rule, self.__name__, (True,), (operand,), False, True)
                if value is not None:
                    return value
                node = x._uop if type(x) is Array else node_of(self.__name__, x)
                if node.dtype.kind in self._direct:
                    return wrap(_new(self._op, (node,)))
                return wrap(self._rule(self.__name__, node))
            return self._otherwise((x,), out, where, casting, order, dtype, signature)
        except Exception as error:
            raise shortened(error) from error.__cause__


class BinaryUfunc(ufunc):
    """A ufunc of two operands.

    Args:
        promote: the nodes of two operands, from the name that was called and the operands.
        rule: the node of the result, from the name and nodes of one shape and, unless it is a comparison, one dtype.
    """

    def __init__(
        self,
        name: str,
        numpy: np.ufunc,
        text: str,
        promote: Callable[[str, Any, Any], tuple[UOp, ...]],
        rule: Callable[[str, UOp, UOp], Any],
    ) -> None:
        super().__init__(name, numpy, text)
        self._promote = promote
        self._rule = rule
        self._exact = numpy if numpy.__name__ in _EXACT else None
        self._kinds = _EXACT.get(numpy.__name__, "")

    def __call__(
        self,
        x1: Any,
        x2: Any,
        /,
        out: Any = None,
        *,
        where: Any = True,
        casting: Any = _CASTING,
        order: Any = _ORDER,
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
    ) -> Array:
        try:
            if out is None and where is True and casting is _CASTING and order is _ORDER and dtype is signature is None:
                value = self._of_known(x1, x2)
                return wrap(self._computed(x1, x2)) if value is None else value
            return self._otherwise((x1, x2), out, where, casting, order, dtype, signature)
        except Exception as error:
            raise shortened(error) from error.__cause__

    def _of_known(self, x1: Any, x2: Any) -> Array | None:
        """The result where the operands are known and small; else None."""
        value = None
        if self._exact is not None:
            if type(x1) is Array:
                value = at_once(self._exact, x1, x2, False, self._kinds)
            elif type(x2) is Array:
                value = at_once(self._exact, x2, x1, True, self._kinds)
        return (
            of_known(Array, self._native, self.__name__, _OPERANDS, (x1, x2), False, True) if value is None else value
        )

    def _native(self, name: str, x1: Any, x2: Any) -> Any:
        """The node of the result."""
        return self._rule(name, *self._promote(name, x1, x2))

    def _computed(self, x1: Any, x2: Any) -> Any:
        name = self.__name__
        if type(x1) is Array:  # the short way where operands agree already
            x = x1._uop
            if type(x2) is Array:
                y = x2._uop
                if x.dtype is y.dtype and x.shape == y.shape:
                    return self._rule(name, x, y)
            elif type(x2) is float and x.dtype.kind == "f" and not x1._weak:
                return self._rule(name, x, UOp.const(x2, x.dtype, x.shape))
        return self._rule(name, *self._promote(name, x1, x2))


class PairUfunc(BinaryUfunc):
    """A ufunc of two operands and two results."""

    def __call__(  # pyright: ignore[reportIncompatibleMethodOverride]  # as NumPy's
        self,
        x1: Any,
        x2: Any,
        /,
        out: Any = (None, None),
        *,
        where: Any = True,
        casting: Any = _CASTING,
        order: Any = _ORDER,
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
    ) -> tuple[Array, Array]:
        try:
            if out == (None, None) and where is True and dtype is signature is None:
                quotient, rest = self._computed(x1, x2)
                return wrap(quotient), wrap(rest)
            return self._otherwise((x1, x2), out, where, casting, order, dtype, signature)
        except Exception as error:
            raise shortened(error) from error.__cause__

    def _delivered(self, result: Any, out: Any, casting: str, where: Any) -> Any:
        outs = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else ()
        if len(outs) != 2:
            raise TypeError(
                f"{self.__name__}: expected a tuple of two arrays for out, got {type(cast('object', out)).__name__}"
            )
        pairs = zip(result, outs, strict=True)
        return tuple([_stored(self.__name__, part, to, casting, where) for part, to in pairs])


class HostUfunc(ufunc):
    """A ufunc that has no version of ours: NumPy's own, on the values. Of a function of Python (`frompyfunc`), whose
    results NumPy holds as objects, these are arrays of ours where they are numbers.
    """

    def __init__(self, name: str, numpy: np.ufunc, text: str) -> None:
        super().__init__(name, numpy, text)
        self._gives_objects = all([loop.partition("->")[2] == "O" * numpy.nout for loop in numpy.types])
        if self._gives_objects:
            self._host_name = "numpy.frompyfunc"

    def __call__(self, *args: Any, out: Any = None, where: Any = True, **kwargs: Any) -> Any:
        try:
            inputs: tuple[Any, ...] = args[: self._numpy.nin]
            outs: tuple[Any, ...] = args[self._numpy.nin :]
            if self._gives_objects:
                kwargs |= {} if where is True else self._masked(inputs, where)
            else:
                inputs = _wide(self._numpy, inputs)
            result = self._of_numbers(call_host(self._host_name, self._numpy, inputs, kwargs))
            if out is not None:
                outs = cast("tuple[Any, ...]", out) if isinstance(out, tuple) else (out,)
            several = isinstance(result, tuple)
            results = cast("tuple[Any, ...]", result) if several else (result,)
            targets = outs or (None,) * len(results)
            if where is not True or outs:
                casting = "unsafe" if self._gives_objects else kwargs.get("casting", "same_kind")
                into = zip(results, targets, strict=True)
                results = tuple([_stored(self.__name__, part, to, casting, where) for part, to in into])
            return results if several else results[0]
        except Exception as error:
            raise shortened(error, self.__name__) from error.__cause__

    def _masked(self, inputs: tuple[Any, ...], where: Any) -> dict[str, Any]:
        """What has NumPy call the function for those elements alone that a mask selects, with 0 for all others."""
        shape = np.broadcast_shapes(*[np.shape(x) for x in (*inputs, where)])
        filled = tuple([np.zeros(shape, object) for _ in range(self._numpy.nout)])
        return {"where": where, "out": filled}

    def _hosted(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return self._of_numbers(super()._hosted(method, *args, **kwargs))

    def _of_numbers(self, result: Any) -> Any:
        if not self._gives_objects:
            return result
        several = isinstance(result, tuple)
        return tuple(map(_numbers_among, cast("tuple[Any, ...]", result))) if several else _numbers_among(result)


def _numbers_among(x: Any) -> Any:
    """An array of objects as an array of the numbers that they are, or itself where they are not all numbers."""
    if type(x) is not np.ndarray or cast("Any", x).dtype != object:
        return x
    objects: Any = x
    items = [to_host("frompyfunc", item) for item in objects.flat]
    if not all([isinstance(item, _NUMBERS) for item in items]):
        return objects
    values = np.array(items)
    return from_host(values.reshape(objects.shape)) if values.dtype in DTYPES else objects


def _stored(name: str, x: Any, out: Any, casting: str, where: Any) -> Any:
    """`x` in `out`, where there is one, or by itself with zeros where the mask does not hold."""
    if out is not None:
        return store(name, x, out, casting, where, broadcasts=True)
    if where is True:
        return x
    node = as_node(x)
    return wrap(cast("UOp", chosen(name, mask_node(name, where), node, composite.zeros_like(node))))


def _class_of_its_own(cls: type[U], name: str) -> type[U]:
    """The class with a `__call__` of this name: where a call does not fit, Python's message has it."""
    call = cast("FunctionType", cls.__call__)
    code = call.__code__.replace(co_name=name, co_qualname=name)
    own = FunctionType(code, call.__globals__, name, call.__defaults__, call.__closure__)
    own.__kwdefaults__, own.__qualname__ = call.__kwdefaults__, name
    return cast("type[U]", type(cls.__name__, (cls,), {"__call__": own, "__module__": cls.__module__}))


def _cast_input(name: str, x: Any, dtype: Any, casting: Any) -> Array:
    wanted = as_dtype(dtype, name)
    check_cast(name, result_dtype(x, wanted) if is_scalar(x) else as_node(x).dtype, wanted, casting)
    return wrap(as_node(x, wanted, name=name))


def _wide(numpys: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """`inputs` with those integers in float64 that NumPy would compute in a narrower floating dtype."""
    if numpys.signature is not None:
        return inputs
    # numbers of Python's take the dtype of what is beside them, as long as one of the operands has one
    numbers = [type(x) in (int, float, complex) for x in inputs]
    weak = numbers if not all(numbers) else [False] * len(numbers)
    nodes = [None if number else as_node(x, name=numpys.__name__) for x, number in zip(inputs, weak, strict=True)]
    given: list[Any] = [type(x) if node is None else node.dtype for x, node in zip(inputs, nodes, strict=True)]
    loop = numpys.resolve_dtypes((*given, *[None] * numpys.nout))
    return tuple(
        [
            x if node is None or d.kind != "f" or node.dtype.kind not in "biu" else wrap(node.cast(dtypes.float64))
            for x, node, d in zip(inputs, nodes, loop, strict=False)
        ]
    )


def _scanned(name: str, op: Ops, node: UOp, axis: Any, dtype: Any) -> UOp:
    if not node.ndim:
        raise TypeError(f"{name}: expected one axis or more, got shape (); use x.reshape(1)")
    if dtype is not None or op in (Ops.ADD, Ops.MUL):
        node = cast_node(node, accumulator(name, node.dtype, dtype), name)
    return composite.scan_axis(node, op, normalize_axis(name, axis, node.ndim))


# ---------------------------------------------------------------------------------------------- at


def _at(name: str, function: ufunc, x: Any, key: Any, *rest: Any) -> None:
    numpys = function._numpy
    if not isinstance(x, Array):
        cast("Any", numpys).at(x, to_host(name, key), *[to_host(name, value) for value in rest])
        return
    mode = _SCATTERS.get(numpys.__name__)
    is_exact = mode is not None and len(rest) == 1 and _rounds_never(name, mode, x.dtype, rest[0])
    if is_exact and is_basic(key):  # each element once
        combined = as_node(function(x[key], rest[0]))
        x[key] = Array._array_from_uop(cast_node(combined, x.dtype, name))
    elif changed_in_place(x, name, cast("Any", numpys).at, key, [to_operand(value, name) for value in rest]):
        return
    elif is_exact:
        x._update(lambda node: _scatter_at(name, cast("str", mode), node, key, rest[0]))
    else:
        x._update(lambda node: _combined_by_numpy(name, numpys, node, key, rest))


def _combined_by_numpy(name: str, numpys: np.ufunc, node: UOp, key: Any, rest: tuple[Any, ...]) -> UOp:
    values = to_host(name, Array._array_from_uop(node))
    cast("Any", numpys).at(values, to_host(name, key), *[to_host(name, value) for value in rest])
    return node_from_numpy(values, copy=False)


def _rounds_never(name: str, mode: str, dtype: DType, value: Any) -> bool:
    """Whether combining in `dtype` is the same as combining in the promoted dtype and converting each result.

    Raises:
        DTypeError: `value` is complex, and `dtype` is not.
    """
    given = default_dtype(value) if is_scalar(value) else as_node(value).dtype
    if is_complex(given) or is_inexact(dtype):
        check_same_kind(name, given, dtype)
        return True
    promoted = np.result_type(dtype, value) if is_scalar(value) else promote_dtypes(dtype, given)
    return promoted is dtype or (given.kind in "biu" and mode in ("add", "mul"))


def _scatter_at(name: str, mode: str, x: UOp, key: Any, value: Any) -> UOp:
    """`x` with `value` combined into what the index arrays of `key` select, every index by itself."""
    parsed = parse_key(key, x.shape)
    return write_back(
        x,
        lambda node: view_of(node, parsed),
        lambda view: scattered(name, view, parsed, as_node(value), mode),
    )
