"""For each function that we have of NumPy beyond the standard, what to draw for it; more for test_comparisons.py."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.support.case import Arguments, Comparison, both, given, listed, one
from tests.support.drawing import Draws, Operand
from tests.support.reference import ALL, COMPLEX, FLOATS, INTEGERS, NUMERIC, REAL, values

__all__ = ["NUMPY_COMPARISONS"]

Draw = Callable[[Draws], Arguments]


def with_nan(d: Draws, dtypes: Sequence[str] = FLOATS, **of_shape: Any) -> Operand:
    """An array in which some elements are nan."""
    x = np.array(d.array(dtypes, **of_shape).numpys)
    if x.dtype.kind == "f":
        x[values("bool", x.shape, d.integer(0, 99)) & values("bool", x.shape, d.integer(0, 99))] = np.nan
    return d.like(x)


# --------------------------------------------------------------------------------------------------------- elementwise


def pair(dtypes: Sequence[str], low: float = -8, high: float = 8) -> Draw:
    def draw(d: Draws) -> Arguments:
        x = d.array(dtypes, low=low, high=high)
        y = d.compatible(x, low, high)
        return given(y, x) if d.flag() else given(x, y)

    return draw


def pair_with_nan(d: Draws) -> Arguments:
    x = with_nan(d)
    return given(x, d.compatible(x))


def draw_close(d: Draws) -> Arguments:
    x = with_nan(d)
    near = x.numpys * (1 + d.one_of(0, 1e-6, 1e-3)) + d.one_of(0, 1e-9)
    return given(x, d.like(near.astype(x.dtype)), **d.options(rtol=(1e-2,), atol=(0.0,), equal_nan=(True, False)))


def draw_equal(d: Draws) -> Arguments:
    x = with_nan(d, ALL)
    return given(x, d.one_of(x, d.array([x.dtype], x.shape), d.array([x.dtype])))


ELEMENTWISE = {
    **listed("cbrt deg2rad degrees rad2deg radians sinc fabs exp2", one(FLOATS), ulps=8, eps=8),
    **listed("isneginf isposinf", one(REAL)),
    "rint": Comparison(one(("int32", "int64", "uint64", *FLOATS, *COMPLEX))),
    "angle": Comparison(lambda d: given(d.array(COMPLEX), **d.options(deg=(True, False))), ulps=8),
    "around": Comparison(lambda d: given(d.array(FLOATS), **d.options(decimals=(0, 1, -1, 3))), ulps=2),
    "nan_to_num": Comparison(lambda d: given(with_nan(d), **d.options(nan=(2.0,), posinf=(7.0,)))),
    "divmod": Comparison(pair(REAL, 1, 8)),
    "fmod": Comparison(pair(REAL, 1, 8)),
    "float_power": Comparison(pair(FLOATS, 0.5, 4), ulps=8),
    **listed("fmax fmin", pair_with_nan),
    "heaviside": Comparison(pair(FLOATS)),
    "logaddexp2": Comparison(pair(FLOATS), ulps=8, eps=16),
    **listed("isclose allclose", draw_close),
    **listed("array_equal array_equiv", draw_equal),
}


# ------------------------------------------------------------------------------------------------ creation and movement


def draw_array(d: Draws) -> Arguments:
    return given(d.array(ALL), **d.options(dtype=("complex128",), ndmin=(0, 1, 3), copy=(True,)))


def draw_linear(d: Draws) -> Arguments:
    first, last = (d.one_of(0, 1.5, d.like(np.asarray([1.0, -2.0]))) for _ in range(2))
    return given(first, last, d.one_of(0, 1, 2, 7), d.flag(), True, **d.options(dtype=("float32",), axis=(0,)))


def draw_grid(d: Draws) -> Arguments:
    lines = [d.array(ALL, most=2) for _ in range(d.integer(0, 3))]
    return given(*lines, **d.options(sparse=(True, False), indexing=("xy", "ij"), copy=(True, False)))


def draw_shape_like(d: Draws) -> Arguments:
    more = d.options(dtype=tuple(ALL), shape=(3, (2, 0), ()), order=("C", "K"), subok=(False,))
    return given(d.array(ALL), **more)


def draw_append(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1)
    axis = d.one_of(None, d.axis(x.ndim))
    return given(x, d.array([x.dtype], x.shape), axis)


def draw_parts(least: int = 1, most: int = 4, axis: bool = True) -> Draw:
    def draw(d: Draws) -> Arguments:
        x = d.array(ALL, least=least, most=most)
        where = d.axis(x.ndim) if axis else None
        cuts = tuple(sorted(d.integer(-3, 6) for _ in range(d.integer(0, 3))))
        return given(x, cuts) if where is None else given(x, cuts, where)

    return draw


def draw_equal_parts(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    return given(x, d.integer(1, 4), **d.options(axis=(d.axis(x.ndim),)))


def draw_joined(least: int = 0, most: int = 4) -> Draw:
    def draw(d: Draws) -> Arguments:
        x = d.array(NUMERIC, least=least, most=most)
        return given([x, *[d.array([x.dtype], x.shape) for _ in range(d.integer(0, 2))]])

    return draw


def draw_pad(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1, full=True)
    width = d.one_of(0, 1, (2, 1), [(d.integer(0, 3), d.integer(0, 3)) for _ in x.shape])
    mode = d.one_of("constant", "edge", "reflect", "symmetric", "wrap")
    return given(x, width, mode, **(d.options(constant_values=(7, (1, 2))) if mode == "constant" else {}))


def draw_rollaxis(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    return given(x, d.axis(x.ndim), d.integer(-x.ndim, x.ndim))


def draw_swapaxes(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    return given(x, d.axis(x.ndim), d.axis(x.ndim))


def draw_transpose(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, **d.options(axes=(d.order(x.ndim), None)))


def draw_rot90(d: Draws) -> Arguments:
    x = d.array(ALL, least=2)
    return given(x, d.integer(-3, 5), d.order(x.ndim)[:2])


def draw_planes(*more: str) -> Draw:
    def draw(d: Draws) -> Arguments:
        x = d.array(NUMERIC, least=2)
        axis1, axis2 = d.order(x.ndim)[:2]
        return given(x, d.integer(-4, 4), axis1, axis2, **d.options(dtype=more) if more else {})

    return draw


def draw_size(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, d.one_of(None, d.axis(x.ndim)) if x.ndim else None)


MOVEMENT = {
    "array": Comparison(draw_array),
    "linspace with its step": Comparison(draw_linear, eps=8),
    "meshgrid of any arrays": Comparison(draw_grid),
    "zeros_like of a shape": Comparison(draw_shape_like),
    "ones_like of a shape": Comparison(draw_shape_like),
    **listed("ascontiguousarray asfortranarray require", one(ALL)),
    **listed("iscomplexobj isrealobj", one(ALL)),
    "copy": Comparison(one(ALL)),
    "ravel": Comparison(one(ALL)),
    "identity": Comparison(lambda d: given(d.integer(0, 4), **d.options(dtype=tuple(ALL)))),
    "tri": Comparison(lambda d: given(d.integer(0, 4), d.one_of(None, 0, 3), d.integer(-5, 5))),
    "append": Comparison(draw_append),
    "array_split": Comparison(draw_equal_parts),
    "split": Comparison(draw_parts()),
    "vsplit": Comparison(draw_parts(2, axis=False)),
    "hsplit": Comparison(draw_parts(axis=False)),
    "dsplit": Comparison(draw_parts(3, axis=False)),
    **listed("atleast_1d atleast_2d atleast_3d", lambda d: given(*[d.array(ALL) for _ in range(d.integer(1, 2))])),
    **listed("vstack hstack dstack", draw_joined()),
    "column_stack": Comparison(draw_joined(1, 2)),
    "concatenate": Comparison(
        lambda d: (draw_joined(1)(d)[0], d.options(axis=(None, 0, -1), dtype=("complex128",)))
    ),
    "diag": Comparison(lambda d: given(d.array(ALL, least=1, most=2), **d.options(k=(0, 1, -2, 9)))),
    "diagonal": Comparison(draw_planes()),
    "trace": Comparison(draw_planes("complex128"), eps=256),
    "fliplr": Comparison(one(ALL, least=2)),
    "flipud": Comparison(one(ALL, least=1)),
    "pad": Comparison(draw_pad),
    "rollaxis": Comparison(draw_rollaxis),
    "rot90": Comparison(draw_rot90),
    "swapaxes": Comparison(draw_swapaxes),
    "transpose": Comparison(draw_transpose),
    **listed("shape ndim", one(ALL)),
    "size": Comparison(draw_size),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- sorting and sets


def draw_partition(d: Draws) -> Arguments:
    """All places, so that NumPy says what stands at each."""
    x = d.array(["bool", *NUMERIC], low=-2, high=2, least=1)
    axis = d.one_of(None, d.axis(x.ndim))
    n = x.numpys.size if axis is None else x.shape[axis]
    return given(x, list(range(n)) if x.numpys.size else 0, axis)


def draw_unique(d: Draws) -> Arguments:
    x = with_nan(d, ALL, low=-1, high=1)
    axis = (None, d.axis(x.ndim)) if x.ndim and x.numpys.dtype.kind not in "c" else (None,)
    asked = {f"return_{what}": (True, False) for what in ("index", "inverse", "counts")}
    return given(x, **d.options(axis=axis, equal_nan=(True, False), **asked))


SORTED = {
    "partition": Comparison(draw_partition),
    "argpartition": Comparison(draw_partition, numpy=lambda x, _, axis: np.argsort(x, axis, stable=True)),
    "unique": Comparison(draw_unique),
}


# ------------------------------------------------------------------------------------------------ choosing and writing


def draw_choose(d: Draws) -> Arguments:
    choices = [d.array(NUMERIC, d.one_of((3, 4), (4,), (3, 1), ())) for _ in range(3)]
    mode = d.one_of("raise", "wrap", "clip")
    least, most = (0, 2) if mode == "raise" else (-4, 7)
    numbers = values("int64", d.one_of((3, 4), (1, 4), ()), d.integer(0, 99), least, most)
    return given(d.like(numbers), choices, mode=mode)


def draw_compress(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    axis = d.one_of(None, d.axis(x.ndim))
    n = x.numpys.size if axis is None else x.shape[axis]
    return given(d.like(values(d.one_of("bool", "int64"), (d.integer(0, n),), d.integer(0, 99), 0, 1)), x, axis)


def draw_copied(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1)
    casting = d.one_of("same_kind", "unsafe", "safe")
    wider = x.dtype if casting == "safe" else d.one_of(*[n for n in NUMERIC if np.can_cast(n, x.dtype, casting)])
    source = d.array([wider], tuple([n if d.flag() else 1 for n in x.shape]), low=0)
    mask = d.like(values("bool", x.shape, d.integer(0, 99)))
    return given(x, source, **d.options(where=(mask, True, False)), casting=casting)


def draw_masked(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1)
    mask = d.like(values("bool", x.shape, d.integer(0, 99)))
    return given(x, mask, d.array([x.dtype], d.one_of((1,), (3,), (2, 2), ())))


def draw_put(d: Draws) -> Arguments:
    x = d.array(NUMERIC, full=True)
    mode = d.one_of("raise", "wrap", "clip")
    n = x.numpys.size if mode == "raise" else 3 * x.numpys.size
    places = values("int64", d.one_of((), (3,), (0,), (2, 2)), d.integer(0, 99), -n, n - 1)
    return given(x, d.like(places), d.array([x.dtype], d.one_of((1,), (2,), (4,))), mode=mode)


def draw_put_along(d: Draws) -> Arguments:
    """Numbers for values: where an index stands twice, either may be the last."""
    x = d.array(NUMERIC, least=1, full=True)
    axis = d.axis(x.ndim)
    shape = [1 if d.integer(0, 3) == 0 else n for n in x.shape]
    n = x.shape[axis]
    shape[axis] = d.integer(0, 3)
    return given(x, d.like(values("int64", tuple(shape), d.integer(0, 99), -n, n - 1)), d.integer(0, 9), axis)


def draw_diagonal_filled(d: Draws) -> Arguments:
    x = d.array(NUMERIC, d.one_of((3, 3), (2, 4), (5, 2), (7, 2), (0, 3), (3, 0), (2, 2, 2)))
    return given(x, d.array([x.dtype], d.one_of((), (1,), (2,), (9,))), **d.options(wrap=(True, False)))


def written(name: str, draw: Draw) -> Comparison:
    """A function that writes to its first argument: what it returns, and what stands there afterwards."""

    def call(ns: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        target = x if x.flags.writeable else x.copy()
        return [getattr(ns, name)(target, *args, **kwargs), target, x]

    return both(draw, call)


WRITING = {
    "choose": Comparison(draw_choose),
    "compress": Comparison(draw_compress),
    "copyto": written("copyto", draw_copied),
    "fill_diagonal": written("fill_diagonal", draw_diagonal_filled),
    **{name: written(name, draw_masked) for name in ("place", "putmask")},
    "put": written("put", draw_put),
    "put_along_axis": written("put_along_axis", draw_put_along),
}


# ------------------------------------------------------------------------------------------------------------- products


def draw_dot(d: Draws) -> Arguments:
    k = d.integer(0, 3)
    left, right = d.one_of(((k,), (k,)), ((2, k), (k,)), ((), (2, k)), ((2, 3, k), (k, 2)), ((2, k), (3, k, 2)))
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype], right))


def draw_inner(d: Draws) -> Arguments:
    k = d.integer(0, 3)
    left, right = d.one_of(((k,), (k,)), ((2, k), (k,)), ((), (2, k)), ((2, k), (3, 2, k)))
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype], right))


def draw_same_size(d: Draws) -> Arguments:
    x = d.array(NUMERIC)
    return given(x, d.array([x.dtype], (x.numpys.size,)))


def draw_any_two(d: Draws) -> Arguments:
    x = d.array(NUMERIC, most=2)
    return given(x, d.array([x.dtype], most=2))


def draw_vectors(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1, most=1, full=True)
    y = d.array([x.dtype], least=1, most=1, full=True)
    return given(x, y, d.one_of("full", "same", "valid"))


def draw_matvec(d: Draws) -> Arguments:
    m, n = d.integer(0, 3), d.integer(0, 3)
    left, right = d.one_of(((m, n), (n,)), ((2, m, n), (n,)), ((m, n), (2, n)), ((2, 1, m, n), (3, n)))
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype], right))


def draw_vecmat(d: Draws) -> Arguments:
    m, n = d.integer(0, 3), d.integer(0, 3)
    left, right = d.one_of(((m,), (m, n)), ((m,), (2, m, n)), ((2, m), (m, n)), ((3, m), (2, 1, m, n)))
    x = d.array(NUMERIC, left)
    return given(x, d.array([x.dtype], right))


def draw_einsum(d: Draws) -> Arguments:
    text, *shapes = d.one_of(
        ("ij,jk->ik", (3, 4), (4, 2)), ("ii->i", (3, 3)), ("ij->ji", (2, 3)), ("ij,ij->", (2, 3), (2, 3)),
        ("...ij,...jk->...ik", (2, 3, 1), (2, 1, 2)), ("i,j,k->kij", (2,), (3,), (0,)), (",i->i", (), (3,)),
        ("ij,kj", (2, 3), (4, 3)), ("ij,jk,kl->il", (2, 3), (3, 2), (2, 4)),
    )  # fmt: skip
    x = d.array(NUMERIC, shapes[0], -2, 2)
    return given(text, x, *[d.array([x.dtype], shape, -2, 2) for shape in shapes[1:]])


PRODUCTS = {
    "dot": Comparison(draw_dot, eps=2048),
    "inner": Comparison(draw_inner, eps=2048),
    "vdot": Comparison(draw_same_size, eps=8192),
    "outer": Comparison(draw_any_two, ulps=4),
    "kron": Comparison(draw_any_two, ulps=4),
    **listed("convolve correlate", draw_vectors, eps=1024),
    "matvec": Comparison(draw_matvec, eps=1024),
    "vecmat": Comparison(draw_vecmat, eps=1024),
    "einsum": Comparison(draw_einsum, eps=1024),
}


# ----------------------------------------------------------------------------------------------------------- statistics


def draw_average(d: Draws) -> Arguments:
    x = d.array(FLOATS, full=True)
    axis = d.axes(x.ndim)
    weights = d.array([x.dtype], x.shape, 1, 4)
    return given(x, axis, **d.options(weights=(weights, None), keepdims=(True, False)))


def draw_cumulated(d: Draws) -> Arguments:
    x = with_nan(d, NUMERIC, low=-2, high=2)
    return given(x, d.one_of(None, d.axis(x.ndim)) if x.ndim else None, **d.options(dtype=("complex128",)))


def draw_gradient(d: Draws) -> Arguments:
    x = d.array(FLOATS, d.one_of((5,), (3, 4), (2, 3, 4)))
    order = d.one_of(1, 2) if min(x.shape) > 2 else 1
    axis = d.axes(x.ndim)
    if axis == ():
        axis = None
    spacing = d.one_of((), (0.5,))
    if isinstance(axis, int) and d.flag():
        spacing = (d.like(np.cumsum(values(x.dtype, (x.shape[axis],), d.integer(0, 99), 1, 2))),)
    return given(x, *spacing, axis=axis, edge_order=order)


def draw_reduced(dtypes: Sequence[str] = FLOATS, **options: Any) -> Draw:
    def draw(d: Draws) -> Arguments:
        x = with_nan(d, dtypes, low=-2, high=2, full=True)
        return given(x, **d.options(axis=(d.axes(x.ndim),), keepdims=(True, False), **options))

    return draw


def draw_one_axis(d: Draws) -> Arguments:
    x = with_nan(d, FLOATS, full=True)
    return given(x, **d.options(axis=(None, d.axis(x.ndim) if x.ndim else None), keepdims=(True, False)))


def draw_ranked(q: Sequence[Any]) -> Draw:
    def draw(d: Draws) -> Arguments:
        x = with_nan(d, FLOATS, full=True)
        axis = d.axes(x.ndim)
        return given(x, d.one_of(*q), None if axis == () else axis, **d.options(keepdims=(True, False)))

    return draw


def draw_median(d: Draws) -> Arguments:
    (x, _, axis), how = draw_ranked((0,))(d)
    return given(x, axis, **how)


def draw_ptp(d: Draws) -> Arguments:
    x = d.array(REAL, full=True)
    return given(x, **d.options(axis=(d.axes(x.ndim),), keepdims=(True, False)))


def draw_trapezoid(d: Draws) -> Arguments:
    y = d.array(FLOATS, least=1)
    axis = d.axis(y.ndim)
    n = y.shape[axis]
    if d.flag():
        return given(y, d.like(np.sort(values(y.dtype, (n,), d.integer(0, 99)))), axis=axis)
    return given(y, axis=axis, **d.options(dx=(0.5, 2.0)))


STATISTICS = {
    "average": Comparison(draw_average, eps=256),
    "cumsum": Comparison(draw_cumulated, eps=512),
    "cumprod": Comparison(draw_cumulated, ulps=256),
    "nancumsum": Comparison(draw_cumulated, eps=512),
    "nancumprod": Comparison(draw_cumulated, eps=512),
    "gradient": Comparison(draw_gradient, eps=64),
    "median": Comparison(draw_median, eps=8),
    "nanmedian": Comparison(draw_one_axis, eps=8),
    "quantile": Comparison(draw_ranked((0.3, [0.0, 0.5, 1.0], np.float32(0.7), np.asarray([[0.5], [0.1]]))), eps=64),
    "percentile": Comparison(draw_ranked((25, [0.0, 99.0], np.float32(70), np.asarray([10.0]))), eps=64),
    **listed("nanmax nanmin", draw_reduced(FLOATS + INTEGERS)),
    "nanmean": Comparison(draw_reduced(), eps=64),
    "nansum": Comparison(draw_reduced(NUMERIC, dtype=("complex128",)), eps=256),
    "nanprod": Comparison(draw_reduced(NUMERIC), ulps=256),
    **listed("nanvar nanstd", draw_reduced(ddof=(0, 1)), eps=1024),
    "ptp": Comparison(draw_ptp),
    "trapezoid": Comparison(draw_trapezoid, eps=256),
}

NUMPY_COMPARISONS: dict[str, Comparison] = {
    **ELEMENTWISE,
    **MOVEMENT,
    **SORTED,
    **WRITING,
    **PRODUCTS,
    **STATISTICS,
}
