"""What the products, the functions of `linalg` and the transforms of `fft` are called with, for test_descriptions."""

from typing import Any

import numpy as np

__all__ = ["OPERANDS", "OTHER_DEFAULTS", "OTHER_RESULTS", "VALUES"]

X = np.asarray([[1.5, 0.0, 3.0], [4.0, 5.0, -6.0]])
V, W = X[0], X[1]
S = np.asarray([[4.0, 1.0], [2.0, 3.0]])
HERMITIAN = np.asarray([[2.0, 1.0 - 0.5j], [1.0 + 0.5j, 3.0]])
Z = X + 1j * X[::-1]
TENSOR = np.eye(6).reshape(2, 3, 6) + np.arange(36.0).reshape(2, 3, 6) / 50

_ONE = "fft ifft rfft irfft hfft ihfft".split()
_SEVERAL = [name + end for name in ("fft", "ifft", "rfft", "irfft") for end in ("n", "2")]
_TAKES_REAL = {"rfft", "ihfft", "rfftn", "rfft2"}

OPERANDS: dict[str, tuple[Any, ...]] = {
    **{f"linalg.{name}": (S,) for name in "det slogdet inv matrix_rank".split()},
    **{f"linalg.{name}": (HERMITIAN,) for name in "cholesky eig eigvals eigvalsh".split()},
    "linalg.eigh": (np.asarray([[2.0, 7.0], [1.0, 3.0]]),),
    "linalg.matrix_power": (S, 3),
    "linalg.solve": (S, S + 1),
    "linalg.lstsq": (X.T, V),
    "linalg.tensorsolve": (TENSOR, X),
    "linalg.tensorinv": (TENSOR,),
    "linalg.multi_dot": ([X, X.T, X],),
    "linalg.tensordot": (X, X),
    "linalg.outer": (V, W),
    "linalg.matmul": (X, X.T),
    "tensordot": (X, X),
    "dot": (X, X.T),
    "inner": (X, X),
    "kron": (X, V),
    "convolve": (V, W[:2]),
    "correlate": (V, W[:2]),
    "einsum": ("ij,kj->ik", X, X),
    "einsum_path": ("ij,kj->ik", X, X),
    "polyfit": (np.arange(4.0), np.asarray([1.0, 3.0, 2.0, 5.0]), 1),
    **{f"fft.{name}": (X if name in _TAKES_REAL else Z,) for name in _ONE + _SEVERAL},
    "fft.fftfreq": (5,),
    "fft.rfftfreq": (5,),
}

_NO_AXES = {"linalg.tensorsolve": [(1, 0)], "linalg.tensordot": [1, ((1,), (1,))], "tensordot": [1, ((0, 1), (0, 1))]}

VALUES: dict[Any, Any] = {
    **{(f"fft.{name}", "n"): [2, 5] for name in _ONE},
    **{(f"fft.{name}", "axis"): [0, -1] for name in _ONE},
    **{(f"fft.{name}", "s"): [(4, 2), (-1, 3)] if name.endswith("2") else [] for name in _SEVERAL},  # NumPy wants axes
    **{(f"fft.{name}", "axes"): [(0,), (1, 0)] for name in _SEVERAL},
    **{(f"fft.{name}", "axes"): [0, (1, 0)] for name in ("fftshift", "ifftshift")},
    **{(path, "axes"): values for path, values in _NO_AXES.items()},
    **{(path, "axis"): [-1, 1] for path in ("cross", "linalg.cross")},
    **{("cross", name): [1] for name in ("axisa", "axisb")},
    ("cross", "axisc"): [0],
    ("linalg.vecdot", "axis"): [0, -2],
    ("linalg.norm", "axis"): [0, (1, 0)],
    ("linalg.norm", "ord"): [None, "fro", "nuc", 1, 2, -1, -2, np.inf, -np.inf],
    ("linalg.matrix_norm", "ord"): ["fro", "f", "nuc", 1, 2, -1, -2, np.inf, -np.inf, "bogus", 3],
    ("linalg.vector_norm", "ord"): [0, 1, 2, 3, 0.5, -1, np.inf, -np.inf, "fro"],
    ("linalg.qr", "mode"): ["reduced", "complete", "r", "raw", "bogus"],
    ("linalg.svd", "full_matrices"): [True, False],
    ("linalg.svd", "compute_uv"): [False],
    ("linalg.cond", "p"): [2, -2],
    ("linalg.trace", "offset"): [1, -1, 9],
    ("linalg.diagonal", "offset"): [1, -1, 9],
    ("linalg.tensorinv", "ind"): [2, 0],
    ("linalg.matrix_rank", "hermitian"): [True],
    ("linalg.pinv", "hermitian"): [],  # of square matrices, below
    ("linalg.svd", "hermitian"): [],
    ("trace", "offset"): [1, -1, 9],
    ("trace", "axis1"): [1, -1, 0],
    ("trace", "axis2"): [0, 1, -2],
    ("convolve", "mode"): ["full", "same", "valid", "bogus"],
    ("correlate", "mode"): ["full", "same", "valid", "bogus"],
    ("einsum", "dtype"): ["float64", "complex128", "float32"],
    ("einsum", "casting"): ["unsafe", "no"],
    ("einsum", "optimize"): [True, False, "greedy", "optimal"],
    ("einsum_path", "optimize"): [True, "optimal"],
    ("einsum_path", "einsum_call"): [],
    ("polyfit", "rcond"): [1e-3],
    ("polyfit", "full"): [True],
    ("polyfit", "cov"): [True, "unscaled"],
    ("polyfit", "w"): [np.asarray([1.0, 2.0, 1.0, 1.0])],
    "UPLO": ["L", "u", "U", "x"],
    "upper": [True],
    "norm": ["backward", "ortho", "forward", "bogus"],
    "rcond": [0.3],
    "rtol": [0.3, np.asarray(0.01)],
    "tol": [0.3, 2.5],
    "d": [0.5, 2.0],
    "device": ["cpu", "gpu"],
}

OTHER_DEFAULTS: dict[tuple[str, str], str] = {
    ("einsum", "optimize"): "opt_einsum looks for a good order, which changes no value of whole numbers",
}

# what is not compared with NumPy's result
OTHER_RESULTS = {"einsum_path": "the report is that of another library"}
