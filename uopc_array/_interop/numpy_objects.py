"""Public objects of NumPy that are neither functions of values nor handed on as they are, for arrays of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.view import View
from uopc_array._functions.host import call_host, from_host
from uopc_array._functions.public import FUNCTIONS
from uopc_array._functions.ufunc import HostUfunc

__all__ = ["OBJECTS"]

NumPyArray = np.ndarray[Any, Any]


def _bounds(x: Any) -> tuple[Any, Any, Any]:
    return x.start, x.stop, x.step


class Grid:
    """``r_``, ``c_``, ``mgrid`` and ``ogrid``: NumPy's, with arrays of ours in the key and in the result."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.__doc__ = getattr(np, name).__doc__

    def __getitem__(self, key: Any) -> Any:
        several = isinstance(key, tuple)
        items = list(cast("tuple[Any, ...]", key)) if several else [key]
        bounds = [_bounds(x) if isinstance(x, slice) else x for x in items]

        def read(*given: Any) -> Any:
            parts = [slice(*y) if isinstance(x, slice) else y for x, y in zip(items, given, strict=True)]
            return getattr(np, self._name)[tuple(parts) if several else parts[0]]

        return call_host(f"numpy.{self._name}", read, tuple(bounds), {})

    def __repr__(self) -> str:
        return f"uopc_array.{self._name}"


class _EveryArray(type):
    """Of a class of which all arrays are instances."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Array)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, Array)


class ndarray(Array, metaclass=_EveryArray):
    """The class of all arrays, as `numpy.ndarray`; a call makes one whose values are whatever, or those of `buffer`.

    Args:
        shape: extents, an int or a sequence of them.
        dtype: dtype wanted.
        buffer: memory that is shared; offset and strides, in bytes, say where the elements lie in it.
        order: "C" or "F", how elements lie in `buffer` without strides.
    Raises:
        TypeError, ValueError: as `numpy.ndarray` raises them; or the elements lie in `buffer` in another order than C.
    """

    __slots__ = ()

    def __new__(
        cls, shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
    ) -> Any:
        if buffer is None:
            return FUNCTIONS["empty"](shape, dtype=dtype)
        memory: NumPyArray = np.ndarray(shape, dtype, buffer, offset, strides, order)
        return FUNCTIONS["asarray"](memory, copy=False)


class vectorize(np.vectorize):  # pyright: ignore[reportIncompatibleVariableOverride]
    """`numpy.vectorize` with arrays of this package as operands and results: a loop in Python, computed at once."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_host("numpy.vectorize", super().__call__, args, kwargs)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **kwargs: Any) -> HostUfunc:
    """A ufunc of a function of Python: a loop over the elements, computed at once.

    Args:
        func: takes `nin` numbers, gives `nout`.
        nin: how many operands.
        nout: how many results.
        identity: what `reduce` of nothing gives.
    Returns:
        a `ufunc`, with its attributes and methods. What NumPy gives as arrays of objects are arrays of ours, where the
        objects are numbers.
    Raises:
        GradientError: when it is called with what is under differentiation.
        TraceError: when it is called in a trace.
    Example:
        >>> import math
        >>> import uopc_array as xp
        >>> gcd = xp.frompyfunc(math.gcd, 2, 1)
        >>> gcd(xp.arange(1, 5), 6)
        Array([1, 2, 3, 2], dtype=int64)
        >>> gcd.reduce(xp.asarray([12, 18])), gcd.nin
        (6, 2)
    """
    numpys = np.frompyfunc(func, nin, nout, **kwargs)
    return HostUfunc(numpys.__name__, numpys, numpys.__doc__ or "")


def nditer(op: Any, flags: Any = (), op_flags: Any = None, *args: Any, **kwargs: Any) -> np.nditer:
    """`numpy.nditer` over the values of arrays.

    Raises:
        TypeError: an array of this package is to be written to, which the iterator could not do.
    """
    operands = cast("Sequence[Any]", op) if isinstance(op, list | tuple) else [op]
    written = {"readwrite", "writeonly"} & {flag for flags in op_flags or () for flag in np.atleast_1d(flags).tolist()}
    if written and any(isinstance(x, Array) for x in operands):
        raise TypeError(
            f"nditer: it cannot write to arrays of uopc_array, got op_flags={op_flags}; assign to x[...] as a whole, "
            "or iterate over x.to_numpy() and make an array of that"
        )
    values = [x.to_numpy() if isinstance(x, Array) else x for x in operands]
    return np.nditer(values if isinstance(op, list | tuple) else values[0], flags, op_flags, *args, **kwargs)


