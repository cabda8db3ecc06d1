"""Threads that write to different parts of one array: kinds of parts, kinds of writes, and what NumPy makes of the same
writes one after another.

A part is a set of elements, and the ways to it: a view, or a key. A write changes every element of its part, and no
other, so a write that is lost shows in the elements of its part.
"""

import itertools
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import uopc_array as xp

__all__ = ["KINDS", "Kind", "Round", "kinds", "run_together", "switching_often", "writes_to"]

PARTS = 24
NARROW, WIDE = 12, 3000  # elements of a part; NumPy lets go of the lock of the interpreter while it stores many
SWITCH_S = 1e-6


@dataclass(frozen=True)
class Kind:
    """How the elements are divided into PARTS parts.

    Attributes:
        shape: of the array.
        view: part number k as a view of the array, where it is one.
        key: part number k as a key.
        dtype: of the array.
    """

    shape: tuple[int, ...]
    view: Callable[[Any, int], Any] | None
    key: Callable[[int], Any] | None = None
    dtype: str = "float64"


def kinds(width: int) -> dict[str, Kind]:
    """All kinds, with parts of `width` elements, a multiple of 12."""
    numbers = np.arange(PARTS * width).reshape(PARTS, width)
    whole = (PARTS, width)

    def tile(k: int) -> Any:
        i, j, n = *divmod(k, 4), width // 4
        return slice(4 * i, 4 * i + 4), slice(n * j, n * j + n)

    # fmt: off
    return {
        "rows":            Kind(whole, lambda o, k: o[k], lambda k: k),
        "columns":         Kind((width, PARTS), lambda o, k: o[:, k], lambda k: (slice(None), k)),
        "tiles":           Kind(whole, lambda o, k: o[tile(k)], tile),
        "steps":           Kind((PARTS * width,), lambda o, k: o[k::PARTS], lambda k: slice(k, None, PARTS)),
        "backwards":       Kind(whole, lambda o, k: o[k, ::-1], lambda k: (k, slice(None, None, -1))),
        "elements":        Kind((PARTS,), lambda o, k: o[k, ...], lambda k: k),
        "masks":           Kind(whole, None, lambda k: numbers % PARTS == k),
        "masks of rows":   Kind(whole, None, lambda k: np.arange(PARTS) == k),
        "index arrays":    Kind(whole, None, lambda k: (np.full(width, k), np.arange(width))),
        "a list":          Kind(whole, None, lambda k: [k]),
        "reshaped":        Kind(whole, lambda o, k: o.reshape(-1)[k * width : (k + 1) * width]),
        "transposed":      Kind(whole, lambda o, k: o.T[:, k]),
        "flipped":         Kind(whole, lambda o, k: o[::-1, ::-1][k]),
        "folded":          Kind(whole, lambda o, k: o.T.reshape(width, PARTS // 4, 4)[:, k // 4, k % 4]),
        "views of views":  Kind((PARTS + 4, width + 3), lambda o, k: o[2:-2, 1:][:, 2:][k]),
        "real parts":      Kind(whole, lambda o, k: o.real[k], dtype="complex128"),
        "imaginary parts": Kind(whole, lambda o, k: o[k].imag, dtype="complex128"),
        "integers":        Kind(whole, lambda o, k: o[k], lambda k: k, dtype="int32"),
    }
    # fmt: on


KINDS = kinds(NARROW)

Write = Callable[[Any, Any, Kind, int, int], None]  # (namespace, array, kind, number of the part, number to write)


def _values(ns: Any, kind: Kind, o: Any, k: int, number: int) -> Any:
    """An array for the part, another number in each element."""
    whole = np.zeros(kind.shape)
    part = whole[kind.key(k)] if kind.key is not None else _view(kind, whole, k)
    return ns.asarray((number + np.arange(part.size).reshape(part.shape)).astype(_real(kind)))


def _real(kind: Kind) -> str:
    return "float64" if kind.dtype == "complex128" else kind.dtype


def _view(kind: Kind, o: Any, k: int) -> Any:
    assert kind.view is not None
    return kind.view(o, k)


def _assign_number(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    if kind.key is None:
        _view(kind, o, k)[...] = number
    else:
        o[kind.key(k)] = number


def _assign_values(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    values = _values(ns, kind, o, k, number)
    if kind.key is None:
        _view(kind, o, k)[...] = values
    else:
        o[kind.key(k)] = values * 2


def _assign_one_by_one(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    for i in itertools.islice(np.ndindex(view.shape), NARROW):
        view[i] = number + sum(i)


def _augment(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    if kind.key is None:
        view = _view(kind, o, k)
        view += number
    else:
        o[kind.key(k)] += number


def _augment_by_values(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    view *= 2
    view -= _values(ns, kind, o, k, number)


def _out(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    np.subtract(_values(ns, kind, o, k, number), view, out=view)


def _out_of_method(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    (view + _values(ns, kind, o, k, number)).clip(-100, 10_000, out=view)


def _fill(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    _view(kind, o, k).fill(number)


def _copyto(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    np.copyto(_view(kind, o, k), _values(ns, kind, o, k, number))


def _sort(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    view[...] = -_values(ns, kind, o, k, number)
    if view.ndim:
        view.sort()


def _nan_to_num(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    if kind.dtype == "float64":
        _view(kind, o, k)[...] = np.nan
        ns.nan_to_num(_view(kind, o, k), copy=False, nan=number)


def _put(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    view.put(np.arange(view.size), number)


def _flat(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    view.flat[: view.size] = number


def _fill_diagonal(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    view = _view(kind, o, k)
    if view.ndim == 1:
        square = view[:9].reshape(3, 3) if kind.view is not None else view
        np.fill_diagonal(square, number)


def _whole_mask(kind: Kind, k: int) -> Any:
    mask = np.zeros(kind.shape, bool)
    if kind.key is not None:
        mask[kind.key(k)] = True
    elif kind.dtype != "complex128":
        _view(kind, mask, k)[...] = True
    return mask


def _copyto_where(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    np.copyto(o, number, where=ns.asarray(_whole_mask(kind, k)))


def _out_where(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    np.add(o, number, out=o, where=ns.asarray(_whole_mask(kind, k)))


def _putmask(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    np.putmask(o, ns.asarray(_whole_mask(kind, k)), number)


def _place(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    mask = _whole_mask(kind, k)
    if mask.any():
        np.place(o, ns.asarray(mask), [number])


def _put_flat(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    places = np.flatnonzero(_whole_mask(kind, k))
    if places.size:
        np.put(o, places, number)


def _put_along_axis(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    mask = _whole_mask(kind, k)
    if mask.ndim == 2 and mask.shape[0] == PARTS and mask[k].all():
        np.put_along_axis(o, ns.asarray(np.full((1, mask.shape[1]), k)), number, 0)


def _at(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    places = np.nonzero(_whole_mask(kind, k))
    np.add.at(o, tuple(map(ns.asarray, places)), number)


def _traced(ns: Any, o: Any, kind: Kind, k: int, number: int) -> None:
    function = _step if ns is np else _JITTED
    function(o, ns.asarray(_whole_mask(kind, k)), number)


def _step(o: Any, mask: Any, number: Any) -> None:
    o += mask * number


_JITTED = xp.jit(_step)

ANYWHERE: dict[str, Write] = {
    "number": _assign_number,
    "values": _assign_values,
    "+=": _augment,
    "copyto where": _copyto_where,
    "out where": _out_where,
    "putmask": _putmask,
    "place": _place,
    "put flat": _put_flat,
    "put along axis": _put_along_axis,
    "at": _at,
    "jit": _traced,
}
IN_VIEWS: dict[str, Write] = {
    "one by one": _assign_one_by_one,
    "*= and -=": _augment_by_values,
    "out": _out,
    "out of a method": _out_of_method,
    "fill": _fill,
    "copyto": _copyto,
    "sort": _sort,
    "nan_to_num": _nan_to_num,
    "put": _put,
    "flat": _flat,
    "fill_diagonal": _fill_diagonal,
}


def writes_to(kind: Kind) -> list[Write]:
    """The writes that there are to parts of this kind."""
    return [*ANYWHERE.values(), *(IN_VIEWS.values() if kind.view is not None else ())]


class Round:
    """Writes to the parts of one array, some for each thread, drawn by a number."""

    def __init__(self, seed: int, kind: Kind, writes: Sequence[Write], per_part: int = 2) -> None:
        self.name = f"round {seed} of {kind}"
        rng = random.Random(seed)
        self.kind = kind
        self.start = (np.arange(np.prod(kind.shape)) % 17).reshape(kind.shape).astype(kind.dtype)
        self.orders = [(k, [(rng.choice(writes), rng.randrange(100)) for _ in range(per_part)]) for k in range(PARTS)]
        rng.shuffle(self.orders)
        self.n_threads = rng.choice([2, 3, 4, 8, 16])
        self.first_views = rng.random() < 0.5

    def expected(self) -> Any:
        """What NumPy has after all writes, one after another."""
        o = self.start.copy()
        for k, writes in self.orders:
            for write, number in writes:
                write(np, o, self.kind, k, number)
        return o

    def run(self) -> Any:
        """What an array of ours has after the threads have written."""
        o = xp.asarray(self.start)
        views = [_view(self.kind, o, k) for k in range(PARTS)] if self.first_views and self.kind.view else []

        def work(number: int) -> None:
            for k, writes in self.orders[number :: self.n_threads]:
                for write, value in writes:
                    write(xp, o, self.kind, k, value)

        run_together([lambda i=i: work(i) for i in range(self.n_threads)])
        found = np.asarray(o)
        for k, view in enumerate(views):
            assert np.array_equal(np.asarray(view), _view(self.kind, found, k)), f"{self.name}: a view does not follow"
        return found

    def check(self) -> int:
        """Run it, and compare; the number of writes."""
        np.testing.assert_array_equal(self.run(), self.expected(), self.name)
        return sum(len(writes) for _, writes in self.orders)


def run_together(work: Sequence[Callable[[], None]]) -> None:
    """Run functions in threads that begin at one time; the first error is raised here."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(work))

    def run(function: Callable[[], None]) -> None:
        try:
            barrier.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@contextmanager
def switching_often() -> Iterator[None]:
    """Threads take turns as often as the interpreter can have them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
