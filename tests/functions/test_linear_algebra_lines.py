"""Lines of `linalg`, `fft`, products and einsum as NumPy's users write them, over dtypes, stacks and extents."""

from collections.abc import Callable, Iterator
from itertools import product
from operator import attrgetter
from typing import Any, cast

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same
from tests.support.numpy_version import NUMPY
from uopc_core.errors import GradientError, TraceError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# a stands for matrices, s for square ones, h for Hermitian positive-definite ones, v for a vector, N for the library
OF_MATRICES = [
    "N.linalg.svd(a, compute_uv=False)",
    "N.linalg.svd(a, full_matrices=False)",
    "N.linalg.svd(a, False, False)",
    *[f"N.linalg.qr(a, mode='{mode}')" for mode in ("reduced", "complete", "r", "raw", "bogus")],
    "N.linalg.qr(a, 'r')",
    *[
        f"N.linalg.norm(a, {ord}, axis=(-2, -1), keepdims={keepdims})"
        for ord in (None, "'fro'", "'nuc'", 1, -1, 2, -2, "np.inf", "-np.inf", "'x'", 3)
        for keepdims in (False, True)
    ],
    *[f"N.linalg.norm(a, {ord}, axis=-1)" for ord in (None, 0, 1, 2, 3, 0.5, -1, "np.inf", "-np.inf", "'fro'")],
    *[f"N.linalg.norm(a, {ord})" for ord in (None, "'fro'", "'nuc'", 1, 2, "np.inf")],
    "N.linalg.norm(a, axis=(0, 0))",
    "N.linalg.norm(a, keepdims=True)",
    "N.linalg.matrix_rank(a)",
    "N.linalg.matrix_rank(a, tol=1.5)",
    "N.linalg.matrix_rank(a, 0.5)",
    "N.linalg.matrix_rank(a, tol=np.asarray(1.5))",
    "N.linalg.matrix_rank(a, rtol=0.3)",
    "N.linalg.matrix_rank(a, tol=1, rtol=1)",
    "N.linalg.pinv(a, 0.3)",
    "N.linalg.pinv(a, rcond=0.3)",
    "N.linalg.pinv(a, rtol=0.3)",
    "N.linalg.pinv(a, rcond=0.3, rtol=0.3)",
    "N.linalg.cond(a)",
    "N.linalg.cond(a, -2)",
    "N.einsum('...ij->...ji', a)",
    "N.einsum('...ij,...kj->...ik', a, a, optimize=True)",
]
OF_SQUARE = [
    "N.linalg.eigh(h, 'U')[0]",
    "N.linalg.eigh(h, UPLO='l')",
    "N.linalg.eigvalsh(h, UPLO='U')",
    "N.linalg.eigvalsh(h, 'X')",
    "N.linalg.cholesky(h, upper=True)",
    "N.linalg.cond(s, 1)",
    "N.linalg.cond(s, 'fro')",
    "N.linalg.svd(h, hermitian=True, compute_uv=False)",
    "N.linalg.matrix_rank(h, hermitian=True)",
    "N.linalg.matrix_power(s, -2)",
    "N.linalg.matrix_power(a=s, n=3)",
    "N.linalg.solve(a=s, b=s)",
    "N.linalg.det(a=s)",
    "N.trace(s, 1, -2, -1)",
]
DTYPES = ("float32", "float64", "complex64", "complex128", "int64")
BATCHES: tuple[tuple[int, ...], ...] = ((), (2,), (0,))
EXTENTS = (0, 1, 3)


def operands(dtype: str, batch: tuple[int, ...], m: int, n: int) -> dict[str, Any]:
    random = np.random.default_rng([m, n, len(batch)])

    def matrices(m: int, n: int) -> Any:
        x = random.normal(size=(*batch, m, n)) + (1j * random.normal(size=(*batch, m, n)) if dtype[0] == "c" else 0)
        return (x + 4 * np.eye(m, n)).astype(dtype)

    s = matrices(m, m)
    definite = (s @ np.conj(np.swapaxes(s, -1, -2)) + np.eye(m)).astype(dtype)
    return {"a": matrices(m, n), "s": s, "h": definite}


