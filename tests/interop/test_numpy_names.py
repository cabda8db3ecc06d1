"""Every public name of NumPy answers; what has no version of ours runs NumPy's own on the values."""

import inspect
import pickle
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core.errors import GradientError, TraceError

MODULES = ("", "linalg", "fft", "random", "testing", "lib", "lib.stride_tricks", "polynomial", "ma", "emath", "strings")
# NumPy's ways to its own build, tests and internals
NOT_FOR_USERS = {"core", "f2py", "test", "get_include", "show_runtime"}

a, b = np.asarray([3.0, 1.0, 2.0, 1.0]), np.asarray([[4.0, 1.0], [2.0, 3.0]])
n = np.asarray([2, 0, 1, 2])


def numpy_names() -> list[str]:
    out = []
    for module in MODULES:
        owner = resolve(np, module)
        names = [name for name in dir(owner) if not name.startswith("_") and name not in NOT_FOR_USERS]
        out += [f"{module}.{name}" if module else name for name in names]
    return out


def resolve(root: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        root = getattr(root, name)
    return root


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("path", numpy_names())
def test_every_public_name_of_numpy_answers(path: str) -> None:
    theirs, ours = resolve(np, path), resolve(xp, path)
    assert callable(ours) == callable(theirs)
    if isinstance(theirs, types.ModuleType):
        assert isinstance(ours, types.ModuleType)
    name = path.rpartition(".")[2]
    assert name in dir(resolve(xp, path.rpartition(".")[0]))


def test_methods_of_generators_answer() -> None:
    for kind in ("Generator", "RandomState"):
        theirs, ours = getattr(np.random, kind), getattr(xp.random, kind)
        assert {x for x in dir(theirs) if not x.startswith("_")} <= set(dir(ours))


def test_a_name_that_numpy_has_not_says_so() -> None:
    with pytest.raises(AttributeError, match=r"'uopc_array' has no attribute 'nothing', and NumPy \d"):
        xp.nothing  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"linalg\.nothing"):
        xp.linalg.nothing  # pyright: ignore[reportAttributeAccessIssue]


