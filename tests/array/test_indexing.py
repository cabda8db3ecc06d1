"""Index expressions against NumPy: random keys of every kind, and the messages of keys that are none."""

import random
from itertools import product

import numpy as np
import pytest

import uopc_array as xp


def random_shape(rng):
    return tuple(rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 4)))


def random_slice(rng, n):
    start, stop = (rng.choice([None, *range(-n - 1, n + 2)]) for _ in range(2))
    return slice(start, stop, rng.choice([None, 1, 2, 3, -1, -2]))


def random_key(rng, shape):
    """A key with any mix of items; now and then one that does not fit."""
    numbers = np.random.default_rng(rng.randint(0, 2**31))
    together = rng.choice([(2,), (3, 1), (1, 3), ()])
    items = []
    axis = 0
    while axis < len(shape) and rng.random() > 0.05:
        n = shape[axis]
        kind = rng.choice(["slice", "slice", "int", "int", "array", "array", "mask", "mask2", "new", "bool", "..."])
        if kind == "slice":
            items.append(random_slice(rng, n))
        elif kind == "int" and n:
            items.append(rng.randrange(-n, n))
        elif kind == "array" and n:
            items.append(numbers.integers(-n, n, size=rng.choice([together, (), (1,)])))
        elif kind == "mask":
            items.append(numbers.random(n) < 0.5)
        elif kind == "mask2" and axis + 1 < len(shape):
            items.append(numbers.random(shape[axis : axis + 2]) < 0.5)
            axis += 1
        elif kind == "..." and Ellipsis not in [item for item in items if item is Ellipsis]:
            items.append(Ellipsis)
            axis += rng.randint(0, len(shape) - axis) - 1
        else:
            items.append(None if kind == "new" else rng.random() < 0.5)
            axis -= 1
        axis += 1
    return tuple(items) if len(items) != 1 or rng.random() < 0.5 else items[0]


def outcome(function):
    try:
        return function()
    except IndexError as error:
        return error


@pytest.mark.parametrize("seed", range(8))
def test_reading_with_any_key_agrees_with_numpy(seed):
    rng = random.Random(seed)
    for _ in range(120):
        shape = random_shape(rng)
        values = np.arange(float(np.prod(shape))).reshape(shape)
        key = random_key(rng, shape)
        want = outcome(lambda: values[key])
        got = outcome(lambda: np.asarray(xp.asarray(values)[key]))
        if isinstance(want, IndexError):
            assert isinstance(got, IndexError), (shape, key)
        else:
            np.testing.assert_array_equal(got, want, err_msg=f"{shape} {key}", strict=True)


@pytest.mark.parametrize("inside_jit", [False, True], ids=["eager", "jit"])
def test_keys_of_our_arrays_lists_and_numpy_integers(inside_jit):
    values = np.arange(24.0).reshape(2, 3, 4)
    wrap = xp.jit if inside_jit else lambda f: f
    x = xp.asarray(values)
    rows = xp.asarray([1, 0, 1])
    assert wrap(lambda x, i: x[i])(x, rows).tolist() == values[[1, 0, 1]].tolist()
    assert wrap(lambda x, i: x[:, [0, -1], i[1]])(x, rows).tolist() == values[:, [0, -1], 0].tolist()
    assert wrap(lambda x, i: x[i[0], :, i])(x, rows).tolist() == values[1, :, [1, 0, 1]].tolist()
    assert x[np.int32(1), np.int64(0) : np.int64(2)].tolist() == values[1, 0:2].tolist()
    assert x[xp.asarray(1)].tolist() == values[1].tolist()
    assert x[()].tolist() == values.tolist()


def test_a_mask_after_an_ellipsis_or_newaxis():
    x = xp.reshape(xp.arange(6), (3, 2))
    mask = xp.asarray([False, True, True])
    assert x[None, mask].tolist() == [[[2, 3], [4, 5]]]
    assert xp.arange(3)[..., mask].tolist() == [1, 2]


def test_one_element_is_a_value_of_its_own():
    x = xp.asarray([1.0, 2.0])
    first = x[0]
    x[0] = 5.0
    assert float(first) == 1.0


def test_index_out_of_bounds_names_index_axis_and_size():
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 6"):
        xp.arange(6)[7]
    with pytest.raises(IndexError, match="index -4 is out of bounds for axis 1 with size 3"):
        xp.ones((2, 3))[0, -4]
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 6"):
        xp.arange(6)[xp.asarray([0, 7])].tolist()
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 6"):
        xp.jit(lambda x, i: x[i])(xp.arange(6), xp.asarray([7])).tolist()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((0, 0, 0), "too many indices"),
        ((..., ...), "one ellipsis"),
        (1.5, "expected ints, slices"),
        ("a", "expected ints, slices"),
        (np.array([0.5]), "float64"),
        (np.array([True, False, True]), "does not fit the array"),
        (([0, 1], [0, 1, 2]), "cannot be broadcast"),
    ],
    ids=["too-many", "ellipses", "float", "text", "float-array", "mask", "shapes"],
)
def test_what_is_no_key_is_an_index_error(key, text):
    with pytest.raises(IndexError, match=text):
        xp.ones((2, 3))[key]


def test_gradient_flows_through_every_kind_of_read():
    x = xp.asarray([1.0, 2.0, 3.0, 4.0])
    weights = xp.asarray([1.0, 10.0])
    assert xp.grad(lambda x: xp.sum(x[1:3] * weights))(x).tolist() == [0.0, 1.0, 10.0, 0.0]
    assert xp.grad(lambda x: xp.sum(x[::-2] * weights))(x).tolist() == [0.0, 10.0, 0.0, 1.0]
    assert xp.grad(lambda x: xp.sum(x[[1, 1]] * weights))(x).tolist() == [0.0, 11.0, 0.0, 0.0]
    assert xp.grad(lambda x: xp.sum(x[x > 2.5] ** 2))(x).tolist() == [0.0, 0.0, 6.0, 8.0]
    assert xp.grad(lambda x: x[2] * x[-1])(x).tolist() == [0.0, 0.0, 4.0, 3.0]


@pytest.mark.parametrize("shape", [(0,), (3,), (0, 0), (2, 0), (0, 3), (1, 1), (2, 3)])
def test_which_masks_fit(shape):
    def selected(module, mask_shape, value):
        try:
            return module.zeros(shape)[module.full(mask_shape, value)].shape
        except IndexError:
            return None

    for n_axes, value in product(range(len(shape) + 2), (False, True)):
        for mask_shape in product((0, 1, 2, 3), repeat=n_axes):
            assert selected(xp, mask_shape, value) == selected(np, mask_shape, value), (mask_shape, value)
