"""matmul, matvec, vecdot and vecmat with every keyword of NumPy's, over stacks and extents of 0, 1 and more."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same
from uopc_core.errors import GradientError, TraceError

NAMES = ("matmul", "matvec", "vecdot", "vecmat")
EXTENTS = (0, 1, 3)
BATCHES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()), ((2,), ()), ((), (2,)), ((2, 1), (3,)), ((0,), (1,)), ((2,), (3,)),
)  # fmt: skip
DTYPES = ("bool", "int8", "uint16", "int64", "float32", "float64", "complex64", "complex128")


def array(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> np.ndarray[Any, Any]:
    """Small whole numbers, so that every order of sums gives the same bits."""
    random = np.random.default_rng(seed)
    values = random.integers(0 if dtype[0] in "ub" else -3, 4, shape)
    return (values + 1j * random.integers(-3, 4, shape) if dtype[0] == "c" else values).astype(dtype)


def cores(name: str, m: int, k: int, n: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The last axes of the operands."""
    return {
        "matmul": [((m, k), (k, n)), ((k,), (k, n)), ((m, k), (k,)), ((k,), (k,))],
        "matvec": [((m, k), (k,))],
        "vecdot": [((k,), (k,))],
        "vecmat": [((k,), (k, n))],
    }[name]


def agree(name: str, x: Any, y: Any, what: str = "", **more: Any) -> None:
    """The call, by our name and by NumPy's, gives what NumPy's gives of its own arrays, or raises as that does."""
    theirs = getattr(np, name)
    wanted = run(theirs, x, y, **more)
    given = [xp.asarray(x), xp.asarray(y)]
    for f in (getattr(xp, name), theirs):
        same(run(f, *given, **more), wanted, f"{name} {x.shape} {y.shape} {more} {what}")


@pytest.mark.parametrize("name", NAMES)
def test_extents_and_stacks(name: str) -> None:
    for (m, k, n), (left, right) in product(product(EXTENTS, repeat=3), BATCHES):
        for x, y in cores(name, m, k, n):
            agree(name, array((*left, *x)), array((*right, *y), seed=1))


@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name: str) -> None:
    for one, two in product(DTYPES, DTYPES):
        x, y = cores(name, 2, 3, 2)[0]
        agree(name, array(x, one), array(y, two, 1))
        for dtype in ("int64", "float32", "complex128"):
            for casting in ("same_kind", "unsafe", "safe"):
                if not (casting == "unsafe" and "complex" in one + two):  # the imaginary part is never dropped
                    agree(name, array(x, one), array(y, two, 1), f"{one} {two}", dtype=dtype, casting=casting)


@pytest.mark.parametrize("name", NAMES)
def test_axes_in_every_order(name: str) -> None:
    theirs = getattr(np, name)
    for x, y in cores(name, 2, 3, 4):
        for left, right in BATCHES[:3]:
            if name == "matmul" and ((left and len(x) == 1) or (right and len(y) == 1)):
                continue  # a stack of vectors is a matrix
            a, b = array((*left, *x)), array((*right, *y), seed=1)
            plain = theirs(a, b)
            counts = [len(x), len(y), plain.ndim - max(len(left), len(right))]
            orders = [list(permutations(range(-v.ndim, v.ndim), k)) for v, k in zip((a, b, plain), counts, strict=True)]
            for axes in list(product(*[order[:6] for order in orders]))[::3]:
                first = np.moveaxis(a, range(a.ndim - counts[0], a.ndim), axes[0]) if _once(axes[0], a) else a
                second = np.moveaxis(b, range(b.ndim - counts[1], b.ndim), axes[1]) if _once(axes[1], b) else b
                agree(name, first, second, axes=list(axes))


def _once(axes: tuple[int, ...], x: Any) -> bool:
    return len({axis % x.ndim for axis in axes}) == len(axes)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_axes_are_refused(name: str) -> None:
    x, y = (array(core, seed=i) for i, core in enumerate(cores(name, 3, 3, 3)[0]))
    wrong: list[Any] = [0, (0, 1), [], [(0,)], [(0, 1)] * 3, [(0,)] * 4, [0, 0, 0], ["a", 0, 0], [(5,), (0,), ()]]
    for axes in wrong:
        agree(name, x, y, axes=axes)
    keywords: list[dict[str, Any]] = [
        {"axis": 0}, {"axis": -1}, {"axis": 7}, {"keepdims": True}, {"axis": 0, "axes": [0, 0]},
        {"casting": "bogus"}, {"order": "bogus"}, {"where": True}, {"signature": "dd->d"}, {"order": "F"},
    ]  # fmt: skip
    for more in keywords:
        agree(name, x, y, **more)


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (2, 3)), ((4, 2, 3), (2, 3))], ids=str)
def test_vecdot_keeps_the_axis_where_it_is(shapes: Any) -> None:
    x, y = array(shapes[0], "complex128"), array(shapes[1], "complex128", 1)
    for keepdims, axis in product((False, True), (0, 1, -1, -2, None)):
        more = {"keepdims": keepdims, **({} if axis is None else {"axis": axis})}
        agree("vecdot", x, y, **more)
        agree("vecdot", x, y, dtype="complex64", casting="unsafe", **more)
    for axes in ([0, 0], [-1, -1], [-1, -1, ()], [0, 0, 0], [-1, -1, -1], [(-1,), (-1,), (0,)]):
        for keepdims in (False, True):
            agree("vecdot", x, y, axes=axes, keepdims=keepdims)