# calls of functions without a version of ours, with arrays where NumPy has arrays
CALLS: dict[str, Callable[[Any], Any]] = {
    "apply_along_axis": lambda m: m.apply_along_axis(m.sum, 0, m.asarray(b)),
    "argpartition": lambda m: m.argpartition(m.asarray(a), 2)[2],
    "argwhere": lambda m: m.argwhere(m.asarray(n)),
    "bincount": lambda m: m.bincount(m.asarray(n), weights=m.asarray(a)),
    "block": lambda m: m.block([[m.asarray(b), m.asarray(b)]]),
    "c_": lambda m: m.c_[m.asarray(a), m.asarray(n)],
    "choose": lambda m: m.choose(m.asarray([0, 1]), [m.asarray(b)[0], m.asarray(b)[1]]),
    "compress": lambda m: m.compress([True, False], m.asarray(b), axis=0),
    "corrcoef": lambda m: m.corrcoef(m.asarray(b)),
    "cov": lambda m: m.cov(m.asarray(b), ddof=0),
    "delete": lambda m: m.delete(m.asarray(a), [0, 1]),
    "digitize": lambda m: m.digitize(m.asarray(a), m.asarray([0.0, 2.0])),
    "emath.sqrt": lambda m: m.emath.sqrt(-m.asarray(a)),
    "extract": lambda m: m.extract(m.asarray(a) > 1, m.asarray(a)),
    "flatnonzero": lambda m: m.flatnonzero(m.asarray(n)),
    "fromfunction": lambda m: m.fromfunction(lambda i, j: m.sin(i) + j, (2, 3)),
    "fromiter": lambda m: m.fromiter((i for i in range(3)), m.float64),
    "gcd.reduce": lambda m: m.gcd.reduce(m.asarray([4, 6])),
    "geomspace": lambda m: m.geomspace(1.0, 8.0, 4),
    "hanning": lambda m: m.hanning(5),
    "histogram": lambda m: m.histogram(m.asarray(a), bins=2),
    "indices": lambda m: m.indices((2, 2)),
    "insert": lambda m: m.insert(m.asarray(a), 1, m.asarray([9.0])),
    "interp": lambda m: m.interp(m.asarray(a), [0.0, 2.0], [0.0, 1.0]),
    "intersect1d": lambda m: m.intersect1d(m.asarray(n), m.asarray([2, 5])),
    "ix_": lambda m: m.asarray(b)[m.ix_([1], [0, 1])],
    "lexsort": lambda m: m.lexsort((m.asarray(a), m.asarray(n))),
    "lib.stride_tricks.as_strided": lambda m: m.lib.stride_tricks.as_strided(m.asarray(a), (2, 2), (16, 8)),
    "lib.stride_tricks.sliding_window_view": lambda m: m.lib.stride_tricks.sliding_window_view(m.asarray(a), 2),
    "linalg.cond": lambda m: m.linalg.cond(m.asarray(b), "fro"),
    "linalg.lstsq": lambda m: m.linalg.lstsq(m.asarray(b), m.asarray([1.0, 2.0])),
    "linalg.pinv": lambda m: m.linalg.pinv(m.asarray(b) @ m.asarray(b).T, hermitian=True),
    "linalg.qr": lambda m: m.linalg.qr(m.asarray(b), "raw"),
    "mgrid": lambda m: m.mgrid[0:2, 0:1:3j],
    "modf": lambda m: m.modf(m.asarray(a) / 2),
    "ndenumerate": lambda m: [float(x) for _, x in m.ndenumerate(m.asarray(a))],
    "ogrid": lambda m: m.ogrid[0:2, 0:3],
    "partition": lambda m: m.partition(m.asarray(a), 2)[2],
    "piecewise": lambda m: m.piecewise(m.asarray(a), [m.asarray(a) < 2], [lambda x: -x, 7.0]),
    "poly": lambda m: m.poly(m.asarray(a)),
    "polynomial.polynomial.polyval": lambda m: m.polynomial.polynomial.polyval(m.asarray(a), [1.0, 2.0]),
    "polyval": lambda m: m.polyval([1.0, 2.0], m.asarray(a)),
    "r_": lambda m: m.r_[m.asarray(a), 0.0, m.asarray(n)[0] : 4],
    "resize": lambda m: m.resize(m.asarray(a), (2, 3)),
    "roots": lambda m: m.roots([1.0, -3.0, 2.0]),
    "select": lambda m: m.select([m.asarray(a) > 1], [m.asarray(a)], 5.0),
    "tril_indices": lambda m: m.tril_indices(2),
    "unique": lambda m: m.unique(m.asarray(n), return_counts=True),
    "unravel_index": lambda m: m.unravel_index(m.asarray(n), (2, 2)),
    "vander": lambda m: m.vander(m.asarray(a)),
    "vectorize": lambda m: m.vectorize(lambda x: x * 2)(m.asarray(a)),
}


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            assert_same(x, y)
        return
    if isinstance(theirs, np.ndarray | np.generic):
        assert isinstance(ours, xp.Array), type(ours)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", CALLS)
def test_numpys_own_function_computes_what_has_no_version(name: str) -> None:
    assert_same(CALLS[name](xp), CALLS[name](np))


@pytest.mark.parametrize("name", ["bincount", "interp", "cov", "histogram", "linalg.lstsq", "vectorize", "r_"])
def test_a_function_of_the_host_is_an_error_under_jit_that_names_it(name: str) -> None:
    with pytest.raises(TraceError, match=name.rpartition(".")[2]):
        xp.jit(lambda x: resolve(xp, name)[x] if name == "r_" else _applied(name, x))(xp.asarray(a))


