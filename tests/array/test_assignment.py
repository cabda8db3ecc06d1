"""Item assignment against NumPy: eager, under jit, under grad; in place exactly where nobody else sees the memory."""

import random

import numpy as np
import pytest

import uopc_array as xp
from tests.array.test_indexing import outcome, random_key, random_shape


def random_value(rng, shape):
    numbers = np.random.default_rng(rng.randint(0, 2**31))
    kind = rng.choice(["full", "broadcast", "scalar"])
    if kind == "scalar":
        return rng.random()
    return numbers.random([n if kind == "full" or rng.random() < 0.5 else 1 for n in shape])


def assign(x, key, value):
    x[key] = value
    return x


@pytest.mark.parametrize("how", ["eager", "jit", "tracked"])
@pytest.mark.parametrize("seed", range(4))
def test_assigning_with_any_key_agrees_with_numpy(how, seed):
    rng = random.Random(seed)
    for _ in range(60 if how == "eager" else 25):
        shape = random_shape(rng)
        values = np.arange(float(np.prod(shape))).reshape(shape)
        key = random_key(rng, shape)
        selected = outcome(lambda: values[key])
        if isinstance(selected, IndexError):
            continue
        value = random_value(rng, selected.shape)
        want = assign(values.copy(), key, value)
        x = xp.asarray(values)
        if how == "eager":
            got = assign(x, key, value)
        elif how == "jit":
            got = xp.jit(lambda x, v: assign(xp.asarray(x + 0.0), key, v))(x, value)
        else:
            got = xp.grad(lambda x: (xp.sum(y := assign(xp.asarray(x + 0.0), key, value)), y), has_aux=True)(x)[1]
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{shape} {key}", strict=True)


def test_the_last_of_duplicate_indices_wins():
    x = xp.asarray([5, 6, 7])
    x[xp.asarray([1, 1, 2])] = xp.asarray([9, 0, 4])
    assert x.tolist() == [5, 0, 4]


def test_a_mask_with_a_value_that_broadcasts_needs_no_values():
    x = xp.asarray([[1.0, -2.0], [-3.0, 4.0]])

    @xp.jit
    def relu(x):
        y = x + 0.0
        y[y < 0] = 0.0
        return y

    assert relu(x).tolist() == [[1.0, 0.0], [0.0, 4.0]]
    rows = xp.asarray([True, False])
    x[rows] = xp.asarray([7.0, 8.0])
    assert x.tolist() == [[7.0, 8.0], [-3.0, 4.0]]


def test_values_are_converted_to_the_dtype():
    x = xp.asarray([1, 2, 3])
    x[0] = 2.7
    x[1:] = xp.asarray([9.9, -1.5])
    assert x.tolist() == [2, 9, -1]
    assert x.dtype == xp.int64


def test_values_that_do_not_fit_are_refused():
    x = xp.zeros(3)
    with pytest.raises(TypeError, match="complex128 cannot be stored in an array of float64"):
        x[0] = 1j
    with pytest.raises(TypeError, match="complex128"):
        x[:] = xp.asarray([1j, 1, 1])
    with pytest.raises(ValueError, match=r"a value of shape \(2,\)"):
        x[:] = [1.0, 2.0]
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        x[3] = 1.0
    with pytest.raises(OverflowError):
        xp.zeros(3, dtype=xp.int8)[0] = 300


def test_a_lazy_result_keeps_the_values_from_before():
    x = xp.asarray([1.0, 2.0, 3.0])
    y = x * 2.0
    x[0] = 100.0
    z = x + y
    assert (y.tolist(), x.tolist(), z.tolist()) == ([2.0, 4.0, 6.0], [100.0, 2.0, 3.0], [102.0, 6.0, 9.0])


def test_copies_do_not_see_assignments():
    x = xp.asarray([1.0, 2.0])
    others = [x.copy(), xp.asarray(x, copy=True), x + 0]
    x[:] = 0.0
    assert [other.tolist() for other in others] == [[1.0, 2.0]] * 3


def test_numpy_arrays_are_copied_on_the_way_in():
    values = np.ones(3)
    x = xp.asarray(values)
    values[0] = 5.0
    x[1] = 7.0
    assert x.tolist() == [1.0, 7.0, 1.0]
    assert values.tolist() == [5.0, 1.0, 1.0]


def pointer(x):
    return x._uop.realized.pointer


