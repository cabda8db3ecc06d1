"""More everyday lines of NumPy: functions with the keywords that programs give them.

`test_everyday_lines` has the arrays that they name.
"""

__all__ = ["KEYWORDS"]

KEYWORDS = r"""
np.sort(x, kind="stable")
np.argsort(m, axis=None)
np.argsort(x, kind="mergesort")
np.zeros((2,3), order="F")
np.ones((2,3), order="F")
np.empty((2,3), order="F").shape
np.full((2,3), 7, order="C")
np.linspace(0,1,5,retstep=True)
np.linspace(0.,1.,4,False)
np.linspace(0.,1.,4,False,True)
np.logspace(0,2,3,False)
np.geomspace(1,8,4,False)
np.meshgrid(x, x, sparse=True)
np.meshgrid(x, x, indexing="ij", copy=False)
np.linalg.svd(m, compute_uv=False)
np.linalg.svd(m, False)[1]
np.linalg.qr(m, mode="r")
np.linalg.qr(m, "r")
np.linalg.qr(m, mode="complete")[0].shape
np.fft.fftfreq(8, 0.1)
np.fft.rfftfreq(8, 0.1)
np.fft.fftfreq(8)
m.reshape(-1, order="F")
m.ravel(order="F")
m.flatten("F")
np.pad(m, 1, mode="mean")
np.pad(m, 1, mode="linear_ramp", end_values=3)
np.pad(m, 2, mode="reflect")
np.pad(m, ((1,0),(0,2)), "constant", constant_values=2)
np.pad(m, 1, mode="maximum", stat_length=2)
np.pad(m, 1, mode="median")
m.byteswap()
np.nanmedian(m,axis=(0,1))
np.around(m, 1)
np.round(x, decimals=2)
m.round(-1)
m.argsort(axis=None)
m.std(ddof=1)
np.std(m, ddof=1)
np.var(m, axis=0, ddof=1, keepdims=True)
np.histogram2d(x,x,bins=2)
np.histogramdd(m, bins=2)[0]
np.percentile(x, [10,50])
np.percentile(x, 50, method="nearest")
np.quantile(m, 0.3, axis=1, method="lower")
np.digitize(x, [0.2,0.5])
np.unique(i, return_index=True, return_inverse=True, return_counts=True)
np.searchsorted(np.sort(x), [0.1,0.5], side="right")
np.interp([0.1,0.2], np.sort(x), x)
np.convolve(x, [1,2,1], "same")
np.correlate(x, [1,2,1], "full")
np.polyfit(x, x, 1)
np.polyval([1,2,3], x)
np.poly1d([1,2,3])(x)
np.roots([1,-3,2])
np.gradient(m, axis=0)
np.gradient(x, 2.0, edge_order=2)
np.diff(m, n=2, axis=1)
np.diff(x, prepend=0)
np.trapezoid(x, dx=0.5)
np.cumprod(m)
np.nancumsum(m)
np.tensordot(m, m, axes=([1],[1]))
np.kron(m, x)
np.outer(x, x)
np.inner(m, m)
np.vdot(x, x)
np.cross([1,2,3],[4,5,6])
np.linalg.norm(x, 1)
np.linalg.matrix_rank(m)
np.linalg.cond(m)
np.linalg.eigh(m @ m.T)[0]
np.linalg.eigvalsh(m @ m.T, UPLO="U")
np.linalg.tensorsolve(np.eye(4).reshape(2,2,2,2), np.ones((2,2)))
np.where(m > 0.5)
np.nonzero(i)
np.argwhere(m > 0.5)
np.flatnonzero(m > 0.5)
np.take(m, [0,2], axis=1, mode="wrap")
np.choose([0,1,0], [x[:3], x[3:]])
np.select([m>0.5, m<0.2],[m,-m], default=9)
np.piecewise(x, [x<0.5], [0, lambda x: x])
np.clip(m, 0.2, 0.5)
np.clip(m, None, 0.5)
m.clip(min=0.2)
np.roll(m, 1, axis=(0,1))
np.rot90(m, k=2, axes=(0,1))
np.tile(x, (2,2))
np.delete(x, [1,2])
np.insert(x, 1, [9., 8.])
np.append(m, m, axis=0)
np.array_split(x, 4)
np.split(x, [2,3])
np.stack([x,x], axis=-1)
np.block([[m,m],[m,m]])
np.concatenate((m,m), axis=None)
np.column_stack((x,x))
np.r_[x, 1, 2:4]
np.c_[x, x]
np.mgrid[0:3, 0:2]
np.ix_([0,1],[1,2])
m[np.ix_([0,1],[1,2])]
np.ogrid[0:3]
np.indices((2,3))
np.fromfunction(lambda i,j: i+j, (2,3))
np.fromiter((k*k for k in range(4)), float)
np.frombuffer(b"\\x01\\x02", dtype=np.uint8)
np.fromstring("1 2 3", sep=" ")
np.array([1,2,3], dtype="f4", ndmin=2)
np.array(x, copy=True, order="F")
np.asarray(x, dtype=float, order="C")
np.ascontiguousarray(m.T)
np.copy(m, order="F")
m.copy("F")
m.astype("f4", order="F", casting="same_kind", copy=False)
m.tolist()
m.item(3)
m.sum(axis=(0,1), dtype=np.float32)
m.mean(axis=1, keepdims=True)
m.max(axis=0, initial=0.3, where=m>0.1)
np.ptp(m, axis=0)
np.apply_along_axis(lambda r: r.sum(), 1, m)
np.apply_over_axes(np.sum, m, [0])
np.isclose(x, x + 1e-9)
np.allclose(m, m)
np.array_equal(m, m)
np.array_equiv(m, m)
np.nan_to_num(np.array([np.nan, np.inf]), nan=1.0, posinf=2.0)
np.sign(m - 0.5)
np.heaviside(m - 0.5, 0.5)
np.modf(m)
np.frexp(m)
np.divmod(m, 0.3)
np.fmod(m, 0.3)
np.hypot(m, m)
np.unwrap(x * 9)
np.angle(x + 1j, deg=True)
np.real_if_close(x + 0j)
np.floor_divide(m, 0.3)
np.add.reduce(m, axis=1)
np.multiply.outer(x, x)
np.lexsort((x, i))
np.sort_complex(x)
np.tri(3, 4, 1)
np.triu(m, 1)
np.diag(x, 1)
np.diagflat(x)
np.vander(x, 3, increasing=True)
np.trace(m, offset=1)
m.diagonal(1)
np.eye(3, 4, k=1, dtype=int)
np.hanning(5)
np.kaiser(5, 3.0)
np.bartlett(5)
np.array2string(x, precision=2)
np.isin(i, [1,2])
np.intersect1d(i, [1,2,9], return_indices=True)
np.packbits(i > 2)
np.unpackbits(np.array([7], dtype=np.uint8))
np.bitwise_count(i)
np.gcd(i, 6)
np.may_share_memory(m, m)
np.broadcast_arrays(x, m[:, :1])
np.expand_dims(x, (0,2))
np.flip(m, axis=1)
np.resize(x, (2,2))
np.trim_zeros(np.array([0,1,0]))
np.extract(m > 0.5, m)
np.count_nonzero(m > 0.5, axis=1)
np.nanmean(m, axis=0)
np.nanargmax(m)
np.nanquantile(m, 0.5)
np.unravel_index(5, (2,3))
np.ravel_multi_index(([0,1],[1,2]), (2,3))
np.random.default_rng(1).normal(size=3)
np.random.default_rng(1).choice(i, 3)
np.sum(m, out=np.empty(()))
np.spacing(x)
np.nextafter(x, 1)
np.logaddexp(x, x)
np.fft.fft(x, n=8, norm="ortho")
np.fft.rfft2(m)
np.fft.fftn(m, s=(4,4), axes=(0,1))
np.fft.hfft(x)
m.swapaxes(0,1)
m.transpose(1,0)
m.T.flags.f_contiguous
m.nonzero()
m.cumsum(0)
m.any(), m.all()
m.repeat(2)
m.take([0,1])
m.view().shape
m.view(np.int64).shape
m.nbytes, m.itemsize, m.strides, m.ndim, m.size
m.flat[3]
list(m.flat)[:2]
m.real
m.conj()
m.tobytes()
len(m), bool(m.any()), float(x[0])
np.asarray(m).dtype.name
np.iinfo(np.int8).max
np.result_type(m, i)
np.promote_types("f4","i8")
np.can_cast("i4","f8")
np.issubdtype(m.dtype, np.floating)
np.ndim(m), np.shape(m), np.size(m)
np.base_repr(5, 2)
np.binary_repr(5)
np.linalg.slogdet(m @ m.T)
np.linalg.matrix_power(np.eye(3), 3)
np.nan_to_num(m, copy=False)
np.isneginf(x), np.isposinf(x)
np.iscomplexobj(m), np.isrealobj(m)
np.cumulative_sum(x, include_initial=True)
np.unstack(m, axis=0)
np.linalg.vector_norm(m)
np.astype(m, np.float32)
np.permute_dims(m, (1,0))
np.matrix_transpose(m)
m.partition(1); m[:,1]
m.sort(axis=0); m
m.sort(kind="stable"); m
m.fill(3); m
m.resize((2,2),refcheck=False); m
m.put([0,1,2],[9,8]); m
m.byteswap(inplace=True); m
m.flat=7; m
m.flat[2:4]=1; m
m.T[0]=5; m
m[m>0.5]=0; m
m[[0,1],[1,2]]+=1; m
m.real=3; m
np.copyto(m, 2, where=m>0.5); m
np.place(m, m>0.5, [1,2]); m
np.put(m,[0,1],[3,4]); m
np.putmask(m, m>0.5, 1); m
np.fill_diagonal(m, 5); m
np.add.at(m, ([0,0],[1,1]), 2); m
np.put_along_axis(m, np.argmin(m,axis=1,keepdims=True), 9, axis=1); m
m.setflags(write=False); m.flags.writeable
m.swapaxes(0,1)[0]=1; m
m+=1; m//=0.3; m
np.random.default_rng(0).shuffle(m); m
np.sqrt(m, out=m); m
np.add(m,1,out=m,where=m>0.5); m
np.nditer(m).shape
[float(t) for t in np.nditer(m)][:2]
[(k,float(t)) for k,t in np.ndenumerate(m)][:2]
list(np.ndindex(2,2))
it=np.broadcast(m, m[:4]); it.shape
import pickle; m=pickle.loads(pickle.dumps(m)); m
import copy; m=copy.deepcopy(m); m
import io; f=io.BytesIO(); np.save(f, m); f.seek(0); m=np.load(f); m
import io; f=io.StringIO(); np.savetxt(f, m); f.seek(0); m=np.loadtxt(f); m
import io; m=np.genfromtxt(io.StringIO("1,2\\n3,4"), delimiter=","); m
f"{float(m[0,0]):.2f} {m[0,0]:.3f}"
"%.2f" % m[0,0]
str(m), repr(m.shape)
with np.errstate(all="ignore"): m=m/0; m
m.tofile; m.dump
np.reshape(m, (3, 2), order="F")
m.reshape(3, 2, order="F")
m.reshape((3, 2), order="F")
m.compress([True, False, True], axis=1)
np.compress([True, False, True], m, axis=1)
np.linalg.lstsq(m.T, np.ones(3), rcond=None)[0]
np.repeat(m, [1, 2], axis=0)
np.average(m, axis=1, weights=np.ones(3), returned=True)
np.dot(m, m.T, out=np.empty((2, 2)))
np.linalg.inv(m @ m.T + np.eye(2))
np.matvec(m, np.ones(3))
np.vecmat(np.ones(2), m)
m.shape = (3, 2); m
m.shape = 6; m
v = m.view(); v.shape = (3, 2); v, m.shape
""".strip().split("\n")
