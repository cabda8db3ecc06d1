"""What Python and other libraries ask of an array: conversion to numbers, iteration, copies, pickling, exchange.

What leaves without a copy is read-only; `numpy.asarray` of an array gives a fresh writable copy, since its callers
write into it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from types import ModuleType
from typing import Any, Self, cast

import numpy as np

from uopc_array._array.at_once import REAL_SCALARS, converted_at_once, known
from uopc_array._array.extension import IN_C
from uopc_array._array.handle import Handle
from uopc_array._array.nodes import node_from_numpy
from uopc_array._array.realize import pending_bytes, read_only_view
from uopc_array._array.text import describe, format_array
from uopc_array._array.tracing import refuse_exit, trace_error
from uopc_core import TRACED, Ops, Scalar, name_of
from uopc_core.errors import shortened

__all__ = ["API_VERSIONS", "Protocols", "connect", "rebuild"]

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
_CPU = (1, 0)  # DLPack's kDLCPU, device 0

_KEY_REMEDY = (
    "look a value up with xp.take or x[i] instead of in a dict, mark the argument static (static_argnums), "
    "or move this line out of the jitted function"
)

_NUMBER_REMEDY = (
    "use the functions of uopc_array on the array itself (xp.sin(x) for math.sin(x); bool, int, comparisons and print "
    "are free)"
)
_BUFFER_REMEDY = (
    "compiled functions of NumPy and SciPy cannot be followed, nor buffers of NumPy: fill xp.zeros(n) instead of "
    "np.zeros(n), take xp.stack([...]), xp.full or xp.concat for np.array([...]), np.full or np.r_, and the functions "
    "of uopc_array for those of SciPy"
)

NumPyArray = np.ndarray[Any, Any]


class _Above:
    """What stands above the arrays and takes part in what they are asked."""

    namespace: ModuleType
    ufunc: Callable[..., Any]
    function: Callable[..., Any]


def connect(
    namespace: ModuleType, ufunc: Callable[..., Any], function: Callable[..., Any], routes: dict[Any, Any]
) -> None:
    """Say what `__array_namespace__` gives, what calls of NumPy's functions come to, and what of ours takes the call of
    each; the package does, once.
    """
    _Above.namespace, _Above.ufunc, _Above.function = namespace, ufunc, function
    if IN_C is not None:
        IN_C.connect_ufuncs(np, routes, Protocols.__array_ufunc__)


def rebuild(cls: type[Protocols], values: NumPyArray | np.generic) -> Protocols:
    """The array that was pickled as these values, or the number."""
    node = node_from_numpy(values)
    return cls._from_uop(node) if isinstance(values, np.generic) else cls._array_from_uop(node)


def _one_element(x: Protocols, what: str) -> Any:
    """The only element, as a Python scalar."""
    value = known(x)
    if value is not None and value.size == 1:
        return value.item()
    uop = x._uop
    if uop.op is Ops.CONST:
        return uop.arg
    if uop.size != 1:
        raise TypeError(
            f"{what}: expected an array of one element, got shape {uop.shape}; use any(), all() or an index"
        )
    try:
        return x._memory(what).array.item()
    except Exception as error:
        raise shortened(error) from None


def _values(x: Protocols, what: str) -> NumPyArray:
    """The values, to be read only."""
    value = known(x)
    return x._memory(what).array if value is None else np.asarray(value)


def _refuse_exit(x: Protocols, what: str, remedy: str) -> None:
    """See `refuse_exit`; what is known already no derivative depends on."""
    if x._value is None:
        refuse_exit(what, x._uop, remedy)


class Protocols(Handle):
    """The protocol methods of `Array`."""

    __slots__ = ()
    __array_priority__ = 1000.0

    # --- numbers ---

    def __bool__(self) -> bool:
        value = self._value
        if value is not None and self._own_alias is None and not value.ndim:
            return bool(value)
        value = known(self)
        if value is not None and value.size == 1:
            return bool(value)
        if self._uop.size != 1:
            raise ValueError(
                f"bool: the truth of an array of shape {self._uop.shape} is ambiguous; use xp.any(x) or xp.all(x)"
            )
        return bool(_one_element(self, "bool"))

    def __int__(self) -> int:
        value = self._value
        if type(value) in REAL_SCALARS:
            return int(value)
        return int(_one_element(self, "int"))

    def __float__(self) -> float:
        value = self._value
        if type(value) in REAL_SCALARS:
            return float(value)
        _refuse_exit(self, "float", _NUMBER_REMEDY)
        return float(_one_element(self, "float"))

    def __complex__(self) -> complex:
        _refuse_exit(self, "complex", _NUMBER_REMEDY)
        value = complex(_one_element(self, "complex"))
        # a real nan has nan for its imaginary part, so the standard has it
        return value if self.dtype.kind == "c" or value == value else complex(value.real, value.real)

    def __hash__(self) -> int:
        """The hash of a number is that of the equal number of Python; its value is computed.

        Raises:
            TypeError: this is an array, of which there is no hash.
        """
        if not self._is_number:
            raise TypeError(
                f"unhashable type: an array of shape {self._uop.shape} may change; "
                "take x.item() or tuple(x.ravel().tolist()) for a key"
            )
        if self._value is None and self._uop.flags & TRACED:
            raise trace_error("hash, as of a key of a dict,", self._uop, _KEY_REMEDY)
        value = _one_element(self, "hash")
        return hash(value) if value == value else object.__hash__(self)  # every nan is a key of its own

    def __index__(self) -> int:
        value = self._value
        if isinstance(value, np.integer):
            return int(cast("int", value))
        if self.dtype.kind not in "iu" or self.shape:
            raise TypeError(
                f"index: only a 0-d integer array is an index, got shape {self._uop.shape}, "
                f"{name_of(self._uop.dtype)}; convert it with int(x)"
            )
        return int(_one_element(self, "index"))

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is not None:
            _refuse_exit(self, "round", _NUMBER_REMEDY)
        return round(_one_element(self, "round"), ndigits)

    def __trunc__(self) -> int:
        return math.trunc(_one_element(self, "trunc"))

    def __format__(self, spec: str) -> str:
        if not spec or (self._value is None and self._uop.flags & TRACED):
            return str(self)
        if self.shape:
            raise TypeError(f"format: {spec!r} needs an array of one element, got shape {self.shape}")
        return format(_one_element(self, "format"), spec)

    def item(self, *args: Any) -> Scalar:
        """One element as a Python scalar: the only one, or the one at these indices (or this flat index)."""
        _refuse_exit(self, "item", _NUMBER_REMEDY)
        values = _values(self, "item")
        try:
            return values.item(*args)
        except (TypeError, ValueError, IndexError) as error:
            if args:
                raise shortened(error, "item") from None
            raise ValueError(
                f"item: expected an array of one element, got shape {self._uop.shape}; pass an index, or use tolist()"
            ) from None

    def tolist(self) -> Any:
        """The values as nested lists of Python scalars."""
        _refuse_exit(self, "tolist", _NUMBER_REMEDY)
        return _values(self, "tolist").tolist()

    # --- containers ---

    def __sizeof__(self) -> int:
        """Bytes of the object and its elements; of a value not computed yet, of the arrays that it waits to read if
        those are more. The elements of a view are counted as if it owned them.
        """
        return object.__sizeof__(self) + max(self._node.size * self._node.dtype.itemsize, pending_bytes(self._node))

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len: a 0-d array has no length; x.size is 1")
        return shape[0]

    def __iter__(self) -> Iterator[Self]:
        shape = self.shape
        if not shape:
            raise TypeError("iter: a 0-d array has no axis to iterate over; take x.item(), or x.reshape(-1) for one")
        return map(self.__getitem__, range(shape[0]))

    def __getitem__(self, key: Any, /) -> Self:
        raise NotImplementedError

    def __contains__(self, value: object) -> bool:
        return bool(np.any(_values(self, "in") == value))

    # --- text ---

    def __repr__(self) -> str:
        if self._value is None and self._uop.flags & TRACED:
            return describe(self._uop)
        return format_array(_values(self, "repr"))

    def __str__(self) -> str:
        if self._value is None and self._uop.flags & TRACED:
            return describe(self._uop)
        return str(_values(self, "str"))

    # --- copies ---

    def __copy__(self) -> Self:
        copied = converted_at_once(self)
        return self._same_kind(self._uop, self._weak) if copied is None else copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = converted_at_once(self)
        return self._same_kind(self._uop, self._weak) if copied is None else copied

    def __reduce__(self) -> Any:
        _refuse_exit(self, "pickle", _BUFFER_REMEDY)
        values = _values(self, "pickle")
        return rebuild, (type(self), values[()] if self._is_number else values)

    # --- exchange ---

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        if api_version is not None and api_version not in API_VERSIONS:
            raise ValueError(
                f"__array_namespace__: expected None or one of {', '.join(API_VERSIONS)}, got {api_version!r}"
            )
        return _Above.namespace

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumPyArray:
        known_value = known(self)
        if known_value is not None and copy is not False:
            return np.array(known_value, dtype, order="C")
        _refuse_exit(self, "conversion to a NumPy array", _BUFFER_REMEDY)
        values = _values(self, "conversion to a NumPy array")
        if copy is False:
            if dtype is not None and np.dtype(dtype) != values.dtype:
                raise ValueError(
                    f"__array__: {name_of(values.dtype)} cannot become {dtype} without a copy; leave copy=False out"
                )
            return self.to_numpy(copy=False)
        return values.astype(values.dtype if dtype is None else dtype, order="C", copy=True)

    def to_numpy(self, *, copy: bool = True) -> NumPyArray:
        """The values as a NumPy array: one's own, or with ``copy=False`` a read-only view of this array's memory."""
        value = known(self) if copy else None
        if value is not None:
            return np.array(value, order="C")
        _refuse_exit(self, "to_numpy", _BUFFER_REMEDY)
        memory = self._memory("to_numpy")
        return np.array(memory.array) if copy else read_only_view(memory)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _Above.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Collection[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return _Above.function(function, types, args, kwargs)

    # There is no __buffer__: where Python has it, NumPy would ask it before __array__, and `np.asarray(x)` would be
    # read-only, or a copy where memory is to be shared. `memoryview(x.to_numpy(copy=False))` is the way to memory.

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the values; of the memory itself where the consumer can be told that it is read-only.

        A consumer of the protocol before 1.0 that insists on ``copy=False`` gets the memory too and must not write.
        """
        if stream is not None:
            raise ValueError(f"__dlpack__: expected stream=None for memory of the CPU, got {stream!r}")
        if dl_device is not None and tuple(dl_device) != _CPU:
            raise BufferError(f"__dlpack__: expected dl_device None or {_CPU}, got {dl_device}")
        knows_read_only = max_version is not None and tuple(max_version) >= (1, 0)
        _refuse_exit(self, "__dlpack__", _BUFFER_REMEDY)
        if copy is False and not knows_read_only:
            return self._memory("__dlpack__").array.__dlpack__()
        values = self.to_numpy(copy=copy is True or not knows_read_only)
        return values.__dlpack__(max_version=max_version, dl_device=dl_device, copy=None)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Self:
        """This array on `device`; there is only "cpu"."""
        if not isinstance(device, str) or device != "cpu":
            raise ValueError(f'to_device: expected "cpu", got {device!r}')
        if stream is not None:
            raise ValueError(f"to_device: expected stream=None, got {stream!r}")
        return self
