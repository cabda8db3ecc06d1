"""What operators on small arrays give, for a process with the operators in C and for one without; see
tests/array/test_operators_in_c.py. Run as a program it prints all outcomes, a line each.
"""

import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

if "--without-c" in sys.argv:
    sys.modules["uopc_array._array.at_once_c"] = None  # type: ignore[assignment]  # so that an import fails

import numpy as np

import uopc_array as xp
from uopc_array._array.extension import IN_C

DTYPES = ["bool", "int8", "int64", "uint64", "float32", "float64", "complex128"]
BINARY: list[Any] = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.matmul, divmod),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(xp.add, xp.arctan2, xp.dot, xp.inner, xp.vdot, xp.matmul, np.add, np.floor_divide, np.greater, np.matmul),
]
IN_PLACE: list[Any] = [
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod),
    *(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift, operator.ipow, operator.imatmul),
]
UNARY: list[Any] = [
    *(operator.neg, operator.pos, operator.abs, operator.invert, bool, int, float, complex, operator.index, len),
    *(list, round, hash, np.exp, np.negative, xp.sqrt, xp.exp, xp.floor, xp.sum, xp.argmax, xp.sort, xp.concat),
    *(lambda x: x.T, lambda x: x.reshape(-1), lambda x: x.reshape((1, -1)), lambda x: xp.flip(x), lambda x: x.real),
    *(lambda x: xp.sum(x, axis=0), lambda x: xp.sum(x, axis=-1, keepdims=True), lambda x: x.astype("float32")),
    *(lambda x: xp.stack([x, x]), lambda x: xp.concat([x, x], axis=0), lambda x: xp.zeros_like(x)),
]
KEYS: list[Any] = [
    *(0, -1, 5, True, None, ..., slice(None), slice(1, None), slice(None, None, -1), slice(0, 0), slice(2, 9, 2), ()),
    *((0, 1), (1, 2, 0), (slice(1), 0), (..., 0), (None, 1), ([0, 1],), [1, 0], [True, False], (slice(None), [0])),
    *("a", 1.5, np.int64(1), np.uint8(0), np.array([1, 0]), np.array(1), np.array([True, False]), slice("a", 2)),
    *((0, (1, 0)), slice(np.int64(0), np.int64(2)), slice(0.5, 2), 2**80, (2**80, 0), slice(-(2**80), 2**80)),
]


