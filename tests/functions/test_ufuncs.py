"""The ufuncs as objects: NumPy's facts, signatures, keywords and methods, for every ufunc of NumPy on numbers."""

import copy
import doctest
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.functions.test_descriptions import run, same
from tests.test_docs import run_doctest
from uopc_array._functions.public import FUNCTIONS
from uopc_array._functions.ufunc import HostUfunc, ufunc
from uopc_array._functions.vector_ufunc import VectorUfunc

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

EVERY = {path: f for path, f in FUNCTIONS.items() if isinstance(f, ufunc)}
OURS = {path: f for path, f in EVERY.items() if not isinstance(f, VectorUfunc)}
BINARY = [name for name, f in OURS.items() if f._numpy.nin == 2 and f._numpy.nout == 1]
NATIVE = [name for name, f in OURS.items() if not isinstance(f, HostUfunc)]
ORDERED = {"fmax", "fmin", "maximum", "minimum"}  # complex numbers have no order here
X = {"f": np.asarray([[0.5, 0.25, 0.75], [0.125, 0.5, 1.0]]), "i": np.asarray([[3, 1, 2], [5, 4, 6]])}
Y = {"f": np.asarray([0.5, 1.0, 0.25]), "i": np.asarray([2, 3, 1])}


def operands(name: str) -> tuple[Any, ...]:
    """Numbers that the ufunc takes: integers where its first loops have no floating ones."""
    theirs = getattr(np, name)
    kind = "f" if any("d" in t.partition("->")[0] for t in theirs.types) else "i"
    if name in ("acosh", "arccosh"):
        return (X["f"] + 1,)
    return (X[kind], Y["i"] if name == "ldexp" else Y[kind])[: theirs.nin]


def ours(x: Any) -> Any:
    return xp.asarray(x) if isinstance(x, np.ndarray) else x