@pytest.mark.parametrize("name", NAMES)
def test_out(name: str) -> None:
    x, y = (array(core, seed=i) for i, core in enumerate(cores(name, 2, 3, 4)[0]))
    given, wanted = (xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y)
    for f, dtype in product((getattr(xp, name), getattr(np, name)), ("float64", "float32", "complex128")):
        for out in (xp.zeros(wanted.shape, dtype=dtype), np.zeros(wanted.shape, dtype)):
            assert f(*given, out=out) is out
            same(out, wanted.astype(dtype), name)
            assert f(*given, (out,)) is out if f is getattr(xp, name) else True
        with pytest.raises(TypeError, match=f"^{name}: the result is float64 and cannot be stored in .* int64"):
            f(*given, out=xp.zeros(wanted.shape, dtype="int64"))
    assert getattr(xp, name)(*given, out=xp.zeros(wanted.shape, dtype="int64"), casting="unsafe").dtype == np.int64
    for shape in ((5, *wanted.shape), (9, 9), (5, *wanted.shape[:-1], 1), (1,)):
        found = run(getattr(xp, name), *given, out=xp.zeros(shape))
        same(found, run(getattr(np, name), x, y, out=np.zeros(shape)), f"{name} in {shape}")
    if name != "vecdot":
        with pytest.raises(ValueError, match=f"^{name}: the result of shape"):
            getattr(xp, name)(*given, out=xp.zeros((9, 9)))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_for_functions_of_each_element_is_refused(name: str) -> None:
    x = xp.ones((2, 2))
    for method, more in (("reduce", ()), ("accumulate", ()), ("reduceat", ([0],)), ("outer", (x,)), ("at", ([0], x))):
        wanted = run(getattr(getattr(np, name), method), np.ones((2, 2)), *more)
        for f in (getattr(xp, name), getattr(np, name)):
            assert type(run(getattr(f, method), x, *more)) is type(wanted), method


@pytest.mark.parametrize("name", NAMES)
def test_too_few_axes_are_refused_by_name(name: str) -> None:
    for x, y in (((), (3,)), ((3,), ()), ((), ())):
        agree(name, array(x), array(y))
        with pytest.raises(ValueError, match=f"^{name}: expected"):
            getattr(xp, name)(xp.asarray(array(x)), xp.asarray(array(y)))
        with pytest.raises(ValueError, match=f"^{name}: expected"):
            getattr(xp, name)(xp.asarray(array(x)), xp.asarray(array(y)), axes=[(-1,), (-1,), ()])


@pytest.mark.parametrize("name", NAMES)
def test_transforms_pass_through_the_keywords(name: str) -> None:
    x, y = (xp.asarray(array(core, seed=i)) for i, core in enumerate(cores(name, 3, 3, 3)[0]))
    counts = {"matmul": (2, 2, 2), "matvec": (2, 1, 1), "vecdot": (1, 1, 0), "vecmat": (1, 2, 1)}[name]
    axes = [tuple(range(n))[::-1] for n in counts]
    f = getattr(xp, name)
    want = getattr(np, name)(np.asarray(x), np.asarray(y), axes=axes)
    same(xp.jit(lambda x, y: f(x, y, axes=axes))(x, y), want, name)
    batch = xp.stack([x, 2 * x])
    same(xp.vmap(lambda v: f(v, y, axes=axes))(batch), np.stack([want, 2 * want]), name)
    slope = xp.grad(lambda v: xp.sum(f(v, y, axes=axes, dtype="float64") ** 2) / 2)(x)
    assert float(xp.sum(slope * x)) == float(np.sum(want**2))
    signature = "ff->f"
    assert f(x, y, signature=signature, casting="same_kind").dtype == np.float32
    with pytest.raises(TraceError, match=f"{name}, which runs in NumPy"):
        xp.jit(lambda x: f(x, y, signature=signature))(x)
    with pytest.raises(GradientError, match=f"{name}: it runs in NumPy"):
        xp.grad(lambda x: xp.sum(f(x, y, signature=signature)))(x)