@pytest.mark.parametrize("name", ["interp", "cov", "linalg.lstsq", "vectorize", "r_"])
def test_a_function_of_the_host_is_an_error_under_a_derivative_that_names_it(name: str) -> None:
    def f(x: xp.Array) -> xp.Array:
        return xp.sum(resolve(xp, name)[x] if name == "r_" else _applied(name, x))

    with pytest.raises(GradientError, match=name.rpartition(".")[2]):
        xp.grad(f)(xp.asarray(a))


def _applied(name: str, x: Any) -> Any:
    if name == "interp":
        return xp.interp(x, x, x)
    if name == "linalg.lstsq":
        return xp.linalg.lstsq(xp.stack([x, x]).T, x)[0]
    return xp.vectorize(lambda v: v)(x) if name == "vectorize" else resolve(xp, name)(x)


def test_writers_write_to_the_array() -> None:
    x = xp.zeros((2, 2))
    view = x[0]
    xp.fill_diagonal(x, 3.0)
    xp.put(x, [1], [5.0])
    xp.copyto(x[1], 7.0)
    xp.putmask(x, x == 7.0, 8.0)
    np.testing.assert_array_equal(x, [[3.0, 5.0], [8.0, 8.0]])
    np.testing.assert_array_equal(view, [3.0, 5.0])


def test_signature_and_text_are_numpys() -> None:
    for name in ("cov", "interp", "histogram", "apply_along_axis"):
        ours, theirs = getattr(xp, name), getattr(np, name)
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert ours.__name__ == name
        assert "Runs NumPy's own function" in ours.__doc__
        assert theirs.__doc__ in ours.__doc__


def test_functions_of_the_host_are_pickled_by_name() -> None:
    for function in (xp.cov, xp.linalg.norm, xp.polynomial.polynomial.polyval):
        assert pickle.loads(pickle.dumps(function)) is function


# ------------------------------------------------------------------------------------------------ the log


def test_the_log_names_function_and_line() -> None:
    with xp.log_host_calls() as calls:
        xp.bincount(xp.asarray(n))
        np.interp(xp.asarray(a), [0.0, 1.0], [0.0, 1.0])
        xp.sum(xp.asarray(a))
    xp.bincount(xp.asarray(n))
    assert [call.function for call in calls] == ["numpy.bincount", "numpy.interp"]
    assert all(Path(__file__).name in call.line and "xp." in call.line for call in calls)
    assert "1 x numpy.bincount: " in str(calls)


def test_an_empty_log_says_so_and_a_log_stops() -> None:
    calls = xp.log_host_calls()
    assert str(calls) == "no call ran on the host"
    xp.hanning(3)
    calls.stop()
    calls.stop()
    xp.hanning(3)
    assert len(calls) == 1
    assert calls[0].function == "numpy.hanning"
    assert calls[:1] == list(calls)


# ------------------------------------------------------------------------------------------------ files


def test_files_give_arrays_of_ours(tmp_path: Path) -> None:
    x, y = xp.asarray(a), xp.asarray(n)
    xp.save(tmp_path / "x.npy", x)
    xp.savez(tmp_path / "xy.npz", x=x, y=y)
    xp.savetxt(tmp_path / "x.txt", x)
    assert_same(xp.load(tmp_path / "x.npy"), a)
    assert_same(xp.loadtxt(tmp_path / "x.txt"), a)
    with xp.load(tmp_path / "xy.npz") as archive:
        assert sorted(archive) == archive.files == ["x", "y"]
        assert len(archive) == 2
        assert_same(archive["y"], n)
    assert isinstance(xp.load(tmp_path / "x.npy", mmap_mode="r"), np.memmap)


# ------------------------------------------------------------------------------------------------ objects


