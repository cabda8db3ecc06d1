"""What NumPy gives as a scalar is a number: a value that never changes. What it gives as an array of no axes is one.

test_comparisons.py holds every function of the namespace to that; here are operators, methods, keys and protocols, and
what numbers are for: in-place operators, keys of dicts, assignments that are refused.
"""

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context
from uopc_core.errors import TraceError

Operands = dict[str, Any]


def operands(ns: Any) -> Operands:
    """A number and an array of no axes of each kind of dtype, and vectors."""
    out: Operands = {}
    for name in ("bool", "int64", "float32", "float64", "complex128"):
        row = ns.asarray([1, 0, 3], dtype=name)
        out[f"number {name}"] = row[2]
        out[f"array {name}"] = ns.asarray(row[2])
        out[f"view {name}"] = row[1:2].reshape(())
        out[f"vector {name}"] = row
    return out


OURS, NUMPYS = operands(xp), operands(np)


def kind(x: Any) -> Any:
    """ "number", "array", or "vector" for arrays with axes, in tuples and lists too; None for anything else."""
    if isinstance(x, tuple | list):
        return [kind(item) for item in x]
    if isinstance(x, xp.Array | np.ndarray):
        of_none = "number" if isinstance(x, xp.Array) and x._is_number else "array"
        return "vector" if x.shape else of_none
    return "number" if isinstance(x, np.generic | bool | int | float | complex) else None


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """Whether `call` returns something or raises, and what."""
    try:
        return "returned", call()
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        return "raised", error


def agree(call: Callable[[Any, Any], Any], name: str) -> bool | None:
    """Whether we take `call` of a namespace and an operand, None where NumPy does not; both give the same kind then.

    What we do not take (an order of complex numbers, an axis where there is none) is in docs/differences.md.
    """
    how, wanted = outcome(lambda: call(np, NUMPYS[name]))
    if how == "raised":
        return None
    how, got = outcome(lambda: call(xp, OURS[name]))
    if how == "raised":
        return False
    assert kind(got) == kind(wanted), f"got {got!r}, wanted {wanted!r}"
    return True


# operators, keys, protocols
EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{f"{op.__name__} itself": lambda ns, x, op=op: op(x, x) for op in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
        operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt, operator.le,
        operator.gt, operator.ge, operator.eq, operator.ne, divmod, operator.matmul,
    )},
    **{f"{op.__name__} 2": lambda ns, x, op=op: op(x, 2) for op in (operator.add, operator.truediv, operator.pow)},
    **{f"2 {op.__name__}": lambda ns, x, op=op: op(2, x) for op in (operator.add, operator.truediv, operator.pow)},
    **{op.__name__: lambda ns, x, op=op: op(x) for op in (
        operator.neg, operator.pos, operator.abs, operator.invert, copy.copy, copy.deepcopy, list,
    )},
    "add a vector": lambda ns, x: x + ns.asarray([1.0, 2.0]),
    "add an array of no axes": lambda ns, x: x + ns.asarray(1.0),
    "a scalar of NumPy plus": lambda ns, x: np.float64(2) + x,
    "an array of NumPy plus": lambda ns, x: np.asarray(2.0) + x,
    "pickled": lambda ns, x: pickle.loads(pickle.dumps(x)),
    **{f"[{key!r}]": lambda ns, x, key=key: x[key] for key in (
        (), ..., (...,), None, (None, ...), True, 0, -1, (0, ...), (..., 0), slice(None), [0], [[0]], np.asarray(0),
        (np.asarray(0), ...), (..., np.asarray(0)), np.int64(0),
    )},
    "[an array of no axes]": lambda ns, x: x[ns.asarray(1)],
    "[a number]": lambda ns, x: x[ns.asarray([1])[0]],
    "[an array of no axes, ...]": lambda ns, x: x[ns.asarray(1), ...],
}  # fmt: skip