def test_every_ufunc_of_numpy_on_numbers_is_one() -> None:
    theirs = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    assert theirs == set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_a_ufunc_tells_of_itself_what_numpys_does(name: str) -> None:
    f, theirs = EVERY[name], getattr(np, name)
    assert getattr(xp, name) is f
    for fact in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
        assert getattr(f, fact) == getattr(theirs, fact)
    assert (repr(f), f.__name__, f.__module__) == (f"<ufunc '{name}'>", name, "uopc_array")
    assert f.__doc__
    assert pickle.loads(pickle.dumps(f)) is f
    assert copy.deepcopy(f) is f
    if not isinstance(f, HostUfunc):
        assert inspect.signature(f) == inspect.signature(theirs).replace(return_annotation=inspect.Signature.empty) or [
            (p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()
        ] == [(p.name, p.kind, p.default) for p in inspect.signature(theirs).parameters.values()]


@pytest.mark.parametrize("name", [name for name, f in EVERY.items() if not isinstance(f, HostUfunc)])
def test_the_example_in_the_text_comes_out_as_shown(name: str) -> None:
    test = doctest.DocTestParser().get_doctest(EVERY[name].__doc__ or "", {"xp": xp}, name, None, None)
    assert test.examples
    assert not run_doctest(test)


def test_a_ufunc_is_no_method_of_a_class_that_holds_it() -> None:
    class Layer:
        activation = xp.tanh

    assert float(Layer().activation(0.0)) == 0.0


@pytest.mark.parametrize("name", OURS)
def test_operands_alone_by_function_and_numpys_function(name: str) -> None:
    args = operands(name)
    wanted = run(getattr(np, name), *args)
    same(run(OURS[name], *map(ours, args)), wanted, name)
    same(run(getattr(np, name), *map(ours, args)), wanted, f"np.{name}")
    same(run(OURS[name], *args), wanted, f"{name} of NumPy's arrays")


@pytest.mark.parametrize("name", NATIVE)
def test_keywords_by_function_and_numpys_function(name: str) -> None:
    theirs, args = getattr(np, name), operands(name)
    given = [ours(x) for x in args]
    plain = theirs(*args)
    if theirs.nout > 1:
        outs = tuple([xp.zeros(x.shape, dtype=x.dtype) for x in plain])
        for call in (OURS[name], theirs):
            assert all(x is y for x, y in zip(call(*given, out=outs), outs, strict=True))
            same(outs, plain, name)
        return
    wide = "complex128" if plain.dtype.kind in "fc" and name not in ORDERED else plain.dtype.name
    mask = np.asarray([True, False, True])
    cases: list[dict[str, Any]] = [
        {"casting": "unsafe"}, {"order": "F"}, {"subok": False}, {"dtype": "float32"}, {"dtype": wide},
        {"dtype": "int8"}, {"casting": "nonsense"}, {"order": "nonsense"},
        {"signature": next((t for t in theirs.types if "d" in t or "l" in t), theirs.types[0])},
        {"casting": "".join(["un", "safe"])},
    ]  # fmt: skip
    for more in cases:
        wanted = run(theirs, *args, **more)
        if isinstance(wanted, np.ndarray) and wanted.dtype not in (np.float16, np.longdouble, np.dtype("clongdouble")):
            same(run(OURS[name], *given, **more), wanted, f"{name} {more}")
            same(run(theirs, *given, **more), wanted, f"np.{name} {more}")
    for call in (OURS[name], theirs):
        for out in (xp.zeros(plain.shape, dtype=plain.dtype), np.zeros(plain.shape, plain.dtype)):
            assert call(*given, out=out) is out
            same(out, plain, name)
            before = np.full_like(plain, 1)
            kept = xp.asarray(before) if isinstance(out, xp.Array) else before.copy()
            assert call(*given, where=mask, out=kept) is kept
            same(kept, np.where(mask, plain, before), name)
        same(call(*given, where=mask), np.where(mask, plain, np.zeros_like(plain)), f"{name} where")
        with pytest.raises(ValueError, match=f"^{name}|^{theirs.__name__}"):
            call(*given, out=xp.zeros((7, 7), dtype=plain.dtype))


@pytest.mark.parametrize("name", BINARY)
def test_methods_by_function_and_numpys_function(name: str) -> None:
    theirs, (x, y) = getattr(np, name), operands(name)
    calls: dict[str, Callable[..., Any]] = {
        "reduce": lambda f, a: f.reduce(a(x)),
        "reduce along": lambda f, a: f.reduce(a(x), axis=1, keepdims=True),
        "reduce of all": lambda f, a: f.reduce(a(x), axis=None),
        "reduce from": lambda f, a: f.reduce(a(x), initial=1),
        "reduce some": lambda f, a: f.reduce(a(x), axis=1, initial=1, where=np.asarray([True, False, True])),
        "accumulate": lambda f, a: f.accumulate(a(x), axis=1),
        "reduceat": lambda f, a: f.reduceat(a(x), [0, 1], axis=1),
        "outer": lambda f, a: f.outer(a(y), a(x)),
    }
    for what, call in calls.items():
        wanted = run(call, theirs, lambda v: v)
        if not isinstance(wanted, Exception):
            same(run(call, OURS[name], xp.asarray), wanted, f"{name} {what}")
            same(run(call, theirs, xp.asarray), wanted, f"np.{name} {what}")

    def at(f: Any, target: Any) -> Any:
        f.at(target, [0, 0, 2], y)
        return target

    wanted = run(at, theirs, y.copy())
    if not isinstance(wanted, Exception):
        same(run(at, OURS[name], xp.asarray(y)), wanted, f"{name} at")


NUMBERS = (3, -3, 300, True, 2.5, 1j, np.int8(3), np.uint64(3), np.float32(2))


@pytest.mark.parametrize("name", [name for name, f in OURS.items() if isinstance(f, HostUfunc) and f._numpy.nin == 2])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "int64", "float32", "complex64"])
def test_a_number_takes_the_dtype_beside_it_in_what_numpy_computes(name: str, dtype: str) -> None:
    def outcome(f: Callable[..., Any], *operands: Any) -> Any:
        try:
            out = np.asarray(f(*operands))
        except (TypeError, ValueError, OverflowError) as error:
            return next(base for base in (TypeError, OverflowError, ValueError) if isinstance(error, base))
        narrow = out.dtype.kind == "f" and dtype != "float32"  # NumPy has float16 and float32 for small integers
        return ("float64", out.shape) if narrow else (out.dtype, out.tolist())

    x = np.asarray([1, 2]).astype(dtype)
    for number in NUMBERS:
        for turned in (False, True):
            pair = [(number, a) if turned else (a, number) for a in (x, xp.asarray(x))]
            wanted = outcome(getattr(np, name), *pair[0])
            assert outcome(getattr(xp, name), *pair[1]) == wanted, (number, turned)
            assert outcome(getattr(np, name), *pair[1]) == wanted, (number, turned)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_methods_take_out(method: str) -> None:
    x = xp.asarray(X["f"])
    more = ([0, 1],) if method == "reduceat" else ()
    wanted = getattr(np.add, method)(X["f"], *more)
    for f in (xp.add, np.add):
        out = xp.zeros(wanted.shape)
        assert getattr(f, method)(x, *more, out=out) is out
        same(out, wanted, method)


def test_an_error_names_the_name_that_was_called() -> None:
    for name in NATIVE:
        with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 required positional argument"):
            OURS[name](*[1.0] * (OURS[name]._numpy.nin - 1))
        with pytest.raises(TypeError, match=f"^{name}: expected"):
            OURS[name](*["text"] * OURS[name]._numpy.nin)
    with pytest.raises(np.exceptions.AxisError, match=r"^add\.reduce: axis 5"):
        xp.add.reduce(xp.ones(3), axis=5)
    with pytest.raises(np.exceptions.AxisError, match=r"^multiply\.accumulate: axis 5"):
        xp.multiply.accumulate(xp.ones(3), axis=5)


def test_transforms_take_ufuncs() -> None:
    x = xp.asarray(Y["f"])
    same(xp.jit(xp.sin)(x), np.sin(Y["f"]), "jit")
    same(xp.vmap(xp.grad(xp.sin))(x), np.cos(Y["f"]), "grad")
    same(xp.jvp(xp.multiply, (x, x), (x, x))[1], 2 * Y["f"] ** 2, "jvp")
    same(xp.vmap(xp.add)(x, x), 2 * Y["f"], "vmap")
    same(xp.grad(lambda v: xp.add.reduce(v * v))(x), 2 * Y["f"], "reduce")
    same(xp.jit(lambda v: xp.add(v, 1.0, where=v > 0.3))(x), np.where(Y["f"] > 0.3, Y["f"] + 1, 0), "where")