def test_ndarray_is_the_class_of_all_arrays() -> None:
    assert isinstance(xp.ones(3), xp.ndarray)
    assert issubclass(xp.Array, xp.ndarray)
    assert not isinstance(np.ones(3), xp.ndarray)
    assert not issubclass(np.ndarray, xp.ndarray)
    np.testing.assert_array_equal(xp.ndarray.sum(xp.ones((2, 3)), axis=0), [2, 2, 2])


def test_a_call_of_ndarray_makes_an_array() -> None:
    for shape, dtype in (((2, 3), float), (4, "f4"), ([2, 0], xp.int8)):
        ours, theirs = xp.ndarray(shape, dtype), np.ndarray(shape, dtype)
        assert type(ours) is xp.Array
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)

    def doubled(x: xp.Array) -> xp.Array:
        out: xp.Array = xp.ndarray(x.shape, dtype=x.dtype)
        out[:] = 2 * x
        return out

    np.testing.assert_array_equal(xp.jit(doubled)(xp.arange(3.0)), [0, 2, 4])


def test_a_call_of_ndarray_with_a_buffer_shares_it() -> None:
    memory = np.arange(6.0)
    ours = xp.ndarray((2, 2), buffer=memory, offset=8)
    np.testing.assert_array_equal(ours, [[1, 2], [3, 4]])
    memory[2] = 9
    np.testing.assert_array_equal(ours, [[1, 9], [3, 4]])
    with pytest.raises(TypeError, match="buffer is too small"):
        xp.ndarray((9,), buffer=memory)
    with pytest.raises(ValueError, match="only memory in C order"):
        xp.ndarray((2, 3), buffer=memory, order="F")


def test_other_objects() -> None:
    assert xp.newaxis is None
    assert xp.s_[1:2, ...] == (slice(1, 2), ...)
    assert xp.dtype("f4") == xp.float32
    with xp.errstate(all="raise"), pytest.raises(xp.linalg.LinAlgError):
        xp.linalg.inv(xp.zeros((2, 2)))


def test_shared_memory_is_that_of_views() -> None:
    x = xp.zeros((4, 4))
    pairs = [(x, x[1:]), (x[:, 0], x[:, 1]), (x.T, x[::-1]), (x[:2], x[2:]), (x, x.copy()), (x[1:][1:], x[2])]
    y = np.zeros((4, 4))
    same = [(y, y[1:]), (y[:, 0], y[:, 1]), (y.T, y[::-1]), (y[:2], y[2:]), (y, y.copy()), (y[1:][1:], y[2])]
    for name in ("shares_memory", "may_share_memory"):
        assert [getattr(xp, name)(*p) for p in pairs] == [getattr(np, name)(*p) for p in same]
    lent = np.zeros(3)
    assert xp.shares_memory(xp.asarray(lent, copy=False), lent)
    assert not xp.shares_memory(xp.asarray(lent), lent)


def test_strides_and_flags_are_numpys() -> None:
    for make in (lambda m: m.zeros((2, 3)), lambda m: m.zeros((2, 3)).T, lambda m: m.zeros((4, 6))[::2, ::-1]):
        ours, theirs = make(xp), make(np)
        assert ours.strides == theirs.strides
        for name in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED"):
            assert ours.flags[name] == theirs.flags[name], name
    with pytest.raises(KeyError, match="C_CONTIGUOUS"):
        xp.zeros(2).flags["nothing"]


def test_elements_outside_of_the_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="as_strided: shape"):
        xp.lib.stride_tricks.as_strided(xp.zeros(4), (3,), (800,))


def test_an_iterator_does_not_lose_what_is_written() -> None:
    x = xp.asarray(a)
    assert [float(v) for v in xp.nditer(x)] == a.tolist()  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="cannot write"):
        xp.nditer(x, op_flags=["readwrite"])


# -------------------------------------------------------------------------------------------- functions of Python's

