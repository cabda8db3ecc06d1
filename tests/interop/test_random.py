"""`uopc_array.random`: NumPy's streams, results ours."""

import pickle
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core.errors import TraceError

DRAWS: dict[str, tuple[Any, ...]] = {
    "random": (3,),
    "normal": (0.0, 1.0, (2, 2)),
    "integers": (0, 10, 4),
    "choice": (5, 3),
    "permutation": (6,),
    "standard_normal": (),
    "multivariate_normal": ([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], 2),
    "dirichlet": ([1.0, 2.0],),
    "permuted": ([3, 1, 2],),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_stream_is_numpys(name: str) -> None:
    ours, theirs = (getattr(m.random.default_rng(7), name)(*DRAWS[name]) for m in (xp, np))
    if isinstance(theirs, float):
        assert ours == theirs
        return
    assert isinstance(ours, xp.Array)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_the_global_stream_is_numpys() -> None:
    for module in (xp, np):
        module.random.seed(3)
        first = module.random.rand(2)
        assert np.asarray(first).tolist() == [0.5507979025745755, 0.7081478226181048]
    xp.random.seed(3)
    np.testing.assert_array_equal(xp.random.rand(2), first)
    np.testing.assert_array_equal(xp.random.RandomState(5).randn(3), np.random.RandomState(5).randn(3))


def test_arguments_may_be_arrays() -> None:
    mean = xp.asarray([0.0, 100.0])
    np.testing.assert_array_equal(
        xp.random.default_rng(1).normal(mean, 1.0), np.random.default_rng(1).normal([0.0, 100.0], 1.0)
    )


def test_shuffle_and_out_write_to_the_array() -> None:
    x, y = xp.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
    row = x[0]
    xp.random.default_rng(2).shuffle(x)
    np.random.default_rng(2).shuffle(y)
    np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(row, y[0])
    out = xp.zeros(3)
    assert xp.random.default_rng(2).random(out=out) is out  # pyright: ignore[reportArgumentType, reportCallIssue]
    np.testing.assert_array_equal(out, np.random.default_rng(2).random(3))


def test_a_generator_is_one_of_numpys_and_survives_a_pickle() -> None:
    rng = xp.random.default_rng(4)
    assert isinstance(rng, np.random.Generator)
    assert xp.random.default_rng(rng) is rng
    twin = pickle.loads(pickle.dumps(rng))
    np.testing.assert_array_equal(twin.random(3), rng.random(3))
    state = xp.random.RandomState(4)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(state)).rand(3), state.rand(3))
    assert all(isinstance(child, xp.random.Generator) for child in rng.spawn(2))
    shared = np.random.default_rng(9)
    ours = xp.random.default_rng(shared)
    ours.random(2)
    np.testing.assert_array_equal(shared.random(1), np.random.default_rng(9).random(3)[2:])


@pytest.mark.parametrize("transform", ["jit", "vmap"])
def test_a_draw_inside_a_trace_is_refused(transform: str) -> None:
    rng = xp.random.default_rng(0)
    for draw in (lambda: rng.normal(size=3), lambda: xp.random.rand(3)):
        with pytest.raises(TraceError, match=rf"random\..*inside {transform}.*pass the numbers as an argument"):
            getattr(xp, transform)(lambda x, draw=draw: x + draw())(xp.ones((3, 3)))


def test_a_name_that_numpy_has_not_says_so() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        xp.random.nothing  # pyright: ignore[reportAttributeAccessIssue]


LARGE = 40_000


@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
@pytest.mark.parametrize("dtype", ["float32", np.float64, xp.float32, np.dtype("d"), "d"], ids=str)
def test_large_draws_fill_memory_with_numpys_stream(name: str, dtype: Any) -> None:
    ours, theirs = xp.random.default_rng(3), np.random.default_rng(3)
    for size in (LARGE, (LARGE,), (300, 2, 100), (LARGE, 0), 5, (), None, np.int64(LARGE)):
        wanted = getattr(theirs, name)(size, dtype)
        for got in (getattr(ours, name)(size, dtype), getattr(xp.random.default_rng(3), name)(size=size, dtype=dtype)):
            assert np.shape(got) == np.shape(wanted)
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
        after = getattr(theirs, name)(3)  # the streams go on alike
        np.testing.assert_array_equal(np.asarray(getattr(ours, name)(3)), after)
    first = getattr(xp.random.default_rng(5), name)(LARGE, dtype=dtype)
    np.testing.assert_array_equal(np.asarray(first), getattr(np.random.default_rng(5), name)(LARGE, dtype=dtype))
    first[0] = 9.0
    assert float(first[0]) == 9.0


def test_arguments_of_large_draws_are_numpys() -> None:
    wanted = np.random.default_rng(1).standard_exponential(LARGE, np.float64, "inv")
    for got in (
        xp.random.default_rng(1).standard_exponential(LARGE, np.float64, "inv"),
        xp.random.default_rng(1).standard_exponential(LARGE, method="inv"),
    ):
        np.testing.assert_array_equal(np.asarray(got), wanted)
    cases: Any = (
        (LARGE, {"dtype": int}),
        (-LARGE, {}),
        (LARGE, {"dtype": []}),
        (LARGE, {"wrong": 1}),
        (5, {"size": LARGE}),
    )
    for size, options in cases:
        for rng in (xp.random.default_rng(1), np.random.default_rng(1)):
            with pytest.raises((TypeError, ValueError)):
                rng.random(size, **options)
