"""Views of views of views: what one costs does not depend on how many there were before it."""

import random
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array.handle import MOST_LENSES
from uopc_core.runtime.execute import MAX_DEPTH

MOST_NODES = 12 * MOST_LENSES  # of a view: a strided slice takes five, and its newaxis one more


def random_step(rng, x):
    """A view of `x`, an array of NumPy, with most of its elements, as a function of any such array."""
    axis = rng.randrange(x.ndim)
    n, before = x.shape[axis], (slice(None),) * axis
    kind = rng.choice(["trim", "trim", "mirror", "skip", "item", "new", "T", "swap", "fold", "row", "real", "all"])
    if kind in ("trim", "mirror", "skip", "item", "new"):
        item = {
            "trim": slice(1, -1) if n > 8 else slice(None),
            "mirror": slice(None, None, -1),
            "skip": slice(rng.randrange(2), None, rng.choice([2, -2])) if n > 40 else slice(None),
            "item": n // 2 if n < 4 and x.ndim > 1 else slice(None),
            "new": None if x.ndim < 5 else Ellipsis,
        }[kind]
        return lambda x: x[(*before, item)]
    if kind == "fold" and n % 2 == 0:
        folded = (*x.shape[:axis], n // 2, 2, *x.shape[axis + 1 :])
        return lambda x: x.reshape(folded)
    if kind == "row":
        return lambda x: x.reshape(-1)
    return {
        "T": lambda x: x.T,
        "swap": lambda x: x.swapaxes(axis, 0),
        "real": lambda x: x.real,
    }.get(kind, lambda x: x[...])


def random_steps(seed, x, n):
    """Steps that NumPy can take from `x` one after the other without a copy."""
    rng = random.Random(seed)
    steps = []
    while len(steps) < n:
        step = random_step(rng, x)
        taken = step(x)
        if np.may_share_memory(taken, x):
            steps.append(step)
            x = taken
    return steps


def base_of(kind, dtype):
    values = (np.arange(64 * 48) % 113).astype(dtype).reshape(64, 48)
    if dtype is complex:
        values *= 1 - 2j
    return (xp.asarray(values), values) if kind == "memory" else (xp.asarray(values) + xp.asarray(values), 2 * values)


@pytest.mark.parametrize("kind", ["memory", "pending"])
@pytest.mark.parametrize("dtype", [np.float64, np.int8, complex])
@pytest.mark.parametrize("seed", range(25))
def test_a_long_chain_of_views_is_that_of_numpy_and_stays_short(seed, dtype, kind):
    ours, numpys = base_of(kind, dtype)
    view, want = ours, numpys
    for step in random_steps(seed, numpys, 150):
        view, want = step(view), step(want)
        assert len(view._uop.walk()) <= MOST_NODES
        if view._alias is not None:
            assert len(view._alias.lenses) <= MOST_LENSES + 1
    np.testing.assert_array_equal(np.asarray(view), want, strict=True)
    view[...] = 7
    want[...] = 7
    view += xp.asarray(np.arange(view.size).reshape(view.shape) % 5, dtype=view.dtype)
    want += (np.arange(want.size).reshape(want.shape) % 5).astype(want.dtype)
    ours[:2] = 3
    numpys[:2] = 3
    np.testing.assert_array_equal(np.asarray(view), want, strict=True)
    np.testing.assert_array_equal(np.asarray(ours), numpys, strict=True)


def read_only_step(rng, x):
    """A step that is taken to read alone, or any other."""
    if rng.random() < 0.15 and x.ndim > 1:
        first, second = rng.sample(range(x.ndim), 2)
        if min(x.shape[first], x.shape[second]) > 3:
            return lambda x: x.diagonal(1, first, second)
    if rng.random() < 0.1 and x.ndim < 4:
        shape = (2, *x.shape)
        return lambda x: (xp if isinstance(x, xp.Array) else np).broadcast_to(x, shape)
    return random_step(rng, x)


@pytest.mark.parametrize("kind", ["memory", "pending"])
@pytest.mark.parametrize("seed", range(25))
def test_a_long_chain_with_diagonals_and_spread_axes_is_that_of_numpy(seed, kind):
    ours, numpys = base_of(kind, np.float64)
    rng = random.Random(seed)
    view, want = ours, numpys
    for _ in range(60):
        step = read_only_step(rng, want)
        taken = step(want)
        if np.may_share_memory(taken, want) and taken.size > 8:
            view, want = step(view), taken
    assert view.flags.writeable == want.flags.writeable
    np.testing.assert_array_equal(np.asarray(view), want, strict=True)
    ours[::3] = 7.0
    numpys[::3] = 7.0
    np.testing.assert_array_equal(np.asarray(view), want, strict=True)
    alias: Any = getattr(view, "_alias", None)
    part = alias.base._part(alias.steps())
    if part is not None:  # what threads see that write at the same time
        np.testing.assert_array_equal(part.realized.array, want)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", ["jit", "grad"])
def test_the_same_inside_of_jit_and_grad(seed, how):
    _, numpys = base_of("memory", np.float64)
    steps = random_steps(seed, numpys, 60)

    def program(x):
        view = x
        for step in steps:
            view = step(view)
        view[...] = view * view
        return x

    want = program(numpys.copy())
    if how == "jit":
        got = xp.jit(lambda x: program(x + 0.0))(numpys)
    else:
        slopes = np.ones_like(numpys)
        inside = slopes
        for step in steps:
            inside = step(inside)
        inside[...] = 2.0 * replayed(steps, numpys)
        want, got = slopes, xp.grad(lambda x: xp.sum(program(x + 0.0)))(xp.asarray(numpys))
    np.testing.assert_array_equal(np.asarray(got), want)


def replayed(steps, x):
    for step in steps:
        x = step(x)
    return x


LOOPS = {
    "x = x[:-2]": lambda x: x[:-2],
    "x = x[1:]": lambda x: x[1:],
    "x = x[::-1]": lambda x: x[::-1],
    "x = x[None, 1:][0]": lambda x: x[None, 1:][0],
    "x = x.reshape(-1, 1)[1:, 0]": lambda x: x.reshape(-1, 1)[1:, 0],
    "x = x.reshape(-1, 2)[1:].reshape(-1)": lambda x: x.reshape(-1, 2)[1:].reshape(-1),
    "x = x.T": lambda x: x.T,
    "x = x.real": lambda x: x.real,
    "x = x.flat": lambda x: x.flat,
    "x = x.reshape(2, -1).T.flat": lambda x: x.reshape(2, -1).T.flat,
    "x = x[:-2].reshape(2, -1)[::-1].T.flat": lambda x: x[:-2].reshape(2, -1)[::-1].T.flat,
    "x = x.reshape(-1, 2)[:, ::-1].flat": lambda x: x.reshape(-1, 2)[:, ::-1].flat,
    "x = x.view(int64).view(float64)": lambda x: x.view(xp.int64).view(xp.float64),
}


@pytest.mark.parametrize("pending", [False, True], ids=["memory", "pending"])
@pytest.mark.parametrize("step", LOOPS.values(), ids=LOOPS)
def test_no_loop_of_views_grows_or_copies(step, pending):
    n_steps = 3 * MAX_DEPTH
    base = xp.asarray(np.arange(4.0 * n_steps))
    base = base + 1.0 if pending else base
    x = base
    for _ in range(n_steps):
        x = step(x)
        assert len(x._uop.walk()) <= MOST_NODES
    assert (base._uop.realized is None and base._node.op.name != "BUFFER") is pending
    x[0] = -1.0
    assert float(xp.min(base)) == -1.0


def test_views_of_a_row_of_what_no_strides_lead_to():
    values = np.arange(60.0).reshape(4, 15)
    x = xp.asarray(values)
    row = x[:, 2:].T.flat
    for _ in range(3 * MOST_LENSES):
        row = row[1:]
    assert row.tolist() == values[:, 2:].T.ravel()[3 * MOST_LENSES :].tolist()
    row[...] = -1.0
    want = values[:, 2:].T.ravel()
    want[3 * MOST_LENSES :] = -1.0
    assert x[:, 2:].T.flatten().tolist() == want.tolist()
    assert x[:, :2].tolist() == values[:, :2].tolist()


def turning_step(rng, places):
    """A step that may turn a row of what has no strides, as functions of our arrays and of places in the base."""
    if rng.random() < 0.4 and places.ndim > 1:
        return lambda x: x.flat, lambda places: places.reshape(-1)
    step = random_step(rng, places)
    return (step, step) if np.may_share_memory(step(places), places) else (lambda x: x[...], lambda places: places)


def parts_of(dtype):
    """Of an array of `dtype`: its part that the rest of a chain is a view of, the same by NumPy, and its zeros."""
    return (lambda x: x.imag.view(xp.int64).view(xp.float64)) if dtype is complex else (lambda x: x)


@pytest.mark.parametrize("dtype", [np.float64, np.int8, complex])
@pytest.mark.parametrize("kind", ["memory", "pending"])
@pytest.mark.parametrize("seed", range(10))
def test_rows_of_turned_rows_are_picked_element_by_element(seed, kind, dtype):
    ours, numpys = base_of(kind, dtype)
    part_of = parts_of(dtype)
    rng = random.Random(seed)
    view, places = part_of(ours), np.arange(ours.size).reshape(ours.shape)
    for _ in range(80):
        step, same = turning_step(rng, places)
        view, places = step(view), same(places)
        assert len(view._uop.walk()) <= MOST_NODES
        assert len(view._alias.lenses) <= MOST_LENSES + 1
    want = part_of(numpys).reshape(-1)
    np.testing.assert_array_equal(np.asarray(view), want[places], strict=True)
    view[...] = 7
    view += xp.asarray(np.arange(view.size).reshape(view.shape) % 5, dtype=view.dtype)
    ours[:2] = 3
    numpys = numpys.copy()
    part_of(numpys).reshape(-1)[places] = 7 + (np.arange(view.size).reshape(view.shape) % 5)
    numpys[:2] = 3
    np.testing.assert_array_equal(np.asarray(ours), numpys, strict=True)
    np.testing.assert_array_equal(np.asarray(view), part_of(numpys).reshape(-1)[places], strict=True)
