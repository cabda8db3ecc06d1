"""Inputs over dtypes, shapes and layouts, and comparison with NumPy: what the tests of the namespace share."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import uopc_array as xp

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = INTEGERS + FLOATS
NUMERIC = REAL + COMPLEX
ALL = BOOL + NUMERIC

SHAPES: dict[str, tuple[int, ...]] = {
    "0-d": (),
    "empty": (0,),
    "one": (1,),
    "row": (5,),
    "matrix": (3, 4),
    "empty inside": (2, 0, 3),
    "cube": (2, 3, 4),
}


def values(dtype: str, shape: tuple[int, ...], seed: int = 0, low: float = -8, high: float = 8) -> np.ndarray[Any, Any]:
    """Numbers between `low` and `high`, some of them equal, in `dtype`."""
    random = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        return random.integers(max(int(low), 0) if kind == "u" else int(low), int(high) + 1, shape).astype(dtype)
    real = random.uniform(low, high, shape)
    return (real + 1j * random.uniform(low, high, shape) if kind == "c" else real).astype(dtype)


def layouts(x: np.ndarray[Any, Any]) -> Iterator[tuple[xp.Array, np.ndarray[Any, Any]]]:
    """`x` as it is, reversed, transposed, and as every second element of something larger: ours and NumPy's."""
    ours = xp.asarray(x)
    yield ours, x
    if x.ndim:
        yield ours[::-1], x[::-1]
        wide = np.repeat(x, 2, axis=-1)
        yield xp.asarray(wide)[..., ::2], wide[..., ::2]
    if x.ndim > 1:
        yield xp.permute_dims(ours, tuple(range(x.ndim))[::-1]), x.T


def equal(ours: Any, wanted: Any, ulps: float = 0, atol: float = 0.0) -> bool:
    """Whether values agree, nan with nan; zeros by their sign as well where no tolerance is given."""
    got: Any = np.asarray(ours)
    want: Any = np.asarray(wanted)
    if got.shape != want.shape:
        return False
    if got.dtype.kind == "c" or want.dtype.kind == "c":
        scale = np.maximum(np.abs(want.real), np.abs(want.imag))
        parts = [(got.real, want.real), (got.imag, want.imag)]
        return all(_equal_real(g, w, scale, ulps, atol) for g, w in parts)
    return _equal_real(got, want, np.abs(want) if want.dtype.kind == "f" else want, ulps, atol)


def _equal_real(got: Any, want: Any, scale: Any, ulps: float, atol: float) -> bool:
    same = (got == want) | ((got != got) & (want != want))
    if want.dtype.kind != "f" or (ulps == 0 and atol == 0):
        if want.dtype.kind == "f":
            same &= (np.signbit(got) == np.signbit(want)) | (want != want) | (want != 0)
        return bool(same.all())
    finite = np.isfinite(scale)
    unit = np.spacing(np.where(finite, scale, 1))
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= ulps * unit + atol
    return bool((same | near).all())


def check(ours: Any, wanted: Any, ulps: float = 0, atol: float = 0.0) -> None:
    """Assert that `ours` is an array with the dtype, shape and values of `wanted`."""
    want = np.asarray(wanted)
    assert isinstance(ours, xp.Array)
    assert ours.dtype == want.dtype, (ours.dtype, want.dtype)
    assert ours.shape == want.shape, (ours.shape, want.shape)
    assert equal(ours, want, ulps, atol), f"got\n{np.asarray(ours)!r}\nwanted\n{want!r}"