def agree(line: str, given: dict[str, Any], rtol: float = 1e-9) -> None:
    """Our function, and NumPy's on our arrays, give what NumPy's gives."""
    wanted = run(lambda: eval(line, {"N": np, "np": np, **given}))
    arrays = {key: xp.asarray(value) if isinstance(value, np.ndarray) else value for key, value in given.items()}
    for library in (xp, np):
        near(run(lambda N=library: eval(line, {"N": N, "np": np, **arrays})), wanted, line, rtol)


def near(got: Any, wanted: Any, line: str, rtol: float) -> None:
    """`same`, but that sums of single precision are compared as such."""
    if isinstance(wanted, tuple) and isinstance(got, tuple):
        assert getattr(got, "_fields", ()) == getattr(wanted, "_fields", ()) or len(got) == len(wanted)
        for x, y in zip(got, wanted, strict=True):
            near(x, y, line, rtol)
        return
    if isinstance(wanted, Exception) or np.asarray(wanted).dtype.kind not in "fc":
        same(got, wanted, line)
        return
    assert not isinstance(got, Exception), (line, got)
    x, y = np.asarray(got), np.asarray(wanted)
    assert (x.dtype, x.shape) == (y.dtype, y.shape), (line, x.dtype, x.shape, y.dtype, y.shape)
    finite = np.abs(y[np.isfinite(y)])
    size = float(finite.max()) if finite.size else 1.0
    tolerance = 2e-4 if y.dtype.name in ("float32", "complex64") else rtol
    np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(size, 1.0), err_msg=line)


def cases() -> Iterator[tuple[str, tuple[int, ...], int, int]]:
    for dtype, batch in product(DTYPES, BATCHES):
        for m, n in product(EXTENTS, EXTENTS) if batch == () else ((3, 2), (2, 3), (2, 2)):
            yield dtype, batch, m, n


@pytest.mark.parametrize("line", OF_MATRICES)
def test_a_line_of_matrices(line: str) -> None:
    for dtype, batch, m, n in cases():
        if "pinv" in line and dtype == "int64" and 0 in (m, n, *batch):
            continue  # of nothing NumPy gives integers
        agree(line, operands(dtype, batch, m, n))


@pytest.mark.parametrize("line", OF_SQUARE)
def test_a_line_of_square_matrices(line: str) -> None:
    for dtype, batch, m, n in cases():
        if m == n and not ("cond" in line and m == 0):
            agree(line, operands(dtype, batch, m, n), 1e-7 if "power" in line else 1e-9)


