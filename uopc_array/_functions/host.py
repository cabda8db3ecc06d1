"""NumPy's own functions on the values of arrays, for what has no version in the graph, and the log of such calls.

They end laziness, cannot be differentiated, and cannot be traced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, cast, overload

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.at_once import copied_at_once, known
from uopc_array._array.nodes import node_from_numpy
from uopc_array._array.tracing import trace_error, user_line
from uopc_core import DTYPES, TRACED, TRACKED
from uopc_core.errors import GradientError

__all__ = ["HostCall", "HostCalls", "call_host", "from_host", "log_host_calls", "note_host_call", "to_host"]


class HostCall(NamedTuple):
    """A call that NumPy computed on the values of arrays.

    Attributes:
        function: the function, as ``numpy.cov``.
        line: the line of the program that called it.
    """

    function: str
    line: str


class HostCalls(Sequence[HostCall]):
    """The calls that ran on the host since `log_host_calls`, in their order; as text, a line for each kind of them."""

    def __init__(self) -> None:
        self._calls: list[HostCall] = []

    @overload
    def __getitem__(self, index: int) -> HostCall: ...
    @overload
    def __getitem__(self, index: slice) -> list[HostCall]: ...
    def __getitem__(self, index: int | slice) -> HostCall | list[HostCall]:
        return self._calls[index]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[HostCall]:
        return iter(self._calls)

    def __str__(self) -> str:
        if not self._calls:
            return "no call ran on the host"
        kinds = Counter(self._calls).most_common()
        return "\n".join([f"{count} x {call.function}: {call.line}" for call, count in kinds])

    def add(self, call: HostCall) -> None:
        self._calls.append(call)

    def stop(self) -> None:
        """End the record; what is in it stays."""
        if self in _logs:
            _logs.remove(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


_logs: list[HostCalls] = []
_SEQUENCES = tuple, list
_VALUES = np.ndarray, np.generic
_KNOWN_DTYPES = frozenset(DTYPES)


def log_host_calls() -> HostCalls:
    """Record from now on which calls NumPy computes on the values of arrays, because they have no version in the graph.

    Such calls end laziness and take values out of the graph: they are not fused or compiled, have no derivative and no
    place under `jit`.

    Returns:
        the record, a sequence of ``(function, line)``, and as text a line for each of them. It goes on until its
        ``stop()``, or the end of the ``with`` block that it opens.
    Example:
        >>> import uopc_array as xp
        >>> with xp.log_host_calls() as calls:
        ...     bins = xp.bincount(xp.asarray([1, 1, 2]))
        >>> [call.function for call in calls]
        ['numpy.bincount']
    """
    log = HostCalls()
    _logs.append(log)
    return log


def call_host(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`function` of NumPy with arrays of ours among its arguments; arrays among its results become ours.

    Raises:
        GradientError: an argument is under differentiation.
        TraceError: an argument has no value yet.
    """
    given = [to_host(name, x) for x in args]
    options = {key: to_host(name, x) for key, x in kwargs.items()} if kwargs else kwargs
    note_host_call(name)
    return from_host(function(*given, **options))


def note_host_call(name: str) -> None:
    """Tell those who listen that NumPy computes this."""
    if _logs:
        call = HostCall(name, user_line())
        for log in tuple(_logs):
            log.add(call)


def to_host(name: str, x: Any) -> Any:
    """`x` with every array of ours in it, also inside of tuples, lists and dicts, as a NumPy array of its own."""
    if isinstance(x, Array):
        value = known(x)
        if type(value) is np.ndarray:
            return np.array(value, order="C")
        if value is None:
            _refuse_flags(name, x)
        return x.to_numpy()[()] if x._is_number else x.to_numpy()
    if isinstance(x, _SEQUENCES):
        items = [to_host(name, item) for item in cast("tuple[Any, ...]", x)]
        if isinstance(x, list):
            return items
        kind: Any = type(cast("object", x))
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: to_host(name, value) for key, value in cast("dict[Any, Any]", x).items()}
    return x


def _refuse_flags(name: str, x: Array) -> None:
    if x._uop.flags & TRACED:
        raise trace_error(f"{name}, which runs in NumPy,", x._uop, "call it outside of jit")
    if x._uop.flags & TRACKED:
        raise GradientError(
            f"{name}: it runs in NumPy, so there is no derivative of it; "
            "pass xp.stop_gradient(x) if that is meant to be constant"
        )


def from_host(x: Any) -> Any:
    """`x` with every NumPy array and scalar in it, also inside of tuples and lists, as an array of ours.

    What we have no dtype for, and subclasses such as masked arrays, stay NumPy's.
    """
    if isinstance(x, _VALUES):
        values = cast("np.ndarray[Any, Any]", x)
        is_known = values.dtype in _KNOWN_DTYPES or values.dtype in DTYPES
        if not is_known or not (isinstance(x, np.generic) or type(values) is np.ndarray):
            return values
        known = copied_at_once(Array, values)
        if known is not None:
            return known
        node = node_from_numpy(values)
        return Array._from_uop(node) if isinstance(x, np.generic) else Array._array_from_uop(node)
    if isinstance(x, _SEQUENCES):
        items = [from_host(item) for item in cast("tuple[Any, ...]", x)]
        if isinstance(x, list):
            return items
        kind: Any = type(cast("object", x))
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)
    return x
