"""Values on which rules are tried: the special ones of a dtype in all pairs, then random ones."""

from math import prod
from typing import Any

import numpy as np

from uopc_core.dtype import DType, is_bool, is_complex, is_integer
from uopc_core.ir.uop import UOp, walk

__all__ = ["bits_of", "environment", "special_values"]

Array = np.ndarray[Any, Any]
_RNG_SEED = 20


def special_values(dtype: DType) -> Array:
    """The values of `dtype` at which identities break."""
    if is_bool(dtype):
        return np.array([False, True])
    if is_integer(dtype):
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 7, 8, 100, info.max, info.max - 1, info.min, info.min + 1], dtype)
    if is_complex(dtype):
        parts = special_values(np.dtype(np.float32 if dtype.itemsize == 8 else np.float64))[:9]
        grid = np.empty((len(parts), len(parts)), dtype)
        grid.real = parts[:, None]
        grid.imag = parts
        return grid.ravel()
    info = np.finfo(dtype)
    tiny = [info.smallest_subnormal, info.tiny, info.eps]
    large = [info.max, 1e10]
    one = [0.0, np.inf, np.nan, 1.0, 2.0, 3.0, 0.3]
    return np.array(
        [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.3, -2.5, *one, *tiny, *large, *[-v for v in tiny + large]],
        dtype,
    )


def _values(shape: tuple[int, ...], dtype: DType, number: int) -> Array:
    special = special_values(dtype)
    rng = np.random.default_rng(_RNG_SEED + number)
    n = prod(shape)
    # number 0 runs through the special values fast, number 1 slowly, so that every pair occurs
    picked = special[(np.arange(n) // len(special) ** min(number, 2)) % len(special)]
    if is_integer(dtype) or is_bool(dtype):
        noise = rng.integers(0, 256, n * dtype.itemsize, dtype=np.uint8).view(np.int8 if is_bool(dtype) else dtype)
        noise = (noise > 0) if is_bool(dtype) else noise
    else:
        noise = (rng.standard_normal(n) * 10.0 ** rng.integers(-8, 8, n)).astype(dtype)
    n_special = len(special) ** 2 if n > len(special) ** 2 else n
    return np.concatenate([picked[:n_special], noise[n_special:]]).reshape(shape)


def environment(roots: list[UOp]) -> dict[UOp, Array]:
    """Values for the PARAMs of `roots`."""
    params = [x for x in walk(roots) if x.op.name == "PARAM"]
    return {x: _values(x.shape, x.dtype, x.arg[0]) for x in params}


def bits_of(values: Array) -> bytes:
    """What identifies the values: their bits, with every nan alike (its sign and payload mean nothing)."""
    if values.dtype.kind not in "fc":
        return values.tobytes()
    parts = (
        np.ascontiguousarray(values)
        .reshape(-1)
        .view(np.float32 if values.dtype in (np.float32, np.complex64) else np.float64)
    )
    parts = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
    return parts.tobytes()