def operands() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Makers of arrays, numbers and views of every dtype, with their names."""
    for dtype in DTYPES:
        values = (np.arange(6).reshape(2, 3) % 4).astype(dtype)
        yield f"{dtype} vector", lambda values=values: xp.asarray(values[1])
        if dtype not in ("int8", "uint64", "float32"):
            yield f"{dtype} matrix", lambda values=values: xp.asarray(values)
            yield f"{dtype} number", lambda values=values: xp.asarray(values)[1, 0]
            yield f"{dtype} of no axes", lambda values=values: xp.asarray(values[1, 0])
    yield "view", lambda: xp.asarray(np.arange(12.0).reshape(4, 3))[1:3]
    yield "column", lambda: xp.asarray(np.arange(12.0).reshape(3, 4))[:, 1]
    yield "turned", lambda: xp.asarray(np.arange(6.0).reshape(3, 2)).T
    yield "view of a view", lambda: xp.asarray(np.arange(24.0).reshape(2, 4, 3))[1][::2]
    yield "stale view", _stale
    yield "read-only", lambda: xp.broadcast_to(xp.asarray([1.0, 2.0, 3.0]), (2, 3))
    yield "on a node", _on_a_node
    yield "empty", lambda: xp.zeros((0, 3))
    yield "special", lambda: xp.asarray([np.nan, np.inf, -0.0])
    yield "600 elements", lambda: xp.asarray(np.arange(600.0))
    yield "40000 elements", lambda: xp.asarray(np.arange(40000.0))
    yield "200 rows", lambda: xp.asarray(np.arange(600.0).reshape(200, 3))
    yield "600 rows", lambda: xp.asarray(np.arange(600.0).reshape(600, 1))


def _stale() -> Any:
    base = xp.asarray(np.arange(6.0))
    view = base[1:4]
    base._uop  # from here on the base has a node
    base[2] = 7.0
    return view


def _on_a_node() -> Any:
    x = xp.asarray([1.0, 2.0, 3.0])
    x._uop
    return x


OTHERS: list[Any] = [
    *(0, 1, 2, -3, 2**40, 2**70, 0.5, float("nan"), True, 1j, None, "a", [1.0, 2.0, 3.0], (1, 2, 3), {}),
    *(np.float32(2), np.int8(3), np.int64(3), np.bool_(True), np.complex128(1j), np.arange(3.0), np.arange(3)),
    *(np.array(2.0), np.float64(2.5)),
    *(np.array(["a", "b", "c"]), np.float16(1), np.arange(3).astype(">i4"), np.longdouble(1)),
    *(np.array([True, False, True]), np.arange(6.0)[::2], np.arange(3, dtype="q"), np.full(3, -np.inf), float("inf")),
]


def outcome(f: Callable[[], Any]) -> str:
    """What `f` gives, to the bit, or what it raises."""
    try:
        return _text(f())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _text(x: Any) -> str:
    if isinstance(x, tuple | list):
        return f"{type(x).__name__}({', '.join(map(_text, x))})"
    if isinstance(x, xp.Array):
        kind = "number" if x._is_number else "array" if x._is_writable else "read-only array"
        return f"{kind} {x.dtype} {x.shape} {np.asarray(x).tobytes().hex()[:4000]}"
    return f"{type(x).__name__} {x!r:.200}"


def outcomes() -> Iterator[str]:
    """A line each: what was computed, and what came out; of what becomes a program, at its third time too."""
    makers = list(operands())
    for name, make in makers:
        for i, f in enumerate(UNARY):
            for _ in range(3):
                yield f"unary {i} {name}: {outcome(lambda: f(make()))}"
        yield from _outcomes_of_items(name, make)
        yield f"deletion {name}: {outcome(lambda: operator.delitem(make(), 0))}"
        for i, f in enumerate((*BINARY, *IN_PLACE)):
            for j, other in enumerate(OTHERS[: 3 if "00" in name else None]):
                yield f"{i} {name} {j}: {outcome(lambda: f(make(), other))}"
                yield f"{i} {j} {name}: {outcome(lambda: f(other, make()))}"
    for name, make in makers[1::5]:
        for theirs, make_other in makers:
            for i, f in enumerate((*BINARY, *IN_PLACE)):
                for _ in range(3 if i in (12, *range(20, 30)) else 1):
                    yield f"{i} {name}, {theirs}: {outcome(lambda: f(make(), make_other()))}"


def _outcomes_of_items(name: str, make: Callable[[], Any]) -> Iterator[str]:
    for i, key in enumerate(KEYS):
        yield f"item {i} {name}: {outcome(lambda: make()[key])}"
        yield f"item of a known key {i} {name}: {outcome(lambda: make()[_known(key)])}"
        for value in (3, 2.5, True, 1j, "a", None, xp.asarray(2.0), xp.asarray([1, 2, 3]), np.arange(3.0)):
            yield f"store {i} {name}: {outcome(lambda: _stored(make(), key, value))}"


def _known(key: Any) -> Any:
    """The key with arrays of ours for its integers and lists."""
    if type(key) is tuple:
        return tuple([_known(item) for item in key])
    if type(key) is slice:
        return slice(_known(key.start), _known(key.stop), _known(key.step))
    return xp.asarray(key) if isinstance(key, int | list | np.ndarray | np.integer) and key != 2**80 else key


def _stored(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


if __name__ == "__main__":
    assert (IN_C is None) == ("--without-c" in sys.argv)
    with np.errstate(all="ignore"):
        for line in outcomes():
            print(line)