def test_writes_in_place_where_nobody_else_can_see_it():
    x = xp.asarray(np.ones(3))
    before = pointer(x)
    x[0] = 2.0
    x[1:] = [3.0, 4.0]
    assert pointer(x) == before
    assert x.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "look",
    [lambda x: x + 1, lambda x: x.copy(), lambda x: x.to_numpy(copy=False), np.from_dlpack, lambda x: x[1:]],
    ids=["pending", "copy", "view", "dlpack", "slice"],
)
def test_copies_first_where_somebody_can_see_it(look):
    x = xp.asarray(np.ones(3))
    before = pointer(x)
    seen = look(x)
    want = np.array(np.asarray(seen) if not hasattr(seen, "_uop") else [])
    x[0] = 5.0
    assert pointer(x) != before
    if want.size:
        np.testing.assert_array_equal(np.asarray(seen), want)
    after = pointer(x)
    x[0] = 6.0
    assert pointer(x) == after


def test_a_large_pending_value_is_written_in_one_pass():
    x = xp.asarray(np.ones((300, 300)))
    for _ in range(3):
        x[1:-1, 1:-1] = x[1:-1, 1:-1] + 0.25 * (x[2:, 1:-1] - x[:-2, 1:-1])
    values = np.ones((300, 300))
    for _ in range(3):
        values[1:-1, 1:-1] = values[1:-1, 1:-1] + 0.25 * (values[2:, 1:-1] - values[:-2, 1:-1])
    np.testing.assert_array_equal(np.asarray(x), values)


def test_augmented_assignment_to_an_item():
    y = xp.zeros(3)
    x = xp.asarray([1.0, 2.0, 3.0])
    y[1:] += x[:2]
    y *= 2.0
    y[0] -= 1.0
    assert y.tolist() == [-1.0, 2.0, 4.0]


def test_gradient_through_assignment():
    def f(x):
        y = xp.zeros((2, 4))
        y[0, :3] = x
        y[1, 1:] = x * x
        y[0, 0] += 5.0 * x[2]
        return xp.sum(y)

    assert xp.grad(f)(xp.asarray([1.0, 2.0, 3.0])).tolist() == [3.0, 5.0, 12.0]
    assert xp.jit(xp.grad(f))(xp.asarray([1.0, 2.0, 3.0])).tolist() == [3.0, 5.0, 12.0]


def test_what_is_overwritten_gets_no_gradient():
    def f(x):
        y = x * 1.0
        y[1] = 0.0
        y[[2, 2]] = xp.asarray([10.0, 20.0])
        return xp.sum(y * y)

    assert xp.grad(f)(xp.asarray([1.0, 2.0, 3.0])).tolist() == [2.0, 0.0, 0.0]


def test_an_argument_that_jit_assigns_to_changes_for_the_caller():
    @xp.jit
    def step(x):
        x[0] = 10.0
        x += 1
        return xp.sum(x)

    x, values = xp.asarray([1.0, 2.0]), np.ones(2)
    assert float(step(x)) == 14.0
    assert x.tolist() == [11.0, 3.0]
    step(values)
    assert values.tolist() == [11.0, 2.0]


@pytest.mark.parametrize("places", [np.asarray([2, 0, 1]), [2, 0, 1], np.asarray([True, True, True])], ids=str)
def test_a_view_is_assigned_to_places_that_an_array_names(places):
    wanted = np.arange(9.0).reshape(3, 3)
    ours = xp.asarray(wanted)
    for key in (places, (0, places), (places, slice(None))):
        wanted[key] = wanted[1].copy()
        ours[key] = ours[1, :]
    assert ours.tolist() == wanted.tolist()


@pytest.mark.parametrize("value", [np.int64(7), np.uint8(7), np.float64(7.9), np.bool_(True)], ids=repr)
def test_numbers_of_numpy_that_fit_are_assigned_as_those_of_python(value):
    for key in (1, slice(1, None), [0, 2], np.asarray([True, False, True])):
        want = assign(np.zeros(3, dtype=np.int8), key, value)
        np.testing.assert_array_equal(np.asarray(assign(xp.zeros(3, dtype=xp.int8), key, value)), want)
        traced = xp.jit(lambda x, key=key: assign(x + 0, key, value))(xp.zeros(3, dtype=xp.int8))
        np.testing.assert_array_equal(np.asarray(traced), want, strict=True)
