"""For each function of the standard, what to draw for it and what NumPy says: the table behind test_comparisons.py."""

from typing import Any

import numpy as np

import uopc_array as xp
from tests.functions.test_elementwise import BINARY, UNARY, Binary, Unary
from tests.support.case import Arguments, Comparison, both, given, listed, one
from tests.support.drawing import Draws, Operand
from tests.support.linalg_comparisons import FOURIER, LINALG, PRODUCTS
from tests.support.reference import ALL, BOOL, COMPLEX, FLOATS, INTEGERS, NUMERIC, REAL, values

__all__ = ["COMPARISONS"]

INEXACT = FLOATS + COMPLEX


# ------------------------------------------------------------------------------------------------------ elementwise


def unary(case: Unary) -> Comparison:
    return Comparison(one(case.dtypes, case.low, case.high), numpy=case.numpy, ulps=case.ulps)


def binary(case: Binary) -> Comparison:
    def draw(d: Draws) -> Arguments:
        x = d.array(case.dtypes, low=case.low, high=case.high)
        y = d.compatible(x, case.low, case.high)
        return given(y, x) if d.flag() else given(x, y)

    return Comparison(draw, numpy=case.numpy, ulps=case.ulps)


def draw_clip(d: Draws) -> Arguments:
    x = d.array(REAL)
    limits = [d.one_of(None, -2.5, 3.0) if x.dtype in FLOATS else d.one_of(None, 1, 3) for _ in range(2)]
    arrays = [d.array([x.dtype], x.shape[d.integer(0, x.ndim) :], high=4) for _ in range(2)]
    return given(x, *[d.one_of(limit, array) for limit, array in zip(limits, arrays, strict=True)])


ELEMENTWISE = {
    **{f"{case.name} {case.dtypes[0]}": unary(case) for case in UNARY},
    **{f"{case.name} {case.dtypes[0]}": binary(case) for case in BINARY},
    "clip": Comparison(draw_clip),
}


# --------------------------------------------------------------------------------------------- creation and dtypes


def draw_range(d: Draws) -> Arguments:
    start = d.one_of(0, 3, -4, 0.5)
    stop, step = d.one_of(None, 7, -9.0, 12), d.one_of(1, 2, -3, 0.25)
    return given(start, stop, step, **d.options(dtype=(np.float32, np.float64)))


def draw_asarray(d: Draws) -> Arguments:
    x: Any = d.array(ALL)
    if d.flag():
        x = x.numpys.tolist() if d.flag() and x.numpys.size else x.numpys
    return given(x, **d.options(dtype=(np.complex128, None), copy=(True, None)))


def draw_filled(d: Draws) -> Arguments:
    shape = d.shape()
    return given(d.one_of(shape, list(shape)), **d.options(dtype=tuple(ALL)))


def draw_linspace(d: Draws) -> Arguments:
    start, stop = d.one_of(0, -3.5, 2 + 1j), d.one_of(9, 0.25, 1j)
    wide = np.complex128 if isinstance(start, complex) or isinstance(stop, complex) else np.float64
    return given(start, stop, d.integer(0, 9), **d.options(endpoint=(True, False), dtype=(wide,)))


def draw_triangle(d: Draws) -> Arguments:
    return given(d.array(ALL, least=2), **d.options(k=(0, 1, -1, -9, 9)))


def draw_cast(d: Draws) -> Arguments:
    source = d.one_of(*ALL)
    wider = [name for name in ALL if name in COMPLEX or source not in COMPLEX]
    return given(d.array([source], low=0), d.one_of(*wider), **d.options(copy=(True, False)))


def draw_dtypes(d: Draws) -> Arguments:
    first = d.one_of(*ALL)
    return given(first, *[d.one_of(*ALL) for _ in range(d.integer(0, 2))])


LIMITS = "bits eps max min smallest_normal dtype"