LINES = [
    *[
        f"N.fft.{name}({args})"
        for name in ("fftfreq", "rfftfreq")
        for args in ("8", "7, 0.5", "8, d=2", "1, 0.1, 'cpu'")
    ],
    *[f"N.fft.fftfreq({args})" for args in ("2.5", "8, 0.5, 'gpu'", "n=4, d=0.5")],
    *[f"N.fft.{name}(a, 4, 0, 'ortho')" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")],
    *[f"N.fft.{name}(a, (4, 2), (0, 1), 'forward')" for name in ("fftn", "ifftn", "rfftn", "irfftn")],
    *[f"N.fft.{name}(a, norm=None)" for name in ("fft2", "ifft2", "rfft2", "irfft2")],
    "N.fft.fftshift(a, 0)",
    "N.fft.ifftshift(x=a, axes=(0, 1))",
    "N.linalg.lstsq(a.T, a[0], rcond=None)[0]",
    "N.linalg.lstsq(a.T, a.T)",
    "N.linalg.multi_dot([a, a.T, a])",
    "N.linalg.multi_dot([a[0], a.T, a, a[0]])",
    "N.linalg.multi_dot([a])",
    "N.linalg.multi_dot([a, a])",
    "N.linalg.multi_dot([a, a[None]])",
    "N.linalg.tensorinv(t)",
    "N.linalg.tensorinv(t, ind=1)",
    "N.linalg.tensorinv(t, ind=0)",
    "N.linalg.tensorsolve(t, a)",
    "N.linalg.tensorsolve(t, a.T, axes=(0,))",
    "N.linalg.tensorsolve(t, a[0])",
    "N.linalg.matrix_rank(a[0])",
    "N.linalg.matrix_rank(a[0] * 0)",
    "N.linalg.norm(a[0], 3)",
    "N.linalg.norm(a[0], 'nuc')",
    "N.linalg.norm(t, 2)",
    "N.linalg.norm(t, axis=(0, 2), ord=1)",
    "N.linalg.norm(t, keepdims=True)",
    "N.linalg.norm(2.0)",
    "N.linalg.outer(a[0], a[1])",
    "N.linalg.outer(a, a[1])",
    "N.cross(a, a[::-1])",
    "N.cross(a.T, a, axisa=0)",
    "N.cross(a, a[::-1], axisc=0)",
    "N.cross(a.T, a.T[:, ::-1], axis=0)",
    "N.cross(a, t[:, :, 0])",
    "N.cross(a[..., None].repeat(4, -1), a, -2, -1, 0)",
    "N.cross(a, a, axis=2)",
    "N.cross(a[0, 0], a)",
    "N.convolve(a[0], a[1], 'same')",
    "N.convolve(v=a[0], a=a[1])",
    "N.correlate(a[0], a[1], mode='full')",
    "N.kron(a, a[0])",
    "N.inner(a, a)",
    "N.vdot(a, a)",
    "N.outer(a, a[0])",
    "N.tensordot(a, a, axes=((0,), (0,)))",
    "N.tensordot(a, a, ((0, 1), (0, 1)))",
    "N.tensordot(a, b=a, axes=0)",
    "N.einsum('ij,kj->ik', a, a)",
    "N.einsum('ij,kj', a, a, optimize='greedy')",
    "N.einsum(a, [0, 1], a, [2, 1], [0, 2])",
    "N.einsum('ij->i', a, dtype='complex128')",
    "N.einsum('ij->i', a, dtype='float32')",
    "N.einsum('ij->i', a, dtype='float32', casting='same_kind')",
    "N.einsum('ij->i', a, dtype='float32', casting='bogus')",
    "N.einsum('ij,ij->', a, 2)",
    "N.einsum('ij', a, a)",
    "N.einsum()",
    "N.einsum('i->i')",
    "N.dot(a, 2)",
    "N.dot(b=a.T, a=a)",
    "a.dot(a.T)",
    "a.trace(1)",
    "a.trace(offset=-1, dtype='float32')",
    "N.polyfit(a[0], a[1], 1)",
    "N.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1, w=a[0] ** 2 + 1)",
    "N.linalg.LinAlgError",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line(line: str) -> None:
    given = {
        "a": np.asarray([[1.5, 0.25, 3.0], [4.0, 5.0, -6.0]]),
        "t": np.eye(6).reshape(2, 3, 6) + np.arange(36.0).reshape(2, 3, 6) / 50,
    }
    if line == "N.linalg.LinAlgError":
        assert xp.linalg.LinAlgError is np.linalg.LinAlgError
        return
    agree(line, given)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_einsum_stores_in_out_what_may_be_converted_safely(dtype: str) -> None:
    x, einsum = np.asarray([[1.0, 2.0], [3.0, 4.0]]), cast("Any", np.einsum)
    for casting in ("safe", "same_kind", "unsafe"):
        wanted = run(lambda c=casting: einsum("ij->i", x, out=np.zeros(2, dtype), casting=c))
        for f in (xp.einsum, einsum):
            out = xp.zeros(2, dtype=dtype)
            got = run(lambda f=f, c=casting, out=out: f("ij->i", xp.asarray(x), out=out, casting=c))
            assert got is out or isinstance(wanted, Exception)
            same(got, wanted, f"{dtype} {casting}")


@pytest.mark.parametrize("name", ["dot", "outer", "trace", "fft.fft", "fft.rfft2", "linalg.multi_dot"])
def test_out_of_another_dtype_is_taken_as_numpy_takes_it(name: str) -> None:
    a = np.asarray([[1.5, 2.0], [0.5, 4.0]])
    args: tuple[Any, ...] = ([a, a],) if name == "linalg.multi_dot" else (a, a) if name in ("dot", "outer") else (a,)
    function, theirs = attrgetter(name)(xp), attrgetter(name)(np)
    plain = np.asarray(theirs(*args))
    for dtype in ("float32", "float64", "complex128", "int64"):
        wanted = run(theirs, *args, out=np.zeros(plain.shape, dtype))
        out = xp.zeros(plain.shape, dtype=dtype)
        got = run(function, *[xp.asarray(x) if isinstance(x, np.ndarray) else x for x in args], out=out)
        assert isinstance(got, Exception) is isinstance(wanted, Exception), (name, dtype, got, wanted)
        assert got is out or isinstance(got, Exception)
        if got is out:
            same(got, np.asarray(wanted).astype(dtype), name)


HOSTED: dict[str, Callable[[xp.Array], Any]] = {
    "cond": lambda x: xp.linalg.cond(x, 1),
    "qr": lambda x: xp.linalg.qr(x, mode="raw")[1],
    "svd": lambda x: xp.linalg.svd(x, hermitian=True, compute_uv=False),
    "pinv": lambda x: xp.linalg.pinv(x, hermitian=True),
    "matrix_rank": lambda x: xp.linalg.matrix_rank(x, hermitian=True),
    "lstsq": lambda x: xp.linalg.lstsq(x, x[0])[0],
    "polyfit": lambda x: xp.polyfit(x[0], x[1], 1),
}
if NUMPY < (2, 5):  # from then on it takes no vectors of two elements
    HOSTED["cross"] = lambda x: xp.cross(x, x)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Polyfit may be poorly conditioned")
@pytest.mark.parametrize("name", HOSTED)
def test_what_runs_in_numpy_says_so(name: str) -> None:
    f, x = HOSTED[name], xp.asarray([[2.0, 1.0], [1.0, 3.0]])
    with xp.log_host_calls() as calls:
        f(x)
    assert [call.function.rpartition(".")[2] for call in calls] == [name]
    with pytest.raises(TraceError, match=f"{name}, which runs in NumPy"):
        xp.jit(f)(x)
    with pytest.raises(GradientError, match=f"{name}: it runs in NumPy"):
        xp.grad(lambda x: xp.sum(f(x)))(x)


NATIVE: dict[str, Callable[[xp.Array], Any]] = {
    "svd": lambda x: xp.linalg.svd(x, compute_uv=False),
    "qr": lambda x: xp.linalg.qr(x, mode="r"),
    "norm": lambda x: xp.linalg.norm(x, 2),
    "cond": xp.linalg.cond,
    "matrix_rank": lambda x: xp.linalg.matrix_rank(x, tol=0.5),
    "pinv": lambda x: xp.linalg.pinv(x, 0.1),
    "eigh": lambda x: xp.linalg.eigvalsh(x, "U"),
    "multi_dot": lambda x: xp.linalg.multi_dot([x, x, x]),
    "tensorsolve": lambda x: xp.linalg.tensorsolve(x.reshape(2, 1, 2), xp.ones((2, 1))),
    "tensorinv": lambda x: xp.linalg.tensorinv(x.reshape(2, 1, 2), ind=1),
    "fft2": xp.fft.fft2,
    "einsum": lambda x: xp.einsum("ij,jk,kl->il", x, x, x, optimize="greedy", dtype="complex128"),
    "cross": lambda x: xp.cross(xp.ones((2, 3)) * x[0, 0], xp.arange(3.0), axisc=0),
    "matmul": lambda x: xp.matmul(x, x, axes=[(1, 0), (0, 1), (0, 1)]),
}


@pytest.mark.parametrize("name", NATIVE)
def test_what_is_in_the_graph_is_compiled_and_batched(name: str) -> None:
    f, x = NATIVE[name], xp.asarray([[2.0, 1.0], [1.0, 3.0]])
    with xp.log_host_calls() as calls:
        wanted = np.asarray(f(x))
        np.testing.assert_allclose(np.asarray(xp.jit(f)(x)), wanted, rtol=1e-12, atol=1e-14)
        batched = xp.vmap(f)(xp.stack([x, 2 * x]))
    np.testing.assert_allclose(np.asarray(batched)[0], wanted, rtol=1e-12, atol=1e-14)
    assert len(calls) == 0
