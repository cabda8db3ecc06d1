"""Functions of the main namespace and of arrays, with arguments away from kinks: what the finite-difference tests run.

The first word of a case is the function it is about; the rest says which variant.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import uopc_array as xp
from tests.support.derivatives import Function

__all__ = ["COMPLEX", "METHODS", "NUMPY_NAMES", "REAL", "Cases"]

Cases = dict[str, tuple[Function, tuple[Any, ...]]]

# Distinct, away from 0, from 1 and from each other, so that no kink is near.
X = np.asarray([[0.7, -1.3, 2.1], [0.31, 1.7, -0.45]])
Y = np.asarray([[1.9, 0.6, -0.8], [-1.5, 0.23, 2.7]])
SMALL, POSITIVE, OVER = X / 4, np.abs(X) + 0.2, np.abs(X) + 1.1
V, U = np.asarray([0.9, -0.4, 1.6]), np.asarray([0.3, 1.2, -0.8, 2.2])
CUBE = np.random.default_rng(0).permutation(24).reshape(2, 3, 4) / 7 - 1.6
NUMBER = np.asarray(0.7)
Z = np.asarray([0.6 + 0.8j, -1.1 + 0.3j, 0.4 - 1.2j])
W = np.asarray([1.3 - 0.2j, 0.5 + 0.9j, -0.7 + 0.6j])
PLACES = np.asarray([2, 0, 2])
MASK = X > 0.5


def named(names: str, *arrays: Any) -> Cases:
    """A case for each function, called with `arrays` alone."""
    return {name: (getattr(xp, name), arrays) for name in names.split()}


def reduced(name: str) -> Cases:
    """A reduction over no axis, a negative one, several that are kept, of a number and of a single row."""
    f = getattr(xp, name)
    return {
        f"{name} of all": (lambda x: f(x), (X,)),
        f"{name} axis": (lambda x: f(x, axis=-2), (CUBE,)),
        f"{name} axes": (lambda x: f(x, axis=(0, -1), keepdims=True), (CUBE,)),
        f"{name} of a number": (lambda x: f(x), (NUMBER,)),
        f"{name} of one row": (lambda x: f(x, axis=0), (X[:1],)),
    }


def placed(key: Any) -> Function:
    """The square after an assignment to `key`."""

    def f(x: xp.Array, v: xp.Array) -> xp.Array:
        y = x + 0.0
        y[key] = v
        return y * y

    return f


def multiplied(key: Any) -> Function:
    def f(x: xp.Array, v: xp.Array) -> xp.Array:
        y = x * 1.0
        y[key] *= v
        y[key] += x[0, 0]
        return y * y

    return f


def assigned_in_a_view(x: xp.Array, v: xp.Array) -> xp.Array:
    y = x * 1.0
    row = y.T[1]
    row[1:] = v
    return y * y


KEYS: dict[str, Any] = {
    "int": 1, "ints": (-1, -2), "slice": slice(0, 1), "steps": (slice(None), slice(None, None, 2)),
    "backwards": (slice(None, None, -1), slice(2, 0, -1)), "newaxis": (None, 1, None), "ellipsis": (..., 0),
    "mask": MASK,
    "mask of rows": np.asarray([False, True]), "mask of none": np.zeros((2, 3), bool),
    "mask of columns": (slice(None), np.asarray([True, False, True])), "mask and int": (np.asarray([True, True]), 1),
    "repeated": np.asarray([1, 0, 1, -1]), "pairs": (np.asarray([0, 1, 1]), np.asarray([2, 0, 0])),
    "slice and array": (slice(None), np.asarray([2, 2, 0])),
    "array and newaxis": (np.asarray([1, 0]), None, slice(0, 2)),
    "two arrays": (np.asarray([[0], [1]]), np.asarray([[2, 0]])), "nothing": (),
}  # fmt: skip
INDEXING: Cases = {
    **{f"x[{name}]": (lambda x, key=key: x[key] ** 2, (X,)) for name, key in KEYS.items()},
    **{f"x[{name}] = v": (placed(key), (X, np.linspace(1.1, 2.3, X[key].size).reshape(X[key].shape)))
       for name, key in KEYS.items()},
    **{f"x[{name}] *= number": (multiplied(key), (X, np.asarray(1.3))) for name, key in KEYS.items()},
    "x[x > 0]": (lambda x: x[x > 0] ** 2, (X,)),
    "x[nonzero]": (lambda x: x[xp.nonzero(x > 0.5)] ** 2, (X,)),
    "x[argmax]": (lambda v: v[xp.argmax(v)] ** 2, (V,)),
    "assignment in a view": (assigned_in_a_view, (X, np.asarray([1.5]))),
}  # fmt: skip

ZEROS = {"one": [2.0, 0.0, 3.0, -1.0], "two": [2.0, 0.0, 3.0, 0.0], "first": [0.0, 2.0, 3.0], "all": [0.0, 0.0, 0.0]}
PRODUCTS: Cases = {
    **{f"prod zeros {k}": (xp.prod, (np.asarray(v),)) for k, v in ZEROS.items()},
    **{f"cumulative_prod zeros {k}": (xp.cumulative_prod, (np.asarray(v),)) for k, v in ZEROS.items()},
    **{f"{name} axis {axis}": (
        lambda x, name=name, axis=axis: getattr(xp, name)(x, axis=axis, include_initial=True) ** 2, (CUBE,)
    ) for name in ("cumulative_sum", "cumulative_prod") for axis in (0, -1)},
}  # fmt: skip

REAL: Cases = {
    **named(
        "abs asinh atan cos cosh exp expm1 negative positive reciprocal sin sinh square tanh conj real imag asarray "
        "matrix_transpose triu unique_values",
        X,
    ),
    **named("acos asin atanh log1p tan", SMALL),
    **named("log log2 log10 sqrt", POSITIVE),
    **named("acosh", OVER),
    **named(
        "add atan2 copysign divide hypot logaddexp maximum minimum multiply nextafter remainder subtract tensordot",
        X, Y,
    ),
    **{f"{name} of a number": (getattr(xp, name), (NUMBER, CUBE)) for name in (
        "add atan2 divide hypot logaddexp maximum multiply remainder subtract"
    ).split()},
    "add broadcast": (xp.add, (X, V)),
    "multiply broadcast": (xp.multiply, (V, X)),
    "pow": (xp.pow, (POSITIVE, Y)),
    "pow broadcast": (xp.pow, (POSITIVE, V)),
    "pow of a negative base": (lambda x: xp.pow(x, 3), (X,)),
    "clip": (lambda x: xp.clip(x, -0.5, 1.0), (X,)),
    "clip by arrays": (xp.clip, (X, np.asarray(-0.6), V + 0.05)),
    "where": (lambda x, y: xp.where(xp.asarray(MASK), x, y), (X, Y)),
    "where broadcast": (lambda x, y: xp.where(xp.asarray([True, False, True]), x * y, y), (X, NUMBER)),
    **{k: v for name in "sum mean prod max min var".split() for k, v in reduced(name).items()},
    "var correction": (lambda x: xp.var(x, axis=1, correction=1.5, keepdims=True), (X,)),
    "std": (lambda x: xp.std(x, axis=1, correction=1), (X,)),
    "std axes": (lambda x: xp.std(x, axis=(0, -1), keepdims=True), (CUBE,)),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=1, include_initial=True), (X,)),
    "cumulative_prod": (lambda x: xp.cumulative_prod(x, axis=0), (X,)),
    **PRODUCTS,
    "diff": (lambda x: xp.diff(x, axis=1, n=2), (X,)),
    "diff with ends": (
        lambda x, p, a: xp.diff(x**2, axis=1, prepend=p**2, append=a**3), (X, POSITIVE[:, :1], Y[:, :2])
    ),
    "sort": (lambda x: xp.sort(x, axis=1), (X,)),
    "sort descending": (lambda x: xp.sort(x, axis=0, descending=True), (X,)),
    "sort unstable": (lambda x: xp.sort(x, axis=-2, stable=False) ** 2, (CUBE,)),
    "take": (lambda x: xp.take(x, xp.asarray(PLACES), axis=1), (X,)),
    "take negative": (lambda x: xp.take(x, xp.asarray([-1, 0, -1, 1]), axis=-2) ** 2, (CUBE,)),
    "take_along_axis": (lambda x: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1), (X,)),
    "take_along_axis repeated": (
        lambda x: xp.take_along_axis(x, xp.asarray([[0, 0, 2, -1], [1, 1, 1, -3]]), axis=1) ** 2, (X,)
    ),
    "take_along_axis descending": (
        lambda x: xp.take_along_axis(x * x, xp.argsort(x, axis=0, descending=True), axis=0), (CUBE,)
    ),
    **INDEXING,
    "matmul": (xp.matmul, (X, Y.T)),
    "matmul with a vector": (xp.matmul, (X, V)),
    "matmul of vectors": (xp.matmul, (V, V + 1)),
    "matmul batched": (xp.matmul, (X[:, None, :], np.stack([Y.T, X.T]))),
    "tensordot by count": (lambda x, y: xp.tensordot(x, y, axes=1), (X, Y.T)),
    "tensordot outer": (lambda x, y: xp.tensordot(x, y, axes=0), (V, Y)),
    "tensordot by axes": (lambda x, y: xp.tensordot(x, y, axes=((-1, 0), (1, 0))), (X, Y)),
    "vecdot": (xp.vecdot, (X, V)),
    "vecdot axis": (lambda x, y: xp.vecdot(x, y, axis=-2), (X, Y)),
    "einsum": (lambda x, y, v: xp.einsum("ij,kj,j->ik", x, y, v), (X, Y, V)),
    "einsum diagonal": (lambda x: xp.einsum("ii->i", x), (X[:, :2],)),
    "concat": (lambda x, y: xp.concat([x, y], axis=1), (X, Y)),
    "concat flat": (lambda x, v: xp.concat([x, v], axis=None) ** 2, (X, V)),
    "stack": (lambda x, y: xp.stack([x, y, x], axis=-1), (X, Y)),
    "unstack": (lambda x: xp.unstack(x)[1], (X,)),
    "broadcast_to": (lambda v: xp.broadcast_to(v, (2, 3)), (V,)),
    "broadcast_arrays": (lambda v, x: xp.multiply(*xp.broadcast_arrays(v, x)), (V, X)),
    "expand_dims": (lambda x: xp.expand_dims(x, (0, 2)), (X,)),
    "squeeze": (lambda x: xp.squeeze(xp.reshape(x, (2, 1, 3)), 1), (X,)),
    "flip": (lambda x: xp.flip(x, axis=1), (X,)),
    "flip axes": (lambda x: xp.flip(x**2, axis=(0, -1)), (CUBE,)),
    "moveaxis": (lambda x: xp.moveaxis(x, 0, 1), (X,)),
    "permute_dims": (lambda x: xp.permute_dims(xp.reshape(x, (1, 2, 3)), (2, 0, 1)), (X,)),
    "repeat": (lambda x: xp.repeat(x, 2, axis=0), (X,)),
    "repeat by an array": (lambda x: xp.repeat(x, xp.asarray([0, 2, 1]), axis=1), (X,)),
    "roll": (lambda x: xp.roll(x, 4), (X,)),
    "roll axes": (lambda x: xp.roll(x**2, (1, -2), axis=(0, 1)), (X,)),
    "tile": (lambda x: xp.tile(x, (2, 1, 2)), (X,)),
    "tril": (lambda x: xp.tril(x, k=-1), (X,)),
    "meshgrid": (lambda v: xp.meshgrid(v, v)[1], (V,)),
    "full": (lambda x: xp.full((2, 2), x) ** 2, (NUMBER,)),
    "full_like": (lambda x: xp.full_like(x, 2.0) * x, (X,)),
    "linspace": (lambda a, b: xp.linspace(a, b, 4), (np.asarray(0.3), np.asarray(1.9))),
    "astype": (lambda x: xp.astype(xp.astype(x, xp.complex128) * 2.0, xp.complex128), (X,)),
    **{name: (lambda x, name=name: getattr(xp, name)(x).values ** 2, (X,)) for name in (
        "unique_all", "unique_counts", "unique_inverse"
    )},
    "asarray of a list": (lambda x: xp.asarray([x[0, 0], 2.0, x[1, 2]]), (X,)),
}  # fmt: skip

COMPLEX: Cases = {
    **named(
        "abs acos acosh asin asinh atan atanh conj cos cosh exp expm1 imag log log10 log1p log2 negative real "
        "reciprocal sign sin sinh sqrt square tan tanh sum prod mean cumulative_sum cumulative_prod var std diff "
        "angle exp2 sinc nan_to_num",
        Z,
    ),
    **named("add divide multiply pow subtract vecdot matmul vdot outer", Z, W),
    **{f"prod zeros {k}": (xp.prod, (np.asarray(v) * (1 + 1j),)) for k, v in ZEROS.items()},
    "abs squared": (lambda z: xp.real(z * xp.conj(z)), (Z,)),
    "a real argument beside a complex one": (lambda x, z: x * z, (V, Z)),
    "concat of real and complex": (lambda x, z: xp.concat([x, z]) ** 2, (V, Z)),
    "pow of a real base": (xp.pow, (POSITIVE[0], Z)),
    "where": (lambda z, w: xp.where(xp.asarray([True, False, True]), z, w), (Z, W)),
    "take": (lambda z: xp.take(z, xp.asarray(PLACES)), (Z,)),
    "x[i] = v": (placed(1), (Z, W[0])),
}  # fmt: skip

HOLED = np.asarray([[0.7, np.nan, 2.1], [0.31, 1.7, -0.45]])


def beside_nan(name: str, **keywords: Any) -> tuple[Function, tuple[Any, ...]]:
    """A function that leaves nan out, of an array that has one."""
    holes = np.isnan(HOLED)
    return lambda x: getattr(xp, name)(xp.where(xp.asarray(holes), xp.nan, x * x), **keywords), (X,)


def in_row(change: Callable[[Any], Any]) -> Function:
    """The square of a copy that `change` has written to."""

    def f(x: xp.Array) -> xp.Array:
        y = x * 1.0
        change(y)
        return y * y * x

    return f


NUMPY_NAMES: Cases = {
    **named(
        "absolute angle arcsinh arctan array asanyarray ascontiguousarray asfortranarray atleast_1d atleast_2d "
        "atleast_3d conjugate copy deg2rad "
        "degrees exp2 fabs fliplr flipud nan_to_num require unique rad2deg radians ravel sinc cumsum cumprod transpose",
        X,
    ),
    **named("arccos arcsin arctanh", SMALL),
    **named("arccosh", OVER),
    **named("cbrt", POSITIVE),
    **named(
        "arctan2 cross fmax fmin fmod inner logaddexp2 mod true_divide vdot",
        X, Y,
    ),
    **named("float_power power", POSITIVE, Y),
    **named("convolve correlate kron outer", U, V),
    **named("dot", X, Y.T),
    **named("matvec", X, V),
    **named("vecmat", V, X.T),
    "partition": (lambda x: xp.partition(x, 1, axis=None) ** 2, (X,)),
    "sort complex": (lambda z: xp.real(xp.sort(z) ** 2), (Z,)),
    "unique columns": (lambda x: xp.unique(x, axis=1)[0] ** 2, (X,)),
    "concatenate": (lambda x, y: xp.concatenate([x, y]) ** 2, (X, Y)),
    "vstack": (lambda x, v: xp.vstack([x, v]) ** 2, (X, V)),
    "hstack": (lambda x, y: xp.hstack([x, y]) ** 2, (X, Y)),
    "dstack": (lambda x, y: xp.dstack([x, y]) ** 2, (X, Y)),
    "column_stack": (lambda u, v: xp.column_stack([u, v]) ** 2, (V, V)),
    "append": (lambda x, v: xp.append(x**2, v), (X, V)),
    "divmod": (lambda x, y: xp.divmod(x, y)[1], (X, Y)),
    "correlate full": (lambda a, v: xp.correlate(a, v, "full"), (U, V)),
    "trapezoid": (lambda y, x: xp.trapezoid(y, x, axis=1), (X, Y)),
    "average": (lambda x, w: xp.average(x, axis=1, weights=w), (X, POSITIVE)),
    "gradient": (lambda x: xp.gradient(x**2)[1], (X,)),
    "quantile": (lambda x, q: xp.quantile(x, q, axis=1), (X, np.asarray([0.3, 0.6]))),
    "percentile": (lambda x: xp.percentile(x, xp.asarray([30.0, 80.0])), (X,)),
    "median": (lambda x: xp.median(x, axis=0), (X,)),
    **{name: (lambda x, name=name: getattr(xp, name)(x, axis=1), (X,)) for name in ("amax", "amin", "ptp")},
    **{name: beside_nan(name, axis=1) for name in (
        "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nancumsum nancumprod"
    ).split()},
    "diag": (xp.diag, (V,)),
    "diag of a matrix": (lambda x: xp.diag(x**2, 1), (X,)),
    "diagonal": (lambda x: xp.diagonal(x**2, 1, 0, 2), (CUBE,)),
    "trace": (lambda x: xp.trace(x**2, 1, 1, 2), (CUBE,)),
    "pad": (lambda x: xp.pad(x**2, ((1, 0), (2, 1))), (X,)),
    "rot90": (lambda x: xp.rot90(x**2, 3), (X,)),
    "rollaxis": (lambda x: xp.rollaxis(x**2, 2), (CUBE,)),
    "swapaxes": (lambda x: xp.swapaxes(x**2, 0, -1), (CUBE,)),
    "reshape": (lambda x: xp.reshape(x**2, (3, -1)), (X,)),
    "array_split": (lambda x: xp.array_split(x**2, 2, axis=1)[0], (X,)),
    "split": (lambda x: xp.split(x**2, [1], axis=1)[1], (X,)),
    "vsplit": (lambda x: xp.vsplit(x**2, 2)[1], (X,)),
    "hsplit": (lambda x: xp.hsplit(x**2, 3)[1], (X,)),
    "dsplit": (lambda x: xp.dsplit(x**2, 2)[1], (CUBE,)),
    "compress": (lambda x: xp.compress([True, False, True], x**2, axis=1), (X,)),
    "choose": (lambda x, y: xp.choose(xp.asarray([[1, 0, 1], [0, 0, 1]]), [x * y, x**2]), (X, Y)),
    "copyto": (in_row(lambda y: xp.copyto(y, y[::-1] * 2.0, where=xp.asarray(MASK))), (X,)),
    "putmask": (in_row(lambda y: xp.putmask(y, xp.asarray(MASK), y[0] * 2.0)), (X,)),
    "place": (in_row(lambda y: xp.place(y, xp.asarray(MASK), y[0, :2] * 2.0)), (X,)),
    "put functionally": (in_row(lambda y: xp.put(y, [0, -1], y[0, 1:] * 2.0)), (X,)),
    "put_along_axis": (in_row(lambda y: xp.put_along_axis(y, xp.asarray([[2], [0]]), y[:, 1:2] * 2.0, 1)), (X,)),
    "fill_diagonal": (in_row(lambda y: xp.fill_diagonal(y, y[0, 2] * 2.0)), (X,)),
    "heaviside": (lambda x, y: xp.heaviside(xp.asarray(X - X[0]), y) * x, (X, Y)),
}  # fmt: skip


def in_place(change: Callable[[Any, Any], Any]) -> Function:
    def f(x: xp.Array, y: xp.Array) -> xp.Array:
        return change(x * 1.0, y) ** 2

    return f


def with_parts(z: xp.Array, x: xp.Array) -> xp.Array:
    y = z * 1.0
    y.real = x
    y.imag *= 2.0
    return y.real**2 + y.imag**3


def resized(x: xp.Array) -> xp.Array:
    y = x * x
    y.resize(3, 3)
    return y


def reshaped_in_place(x: xp.Array) -> xp.Array:
    y = x * x
    row = y[0]
    y.shape = (3, 2)
    y[0] *= 3.0
    return y[:2, 0] * row[:2]


METHODS: Cases = {
    "-x": (lambda x: -x, (X,)),
    "+x": (lambda x: +x, (X,)),
    "abs(x)": (lambda x: abs(x), (X,)),
    "+ -": (lambda x, y: 2.0 + x + y - (3.0 - x - y) * x, (X, Y)),
    "* /": (lambda x, y: 2.0 * x * y + x / y + 3.0 / y, (X, Y)),
    "% divmod": (lambda x, y: x % y + 5.2 % y + divmod(x, y)[1] + divmod(5.2, y)[1], (X, Y)),
    "**": (lambda x, y: x**y + 2.0**y + x**2.5 + x**-2, (POSITIVE, Y)),
    "x**0": (lambda x: x * x**0, (X,)),
    "@": (lambda x, y: x @ y + Y.tolist() @ x.T, (X, Y.T)),
    "+=": (in_place(lambda x, y: x.__iadd__(y)), (X, Y)),
    "-=": (in_place(lambda x, y: x.__isub__(y)), (X, Y)),
    "*=": (in_place(lambda x, y: x.__imul__(y)), (X, Y)),
    "/=": (in_place(lambda x, y: x.__itruediv__(y)), (X, Y)),
    "%=": (in_place(lambda x, y: x.__imod__(y)), (X, Y)),
    "**=": (in_place(lambda x, y: x.__ipow__(y)), (POSITIVE, Y)),
    "@=": (in_place(lambda x, y: x.__imatmul__(y)), (X, CUBE[0, :, :3])),
    "T": (lambda x: x.T**2, (X,)),
    "mT": (lambda x: x.mT**2, (CUBE,)),
    "parts": (with_parts, (Z, V)),
    "conj": (lambda z: z.conj() * z.conjugate(), (Z,)),
    "shapes": (lambda x: x.reshape((3, 2), order="F").ravel() * x.flatten("F") * x.flat, (X,)),
    "transpose": (lambda x: x.transpose(2, 0, 1).swapaxes(0, 1) ** 2, (CUBE,)),
    "squeeze": (lambda x: x[None].squeeze(0).squeeze() ** 2, (X,)),
    "diagonal": (lambda x: x.diagonal(1) * x.trace(), (X,)),
    "repeat": (lambda x: x.repeat(2) ** 2, (X,)),
    "reductions": (lambda x: x.sum(0) * x.mean(0) * x.max(0) - x.min(0) * x.prod(0) + x.ptp(0), (X,)),
    "spread": (lambda x: x.var(1) * x.std(1, ddof=1), (X,)),
    "scans": (lambda x: x.cumsum() * x.cumprod(), (X,)),
    "clip": (lambda x: x.clip(-0.5, 1.0) ** 2, (X,)),
    "take": (lambda x: x.take([1, 1, 5]) ** 2, (X,)),
    "dot": (lambda x, y: x.dot(y), (X, Y.T)),
    "astype": (lambda x: x.astype("complex128") ** 2, (X,)),
    "to_device": (lambda x: x.to_device("cpu").copy() ** 2, (X,)),
    "sort": (in_row(lambda y: y.sort(axis=0)), (X,)),
    "partition": (in_row(lambda y: y.partition(1, axis=-1)), (X,)),
    "fill": (in_row(lambda y: y[0].fill(2.0)), (X,)),
    "put": (in_row(lambda y: y.put([1, 4], [1.5, y[0, 0]])), (X,)),
    "resize": (resized, (X,)),
    "compress": (lambda x: x.compress([True, False, True], axis=1) ** 2, (X,)),
    "choose": (lambda x: (x > 0.5).choose([x * x, x**3]), (X,)),
    "shape": (reshaped_in_place, (X,)),
    "iteration": (lambda x: sum((row * row for row in x), start=xp.zeros(3)), (X,)),
}  # fmt: skip
