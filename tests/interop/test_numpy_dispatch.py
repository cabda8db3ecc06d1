"""NumPy's functions on our arrays: ufuncs with their methods and keywords, other functions, those that run in NumPy."""

# pyright: reportArgumentType=false, reportCallIssue=false
# NumPy's stubs do not know that other classes take part (NEP 13 and 18).

import numpy as np
import pytest

import uopc_array as xp

N = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 2.0], [3.0, 4.5]])
CALLS = [
    "np.sin(x)", "np.power(x, 2)", "np.arctan2(x, n)", "np.hypot(x, x)", "np.divmod(x, 2)", "np.exp2(x)",
    "np.cbrt(x)", "np.add.reduce(x)", "np.add.reduce(m, axis=None)", "np.multiply.reduce(m, 1, keepdims=True)",
    "np.maximum.reduce(m)", "np.logical_and.reduce(x > 1)", "np.add.accumulate(x)", "np.maximum.accumulate(-m, 1)",
    "np.add.outer(x, n)", "np.add.reduceat(x, [0, 1])", "np.bitwise_or.reduce(x.astype(int))",
    "np.subtract.accumulate(x)", "np.fmod(x, 2)", "np.sum(x)", "np.sum(m, axis=0, keepdims=True)", "np.mean(m, 0)",
    "np.std(x, ddof=1)", "np.sum(x, where=x > 1)", "np.max(x, initial=0.5, where=n < 3)", "np.var(a=x, ddof=1)",
    "np.std(x, correction=1)", "np.var(m, axis=1)", "np.cumsum(m)", "np.prod(m, 1)", "np.amax(m)", "np.argmax(m, 0)",
    "np.any(x > 2)", "np.median(x)", "np.percentile(x, 50)", "np.concatenate([x, n])", "np.stack([x, x])",
    "np.vstack([x, x])", "np.transpose(m)", "np.reshape(m, -1)", "np.expand_dims(x, 0)", "np.roll(x, 1)",
    "np.tril(m)", "np.take(x, [0, 1])", "np.meshgrid(x, x)", "np.tile(x, 2)", "np.where(x > 1, x, 0)",
    "np.where(x > 1)", "np.clip(x, 1.5, 2)", "np.round(x * 1.26, 1)", "np.diff(x)", "np.unique(x)", "np.sort(-x)",
    "np.argsort(-x)", "np.count_nonzero(x)", "np.isclose(x, n)", "np.dot(m, m)", "np.matmul(m, m)",
    "np.tensordot(m, m)", "np.einsum('ij,ij->i', m, m)", "np.outer(x, x)", "np.trace(m)", "np.kron(x, x)",
    "m @ np.ones(2)", "np.ones(2) @ m", "np.linalg.det(m)", "np.linalg.norm(x)", "np.linalg.norm(m)",
    "np.linalg.norm(m, axis=1)", "np.linalg.norm(m, 1)", "np.linalg.solve(m, m)", "np.linalg.eigh(m @ m.T)[0]",
    "np.fft.fft(x)", "np.ones_like(x)", "np.full_like(x, 2)", "np.zeros_like(x, shape=(2, 2))",
    "np.interp(1.5, x, x)", "np.histogram(x)", "np.apply_along_axis(np.sum, 0, m)", "n + x", "n * x",
    "np.float64(2) * x", "n - x", "n / x", "n < x",
]  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_call_gives_our_array_with_numpys_values(text):
    got = eval(text, {"np": np, "x": xp.asarray(N), "m": xp.asarray(M), "n": N})
    want = eval(text, {"np": np, "x": N, "m": M, "n": N})
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for ours, numpys in pairs:
        assert isinstance(ours, xp.Array)
        assert ours.dtype == np.asarray(numpys).dtype
        np.testing.assert_allclose(np.asarray(ours), numpys, rtol=1e-12)


@pytest.mark.parametrize(
    "text", ["zeros(3", "ones((2, 2)", "full(2, 7.0", "arange(4", "eye(2", "asarray([1, 2]", "array([1.5]"]
)
def test_like_makes_our_arrays(text):
    got = eval(f"np.{text}, like=x)", {"np": np, "x": xp.asarray(N)})
    assert isinstance(got, xp.Array)
    np.testing.assert_array_equal(np.asarray(got), eval(f"np.{text})"))


def test_functions_that_return_python_values_still_do():
    x = xp.asarray(N)
    assert np.shape(x) == (3,)
    assert np.ndim(x) == 1
    assert np.size(x) == 3
    assert np.allclose(x, N) is True
    assert np.iscomplexobj(x) is False


def test_out_takes_the_result():
    x = xp.asarray(N)
    ours, numpys = xp.zeros(3), np.zeros(3)
    assert np.add(x, 1, out=ours) is ours
    assert np.multiply(x, 2, out=numpys) is numpys
    assert (ours.tolist(), numpys.tolist()) == ([2.0, 3.0, 4.0], [2.0, 4.0, 6.0])
    total = xp.zeros(())
    assert np.sum(x, out=total) is total
    assert float(total) == 6.0
    with pytest.raises(TypeError, match="in place"):
        np.add(x, 1.5, out=xp.zeros(3, dtype=xp.int64))


def test_where_and_dtype_of_a_ufunc():
    x = xp.asarray(N)
    out = xp.asarray([7.0, 7.0, 7.0])
    np.multiply(x, 2, where=np.array([True, False, True]), out=out)
    assert out.tolist() == [2.0, 7.0, 6.0]
    assert np.add(x, 1, dtype=np.float32).dtype == np.float32