CREATION = {
    "arange": Comparison(draw_range, ulps=4),
    "asarray": Comparison(draw_asarray),
    "asanyarray": Comparison(draw_asarray),
    "from_dlpack": Comparison(
        lambda d: given(d.array(ALL)), ours=lambda x: xp.from_dlpack(x.to_numpy()), numpy=np.asarray
    ),
    **listed("zeros ones", draw_filled),
    "empty": both(draw_filled, lambda ns, *a, **k: _of(ns.empty(*a, **k))),
    "eye": Comparison(
        lambda d: given(d.integer(0, 4), d.one_of(None, 0, 3), k=d.integer(-5, 5), **d.options(dtype=tuple(ALL)))
    ),
    "full": Comparison(lambda d: given(d.shape(), d.one_of(2, True, 0.5, 1j), **d.options(dtype=("complex64",)))),
    **listed("zeros_like ones_like", lambda d: given(d.array(ALL), **d.options(dtype=tuple(ALL)))),
    "empty_like": both(one(ALL), lambda ns, x: _of(ns.empty_like(x))),
    "full_like": Comparison(lambda d: given(d.array(NUMERIC), d.one_of(1, 7), **d.options(dtype=("float32",)))),
    "linspace": Comparison(draw_linspace, ulps=4),
    "meshgrid": Comparison(
        lambda d: given(
            *[d.array(NUMERIC, most=1) for _ in range(d.integer(1, 3))], **d.options(indexing=("ij", "xy"))
        )
    ),
    **listed("tril triu", draw_triangle),
    "astype": Comparison(draw_cast, numpy=lambda x, dtype, copy=True: x.astype(dtype, copy=copy)),
    "can_cast": both(
        lambda d: given(d.one_of(*ALL), d.one_of(*ALL)),
        lambda ns, x, y: ns.can_cast(_named(ns, x), _named(ns, y)),
    ),
    "finfo": both(lambda d: given(d.one_of(*INEXACT)), lambda ns, x: [getattr(ns.finfo(x), a) for a in LIMITS.split()]),
    "iinfo": both(
        lambda d: given(d.one_of(*INTEGERS)), lambda ns, x: [getattr(ns.iinfo(x), a) for a in ("bits", "min", "max")]
    ),
    "isdtype": both(
        lambda d: given(d.one_of(*ALL), d.one_of(
            "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"
        )),
        lambda ns, x, kind: ns.isdtype(np.dtype(x), kind),
    ),
    "result_type": Comparison(draw_dtypes),
}  # fmt: skip


def _of(x: Any) -> Any:
    """Shape and dtype of an array whose elements are nobody's business."""
    return [x.shape, np.dtype(x.dtype).name]


def _named(ns: Any, name: str) -> Any:
    return getattr(ns, name)


# -------------------------------------------------------------------------------------------------------- manipulation


def draw_broadcast(d: Draws) -> Arguments:
    x = d.array(ALL)
    grown = tuple([n if n != 1 else d.integer(0, 3) for n in x.shape])
    return given(x, (*[d.integer(0, 2) for _ in range(d.integer(0, 2))], *grown))


def draw_together(d: Draws) -> Arguments:
    x = d.array(ALL)
    others = [d.compatible(x) for _ in range(d.integer(0, 2))]
    return given(x, *[y for y in others if isinstance(y, Operand)])


def draw_concat(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1)
    axis = d.one_of(None, d.axis(x.ndim))
    parts = [x]
    for _ in range(d.integer(0, 2)):
        shape = list(x.shape)
        if axis is not None:
            shape[axis] = d.integer(0, 3)
        parts.append(d.array([x.dtype, "complex128"], tuple(shape)))
    return given(parts, axis=axis)