def isscalar(element: Any) -> bool:
    """Whether it is a number or a string: one of Python's, of NumPy's, or what is a number here.

    Example:
        >>> import uopc_array as xp
        >>> xp.isscalar(xp.sum(xp.ones(3))), xp.isscalar(xp.ones(()))
        (True, False)
    """
    return element._is_number if isinstance(element, Array) else bool(np.isscalar(element))


# --------------------------------------------------------------------------------------------------- memory


class _Extent:
    """Where an array would lie in a memory that starts at a fixed address: for comparisons of addresses only."""

    def __init__(self, layout: NumPyArray) -> None:
        start = layout
        while start.base is not None:
            start = start.base
        interface = dict(layout.__array_interface__)
        offset = interface["data"][0] - start.__array_interface__["data"][0]
        self.__array_interface__ = {**interface, "data": (_SOME_ADDRESS + offset, True)}


_SOME_ADDRESS = 1 << 40  # so that negative offsets are addresses too; nothing is read there


def _compared(by: Callable[..., bool], a: Any, b: Any, limit: Any) -> bool:
    """`by` of what stands for the memory of `a` and `b`; arrays of ours share it where they are views of one array."""
    if isinstance(a, Array) and isinstance(b, Array):
        if _owner(a) is not _owner(b):
            return False
        scattered = [isinstance(x._alias, View) and x._alias.is_scattered() for x in (a, b)]
        return any(scattered) or by(*[np.asarray(_Extent(x._layout())) for x in (a, b)], limit)
    return by(*[_lent(x) if isinstance(x, Array) else x for x in (a, b)], limit)


def _owner(x: Array) -> object:
    return x._alias.base if isinstance(x._alias, View) else x


def _lent(x: Array) -> NumPyArray:
    """The memory of an array that holds a value, which may be NumPy's own; else memory that nobody else has."""
    node = x._uop
    return np.empty(0) if node.realized is None else node.realized.array


def shares_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Whether what is written to one of two arrays can be seen in the other: whether they have an element in common.

    Args:
        a, b: arrays of this package or of NumPy.
        max_work: see `numpy.shares_memory`.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.zeros(4)
        >>> xp.shares_memory(x, x[1:]), xp.shares_memory(x[::2], x[1::2]), xp.shares_memory(x, x + 0)
        (True, False, False)
    """
    return _compared(np.shares_memory, a, b, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: int | None = 0) -> bool:
    """Whether the spans of memory of two arrays overlap; see `shares_memory`."""
    return _compared(np.may_share_memory, a, b, max_work)


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True) -> Any:
    """The values of ``numpy.lib.stride_tricks.as_strided``, as an array of its own.

    Raises:
        ValueError: elements that lie outside of the memory of ``x``.
    """

    def read(values: Any, shape: Any, strides: Any) -> NumPyArray:
        values = np.ascontiguousarray(values)
        view = np.lib.stride_tricks.as_strided(values, shape, strides)
        low, high = np.lib.array_utils.byte_bounds(view)
        first, last = np.lib.array_utils.byte_bounds(values)
        if view.size and (low < first or high > last):
            raise ValueError(
                f"as_strided: shape {view.shape} with strides {view.strides} leaves the {values.nbytes} bytes of an "
                f"array of shape {values.shape}"
            )
        return view.copy()

    return call_host("numpy.lib.stride_tricks.as_strided", read, (x, shape, strides), {})


def isfortran(a: Any) -> bool:
    """Whether elements would lie in columns, as in a transposed array."""
    if not isinstance(a, Array):
        return bool(np.isfortran(a))
    flags = a._layout().flags
    return flags.f_contiguous and not flags.c_contiguous


# --------------------------------------------------------------------------------------------------- files


class Archive(Mapping[str, Any]):
    """The arrays of an ``.npz`` file by name, read when they are asked for."""

    def __init__(self, file: Any) -> None:
        self._file = file

    @property
    def files(self) -> list[str]:
        return list(self._file.files)

    def __getitem__(self, key: str) -> Any:
        return from_host(self._file[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __len__(self) -> int:
        return len(self._file)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in a ``.npy`` file, or the arrays in an ``.npz`` file by name; the arguments are those of `numpy.load`.

    With ``mmap_mode`` it is NumPy's memory map: its values are read when they are computed with.
    """
    found = call_host("numpy.load", np.load, (file, *args), kwargs)
    return Archive(found) if isinstance(found, np.lib.npyio.NpzFile) else found


OBJECTS: dict[str, Any] = {
    "frompyfunc": frompyfunc,
    "isfortran": isfortran,
    "isscalar": isscalar,
    "lib.stride_tricks.as_strided": as_strided,
    "load": load,
    "may_share_memory": may_share_memory,
    "ndarray": ndarray,
    "nditer": nditer,
    "shares_memory": shares_memory,
    "vectorize": vectorize,
    **{name: Grid(name) for name in ("c_", "mgrid", "ogrid", "r_")},
}
