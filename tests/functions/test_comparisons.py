"""Every function of the namespace against NumPy: dtypes, layouts, axes and options drawn by hypothesis.

The tables are in comparisons.py and linalg_comparisons.py (the standard) and in numpy_comparisons.py (what we have of
NumPy beyond it).
"""

from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uopc_array as xp
from tests.functions.test_inspection import FUNCTIONS
from tests.support.case import Comparison
from tests.support.comparisons import COMPARISONS
from tests.support.drawing import Draws, Operand
from tests.support.numpy_comparisons import NUMPY_COMPARISONS
from tests.support.reference import check
from uopc_array._functions.describe import DESCRIPTIONS, path_of
from uopc_array._functions.ufunc import HostUfunc
from uopc_core import context

PROFILE = settings()
CASES = {**COMPARISONS, **NUMPY_COMPARISONS}
# Each compiled example makes a kernel; HYPOTHESIS_PROFILE=search compiles them all.
SAMPLE = list(CASES)[:: 1 if PROFILE.max_examples > 100 else 16]
FEW = settings(max_examples=max(PROFILE.max_examples // 6, 1))


def side(x: Any, number: int) -> Any:
    """Arguments with our arrays (0) or NumPy's (1) in place of operands."""
    if isinstance(x, Operand):
        return x[number]
    if isinstance(x, list | tuple):
        items = [side(item, number) for item in x]
        return items if isinstance(x, list) else tuple(items)
    return x


def agree(got: Any, wanted: Any, case: Comparison) -> None:
    """Arrays near each other, alone or in sequences; anything else equal."""
    if isinstance(got, xp.Array):
        want = np.asarray(wanted)
        assert got._is_number == (not want.shape and not isinstance(wanted, np.ndarray))
        scale = max(1.0, float(np.abs(want).max())) if case.eps and want.size else 0.0
        inexact = want.dtype.kind in "fc"
        check(got, want, case.ulps, float(np.finfo(want.dtype).eps) * case.eps * scale if inexact else 0.0)
    elif isinstance(got, list | tuple):
        assert len(got) == len(wanted)
        for x, y in zip(got, wanted, strict=True):
            agree(x, y, case)
    else:
        assert got == wanted
        assert not isinstance(wanted, np.ndarray) or not wanted.shape


def compare(name: str, case: Comparison, d: Draws) -> None:
    args, kwargs = case.draw(d)
    ours, numpys = case.calls(name)
    wanted = numpys(*side(args, 1), **{key: side(value, 1) for key, value in kwargs.items()})
    got = ours(*side(args, 0), **{key: side(value, 0) for key, value in kwargs.items()})
    agree(got, wanted, case)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_function_agrees_with_numpy(name: str) -> None:
    @FEW
    @given(st.data())
    def examine(data: st.DataObject) -> None:
        compare(name, CASES[name], Draws(data.draw))

    examine()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SAMPLE)
def test_compiled_it_agrees_as_well(name: str) -> None:
    @settings(max_examples=max(PROFILE.max_examples // 60, 1))
    @given(st.data())
    def examine(data: st.DataObject) -> None:
        with context(tier="compile"):
            compare(name, CASES[name], Draws(data.draw))

    examine()


# what is in the namespace and computes nothing of NumPy's
OTHER = {
    "context": "a context manager of settings",
    "__array_namespace_info__": "test_inspection.py",
    "explain": "a text",
    "log_host_calls": "a record",
    "show_config": "a text",
    "stop_gradient": "the identity",
    **dict.fromkeys(
        "checkpoint grad value_and_grad jvp vjp hessian jacfwd jacrev jit vmap".split(), "a function of functions"
    ),
    "einsum_path": "a plan of opt_einsum",
    **dict.fromkeys(("linalg.lstsq", "polyfit"), "NumPy's own, test_linear_algebra_lines.py"),
}


def public_functions() -> list[str]:
    """The paths of all functions that the namespace and its two extensions list."""
    paths = [
        *xp.__all__,
        *(f"linalg.{name}" for name in xp.linalg.__all__),
        *(f"fft.{name}" for name in xp.fft.__all__),
    ]
    objects = {path: attrgetter(path)(xp) for path in paths}
    return [path for path, f in objects.items() if callable(f) and not isinstance(f, type | HostUfunc)]


def native(path: str) -> Any:
    """What computes a function, under each of its names."""
    f = attrgetter(path)(xp)
    described = [d for d in DESCRIPTIONS.values() if path in [path_of(d.folder, name) for name in d.names]]
    return described[0].native if described else getattr(f, "_rule", f)


def test_every_function_is_compared_with_numpy() -> None:
    named = {name.split()[0] for name in CASES}
    compared = {native(name) for name in named}
    assert {name for name, _ in FUNCTIONS} - named == set()
    left = {name for name in public_functions() if native(name) not in compared} - set(OTHER)
    assert left == set()
    assert set(OTHER) <= set(public_functions())
