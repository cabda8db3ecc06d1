"""Views share elements with their base, as NumPy's do: random programs of views and writes, compared step by step."""

import random

import numpy as np
import pytest

import uopc_array as xp


def random_slice(rng, n):
    start, stop = (rng.choice([None, *range(-n, n + 1)]) for _ in range(2))
    return slice(start, stop, rng.choice([None, None, 1, 2, -1, -2]))


def random_view(rng, shape):
    """A function of an array, ours or NumPy's, that makes a view of it (or a copy, where NumPy has to)."""
    kind = rng.choice(
        ["slice", "slice", "item", "ellipsis", "T", "reshape", "ravel", "squeeze", "expand", "flip", "T2", "same"]
    )
    if kind == "slice" and len(shape):
        key = tuple(random_slice(rng, n) for n in shape[: rng.randint(0, len(shape))])
        return lambda xp, x: x[key]
    if kind == "item" and len(shape) > 1 and shape[0]:
        number = rng.randrange(-shape[0], shape[0])
        return lambda xp, x: x[number]
    if kind == "ellipsis" and len(shape) and shape[-1]:
        number = rng.randrange(shape[-1])
        return lambda xp, x: x[..., number]
    if kind == "reshape":
        size = int(np.prod(shape))
        wanted = rng.choice([(-1,), (1, size), (size // 2, 2) if size % 2 == 0 else (size,), (*shape, 1)])
        return lambda xp, x: xp.reshape(x, wanted)
    if kind == "expand":
        axis = rng.randint(0, len(shape))
        return lambda xp, x: xp.expand_dims(x, axis)
    if kind == "flip" and len(shape):
        axis = rng.randrange(len(shape))
        return lambda xp, x: xp.flip(x, axis=axis)
    if kind == "T2" and len(shape) > 1:
        return lambda xp, x: x.swapaxes(0, -1)
    if kind == "squeeze":
        return lambda xp, x: x.squeeze()
    if kind == "same":
        return lambda xp, x: x.view()
    if kind == "ravel":
        return lambda xp, x: x.ravel()
    return lambda xp, x: x.T


def random_write(rng, shape):
    """A function that changes an array in some way."""
    value = round(rng.uniform(-9, 9), 2)
    kind = rng.choice(["add", "all", "slice", "item", "mask", "array", "augmented", "fill"])
    if kind == "slice" or kind == "augmented":
        key = tuple(random_slice(rng, n) for n in shape[: rng.randint(0, len(shape))])
        if kind == "slice":
            return lambda x: x.__setitem__(key, value)

        def augment(x):
            x[key if key else ...] += value

        return augment
    if kind == "item" and len(shape) and 0 not in shape:
        key = tuple(rng.randrange(-n, n) for n in shape)
        return lambda x: x.__setitem__(key, value)
    if kind == "mask":
        return lambda x: x.__setitem__(x > 0, value)
    if kind == "array" and len(shape) and shape[0]:
        rows = [rng.randrange(-shape[0], shape[0]) for _ in range(3)]
        return lambda x: x.__setitem__(rows, value)
    if kind == "add":
        return lambda x: x.__iadd__(value)
    if kind == "fill":
        return lambda x: x.fill(value)
    return lambda x: x.__setitem__(..., value)


def run(rng, start, check):
    """A random program on ours and on NumPy's arrays side by side."""
    ours, numpys = [start[0]], [start[1]]
    for _ in range(14):
        which = rng.randrange(len(ours))
        shape = numpys[which].shape
        if len(ours) < 5 and rng.random() < 0.5:
            function = random_view(rng, shape)
            ours.append(function(xp, ours[which]))
            numpys.append(function(np, numpys[which]))
        else:
            write = random_write(rng, shape)
            write(ours[which])
            write(numpys[which])
        if check:
            compare(ours, numpys)
    return ours, numpys


def compare(ours, numpys):
    for x, n in zip(ours, numpys, strict=True):
        np.testing.assert_array_equal(np.asarray(x), n, strict=True)


@pytest.mark.parametrize("check", [True, False], ids=["look-always", "look-at-the-end"])
@pytest.mark.parametrize("seed", range(40))
def test_a_program_of_views_and_writes_agrees_with_numpy(seed, check):
    rng = random.Random(seed)
    values = np.arange(1.0, 25.0).reshape(rng.choice([(24,), (4, 6), (2, 3, 4), (6, 1, 4)]))
    x = xp.asarray(values) if rng.random() < 0.5 else xp.asarray(values) * 1.0
    compare(*run(rng, (x, values.copy()), check))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("how", ["jit", "grad"])
def test_the_same_inside_of_jit_and_grad(seed, how):
    values = np.arange(1.0, 25.0).reshape(4, 6)

    def program(x, module):
        rows = x[1:3]
        column = rows.T[seed % 6]
        rows *= 2.0
        column[...] = -1.0
        x[0, seed % 6] = 100.0
        flat = module.reshape(x, (-1,))
        flat[seed::7] += 5.0
        return x, rows, column, flat

    want = program(values.copy(), np)
    if how == "jit":
        got = xp.jit(lambda x: program(x + 0.0, xp))(values)
    else:
        got = xp.grad(lambda x: (xp.sum((out := program(x + 0.0, xp))[0]), out), has_aux=True)(xp.asarray(values))[1]
    compare(got, want)


def test_what_numpy_copies_is_no_view():
    x = xp.asarray(np.arange(6.0).reshape(2, 3))
    for other in (x.T.reshape(-1), x.flatten(), x.copy(), x[[0, 1]], x[x > -1], xp.reshape(x, (6,), copy=True), x + 0):
        other[...] = -1.0
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


LIE = {
    "in rows": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1],
    "mirrored": lambda x: x[:, ::-1],
    "a part of each row": lambda x: x[:, 1:],
    "some rows": lambda x: x[1:],
    "transposed twice": lambda x: x.T[1:].T,
    "one column": lambda x: x[:, 1],
}
ROW_WRITES = (
    "v.flat[2] = 99.0",
    "v.flat[-1] += 5.0",
    "v.flat = 7.0",
    "v.flat[:] = v.flat[::-1] * 2",
    "v.flat[[0, 1]] = 3.0",
    "v.flat[1:3] = [8.0, 9.0]",
)


@pytest.mark.parametrize("how", ["eager", "pending", "jit"])
@pytest.mark.parametrize("write", ROW_WRITES)
@pytest.mark.parametrize("lie", LIE)
def test_writes_into_the_row_of_elements_reach_the_array_however_it_lies(lie, write, how):
    values = np.arange(12.0).reshape(4, 3)

    def program(x):
        exec(write, {"v": (v := LIE[lie](x))})
        return x, v

    want = program(values.copy())
    run_with = {"eager": lambda x: program(xp.asarray(x)), "pending": lambda x: program(xp.asarray(x) + 0.0)}
    compare((run_with.get(how) or xp.jit(lambda x: program(x + 0.0)))(values), want)


def test_an_element_is_a_scalar_of_its_own():
    x = xp.asarray([1.0, 2.0]) * 1.0
    first = x[0]
    first += 5.0
    assert x.tolist() == [1.0, 2.0]
    zero_d = x[0, ...]
    zero_d += 5.0
    assert x.tolist() == [6.0, 2.0]


def test_real_and_imaginary_parts_are_views():
    z = xp.asarray([1 + 2j, 3 + 4j])
    z.real[0] = 10.0
    z.imag[...] = 0.5
    z.real[1:] += 1.0
    assert z.tolist() == [10 + 0.5j, 4 + 0.5j]
    part = z.imag
    z[0] = 7j
    assert part.tolist() == [7.0, 0.5]

    @xp.jit
    def f(z):
        w = z * 1
        w.real[0] = 0.0
        w.imag += 1.0
        return w

    assert f(z).tolist() == [8j, 4 + 1.5j]


OF_ONE_SIZE = (("float64", "int64", "uint64"), ("float32", "int32", "uint32"), ("int16", "uint16"), ("int8", "uint8"))


@pytest.mark.parametrize("how", ["shared", "memory", "pending", "jit"])
@pytest.mark.parametrize("seed", range(12))
def test_the_bits_of_an_array_are_a_view(seed, how):
    """Of any view, of parts of complex numbers too: what is written in one dtype is seen in all."""
    rng = random.Random(seed)
    kinds = rng.choice(OF_ONE_SIZE)
    start = rng.choice([*kinds, "complex128"] if kinds[0] == "float64" else kinds)
    values = (np.arange(24).reshape(rng.choice([(24,), (4, 6), (2, 3, 4)])) - 5).astype(start)
    steps = [rng.choice(kinds) for _ in range(4)]
    seeds = [rng.random() for _ in steps]

    def program(x, module):
        out = [x, x.real if start == "complex128" else x]
        for dtype, number in zip(steps, seeds, strict=True):
            draw = random.Random(number)
            view = random_view(draw, np.shape(out[-1]))(module, out[-1])
            bits = view.view(dtype)
            bits[draw.choice([slice(None), slice(1, None, 2), slice(None, 0, -1)]) if np.ndim(bits) else ...] = 3
            bits += 1
            out += [view, bits]
        return out

    wanted = program(values.copy(), np)
    given = xp.asarray(values.copy(), copy=False) if how == "shared" else xp.asarray(values)
    if how == "pending":
        given = given * 1
    compare(xp.jit(lambda x: program(x * 1, xp))(values) if how == "jit" else program(given, xp), wanted)


def test_what_is_not_written_through_bits_keeps_its_derivative():
    def f(x):
        y = x * 2
        y.view("int64")[1] = 0
        return xp.sum(y * y)

    assert xp.grad(f)(xp.asarray([1.0, 2.0, 3.0])).tolist() == [8.0, 0.0, 24.0]
    assert xp.jvp(f, (xp.asarray([1.0, 2.0, 3.0]),), (xp.ones(3),))[1].item() == 32.0


def test_bool_is_no_view_of_bits():
    x = xp.asarray([True, False])
    x.view("uint8")[...] = 7
    assert x.tolist() == [True, False]


def test_a_view_outlives_the_name_of_its_base():
    x = xp.asarray([1.0, 2.0, 3.0])
    tail = x[1:]
    x = x * 100.0
    tail[0] = 9.0
    assert tail.tolist() == [9.0, 3.0]
    assert x.tolist() == [100.0, 200.0, 300.0]


def test_writing_through_a_view_is_in_place():
    x = xp.asarray(np.zeros((100, 100)))
    before = x._uop.realized.pointer
    for i in range(5):
        row = x[i]
        row[:] = float(i)
        row[0] += 1.0
    assert x._uop.realized.pointer == before
    assert x[:5, 1].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert x[:5, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_gradient_through_a_view():
    def f(x):
        y = xp.zeros((2, 2))
        row = y[0]
        row[:] = x
        y[1] = row * x
        return xp.sum(y)

    assert xp.grad(f)(xp.asarray([1.0, 2.0])).tolist() == [3.0, 5.0]


def test_a_long_chain_of_views():
    x = xp.arange(3000.0)
    view = x
    for _ in range(2500):
        view = view[1:]
    view[0] = -1.0
    assert view.shape == (500,)
    assert float(x[2500]) == -1.0