def test_in_place_on_a_numpy_array():
    values = np.ones(3)
    values += xp.asarray(N)
    assert type(values) is np.ndarray
    assert values.tolist() == [2.0, 3.0, 4.0]


def test_ufunc_at_counts_an_index_twice():
    x = xp.zeros(3)
    np.add.at(x, [0, 0, 1], 1.0)
    np.maximum.at(x, [2, 2], xp.asarray([5.0, 3.0]))
    np.subtract.at(x, [0], 0.5)
    assert x.tolist() == [1.5, 1.0, 5.0]
    assert xp.grad(lambda v: xp.sum(_added(v) ** 2))(xp.asarray([1.0, 2.0])).tolist() == [6.0, 6.0]


def _added(v):
    x = xp.zeros(2)
    np.add.at(x, [1, 1], v)
    return x


def test_functions_that_assign():
    m = xp.asarray(M)
    np.fill_diagonal(m, 0)
    assert m.tolist() == [[0.0, 2.0], [3.0, 0.0]]
    np.copyto(m, 1.0)
    np.copyto(m, xp.zeros((2, 2)), where=np.array([[True, False], [False, False]]))
    np.put(m, [3], 9)
    assert m.tolist() == [[0.0, 1.0], [1.0, 9.0]]


def test_code_for_numpy_is_differentiated_and_compiled():
    def f(x):
        return np.sum(np.sin(x) * np.exp(x))

    want = N * 0 + np.sin(N) * np.exp(N) + np.cos(N) * np.exp(N)
    np.testing.assert_allclose(np.asarray(xp.grad(f)(xp.asarray(N))), want, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(xp.jit(xp.grad(f))(N)), want, rtol=1e-14)
    c = np.array([1.0, -1.0, 2.0])
    got = xp.grad(lambda x: xp.sum(np.float64(3.0) * x * x + c * x))(xp.asarray(N))
    np.testing.assert_allclose(np.asarray(got), 6 * N + c)


@pytest.mark.parametrize("name", ["nanquantile", "spacing", "i0", "cov"])
def test_what_runs_in_numpy_has_no_derivative_and_no_trace(name):
    function = getattr(np, name)
    args = (0.5,) if name == "nanquantile" else ()
    assert isinstance(function(xp.asarray(N), *args), xp.Array)
    with pytest.raises(TypeError, match=f"{name}: it runs in NumPy"):
        xp.grad(lambda x: xp.sum(function(x, *args)))(xp.asarray(N))
    with pytest.raises(TypeError, match=f"{name}, which runs in NumPy"):
        xp.jit(lambda x: function(x, *args))(xp.asarray(N))


def test_none_and_text_are_broadcast_beside_arrays():
    x, nothing, text = np.broadcast_arrays(xp.asarray(N), None, "a")
    assert isinstance(x, xp.Array)
    assert nothing.shape == text.shape == x.shape
    assert all(isinstance(part, xp.Array) for part in np.broadcast_arrays(xp.asarray(N), 1.0, N))


@pytest.mark.parametrize("name", ["empty_like", "ones_like", "zeros_like"])
def test_a_dtype_by_position_is_taken_with_another_shape_too(name):
    got = getattr(np, name)(xp.asarray(N), np.int8, shape=(2,))
    assert (got.shape, got.dtype, type(got)) == ((2,), np.int8, xp.Array)
    full = np.full_like(xp.asarray(N), 7, np.int8, shape=(2,))
    assert (full.tolist(), full.dtype) == ([7, 7], np.int8)


class Other:
    """A class with its own idea of NumPy's functions."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return "other"

    def __array_function__(self, function, types, args, kwargs):
        return "other function"


def test_other_classes_have_their_say():
    assert xp.ones(2) + Other() == "other"
    assert np.concatenate([xp.ones(2), Other()]) == "other function"


OUTPUTS = [
    ("np.add(np.ones(3), 1.0, out=OUT)", (2, 3)),
    ("np.add(A(np.ones((1, 3))), 1.0, out=OUT)", (4, 2, 3)),
    ("np.multiply(A([2.0]), 3.0, out=OUT)", (2, 2)),
    ("np.add(A([1.0, 2.0]), 1.0, out=OUT, where=A([[True, False], [False, True]]))", (2, 2)),
    ("np.sqrt(4.0, out=OUT)", (3,)),
    ("np.modf(A([1.5]), out=(OUT, None))[0]", (2, 3)),
]
TOO_SMALL = [("np.add(A(np.ones((2, 3))), 1.0, out=OUT)", (3,)), ("np.add.reduce(A(np.ones((2, 3))), out=OUT)", (2, 3))]


@pytest.mark.parametrize(("call", "shape"), OUTPUTS, ids=[call for call, _ in OUTPUTS])
def test_a_result_is_broadcast_into_a_larger_out(call: str, shape: tuple[int, ...]):
    ours, theirs = xp.zeros(shape), np.zeros(shape)
    view, base = (big := xp.zeros((*shape, 2)))[..., 0], big
    for out, array in ((ours, xp.asarray), (theirs, np.asarray), (view, xp.asarray)):
        assert eval(call, {"np": np, "A": array, "OUT": out}) is out
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(base[..., 0], theirs)
    assert not base[..., 1].any()


@pytest.mark.parametrize(("call", "shape"), TOO_SMALL, ids=[call for call, _ in TOO_SMALL])
def test_a_result_that_cannot_be_broadcast_into_out_is_refused(call: str, shape: tuple[int, ...]):
    for out, array in ((xp.zeros(shape), xp.asarray), (np.zeros(shape), np.asarray)):
        with pytest.raises(ValueError, match=r"shape|dimension"):
            eval(call, {"np": np, "A": array, "OUT": out})
