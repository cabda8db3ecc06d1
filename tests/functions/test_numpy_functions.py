"""NumPy's functions beyond the standard against NumPy's own."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import equal, values

V, W = values("float64", (5,)), values("float64", (5,), seed=1)
M, N = values("float64", (3, 4)), values("float64", (3, 4), seed=1)
K, J = values("int64", (3, 4)), values("int64", (3, 4), seed=1, low=1)
C, Z = values("float64", (2, 3, 4)), values("complex128", (3,))
PLACES = np.asarray([0.0, 1.0, 3.0, 4.0, 9.0])
SPECIAL = np.asarray([[1.0, np.nan, 3.0, np.inf], [-np.inf, 0.0, -0.0, np.nan], [np.nan, np.nan, np.nan, np.nan]])
SOME_NAN = np.asarray([[1.0, np.nan, 3.0, 8.0], [5.0, 0.5, -2.0, np.nan]])

# a function, its positional arguments and its keywords
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("absolute", (M,), {}), ("arcsin", (M / 9,), {}), ("arctan2", (M, N), {}), ("power", (np.abs(M), N), {}),
    ("mod", (M, N), {}), ("true_divide", (K, J), {}), ("invert", (K,), {}), ("left_shift", (np.abs(K), 2), {}),
    ("rint", (M,), {}), ("conjugate", (Z,), {}), ("around", (M, 2), {}), ("around", (M * 100, -1), {}),
    ("around", (K * 13, -1), {}), ("angle", (Z,), {}), ("angle", (Z,), {"deg": True}), ("cbrt", (M,), {}),
    ("exp2", (M,), {}), ("deg2rad", (M,), {}), ("rad2deg", (M,), {}), ("fabs", (K,), {}),
    ("sinc", (np.append(V, 0.0),), {}), ("isposinf", (SPECIAL,), {}), ("isneginf", (SPECIAL,), {}),
    ("nan_to_num", (SPECIAL,), {}), ("nan_to_num", (SPECIAL,), {"nan": 2.0, "posinf": 7.0}), ("fmod", (M, N), {}),
    ("fmod", (K, J), {}), ("float_power", (J, -2), {}), ("fmax", (SPECIAL, 2.0), {}), ("fmin", (SPECIAL, 2.0), {}),
    ("heaviside", (SPECIAL, 0.5), {}), ("logaddexp2", (M, N), {}), ("isclose", (SPECIAL, SPECIAL), {}),
    ("isclose", (SPECIAL, SPECIAL), {"equal_nan": True}), ("isclose", (M, M + 1e-7), {}), ("divmod", (K, J), {}),
    ("allclose", (M, M + 1e-12), {}), ("array_equal", (M, M), {}), ("array_equal", (M, N), {}),
    ("array_equal", (M, V), {}), ("array_equiv", (M, M[None]), {}),
    ("array_equal", (SPECIAL, SPECIAL), {"equal_nan": True}), ("identity", (3,), {}), ("tri", (3, 4, 1), {}),
    ("array", ([1, 2],), {"ndmin": 3}), ("copy", (M,), {}), ("transpose", (C,), {}),
    ("transpose", (C, (1, 2, 0)), {}), ("swapaxes", (C, 0, -1), {}), ("rollaxis", (C, 2), {}),
    ("rollaxis", (C, 0, 3), {}), ("ravel", (C,), {}), ("atleast_1d", (3.0,), {}), ("atleast_2d", (V,), {}),
    ("atleast_3d", (M,), {}), ("atleast_3d", (V,), {}), ("concatenate", ((M, N), 1), {}),
    ("concatenate", ((M, K),), {"axis": None}), ("append", (V, 3.0), {}), ("append", (M, N, 0), {}),
    ("vstack", ((V, W),), {}), ("hstack", ((V, W),), {}), ("hstack", ((M, N),), {}), ("dstack", ((M, N),), {}),
    ("column_stack", ((V, W),), {}), ("array_split", (V, 3), {}), ("array_split", (V, [1, -1]), {}),
    ("split", (M, 2, 1), {}), ("split", (V, [2, 9]), {}), ("vsplit", (M, 3), {}), ("hsplit", (M, 2), {}),
    ("dsplit", (C, 2), {}), ("fliplr", (M,), {}), ("flipud", (M,), {}), ("rot90", (M,), {}), ("rot90", (M, 2), {}),
    ("rot90", (C, -1, (1, 2)), {}), ("diagonal", (M,), {}), ("diagonal", (C, 1, 0, 2), {}), ("diagonal", (M, -9), {}),
    ("diag", (V,), {}), ("diag", (V, 2), {}), ("diag", (V, -1), {}), ("diag", (M, 1), {}), ("pad", (M, 1), {}),
    ("pad", (M, (1, 2)), {}), ("pad", (M, ((0, 1), (2, 0))), {"constant_values": 7.0}),
    ("pad", (V, 3), {"mode": "edge"}), ("pad", (V, 3), {"mode": "reflect"}),
    ("pad", (M, (2, 1)), {"mode": "symmetric"}), ("pad", (V, 7), {"mode": "wrap"}),
    ("pad", (M, 1), {"constant_values": ((1.0, 2.0), (3.0, 4.0))}), ("amax", (M,), {"axis": 0}), ("amin", (M,), {}),
    ("cumsum", (M,), {}), ("cumsum", (K, 1), {}), ("cumprod", (M, 0), {}), ("ptp", (M, 1), {}), ("average", (M,), {}),
    ("average", (M, 1), {"weights": np.arange(4)}), ("average", (M,), {"weights": np.abs(N)}),
    ("average", (K, 0), {}), ("median", (M,), {}), ("median", (V,), {}), ("median", (C, (0, 2)), {}),
    ("median", (M, 1), {"keepdims": True}), ("median", (SPECIAL, 1), {}), ("median", (K, 0), {}),
    ("quantile", (M, 0.3), {}), ("quantile", (M, [0.0, 0.5, 1.0], 1), {}),
    ("quantile", (C, [0.1, 0.9], (0, 1)), {"keepdims": True}), ("percentile", (M, 25, 0), {}),
    ("quantile", (SOME_NAN, 0.5, 1), {}), ("quantile", (K, 0.25), {}), ("nansum", (SPECIAL, 0), {}),
    ("nanprod", (SOME_NAN,), {}), ("nancumsum", (SOME_NAN, 1), {}), ("nanmax", (SOME_NAN, 0), {}),
    ("nanmin", (SPECIAL, 1), {}), ("nanmax", (K,), {}), ("nanmean", (SOME_NAN, 1), {}), ("nanmean", (SPECIAL, 1), {}),
    ("nanvar", (SOME_NAN, 0), {}), ("nanvar", (SOME_NAN,), {"ddof": 1}), ("nanstd", (SOME_NAN, 1), {}),
    ("nanmedian", (SOME_NAN,), {}), ("nanmedian", (SOME_NAN, 0), {}), ("nanmedian", (SPECIAL, 1), {}),
    ("nansum", (K,), {}), ("gradient", (V,), {}), ("gradient", (M,), {}), ("gradient", (M, 0.5), {"axis": 1}),
    ("gradient", (V, PLACES), {}), ("gradient", (V, PLACES), {"edge_order": 2}),
    ("gradient", (M, 2.0, 3.0), {"edge_order": 2}), ("gradient", (V[:2],), {}), ("trapezoid", (V,), {}),
    ("trapezoid", (M, np.asarray([0.0, 1.0, 3.0, 4.0])), {}), ("trapezoid", (M,), {"dx": 0.5, "axis": 0}),
    ("trapezoid", (V[:0],), {}), ("dot", (V, W), {}), ("dot", (M, N.T), {}), ("dot", (C, M.T), {}),
    ("dot", (M, 3.0), {}), ("dot", (C, np.ones(4)), {}), ("inner", (M, N), {}), ("inner", (2.0, V), {}),
    ("outer", (V, M), {}), ("vdot", (Z, Z), {}), ("matvec", (C, np.ones(4)), {}), ("vecmat", (np.ones(3), C), {}),
    ("trace", (M,), {}), ("trace", (C, 1, 1, 2), {}), ("kron", (M, V), {}), ("kron", (V, W), {}),
    ("convolve", (V, W[:2]), {}), ("convolve", (W[:2], V, "same"), {}), ("convolve", (V, W[:3], "valid"), {}),
    ("correlate", (V, W[:2]), {}), ("correlate", (V, W[:3], "full"), {}), ("correlate", (W[:2], V, "same"), {}),
    ("correlate", (Z, Z, "full"), {}), ("cross", (M[:, :3], N[:, :3]), {}), ("shape", (M,), {}), ("ndim", (M,), {}),
    ("size", (M,), {}), ("size", (M, 1), {}),
]  # fmt: skip


def ours(x: Any) -> Any:
    """NumPy arrays as arrays of ours, in tuples as well."""
    if isinstance(x, np.ndarray):
        return xp.asarray(x)
    return tuple(ours(item) for item in x) if isinstance(x, tuple) else x


def agree(got: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple | list):
        assert isinstance(got, tuple | list)
        assert len(got) == len(wanted)
        for x, y in zip(got, wanted, strict=True):
            agree(x, y)
        return
    want = np.asarray(wanted)
    if isinstance(got, xp.Array):
        assert got.dtype == want.dtype
    else:
        assert type(got) in (bool, int)
    assert equal(got, want, ulps=16, atol=1e-13), f"got\n{np.asarray(got)!r}\nwanted\n{want!r}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_a_function_of_numpy_agrees_with_it(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    got = getattr(xp, name)(*ours(args), **{key: ours(value) for key, value in kwargs.items()})
    agree(got, getattr(np, name)(*args, **kwargs))


DIFFERENTIABLE = [
    "median",
    "ptp",
    "nanmean",
    "nanvar",
    "sinc",
    "cbrt",
    "trapezoid",
    "gradient",
    "around",
    "diag",
    "cumprod",
]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_derivative_agrees_with_central_differences(name: str) -> None:
    function = getattr(xp, name)
    weights = xp.asarray(np.linspace(0.5, 1.5, np.asarray(function(xp.asarray(V))).size))

    def f(x: Any) -> Any:
        return xp.sum(xp.reshape(function(x), (-1,)) * weights)

    step = 6e-6
    columns = np.eye(5) * step
    wanted = [(float(f(xp.asarray(V + column))) - float(f(xp.asarray(V - column)))) / (2 * step) for column in columns]
    np.testing.assert_allclose(np.asarray(xp.grad(f)(xp.asarray(V))), wanted, rtol=1e-5, atol=1e-7)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="split: an axis of extent 5 cannot be cut into 2 parts"):
        xp.split(xp.asarray(V), 2)
    with pytest.raises(ValueError, match='pad: expected mode "constant", '):
        xp.pad(xp.asarray(V), 1, mode="around")
    with pytest.raises(ValueError, match="convolve: expected two vectors"):
        xp.convolve(xp.asarray(M), xp.asarray(V))
    with pytest.raises(ValueError, match="diagonal: expected two axes"):
        xp.diagonal(xp.asarray(M), 0, 1, 1)
    with pytest.raises(TypeError, match="average: weights of shape"):
        xp.average(xp.asarray(M), weights=xp.asarray(V))
    with pytest.raises(ValueError, match="average: weights of shape"):
        xp.average(xp.asarray(M), axis=0, weights=xp.asarray(V))
    with pytest.raises(ValueError, match=r"quantile: expected q between 0 and 1, got 1\.5"):
        xp.quantile(xp.asarray(V), 1.5)
    with pytest.raises(ValueError, match="percentile: expected q between 0 and 100, got -1"):
        xp.percentile(xp.asarray(V), -1)