# functions of NumPy given our arrays: through its protocols
THROUGH_NUMPY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: lambda ns, x, name=name: getattr(np, name)(x) for name in (
        "sin", "negative", "absolute", "sqrt", "isnan", "logical_not", "square", "modf", "frexp", "spacing", "sum",
        "prod", "max", "amin", "mean", "std", "median", "any", "all", "argmax", "count_nonzero", "copy", "asanyarray",
        "squeeze", "transpose", "ravel", "flip", "real", "imag", "conj", "round", "nan_to_num", "zeros_like",
        "ones_like", "empty_like", "nansum", "ptp", "atleast_1d", "angle", "cumsum",
        "real_if_close", "nanmax", "unwrap", "average",
    )},
    "add": lambda ns, x: np.add(x, 1),
    "add where": lambda ns, x: np.add(x, 1, where=np.asarray(True)),
    "add.reduce": lambda ns, x: np.add.reduce(x, axis=None),
    "add.outer": lambda ns, x: np.add.outer(x, x),
    "maximum.reduce": lambda ns, x: np.maximum.reduce(x, axis=None),
    "trace": lambda ns, x: np.trace(x[..., None, None]),
    "diagonal": lambda ns, x: np.diagonal(x[..., None, None]),
    "arctan2.outer": lambda ns, x: np.arctan2.outer(x, 2.0),
    "where": lambda ns, x: np.where(x, 1.0, 2.0),
    "dot": lambda ns, x: np.dot(x, x),
    "inner": lambda ns, x: np.inner(x, x),
    "vdot": lambda ns, x: np.vdot(x, x),
    "tensordot": lambda ns, x: np.tensordot(x, x, x.ndim),
    "einsum": lambda ns, x: np.einsum("...,...->", x, x),
    "clip": lambda ns, x: np.clip(x, 0, 2),
    "reshape": lambda ns, x: np.reshape(x, ()),
    "broadcast_to": lambda ns, x: np.broadcast_to(x, ()),
    "broadcast_arrays": lambda ns, x: tuple(np.broadcast_arrays(x, 1.0)),
    "take": lambda ns, x: np.take(x, 0),
    "full_like": lambda ns, x: np.full_like(x, 2),
    "roll": lambda ns, x: np.roll(x, 1),
    "astype": lambda ns, x: np.astype(x, np.complex128),
    "searchsorted": lambda ns, x: np.searchsorted(np.asarray([1.0, 2.0]), x),
    "interp": lambda ns, x: np.interp(x, np.asarray([1.0, 2.0]), np.asarray([1.0, 2.0])),
    "linalg.norm": lambda ns, x: np.linalg.norm(x),
    "quantile": lambda ns, x: np.quantile(x, 0.5),
    "isclose": lambda ns, x: np.isclose(x, 1.0),
    "isin": lambda ns, x: np.isin(x, [1.0]),
    "select": lambda ns, x: np.select([x > 1], [x]),
    "sum out": lambda ns, x: np.sum(ns.asarray(x), out=ns.asarray(0, dtype=np.complex128)),
}  # fmt: skip

METHODS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: lambda ns, x, name=name: getattr(x, name)() for name in (
        "sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin", "round", "conj",
        "conjugate", "copy", "cumsum", "cumprod", "flatten", "item", "nonzero", "ravel", "squeeze", "tolist",
        "transpose", "view",
    )},
    **{name: lambda ns, x, name=name: getattr(x, name) for name in ("T", "real", "imag")},
    "mT": lambda ns, x: x[..., None, None].mT,
    "flat": lambda ns, x: x.flat[0],
    "astype": lambda ns, x: x.astype(ns.complex128),
    "clip": lambda ns, x: x.clip(0, 2),
    "dot": lambda ns, x: x.dot(x),
    "dot 2": lambda ns, x: x.dot(2),
    "repeat": lambda ns, x: x.repeat(2),
    "reshape": lambda ns, x: x.reshape(()),
    "round 1": lambda ns, x: x.round(1),
    "byteswap": lambda ns, x: x.byteswap(),
    "choose": lambda ns, x: (x == x).choose([1.0, 2.0]),
    "compress": lambda ns, x: x.compress([True]),
    "getfield": lambda ns, x: x.getfield("bool"),
    "sum keepdims": lambda ns, x: x.sum(keepdims=True),
    "sum of an axis": lambda ns, x: x[..., None].sum(axis=-1),
    "trace": lambda ns, x: x[..., None, None].trace(),
    "diagonal": lambda ns, x: x[..., None, None].diagonal(),
    "argsort": lambda ns, x: x[..., None].argsort(),
    "argsort of a number": lambda ns, x: x.argsort(),
    "argpartition": lambda ns, x: x.argpartition(0),
    "sum of no axes": lambda ns, x: x.sum(axis=()),
    "sum out": lambda ns, x: ns.asarray(x).sum(out=ns.asarray(0, dtype=ns.complex128)),
    "searchsorted": lambda ns, x: ns.asarray([1.0, 2.0]).searchsorted(x),
    "swapaxes": lambda ns, x: x.swapaxes(0, 0),
    "take": lambda ns, x: x.take(0),
    "take several": lambda ns, x: x.take([0]),
    "to_device": lambda ns, x: x.to_device("cpu"),
    "view as": lambda ns, x: x.view(f"u{x.itemsize}" if x.itemsize < 16 else x.dtype),
}  # fmt: skip
# of the methods of our arrays, those that NumPy's do not have, and those that give neither numbers nor arrays
OTHER_METHODS = {
    "to_numpy", "tobytes", "fill", "put", "sort", "partition", "ptp", "resize", "setfield", "setflags", "dump", "dumps",
    "tofile",
}  # fmt: skip
OTHER_ATTRIBUTES = {"shape", "dtype", "ndim", "size", "itemsize", "nbytes", "device", "flags", "strides"}