def draw_stack(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given([x, *[d.array([x.dtype], x.shape) for _ in range(d.integer(0, 2))]], axis=d.axis(x.ndim + 1))


def draw_expand(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, axis=d.one_of(d.axis(x.ndim + 1), (0, -1)))


def draw_squeeze(d: Draws) -> Arguments:
    x = d.array(ALL, d.one_of((1,), (1, 1), (1, 3, 1), (2, 1, 0, 1)))
    units = [axis for axis, n in enumerate(x.shape) if n == 1]
    return given(x, axis=d.one_of(units[0], units[-1] - x.ndim, tuple(units)))


def draw_flip(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, **d.options(axis=(d.axes(x.ndim),)))


def draw_moveaxis(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    n = d.integer(1, x.ndim)
    some = d.order(x.ndim)[:n], d.order(x.ndim)[:n]
    return given(x, *d.one_of(some, (d.axis(x.ndim), d.axis(x.ndim))))


def draw_permute(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, d.order(x.ndim))


def draw_repeat(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    axis = d.one_of(None, d.axis(x.ndim))
    n = x.numpys.size if axis is None else x.shape[axis]
    return given(x, d.one_of(2, 0, d.like(np.arange(n) % 3), d.like(np.asarray([2]))), axis=axis)


def draw_reshape(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, d.reshaped(x.shape), **d.options(copy=(None, True)))


def draw_roll(d: Draws) -> Arguments:
    x = d.array(ALL)
    axis = d.axes(x.ndim)
    shift = tuple([d.integer(-5, 5) for _ in axis]) if isinstance(axis, tuple) else d.integer(-9, 9)
    return given(x, shift, axis=axis)


def draw_unstack(d: Draws) -> Arguments:
    x = d.array(ALL, least=1)
    return given(x, **d.options(axis=(d.axis(x.ndim),)))


MANIPULATION = {
    "broadcast_arrays": Comparison(draw_together),
    "broadcast_shapes": Comparison(lambda d: given(*[x.shape for x in draw_together(d)[0]])),
    "broadcast_to": Comparison(draw_broadcast),
    "concat": Comparison(draw_concat),
    "stack": Comparison(draw_stack),
    "expand_dims": Comparison(draw_expand),
    "squeeze": Comparison(draw_squeeze),
    "flip": Comparison(draw_flip),
    "moveaxis": Comparison(draw_moveaxis),
    "permute_dims": Comparison(draw_permute),
    "repeat": Comparison(draw_repeat),
    "reshape": Comparison(draw_reshape),
    "roll": Comparison(draw_roll),
    "tile": Comparison(lambda d: given(d.array(ALL), d.one_of((), (2,), (0,), (2, 1), (1, 2, 3)))),
    "unstack": Comparison(draw_unstack),
}


# ---------------------------------------------------------------------- indexing, searching, sets, sorting, utilities


def draw_take(d: Draws) -> Arguments:
    x = d.array(ALL, least=1, full=True)
    axis = d.one_of(None, 0) if x.ndim == 1 else d.axis(x.ndim)
    n = x.shape[axis or 0]
    places = values("int64", d.one_of((), (3,), (0,), (2, 2)), d.integer(0, 99), -n, n - 1)
    return given(x, d.like(places.astype(d.one_of("int8", "int64"))), axis=axis)


def draw_take_along(d: Draws) -> Arguments:
    x = d.array(ALL, least=1, full=True)
    axis = d.axis(x.ndim)
    shape = [1 if d.integer(0, 3) == 0 else n for n in x.shape]
    shape[axis] = d.integer(0, 3)
    n = x.shape[axis]
    return given(x, d.like(values("int64", tuple(shape), d.integer(0, 99), -n, n - 1)), axis=axis)


def draw_extreme_place(d: Draws) -> Arguments:
    x = d.array(BOOL + REAL, full=True)
    axis = d.one_of(None, d.axis(x.ndim)) if x.ndim else None
    return given(x, axis=axis, **d.options(keepdims=(True, False)))


def draw_searchsorted(d: Draws) -> Arguments:
    dtype = d.one_of(*REAL)
    numbers, v = values(dtype, d.shape(1, 1), d.integer(0, 99)), d.array([dtype])
    side = d.options(side=("left", "right"))
    if d.flag():
        return given(d.like(np.sort(numbers)), v, **side)
    return given(d.like(numbers), v, sorter=d.like(np.argsort(numbers)), **side)


def draw_where(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(
        d.array(BOOL, d.one_of(x.shape, x.shape[1:], ())), *d.one_of((x, d.compatible(x)), (d.compatible(x), x))
    )


def draw_isin(d: Draws) -> Arguments:
    x = d.array(ALL)
    return given(x, d.array([x.dtype]), **d.options(invert=(True, False), assume_unique=(False,)))


def draw_sort(d: Draws) -> Arguments:
    x = d.array(BOOL + NUMERIC, low=-2, high=2, least=1)
    return given(x, **d.options(axis=(d.axis(x.ndim),), descending=(True, False), stable=(True,)))


def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The stable order; a descending one is that of the reversed axis, read backwards."""
    if not descending:
        return np.argsort(x, axis=axis, stable=True)
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis=axis), axis=axis, stable=True), axis=axis)


def draw_diff(d: Draws) -> Arguments:
    x = d.array(NUMERIC, least=1)
    axis = d.axis(x.ndim)
    shape = list(x.shape)
    shape[axis] = d.integer(0, 2)
    added = [d.array([x.dtype], tuple(shape)) for _ in range(2)]
    beside = d.options(prepend=(added[0], 1), append=(added[1],))
    # taken no times NumPy forgets what stands beside x: test_utility.py
    return given(x, axis=axis, **beside, **d.options(n=(1, 2, 6) if beside else (0, 1, 2, 6)))


def draw_test(d: Draws) -> Arguments:
    x = d.array(ALL, low=-1, high=1)
    return given(x, **d.options(axis=(d.axes(x.ndim),), keepdims=(True, False)))


SELECTION = {
    "take": Comparison(draw_take),
    "take_along_axis": Comparison(draw_take_along),
    **listed("argmax argmin", draw_extreme_place),
    **listed("all any count_nonzero", draw_test),
    "nonzero": Comparison(one(ALL, -1, 1, least=1)),
    "searchsorted": Comparison(draw_searchsorted),
    "where": Comparison(draw_where),
    "isin": Comparison(draw_isin),
    "unique_all": Comparison(one(ALL, -1, 1)),
    "unique_counts": Comparison(one(ALL, -1, 1), numpy=lambda x: np.unique(x, return_counts=True)),
    "unique_inverse": Comparison(one(ALL, -1, 1), numpy=lambda x: np.unique(x, return_inverse=True)),
    "unique_values": Comparison(one(ALL, -1, 1), numpy=np.unique),
    "sort": Comparison(draw_sort, numpy=lambda x, axis=-1, **how: np.take_along_axis(x, argsort(x, axis, **how), axis)),
    "argsort": Comparison(draw_sort, numpy=argsort),
    "diff": Comparison(draw_diff),
}  # fmt: skip


# --------------------------------------------------------------------------------------------------------- statistics


def draw_sum(d: Draws) -> Arguments:
    x = d.array(NUMERIC, low=-2, high=2)
    axis, kind = d.axes(x.ndim), x.numpys.dtype.kind
    wide = {"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[kind]
    return given(x, **d.options(axis=(axis,), keepdims=(True, False), dtype=(wide, "complex128")))


def draw_extreme(d: Draws) -> Arguments:
    x = d.array(BOOL + REAL, full=True)
    return given(x, **d.options(axis=(d.axes(x.ndim),), keepdims=(True, False)))


def draw_moment(d: Draws) -> Arguments:
    x = d.array(REAL + COMPLEX, full=True)
    return given(x, **d.options(axis=(d.axes(x.ndim),), keepdims=(True, False)))


def draw_spread(d: Draws) -> Arguments:
    (x,), how = draw_moment(d)
    return given(x, **how, **d.options(correction=(0, 0.5, 1)))


def variance(x: Any, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Any:
    """NumPy's, and nan where the correction leaves no degree of freedom."""
    out = np.var(
        x.astype("float64") if x.dtype.kind in "iu" else x, axis=axis, keepdims=keepdims, correction=correction
    )
    n = x.size // max(out.size, 1)
    return out if n > correction else np.full_like(out, np.nan)


def draw_scan(d: Draws) -> Arguments:
    x = d.array(NUMERIC, low=-2, high=2, least=1)
    axis = d.one_of(None, 0) if x.ndim == 1 else d.axis(x.ndim)
    return given(x, axis=axis, **d.options(include_initial=(True, False), dtype=("complex128",)))


STATISTICS = {
    "sum": Comparison(draw_sum, eps=256),
    "prod": Comparison(draw_sum, ulps=256),
    **listed("amax amin max min", draw_extreme),
    "mean": Comparison(draw_moment, eps=64),
    "var": Comparison(draw_spread, numpy=variance, eps=4096),
    "std": Comparison(draw_spread, numpy=lambda x, **how: np.sqrt(variance(x, **how)), eps=4096),
    "cumulative_sum": Comparison(draw_scan, eps=256),
    "cumulative_prod": Comparison(draw_scan, ulps=256),
}


COMPARISONS: dict[str, Comparison] = {
    **ELEMENTWISE, **CREATION, **MANIPULATION, **SELECTION, **STATISTICS, **PRODUCTS, **LINALG, **FOURIER,
}  # fmt: skip