UFUNC_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "a call": lambda m, f: f(m.asarray(a), m.asarray(a)),
    "a number beside": lambda m, f: f(m.asarray(n), 1),
    "lists": lambda _, f: f([1, 2], [3, 4.5]),
    "broadcast": lambda m, f: f(m.asarray(a)[:, None], m.asarray(n)),
    "outer": lambda m, f: f.outer(m.asarray(a), m.asarray(n)),
    "accumulate": lambda m, f: f.accumulate(m.asarray(n)),
    "reduce along an axis": lambda m, f: f.reduce(m.ones((2, 3)), axis=1),
    "reduceat": lambda m, f: f.reduceat(m.asarray(a), [0, 2]),
    "nothing": lambda m, f: f(m.zeros((0, 2)), 1),
}


@pytest.mark.parametrize("maker", [xp, np], ids=["xp.frompyfunc", "np.frompyfunc"])
@pytest.mark.parametrize("name", UFUNC_CALLS)
def test_a_ufunc_of_a_function_of_python_gives_arrays_of_the_numbers(name: str, maker: Any) -> None:
    if (name, maker) == ("lists", np):
        return  # in which no array of ours takes part
    call = UFUNC_CALLS[name]
    theirs = call(np, np.frompyfunc(lambda x, y: x + y, 2, 1))
    ours = call(xp, maker.frompyfunc(lambda x, y: x + y, 2, 1))
    assert isinstance(ours, xp.Array)
    assert ours.dtype == np.array(theirs.tolist()).dtype
    np.testing.assert_array_equal(ours, theirs.astype(ours.dtype))


def test_a_ufunc_of_a_function_of_python_has_the_facts_of_numpys() -> None:
    ours, theirs = (m.frompyfunc(divmod, 2, 2, identity=3) for m in (xp, np))
    assert isinstance(ours, xp.ufunc)
    for fact in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature", "__name__", "__doc__"):
        assert getattr(ours, fact) == getattr(theirs, fact)


def test_a_ufunc_of_a_function_of_python_gives_several_results() -> None:
    whole, rest = xp.frompyfunc(divmod, 2, 2)(xp.asarray([7, 9]), 4)
    assert (whole.tolist(), rest.tolist()) == ([1, 2], [3, 1])


def test_a_ufunc_of_a_function_of_python_reduces_to_what_the_function_gives() -> None:
    assert xp.frompyfunc(max, 2, 1).reduce(xp.asarray(n)) == max(n)


def test_a_ufunc_of_a_function_of_python_is_called_where_the_mask_holds() -> None:
    inverse = xp.frompyfunc(lambda x: 1 / x, 1, 1)
    assert inverse(xp.asarray([0.0, 2.0]), where=xp.asarray([False, True])).tolist() == [0.0, 0.5]
    out = xp.ones(2)
    assert inverse(xp.asarray([0.0, 2.0]), out=out, where=[False, True]) is out
    assert out.tolist() == [1.0, 0.5]


def test_what_are_no_numbers_stays_numpys() -> None:
    for f in (str, lambda _: 2**70):
        found = xp.frompyfunc(f, 1, 1)(xp.asarray(a))
        assert isinstance(found, np.ndarray)
        assert found.dtype == object


def test_an_error_of_the_function_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError, match=r"^integer division or modulo by zero$"):
        xp.frompyfunc(lambda x: 1 // x, 1, 1)(xp.asarray([0]))


@pytest.mark.parametrize("method", ["__call__", "reduce"])
def test_a_ufunc_of_a_function_of_python_is_no_part_of_a_graph(method: str) -> None:
    f = xp.frompyfunc(lambda x, y=1.0: x + y, 2 if method == "reduce" else 1, 1)
    with pytest.raises(TraceError, match="runs in NumPy"):
        xp.jit(lambda x: getattr(f, method)(x))(xp.asarray(a))
    with pytest.raises(GradientError, match="runs in NumPy"):
        xp.grad(lambda x: xp.sum(xp.asarray(getattr(f, method)(x))))(xp.asarray(a))