CASES = {
    **{f"operator {name}": call for name, call in EXPRESSIONS.items()},
    **{f"np {name}": call for name, call in THROUGH_NUMPY.items()},
    **{f"method {name}": call for name, call in METHODS.items()},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_numbers_and_arrays_are_those_of_numpy(name: str) -> None:
    taken = []
    for what in ("number", "array", "view", "vector"):
        found = {agree(CASES[name], operand) for operand in OURS if operand.startswith(what)}
        taken.append(True in found)
        assert taken[-1] or found == {None}
    assert any(taken)


def test_every_method_is_compared() -> None:
    named = {name for name in dir(xp.Array) if not name.startswith("_")}
    assert named - {name.split()[0] for name in METHODS} == OTHER_METHODS | OTHER_ATTRIBUTES


CREATED: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda ns: ns.asarray(3.0),
    "asarray of a number": lambda ns: ns.asarray(ns.asarray([3.0])[0]),
    "asarray of a scalar of NumPy": lambda ns: ns.asarray(np.float64(3)),
    "asarray in its own dtype": lambda ns: ns.asarray(ns.sum(ns.asarray([3.0])), dtype=ns.float64),
    "asarray converted": lambda ns: ns.asarray(ns.sum(ns.asarray([3.0])), dtype=ns.float32),
    "array": lambda ns: ns.array(3.0),
    "array of a number": lambda ns: ns.array(ns.sum(ns.asarray([3.0]))),
    "zeros": lambda ns: ns.zeros(()),
    "ones": lambda ns: ns.ones(()),
    "empty": lambda ns: ns.empty(()),
    "full": lambda ns: ns.full((), 2),
    "full of an array": lambda ns: ns.full((), ns.asarray(2)),
    "from_dlpack": lambda ns: ns.from_dlpack(np.asarray(2.0)),
    "from_dlpack of ours": lambda ns: ns.from_dlpack(ns.asarray(2.0)),
    "reshape of a number of Python": lambda ns: ns.reshape(3.0, ()),
    "squeeze of a number of Python": lambda ns: ns.squeeze(3.0, axis=()),
    "where": lambda ns: ns.where(True, 1.0, 2.0),
    "unstack": lambda ns: ns.unstack(ns.asarray([1.0, 2.0])),
    "iteration": lambda ns: list(ns.asarray([1.0, 2.0])),
    "sum of a list": lambda ns: ns.sum([1.0, 2.0]),
    "sin of a number of Python": lambda ns: ns.sin(1.0),
    "add of numbers of Python": lambda ns: ns.add(1.0, 2.0),
    "real of a number of Python": lambda ns: ns.real(1.0),
}


@pytest.mark.parametrize("name", CREATED)
def test_what_is_made_of_other_things_is_an_array_where_numpy_makes_one(name: str) -> None:
    assert kind(CREATED[name](xp)) == kind(CREATED[name](np))


# ------------------------------------------------------------------------------------------ what numbers are good for


