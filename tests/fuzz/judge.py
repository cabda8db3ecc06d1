"""The verdict on one run: the results of a program against NumPy's, as near as rounding lets two right programs be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tests.fuzz.program import Outcome, Program, quiet, run
from tests.fuzz.rounding import SLACK, noisy_namespace, to_noisy, with_functions

__all__ = ["Failure", "Judge", "Refusal", "same_bits"]

Values = np.ndarray[Any, Any]
HANGING = 0.25  # of the elements
RUNS = (6, 40)  # runs with errors: first a few, and more before a difference counts


@dataclass(frozen=True)
class Failure:
    """`kind` is what a smaller program must show again."""

    kind: str
    message: str


class Refusal(Exception):
    """A program that says nothing in this mode: it is refused, or NumPy has no value to compare with."""


class _NoisyRun:
    """`run` expects a namespace with `asarray`; this one makes arguments that err."""

    def __init__(self, seed: int) -> None:
        self._namespace = noisy_namespace(seed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._namespace, name)

    def asarray(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return to_noisy(np.asarray(x, *args, **kwargs))


class Judge:
    """What NumPy says about a program, and, once it is asked for, how certain that is.

    With `late`, results are what a function returns; with `after`, arguments that were written to are among them.
    """

    def __init__(self, program: Program, arguments: Sequence[Any], after: bool = True, late: bool = False) -> None:
        self._program, self._arguments, self._late = program, arguments, late
        with quiet():
            self.expected = run(program, np, arguments, late)
        if not after and self.expected.error is None and program.writes:
            n = sum(isinstance(x, np.ndarray) for x in arguments)
            self.expected.results = self.expected.results[: len(self.expected.results) - n]
        self._spreads: list[Values | None] = [None] * len(self.expected.results)
        self._runs = 0

    @cached_property
    def _rounded(self) -> Program:
        return with_functions(self._program)

    def noisy_run(self, seed: int) -> Outcome:
        """NumPy's run with errors of rounding, drawn from `seed`."""
        with quiet():
            return run(self._rounded, _NoisyRun(seed), self._arguments, self._late)

    def fault(self, got: Outcome, label: str) -> Failure | None:
        """The first difference; `label` says which run it is of."""
        error = self._error_fault(got, label)
        if error is not None:
            return error
        for place, (ours, numpys) in enumerate(zip(got.results, self.expected.results, strict=False)):
            kind = self._difference(place, np.asarray(ours), numpys)
            if kind is not None:
                return Failure(
                    f"{label}: {kind}",
                    f"{label}: read {place}, {kind}\n  got   {_short(ours)}\n  NumPy {_short(numpys)}",
                )
        return None

    def _error_fault(self, got: Outcome, label: str) -> Failure | None:
        ours, numpys = got.error, self.expected.error
        if ours is not None and (numpys is None or not _same_class(ours, numpys)):
            if self._unstable_errors():
                return None
            wanted = "no error" if numpys is None else repr(numpys)
            text = f"{type(ours).__name__}: {str(ours)[:600]}"
            return Failure(f"{label}: {type(ours).__name__}", f"{label}: raised {text}\n  NumPy: {wanted}")
        if ours is None and numpys is not None:
            if self._unstable_errors():
                return None
            return Failure(f"{label}: no error", f"{label}: no error\n  NumPy: {numpys!r}")
        return None

    def _difference(self, place: int, ours: Values, numpys: Values) -> str | None:
        if ours.dtype != numpys.dtype:
            return f"dtype {ours.dtype} for {numpys.dtype}"
        if ours.shape != numpys.shape:
            return f"shape {ours.shape} for {numpys.shape}" if not self._unstable(place) else None
        if _same(ours, numpys).all():
            return None
        for runs in RUNS:
            self._shake(runs)
            spread = self._spreads[place]
            if spread is None or _hang_on_rounding(spread) or _within(ours, numpys, SLACK * spread):
                return None
        return "values"

    def _unstable(self, place: int) -> bool:
        self._shake(RUNS[-1])
        return self._spreads[place] is None

    def _unstable_errors(self) -> bool:
        """An error that comes and goes with rounding."""
        noisy = [self.noisy_run(seed).error for seed in range(RUNS[0])]
        return len({type(error) for error in (*noisy, self.expected.error)}) > 1

    def _shake(self, runs: int) -> None:
        """Widen the spreads to `runs` runs with errors; a place whose shape changes has none."""
        if self._runs == 0:
            self._spreads = [np.zeros(x.shape) for x in self.expected.results]
        for seed in range(self._runs, runs):
            other = self.noisy_run(seed)
            with quiet():
                for place, numpys in enumerate(self.expected.results):
                    spread = self._spreads[place]
                    if spread is None or place >= len(other.results) or other.results[place].shape != numpys.shape:
                        self._spreads[place] = None
                        continue
                    self._spreads[place] = np.maximum(spread, _distance(other.results[place], numpys))
        self._runs = max(self._runs, runs)


def _hang_on_rounding(spread: Values) -> bool:
    """Whether so many whole numbers or truth values changed with rounding that those which did not say nothing."""
    return bool(np.isinf(spread).mean() > HANGING) if spread.size else False


def _same_class(ours: Exception, numpys: Exception) -> bool:
    """Ours is of the class of NumPy's, as far as a program can count on it: of one of the built-in classes."""
    bases = (IndexError, TypeError, ValueError, OverflowError, ZeroDivisionError)
    wanted = [base for base in bases if isinstance(numpys, base)]
    return isinstance(ours, tuple(wanted)) if wanted else type(ours) is type(numpys)


def same_bits(a: Values, b: Values) -> bool:
    """Every nan is one value; zeros have signs."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    signs = np.signbit(a) == np.signbit(b) if a.dtype.kind == "f" else True
    return bool((((a == b) & signs) | ((a != a) & (b != b))).all())


def _same(a: Values, b: Values) -> Values:
    """Where two arrays hold one value: of nan any will do, of complex numbers part by part."""
    if a.dtype.kind == "c":
        return _same(a.real, b.real) & _same(a.imag, b.imag)
    return (a == b) | ((a != a) & (b != b))


def _distance(a: Values, b: Values) -> Values:
    """0 where equal (nan is nan), inf where one is not finite or where truth values or integers differ; of complex
    numbers as in the plane, since the parts of a product err by the size of the whole.
    """
    if a.dtype.kind == "c":
        return np.hypot(_distance(a.real, b.real), _distance(a.imag, b.imag))
    same = _same(a, b)
    if a.dtype.kind != "f":
        return np.where(same, 0.0, np.inf)
    distance = np.abs(a.astype("float64") - b)
    return np.where(same, 0.0, np.where(np.isfinite(distance), distance, np.inf))


def _within(a: Values, b: Values, spread: Values) -> bool:
    """Whether `a` is as near to `b`; where so little is known of `b` as that it is a number divided by a number which
    may be 0, an infinity is.
    """
    unknown = np.isinf(a) & (spread > np.abs(b)) if a.dtype.kind in "fc" else False
    return bool(np.all((_distance(a, b) <= spread) | unknown))


def _short(x: Any) -> str:
    return (
        np.array2string(np.asarray(x), threshold=24, max_line_width=110, prefix="  NumPy ") + f" {np.asarray(x).dtype}"
    )
