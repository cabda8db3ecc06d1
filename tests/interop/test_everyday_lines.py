"""Everyday lines of NumPy, run with only the import changed: values, dtypes and shapes are NumPy's."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.everyday_lines import KEYWORDS

# each is run on fresh arrays x y z (4), m (2, 3), mm (3, 3), i (ints), n (with a nan), c (complex); what stands before
# a semicolon is done first, and a statement leaves its value in x
LINES = r"""
np.var(x, ddof=1)
np.std(x, ddof=1)
np.round(x, 2)
np.around(x, 1)
np.sum(x, where=x > 1)
np.max(x, initial=5.0)
np.clip(x, a_min=0, a_max=1)
np.clip(x, 0, 1, out=y)
np.add(x, y, out=z)
np.sqrt(x, out=z)
np.sqrt(x, where=x > 1, out=z)
np.ones(3, int)
np.zeros(3, dtype="float32")
np.full((2, 2), 7)
np.full((2,), 7, dtype=float)
np.linspace(0, x, 4)
np.meshgrid(x, y, indexing="ij")
np.add.at(z, [0, 0], 1.0); z
np.add.reduce(x)
np.add.reduce(m, axis=0)
np.maximum.accumulate(x)
np.multiply.outer(x, y)
np.subtract.outer(x, y)
np.add.reduceat(x, [0, 2])
np.multiply.reduce(x)
np.logical_and.reduce(x > 0)
np.maximum.reduce([x, y])
np.unique(i)
np.unique(i, return_counts=True)
np.unique(i, return_inverse=True)
np.interp(1.5, x, y)
np.histogram(x, bins=3)
np.bincount(i)
np.polyfit(x, y, 1)
np.polyval([1, 2, 3], x)
np.argwhere(x > 1)
np.flatnonzero(x > 1)
np.cov(m)
np.corrcoef(m)
np.logspace(0, 2, 3)
np.geomspace(1, 8, 4)
np.select([x > 2, x > 1], [x, -x], 0)
np.piecewise(x, [x < 2], [lambda t: t * 2, 0])
np.digitize(x, [1, 2])
np.delete(x, 1)
np.insert(x, 1, 5)
np.append(x, 5)
np.append(x, [5, 6])
np.block([[m, m]])
np.mgrid[0:2, 0:2]
np.ogrid[0:2, 0:2]
np.ix_([0, 1], [1])
np.r_[x, 1]
np.c_[x, y]
np.s_[1:2]
np.indices((2, 2))
np.triu_indices(3)
np.tril_indices(3, -1)
np.diag_indices(3)
np.fill_diagonal(mm, 9); mm
np.partition(x, 2)[2]
np.argpartition(x, 2)[2]
np.union1d(i, [9])
np.intersect1d(i, [1])
np.setdiff1d(i, [1])
np.isin(i, [1])
np.dtype("f8")
np.issubdtype(x.dtype, np.floating)
np.isscalar(3.0)
np.bool_(True)
np.float64(3)
np.int_(3)
np.copyto(z, x); z
np.ascontiguousarray(x)
np.asfortranarray(m)
np.linalg.norm(x)
np.linalg.norm(m, axis=1)
np.linalg.norm(m)
np.linalg.norm(m, "fro")
np.linalg.norm(x, np.inf)
np.linalg.lstsq(mm, x[:3], rcond=None)
np.linalg.cond(mm)
np.linalg.inv(mm)
np.linalg.solve(mm, x[:3])
np.linalg.det(mm)
np.linalg.eigvalsh(mm + mm.T)
np.linalg.matrix_rank(mm)
np.linalg.matrix_power(mm, 3)
np.linalg.multi_dot([m, m.T, m])
np.linalg.pinv(m)
np.linalg.svd(m, full_matrices=False)[1]
np.linalg.slogdet(mm)
np.linalg.cholesky(mm @ mm.T + 10 * np.eye(3))
np.fft.fft(x)
np.fft.fft2(m)
np.fft.fftshift(x)
np.fft.rfft(x)
np.array([1, 2, 3], ndmin=2)
np.array([1, 2], dtype=np.float32)
np.array(x, copy=True)
np.array(x, ndmin=2)
np.array(3.0, ndmin=1, order="F")
np.zeros(3, order="F")
np.ones((2, 3), float, "F")
np.empty(0, order="C")
np.full((2,), 7, like=x)
np.full_like(x, 2, shape=(2, 2))
np.zeros_like(m, dtype=int, order="C", subok=False)
np.arange(3, like=x)
np.arange(stop=3)
np.arange(2, None, None)
np.asarray(m, order="F")
np.copy(m, order="C")
np.require(m, dtype="f4", requirements=["C"])
np.linspace(0, 1, 5, retstep=True)
np.linspace(0.0, 1.0, 4, False)
np.linspace(x, y, 3, retstep=True, axis=-1)
np.meshgrid(x, y, sparse=True)
np.meshgrid(m, y, copy=False)
np.tri(3, 4, 1, dtype=int)
np.eye(3, 4, 1, int, "F")
np.asarray([1, 2], float)
np.asanyarray(x)
np.arange(3)
np.arange(0, 1, 0.25)
np.arange(3, dtype=float)
np.eye(3, k=1)
np.eye(2, 3)
np.identity(3)
np.diag(x)
np.diag(mm)
np.diagonal(mm)
np.trace(mm)
np.tril(mm)
np.triu(mm, 1)
np.vstack([x, y])
np.hstack([x, y])
np.dstack([x, y])
np.column_stack([x, y])
np.concatenate([x, y])
np.concatenate((m, m), axis=1)
np.stack([x, y], axis=1)
np.split(x, 2)
np.array_split(x, 3)
np.hsplit(m, 3)
np.vsplit(m, 2)
np.tile(x, 2)
np.tile(m, (2, 1))
np.repeat(x, 2)
np.repeat(m, 2, axis=1)
np.roll(x, 1)
np.roll(m, 1, axis=0)
np.flip(x)
np.fliplr(m)
np.flipud(m)
np.rot90(m)
np.transpose(m)
np.swapaxes(m, 0, 1)
np.moveaxis(m, 0, 1)
np.expand_dims(x, 0)
np.squeeze(x[None])
np.ravel(m)
np.reshape(m, (3, 2))
np.reshape(m, -1)
np.resize(x, (2, 3))
np.broadcast_to(x, (2, 4))
np.broadcast_arrays(x, x[:, None])
np.atleast_2d(x)
np.pad(x, 1)
np.pad(x, (1, 2), mode="edge")
np.pad(m, ((1, 0), (0, 1)), "constant", constant_values=5)
np.where(x > 1, x, 0)
np.where(x > 1)
np.nonzero(x > 1)
np.count_nonzero(x > 1)
np.any(x > 1)
np.all(x > 1)
np.all(m > 0, axis=1)
np.argmax(x)
np.argmax(m, axis=1)
np.argmin(m)
np.max(m, axis=0)
np.min(m, axis=1, keepdims=True)
np.amax(x)
np.ptp(x)
np.mean(m, axis=0)
np.mean(m, axis=(0, 1))
np.mean(x, dtype=np.float32)
np.median(x)
np.median(m, axis=1)
np.percentile(x, 50)
np.percentile(x, [25, 75])
np.quantile(x, 0.5, method="nearest")
np.average(x, weights=y)
np.cumsum(x)
np.cumsum(m, axis=1)
np.cumprod(x)
np.diff(x)
np.diff(m, n=1, axis=0)
np.ediff1d(x)
np.gradient(x)
np.trapezoid(x)
np.cross([1, 0, 0], [0, 1, 0])
np.dot(x, y)
np.dot(m, x[:3])
np.vdot(x, y)
np.inner(x, y)
np.outer(x, y)
np.matmul(m, m.T)
np.einsum("ij,kj->ik", m, m)
np.tensordot(m, m.T, 1)
np.kron(x, y)
np.convolve(x, y)
np.correlate(x, y)
np.searchsorted(x, 2.5)
np.nansum(n)
np.nanmean(n)
np.nanmax(n)
np.nanstd(n)
np.isnan(n)
np.nan_to_num(n)
np.isfinite(n)
np.isclose(x, y)
np.allclose(x, x)
np.array_equal(x, x)
np.sign(x)
np.abs(x)
np.fabs(x)
np.exp(x)
np.log(x)
np.log2(x)
np.log10(x)
np.power(x, 2)
np.float_power(x, 2)
np.mod(x, 2)
np.remainder(x, 2)
np.fmod(x, 2)
np.divmod(x, 2)
np.modf(x)
np.floor(x)
np.ceil(x)
np.trunc(x)
np.rint(x)
np.fix(x)
np.hypot(x, y)
np.arctan2(x, y)
np.deg2rad(x)
np.radians(x)
np.degrees(x)
np.sinc(x)
np.heaviside(x, 0.5)
np.maximum(x, 2)
np.minimum(x, y)
np.fmax(x, y)
np.gcd(12, 18)
np.lcm(4, 6)
np.logical_not(x > 1)
np.logical_or(x > 1, y > 1)
np.bitwise_and(i, 1)
np.left_shift(i, 1)
np.invert(i)
np.real(c)
np.imag(c)
np.angle(c)
np.conj(c)
np.take(x, [0, 1])
np.take_along_axis(m, np.argsort(m, axis=1), axis=1)
np.put(z, [0], [9.0]); z
np.choose([0, 1, 0, 1], [x, y])
np.compress([True, False, True, False], x)
np.extract(x > 1, x)
np.place(z, z > 1, 7.0); z
np.unravel_index(3, (2, 3))
np.ravel_multi_index((1, 2), (2, 3))
np.lexsort((y, x))
np.sort(x)[::-1]
np.sort(m, axis=None)
np.sort(c)
np.sort(n, kind="mergesort")
np.argsort(x, kind="stable")
np.argsort(m, axis=None, stable=True)
np.partition(m, 1, axis=0)
np.unique(m, axis=1, return_index=True)
np.unique(n, equal_nan=False)
np.isin(i, [1, 3], assume_unique=False, invert=True, kind="sort")
np.isin(c, c[:1])
np.isclose(x, y, 0.1, 0.2, True)
np.allclose(x, y, atol=9)
np.array_equal(n, n, equal_nan=True)
np.can_cast("f8", "f4", "same_kind")
np.iscomplexobj([1j, 2]), np.isrealobj("a"), np.isrealobj(x)
np.finfo(x.dtype).eps, np.iinfo("i2").max
np.array2string(x)
np.apply_along_axis(np.sum, 1, m)
np.vectorize(lambda t: t + 1)(x)
np.fromfunction(lambda a, b: a + b, (2, 2))
np.frombuffer(b"\x00" * 16)
np.fromiter(range(3), float)
np.loadtxt(["1 2", "3 4"])
np.genfromtxt(["1,2", "3,4"], delimiter=",")
np.random.seed(0); np.random.rand(3)
np.random.default_rng(0).normal(size=3)
np.random.RandomState(0).randn(2)
np.nanpercentile(n, 50)
np.nanmedian(n)
np.hanning(4)
np.i0(x)
np.vander(x)
np.roots([1, -3, 2])
np.poly1d([1, 2])(3)
np.convolve(x, [1, 2], mode="same")
np.finfo(float).eps
np.iinfo(int).max
np.pi
np.e
np.inf
np.newaxis
np.euler_gamma
np.shape(m)
np.ndim(m)
np.size(m)
np.size(m, 0)
np.copy(x)
np.array_repr(x)
np.result_type(x, 1)
np.can_cast("i4", "f8")
np.promote_types("i4", "f4")
np.iscomplexobj(c)
np.isreal(c)
np.shares_memory(x, x[1:])
x.std(ddof=1)
x.round(1)
x.sum(where=x > 1)
x.max(initial=9)
x.argsort()[::-1]
x.argsort(axis=None)
m.sum(axis=1, keepdims=True)
m.mean(0)
m.T.copy()
m.flatten()
m.ravel()
m.reshape(3, -1)
m.transpose(1, 0)
m.swapaxes(0, 1)
m.astype(int)
m.astype("f4").dtype
x.tolist()
x.item(0)
x.fill(2.0); x
x.copy()
x.cumsum()
x.clip(1, 2)
x.nonzero()
x.dot(y)
m.dot(m.T)
x.searchsorted(2)
x.repeat(2)
x.take([0, 1])
x.any(), x.all()
m.argmax(axis=1)
m.min(axis=0)
m.var(axis=0, ddof=1)
m.prod()
m.trace()
m.diagonal()
x.conj()
c.real, c.imag
x.itemsize, x.nbytes, x.size, x.ndim
x.strides
x.flags["C_CONTIGUOUS"]
x.put([0, 1], [9, 8]); x
x.sort(); x
m.sort(0, "stable"); m
m.sort(axis=-1, kind=None, order=None, stable=True); m
x.partition(0); x[0]
x.partition([0, 1, 2]); x
x.argpartition(-1)[-1]
x.argsort(-1, "quicksort")
m.astype("f4", "C", "same_kind", True, False)
m.copy("K")
x.tobytes()
x.view(np.int64)
x.squeeze()
x[x > 1]
x[[0, 2]]
x[::-1]
x[-1]
m[:, 1]
m[1, :2]
m[..., 0]
m[np.newaxis].shape
x[1:3] += 1; x
x[x > 2] = 0; x
x[[0, 0]] += 1; x
m[0] = 5; m
m[:, [0, 2]] = 1; m
x @ y
m @ m.T
x ** 2
x // 2
x % 2
-x
abs(x)
x > y
(x > 1) & (y > 1)
~(x > 1)
x == y
divmod(x, 2)
float(x[0]), int(x[0])
len(x), list(x), sum(x), max(x), min(x), sorted(x)
{x[0]: 1}
f"{x[0]:.2f}"
2.0 in x
round(x[0], 1)
np.sum([np.ones(2), np.ones(2)], axis=0)
np.mean([1, 2, 3])
np.sqrt([1, 4])
np.exp(1j * np.pi)
np.array([[1, 2], [3, 4]]).T
np.datetime64("2020-01-01")
np.float16(1)
np.lib.stride_tricks.sliding_window_view(x, 2)
np.ma.masked_where(x > 1, x).sum()
np.char.upper(["a"])
np.polynomial.Polynomial([1, 2])(2)
np.unwrap(x)
np.trim_zeros(np.array([0, 1, 0]))
np.ndindex(2, 2).__class__.__name__
np.broadcast(x, x[:, None]).shape
np.packbits(i > 1)
np.histogram2d(x, y, bins=2)[0]
np.spacing(1.0)
np.ldexp(x, 2)
np.frexp(x)
np.nextafter(x, 9)
np.copysign(x, -1)
np.signbit(x)
np.cbrt(x)
np.reciprocal(x)
np.square(x)
np.exp2(x)
np.expm1(x)
np.log1p(x)
np.logaddexp(x, y)
np.positive(x)
np.tri(3)
np.vecdot(x, y)
np.matvec(m, x[:3])
np.isneginf(x)
np.tensordot(m, m, axes=([0, 1], [0, 1]))
np.require(x, requirements="C")
np.asarray_chkfinite(x)
np.min_scalar_type(10)
np.base_repr(5), np.binary_repr(5)
np.array_equiv(x, x)
np.rollaxis(m, 1)
np.squeeze(m[None], axis=0)
np.argmin(x, keepdims=True)
np.cumulative_sum(x)
np.unstack(m)
np.astype(x, int)
np.permute_dims(m, (1, 0))
np.concat([x, y])
np.pow(x, 2)
[float(v) for v in m[0]]
""".strip().splitlines()

# they work on text, objects and records, for which there is no dtype here: the error says so
WITHOUT_DTYPE = ('np.array(["a", "b"])', "np.array([None, 1])", 'np.zeros(3, dtype=[("a", "f4")])', "np.asarray({})")


def arrays(module: Any) -> dict[str, Any]:
    return {
        "np": module,
        "x": module.asarray([1.0, 2.0, 3.0, 4.0]),
        "y": module.asarray([4.0, 1.0, 2.5, 0.5]),
        "z": module.zeros(4),
        "m": module.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "mm": module.asarray([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]]),
        "i": module.asarray([2, 0, 1, 2]),
        "n": module.asarray([1.0, float("nan"), 3.0]),
        "c": module.asarray([1 + 2j, 3 - 1j]),
    }


def run(line: str, module: Any) -> Any:
    names = arrays(module)
    *before, last = line.split("; ")
    for statement in before:
        exec(statement, names)
    try:
        code = compile(last, line, "eval")
    except SyntaxError:
        exec(last, names)
        return names["x"]
    return eval(code, names)


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            assert_same(x, y)
        return
    if isinstance(theirs, dict):
        assert list(map(float, ours)) == list(map(float, theirs))
        return
    x, y = np.asarray(ours), np.asarray(theirs)
    assert x.shape == y.shape
    if isinstance(theirs, np.ndarray | np.generic):
        assert x.dtype == y.dtype
    if y.dtype.kind in "fc":
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-15)
    elif y.dtype.kind != "O":
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("line", [*LINES, *KEYWORDS])
def test_a_line_of_numpy_runs_with_the_import_changed(line: str) -> None:
    assert_same(run(line, xp), run(line, np))


@pytest.mark.parametrize("line", WITHOUT_DTYPE)
def test_what_has_no_dtype_is_refused_in_words(line: str) -> None:
    with pytest.raises(TypeError, match=r"expected (numbers|a dtype)"):
        run(line, xp)