NUMBERS = [name for name in OURS if name.startswith("number")]
AUGMENTED = [
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", AUGMENTED, ids=lambda op: op.__name__)
@pytest.mark.parametrize("name", OURS)
def test_in_place_operators_rebind_names_of_numbers_alone(name: str, op: Any) -> None:
    names = [f"{what} {dtype}" for what in ("number", "array", "vector") for dtype in ("int64", "float64")]
    for y, v in [(2, 2), (2.0, 2.0), *[(OURS[other], NUMPYS[other]) for other in names]]:
        x, u = copy.deepcopy(OURS[name]), copy.deepcopy(NUMPYS[name])
        before = np.asarray(x)
        how, wanted = outcome(lambda: op(u, v))
        found, got = outcome(lambda: op(x, y))
        assert found == how, f"{y!r}: {got!r}, NumPy {wanted!r}"
        if how == "raised":
            continue
        assert (got is x) == (kind(x) != "number")
        assert kind(got) == kind(wanted)
        np.testing.assert_array_equal(np.asarray(got), wanted, strict=not isinstance(wanted, np.generic))
        assert got.dtype == wanted.dtype
        if got is not x:
            np.testing.assert_array_equal(np.asarray(x), before)


@pytest.mark.parametrize("name", NUMBERS)
def test_an_assignment_into_a_number_is_refused(name: str) -> None:
    t, value = OURS[name], OURS[name].item()
    writes: list[Callable[[], Any]] = [
        lambda: operator.setitem(t, (), 0),
        lambda: operator.setitem(t, ..., 0),
        lambda: operator.setitem(t, 0, 0),
        lambda: operator.setitem(t, slice(None), xp.ones(2)),
        lambda: operator.setitem(t, t == t, 0),
        lambda: t.fill(0),
        lambda: t.put(0, 0),
        lambda: setattr(t, "real", 0),
        lambda: xp.sum(xp.ones(2)).sum(out=t),
        lambda: np.add(True, True, out=t),
        lambda: np.sum(xp.asarray([True]), out=t),
        lambda: np.copyto(t, 0),
        lambda: np.add.at(t, (), 1),
        lambda: np.putmask(t, True, 0),
    ]
    for write in writes:
        with pytest.raises(TypeError, match=r"a number \(\w+\) cannot be changed in place; .*xp\.asarray\(t\)"):
            write()
    assert t.item() == value


def test_a_number_is_no_view_of_what_it_was_taken_from() -> None:
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    taken = [x[0, 1], x.T[1, 0], x[0][1], x[xp.asarray(0), 1], x.ravel()[1], x[...][0, 1], next(iter(x[0, 1:]))]
    viewed = [x[0, 1, ...], x[0, 1:].reshape(()), x[:1, 1:].squeeze()]
    x[0, 1] = 7.0
    assert [t.item() for t in taken] == [2.0] * len(taken)
    assert [v.item() for v in viewed] == [7.0] * len(viewed)
    viewed[0] += 1.0
    assert x.tolist() == [[1.0, 8.0], [3.0, 4.0]]
    x[1, 0] += 1.0
    assert x.tolist() == [[1.0, 8.0], [4.0, 4.0]]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_hashes_as_the_equal_number_of_python(name: str) -> None:
    t = OURS[name]
    assert hash(t) == hash(t.item()) == hash(NUMPYS[name])
    assert {t: "found"}[t.item()] == {t.item(): "found"}[t] == {NUMPYS[name]: "found"}[t] == "found"
    assert len({t, t.item(), NUMPYS[name], t + 0}) == 1
    assert {(t, 1): "found"}[t.item(), 1] == "found"
    assert t in {t.item()}
    assert t not in {"a", None, 17.5}


def test_every_nan_is_a_key_of_its_own() -> None:
    t, u = (xp.asarray([xp.nan])[0] for _ in range(2))
    assert {t: 1}[t] == 1
    assert u not in {t: 1}
    assert hash(t) == hash(t)


@pytest.mark.parametrize("name", [name for name in OURS if not name.startswith("number")])
def test_an_array_does_not_hash(name: str) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(OURS[name])


@pytest.mark.parametrize("transform", [xp.jit, xp.vmap], ids=["jit", "vmap"])
def test_the_hash_of_a_number_without_a_value_names_a_remedy(transform: Any) -> None:
    with pytest.raises(TraceError, match=r"hash.*look a value up with xp\.take.*test_numbers\.py"):
        transform(lambda x: {xp.sum(x): 1})(xp.ones((2, 2)))
    with pytest.raises(TypeError, match="unhashable"):
        transform(lambda x: {xp.asarray(xp.sum(x)): 1})(xp.ones((2, 2)))


def test_numbers_are_keys_under_grad() -> None:
    table: dict[Any, int] = {}

    def f(x: Any) -> Any:
        for t in x:
            table[t * 2] = len(table)
        return xp.sum(x) * len({x[0], x[1], 2.0})

    assert xp.grad(f)(xp.asarray([2.0, 2.0, 5.0])).tolist() == [1.0, 1.0, 1.0]
    assert {float(key): value for key, value in table.items()} == {4.0: 1, 10.0: 1}


def test_the_text_of_a_number() -> None:
    t = xp.sum(xp.asarray([1.25, 2.0]))
    assert (repr(t), str(t), f"{t}", f"{t:.1f}") == ("Array(3.25, dtype=float64)", "3.25", "3.25", "3.2")


@pytest.mark.parametrize(
    ("left", "right"), [(a, b) for a in ("float32", "float64", "int64") for b in ("float32", "int8")]
)
def test_numbers_are_typed_in_promotion(left: str, right: str) -> None:
    def product(ns: Any) -> Any:
        return ns.sum(ns.ones(2, dtype=left)) * ns.ones(2, dtype=right)

    assert product(xp).dtype == product(np).dtype == xp.jit(lambda: product(xp))().dtype


def test_a_number_is_a_static_argument() -> None:
    f = xp.jit(lambda x, n: x[: int(n)], static_argnums=1)
    x, lengths = xp.arange(5), xp.asarray([2, 3, 2])
    assert [f(x, n).tolist() for n in lengths] == [[0, 1], [0, 1, 2], [0, 1]]
    assert len(f._traces) == 2
    with pytest.raises(TraceError, match="hashable"):
        f(x, xp.asarray(2))


# --------------------------------------------------------------------------------------------------------- transforms


def bump(x: Any) -> Any:
    """What a name sees after an in-place operator on another name for the same thing."""
    other = x
    x += 1.0
    return other, x


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_a_trace_is_kept_for_numbers_and_one_for_arrays(tier: str) -> None:
    f = xp.jit(bump)
    with context(tier=tier):
        for _ in range(2):
            number, array = xp.sum(xp.ones(2)), xp.asarray(2.0)
            assert [float(x) for x in f(number)] == [2.0, 3.0]
            assert [float(x) for x in f(array)] == [3.0, 3.0]
            assert [float(x) for x in f(np.float64(2))] == [2.0, 3.0]
            assert [float(x) for x in f(2.0)] == [2.0, 3.0]
            assert [float(x) for x in f(np.asarray(2.0))] == [3.0, 3.0]
            assert (float(number), float(array)) == (2.0, 3.0)


def twice(x: Any) -> Any:
    return (x, x + 1.0, xp.asarray(x), [x.reshape(()), x[...]])


@pytest.mark.parametrize("name", ["number float64", "array float64", "vector float64"])
@pytest.mark.parametrize("compiled", [False, True])
def test_results_of_transforms_are_numbers_and_arrays_as_computed(name: str, compiled: bool) -> None:
    if name.startswith("vector"):
        x, f = OURS[name], lambda x: twice(xp.sum(x))
    else:
        x, f = OURS[name], twice
    wanted = kind(f(x))

    def check(g: Any) -> None:
        assert kind((xp.jit(g) if compiled else g)(x)) == wanted

    check(f)
    for i, part in enumerate(wanted[:3]):
        assert kind(xp.jit(lambda x, i=i: f(x)[i])(x)) == part
    check(lambda x: xp.jit(f)(x))
    check(lambda x: xp.vjp(f, x)[0])
    check(lambda x: xp.jvp(f, (x,), (x,))[0])
    check(lambda x: xp.jvp(f, (x,), (x,))[1])
    check(lambda x: xp.grad(lambda x: (xp.sum(x), f(x)), has_aux=True)(x)[1])
    check(lambda x: xp.stop_gradient(f(x)))
    check(lambda x: xp.vmap(lambda x, i: f(x), in_axes=(None, 0), out_axes=None)(x, xp.ones(3)))


@pytest.mark.parametrize("name", ["number float64", "array float64"])
def test_a_gradient_is_what_its_argument_is(name: str) -> None:
    def f(x: Any) -> Any:
        return x * x

    x = OURS[name]
    value, gradient = xp.value_and_grad(f)(x)
    assert (kind(value), kind(gradient)) == ("number", kind(x))
    assert kind(xp.vjp(f, x)[1](1.0)) == [kind(x)]
    assert kind(xp.value_and_grad(xp.asarray)(x)[0]) == "array"


def test_the_elements_that_vmap_maps_over_are_numbers() -> None:
    assert [x.tolist() for x in xp.vmap(bump)(xp.asarray([1.0, 2.0]))] == [[1.0, 2.0], [2.0, 3.0]]
