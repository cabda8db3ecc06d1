"""`uopc_array.special` against SciPy: values, dtypes, laziness, derivatives, both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special as reference

import uopc_array as xp
from uopc_core import Ops
from uopc_core.errors import DTypeError
from uopc_core.runtime.toolchain import find_toolchain

NAMES = sorted(xp.special.__all__)
X = np.asarray([-np.inf, -27.3, -3.0, -0.8, -1e-300, -0.0, 0.0, 1e-9, 0.3, 1.0, 2.5, 5.0, 26.0, 40.0, np.inf, np.nan])
SLOPES = {
    "erf": lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)),
    "erfc": lambda x: -2 / np.sqrt(np.pi) * np.exp(-(x**2)),
}


@pytest.mark.parametrize("tier", ["auto", "compile", "interpret"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_scipys(name: str, dtype: str, tier: Any) -> None:
    if tier == "compile" and find_toolchain() is None:
        pytest.skip("needs a compiler")
    x = X.astype(dtype)
    wanted = getattr(reference, name)(x.astype("float64")).astype(dtype)
    with xp.context(tier=tier):
        f: Callable[[xp.Array], xp.Array] = getattr(xp.special, name)
        for out in (f(xp.asarray(x)), xp.jit(f)(xp.asarray(x))):
            assert out.dtype == dtype
            np.testing.assert_allclose(out, wanted, rtol=8 * float(np.finfo(dtype).eps), atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_converted_and_what_is_refused(name: str) -> None:
    f = getattr(xp.special, name)
    np.testing.assert_allclose(f(np.asarray([0, 1], "int8")), getattr(reference, name)([0.0, 1.0]), rtol=1e-15)
    np.testing.assert_allclose(f([[0.5], [1]]), getattr(reference, name)([[0.5], [1]]), rtol=1e-15)
    out = np.empty(2, "float32")
    np.testing.assert_allclose(f(np.asarray([0.5, 1], "float32"), out=out), out)
    with pytest.raises(DTypeError, match=f"{name}: expected a real dtype, got complex128"):
        f(1j)


@pytest.mark.parametrize("name", NAMES)
def test_slopes_are_their_formulas(name: str) -> None:
    x = np.asarray([-1.5, 0.0, 0.3, 2.0])
    slope = xp.vmap(xp.grad(getattr(xp.special, name)))(xp.asarray(x))
    np.testing.assert_allclose(slope, SLOPES[name](x), rtol=1e-14)


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    assert xp.special.erf(xp.asarray(np.linspace(0, 1, 50_000)))._node.op is Ops.ERF
