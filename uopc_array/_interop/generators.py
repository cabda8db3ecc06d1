"""NumPy's generators of random numbers, and its functions on the global one, with results that are arrays of ours.

Who draws is NumPy's, so that a seed gives what it gives there; nothing is drawn while a function is traced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np
from numpy import random as _numpy_random

from uopc_array._array.array import Array
from uopc_array._array.at_once import SMALL
from uopc_array._array.nodes import node_from_numpy
from uopc_array._array.tracing import current_record, user_line
from uopc_array._functions.host import call_host, note_host_call, to_host
from uopc_core import Buffer, UOp, dtypes
from uopc_core.errors import TraceError, shortened

__all__ = ["Generator", "RandomState", "default_rng", "function_named", "public_names"]

_MODULE = "uopc_array.random"  # where all of this is public
_OWN = frozenset({"bytes", "get_state", "seed", "set_state"})  # nothing to convert
_FILLS = frozenset({f"random.Generator.{name}" for name in ("random", "standard_exponential", "standard_normal")})
_DOUBLE = np.float64
_FILLED_DTYPES: dict[Any, Any] = {
    given: dtype for dtype in (dtypes.float32, dtypes.float64) for given in (dtype, dtype.type, dtype.name, dtype.char)
}


def _drawn(name: str, draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `draw` of NumPy gives; an array of ours that is shuffled, or named by `out`, is written to.

    Raises:
        TraceError: inside of `jit` or `vmap`, where it would be drawn once, for all calls.
    """
    record = current_record()
    if record is not None:
        raise TraceError(
            f"{name}: inside {record.transform} it would be drawn when the function is traced, once for all calls; "
            f"draw outside and pass the numbers as an argument. Line: {user_line()}"
        )
    try:
        if name.endswith(".shuffle") and args and isinstance(args[0], Array):
            _shuffled(name, draw, args[0], *args[1:], **kwargs)
            return None
        if name in _FILLS and (filled := _filled(name, draw, args, kwargs)) is not None:
            return filled
        out = kwargs.get("out")
        if not isinstance(out, Array):
            return call_host(name, draw, args, kwargs)
        values = to_host(name, out)
        call_host(name, draw, args, {**kwargs, "out": values})
        out._write(node_from_numpy(values))
    except Exception as error:
        raise shortened(error) from error.__cause__
    return out


def _filled(name: str, draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Array | None:
    """What a function draws that fills memory, in memory of ours at once; None where little is drawn, or by other
    arguments.
    """
    first: dict[str, Any] = dict(zip(("size", "dtype"), args, strict=False))
    given = first | kwargs
    size, wanted = given.pop("size", None), given.pop("dtype", _DOUBLE)
    dtype = _FILLED_DTYPES.get(wanted) if isinstance(wanted, str | type | np.dtype) else None
    shape: tuple[Any, ...] = (size,) if type(size) is not tuple else cast("tuple[Any, ...]", size)
    if dtype is None or not {int}.issuperset(map(type, shape)) or "out" in given:
        return None
    if len(args) > 2 or first.keys() & kwargs.keys() or min(shape, default=0) <= 0 or prod(shape) <= SMALL:
        return None
    note_host_call(name)
    memory = Buffer.empty(shape, dtype)
    draw(dtype=dtype, out=memory.array, **given)
    return Array._from_uop(UOp.buffer(memory))


def _shuffled(name: str, draw: Callable[..., Any], x: Array, *args: Any, **kwargs: Any) -> None:
    x._refuse_write(name)
    values = to_host(name, x)
    call_host(name, draw, (values, *args), kwargs)
    x._write(node_from_numpy(values))


def _method(owner: type, name: str) -> Any:
    """A method of a generator: NumPy's, of a plain one on the same stream, since NumPy's methods call each other."""
    native = getattr(owner, name)
    full = f"random.{owner.__name__}.{name}"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        plain = self.__dict__.get("_plain")
        if plain is None:
            plain = self._plain = owner(self._bit_generator)
        if name in _OWN:
            return native(plain, *args, **kwargs)
        return _drawn(full, functools.partial(native, plain), args, kwargs)

    functools.update_wrapper(method, native)
    method.__qualname__, method.__module__ = f"{owner.__name__}.{name}", _MODULE
    method.__doc__ = f"See `numpy.random.{owner.__name__}.{name}`; what it draws is an array of this package."
    return method


class Generator(_numpy_random.Generator):
    """`numpy.random.Generator` whose draws are arrays of this package; made by `default_rng`.

    Example:
        >>> import uopc_array as xp
        >>> rng = xp.random.default_rng(0)
        >>> rng.random(2)
        Array([0.63696169, 0.26978671], dtype=float64)
    """

    __module__ = _MODULE

    def __reduce__(self) -> Any:
        return Generator, (self.bit_generator,)


class RandomState(_numpy_random.RandomState):
    """`numpy.random.RandomState` whose draws are arrays of this package."""

    __module__ = _MODULE

    def __reduce__(self) -> Any:
        return _state_restored, (self.get_state(legacy=False),)


def _state_restored(state: Any) -> RandomState:
    restored = RandomState(getattr(_numpy_random, state["bit_generator"])())
    restored.set_state(state)
    return restored


for _class in (Generator, RandomState):
    (_base,) = _class.__bases__
    for _name in dir(_base):
        if not _name.startswith("_") and _name not in ("bit_generator", "spawn"):
            setattr(_class, _name, _method(_base, _name))


def default_rng(seed: Any = None) -> Generator:
    """A generator with NumPy's default bit generator, PCG64.

    Args:
        seed: as for `numpy.random.default_rng`: None for one from the operating system, an int or several, a
            ``SeedSequence``, a bit generator, or a generator, whose stream is shared.
    Raises:
        TypeError, ValueError: no seed.
    Example:
        >>> import uopc_array as xp
        >>> rng = xp.random.default_rng(1)
        >>> rng.integers(0, 10, 3)
        Array([4, 5, 7], dtype=int64)
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(_numpy_random.default_rng(to_host("random.default_rng", seed)).bit_generator)


@functools.cache
def function_named(name: str) -> Any:
    """What `numpy.random` has by this name: a function on its global state, whose draws are arrays, or what it is.

    Raises:
        AttributeError: it has none.
    """
    if name.startswith("_") or not hasattr(_numpy_random, name):
        raise AttributeError(f"module {_MODULE!r} has no attribute {name!r}", name=name)
    native = getattr(_numpy_random, name)
    if isinstance(native, type) or not callable(native) or name in _OWN or "bit_generator" in name:
        return native
    full = f"random.{name}"

    def function(*args: Any, **kwargs: Any) -> Any:
        return _drawn(full, native, args, kwargs)

    functools.update_wrapper(function, native)
    function.__module__, function.__qualname__ = _MODULE, name
    function.__doc__ = f"See `numpy.random.{name}`; what it draws is an array of this package."
    return function


default_rng.__module__ = _MODULE


def public_names() -> list[str]:
    """The names of `numpy.random`."""
    return [name for name in dir(_numpy_random) if not name.startswith("_")]
