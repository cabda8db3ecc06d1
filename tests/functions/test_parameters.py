"""An array given where a number is meant keeps its derivative and its trace, or is refused by name; never half of it.

Every parameter of every public function stands in the table of `tests/support/parameters.py`.
"""

from collections import UserList, deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.derivatives import central_difference, weighted
from tests.support.parameters import (
    COMPARED,
    DIFFERENTIABLE,
    READ,
    STRUCTURAL,
    SWITCHES,
    Parameter,
    bound,
    kind_of,
    parameters,
)
from uopc_core import context
from uopc_core.errors import GradientError, TraceError

ALL = {p.key: p for p in parameters()}


def cases(table: dict[tuple[str, str], Any]) -> Any:
    return pytest.mark.parametrize("p", [ALL[key] for key in table], ids=str)


def leaves(result: Any) -> list[Any]:
    """The arrays and numbers of a result, as NumPy has them."""
    parts = result if isinstance(result, tuple | list) else [result]
    return [np.asarray(part) for part in parts]


def named(p: Parameter) -> str:
    """What a function calls itself in a message; another name of it is the same function."""
    return attrgetter(p.function)(xp).__name__


def same(got: Any, wanted: Any, rtol: float = 0) -> None:
    for x, y in zip(leaves(got), leaves(wanted), strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=rtol, atol=0)


def as_number(result: Any) -> xp.Array:
    """Any result as one number, for `grad`."""
    first = result[0] if isinstance(result, tuple | list) else result
    return xp.sum(xp.astype(xp.real(xp.asarray(first)), xp.float64))


# ---------------------------------------------------------------------------------------------- the table


def test_every_parameter_is_in_the_table() -> None:
    missing = [str(p) for p in ALL.values() if kind_of(p) is None]
    assert not missing, f"say in tests/support/parameters.py what these are: {missing}"


def test_the_table_has_no_parameter_too_many() -> None:
    assert not [key for key in [*DIFFERENTIABLE, *COMPARED, *READ] if key not in ALL]


# ---------------------------------------------------------------------------------------------- differentiable


@cases(DIFFERENTIABLE)
@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_a_number_keeps_its_derivative(p: Parameter, tier: str) -> None:
    call, value = bound(p)
    f = weighted(call, value)
    wanted = central_difference(f, (np.asarray(value),), 0)
    with context(tier=tier):
        for at in (value, xp.asarray(value)):
            got = [xp.grad(f)(at), xp.jvp(f, (at,), (1.0,))[1], xp.jit(xp.grad(f))(at), xp.grad(xp.jit(f))(at)]
            for derivative in got:
                np.testing.assert_allclose(np.asarray(derivative), wanted, rtol=1e-6, atol=1e-7)


@cases(DIFFERENTIABLE | COMPARED)
def test_a_number_may_be_of_any_kind(p: Parameter) -> None:
    call, value = bound(p)
    for other in (np.float64(value), np.asarray(value), xp.asarray(value)):
        same(call(other), call(value), rtol=1e-15)


@cases(DIFFERENTIABLE)
def test_a_number_without_a_value_yet_is_an_operand(p: Parameter) -> None:
    call, value = bound(p)
    same(xp.jit(call)(value), call(value), rtol=1e-14)
    other = value * 0.75
    for got, one, two in zip(
        *map(leaves, (xp.vmap(call)(xp.asarray([value, other])), call(value), call(other))), strict=True
    ):
        np.testing.assert_allclose(got, np.stack([one, two]), rtol=1e-14)


@cases(DIFFERENTIABLE)
def test_a_number_of_python_is_as_weak_inside_jit_as_outside(p: Parameter) -> None:
    call, value = bound(p, "float32")
    assert [x.dtype for x in leaves(xp.jit(call)(value))] == [x.dtype for x in leaves(call(value))]


OF_COMPLEX = {("linspace", "start"), ("linspace", "stop"), ("full", "fill_value")}


@cases(DIFFERENTIABLE)
def test_a_complex_number_is_refused_or_computed_with(p: Parameter) -> None:
    call, _ = bound(p)
    for value in (xp.asarray(1j), np.asarray(1j)):
        if p.key in OF_COMPLEX:
            assert call(value).dtype.kind == "c"
            continue
        with pytest.raises(TypeError, match=rf"{named(p)}: .*(complex|1j)"):
            call(value)


# ---------------------------------------------------------------------------------------------- compared


@cases(COMPARED)
def test_a_tolerance_under_differentiation_changes_nothing(p: Parameter) -> None:
    call, value = bound(p)
    xp.grad(lambda v: (same(call(v), call(value)), v * 1.0)[1])(value)


@cases({key: value for key, value in COMPARED.items() if key[0] != "allclose"})
def test_a_tolerance_without_a_value_yet_is_an_operand(p: Parameter) -> None:
    call, value = bound(p)
    same(xp.jit(call)(value), call(value))
    same(xp.vmap(call)(xp.asarray([value, 0.0])), np.stack([np.asarray(call(value)), np.asarray(call(0.0))]))


# ---------------------------------------------------------------------------------------------- read


def refused(call: Callable[[Any], Any], value: Any, function: str, words: str) -> None:
    """A trace, and a derivative, are refused by the name of the function and of its parameter."""
    name = rf"{function}: .*{words}"
    with pytest.raises(
        TraceError, match=rf"{name} needs a value.*static_argnums.*Line: .*tests/\w+/\w*parameters\.py, line \d+: "
    ):
        xp.jit(lambda v: call(v))(value)
    with pytest.raises(TraceError, match=rf"{name} needs a value.*static_argnums"):
        xp.vmap(call)(xp.asarray([value, value]))
    with pytest.raises(GradientError, match=rf"{name}.*xp\.stop_gradient"):
        xp.grad(lambda v: as_number(call(v)))(float(value))


@cases(READ)
def test_a_number_that_is_read_is_refused_without_a_value(p: Parameter) -> None:
    call, value = bound(p)
    refused(call, value, named(p), p.name)
    same(xp.jit(call, static_argnums=0)(value), call(value))


@cases(READ)
def test_a_number_that_is_read_may_be_of_any_kind(p: Parameter) -> None:
    call, value = bound(p)
    for other in (np.float64(value), np.asarray(value), xp.asarray(value)):
        same(call(other), call(value))
    xp.grad(lambda v: v * as_number(call(xp.stop_gradient(v))))(value)


# ---------------------------------------------------------------------------------------------- structural

# what a message calls them, where it is not the name of the parameter
_CALLED = {
    "axis1": r"axis1?",
    "axis2": r"axis2?",
    "axes": "ax[ei]s",
    **dict.fromkeys(("axisa", "axisb", "axisc"), "axis"),
}
ITEMS = [(p, i) for p in STRUCTURAL for i in ([None] if not isinstance(bound(p)[1], tuple) else [0, -1])]


def of_item(p: Parameter, place: int | None) -> tuple[Callable[[Any], Any], int]:
    """The function as one of an int: of the parameter, or of one number of the sequence that is given for it."""
    call, value = bound(p)
    if place is None:
        return call, value

    def with_item(item: Any) -> Any:
        items = list(value)
        items[place] = item
        return call(tuple(items))

    return with_item, value[place]


@pytest.mark.parametrize(("p", "place"), ITEMS, ids=str)
def test_a_structural_number_is_refused_without_a_value(p: Parameter, place: int | None) -> None:
    call, value = of_item(p, place)
    refused(call, value, named(p), _CALLED.get(p.name, p.name))
    same(xp.jit(call, static_argnums=0)(value), call(value))


@pytest.mark.parametrize(("p", "place"), ITEMS, ids=str)
def test_what_counts_as_a_structural_number(p: Parameter, place: int | None) -> None:
    call, value = of_item(p, place)
    wanted = call(value)
    for other in (
        np.int64(value),
        np.int8(value),
        np.asarray(value),
        xp.asarray(value),
        xp.asarray(value, dtype="int8"),
    ):
        same(call(other), wanted)
    for other in (float(value), np.float64(value), xp.asarray(float(value)), "1"):
        with pytest.raises(TypeError, match=r"expected .*integer"):
            call(other)


@pytest.mark.parametrize("p", SWITCHES, ids=str)
def test_a_switch_is_a_bool_of_any_kind_and_has_a_value(p: Parameter) -> None:
    call, _ = bound(p)
    for wanted in (True, False):
        for other in (np.bool_(wanted), np.asarray(wanted), xp.asarray(wanted), int(wanted)):
            same(call(other), call(wanted))
    with pytest.raises(TraceError, match=r"bool needs a value.*(static_argnums|in_axes)"):
        xp.jit(lambda v: call(v))(xp.asarray(True))
    with pytest.raises(TraceError, match=r"bool needs a value.*(static_argnums|in_axes)"):
        xp.vmap(call)(xp.asarray([True, False]))


KEYS: dict[str, Callable[[xp.Array, Any], Any]] = {
    "start": lambda x, k: x[k:],
    "stop": lambda x, k: x[:k],
    "step": lambda x, k: x[::k],
    "second axis": lambda x, k: x[:, k:],
    "beside newaxis": lambda x, k: x[None, k:],
    "beside an array": lambda x, k: x[xp.asarray([0, 1]), k:],
    "assignment": lambda x, k: x.__setitem__(slice(k, None), 0.0) or x,
    "in place": lambda x, k: x.__setitem__(slice(k, None), x[k:] + 1.0) or x,
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_bound_of_a_slice(key: Callable[[xp.Array, Any], Any]) -> None:
    def call(k: Any) -> Any:
        return key(xp.asarray(np.arange(12.0).reshape(3, 4)), k)

    refused(call, 1, "(index|assignment)", "a slice")
    for other in (np.int64(1), np.asarray(1), xp.asarray(1)):
        same(call(other), call(1))


def test_a_view_keeps_its_place_when_a_bound_changes() -> None:
    for bound_of in (np.asarray, xp.asarray):
        x, k = xp.asarray([1.0, 2.0, 3.0]), bound_of(1)
        view = x[k:]
        k[...] = 2
        x[1] = 5.0
        assert view.tolist() == [5.0, 3.0]


@pytest.mark.parametrize("kind", [int, np.int64, np.asarray, xp.asarray])
def test_numbers_of_arguments(kind: Callable[[int], Any]) -> None:
    def f(x: Any, y: Any) -> Any:
        return x * y * y

    x, y = xp.asarray(2.0), xp.asarray(3.0)
    assert float(xp.grad(f, argnums=kind(1))(x, y)) == 12.0
    assert xp.grad(f, argnums=[kind(1), kind(0)])(x, y) == (12.0, 9.0)
    for jacobian in (xp.jacrev, xp.jacfwd):
        assert float(jacobian(f, argnums=kind(1))(x, y)) == 12.0
        assert jacobian(f, argnums=(kind(1),))(x, y) == (12.0,)
    assert float(xp.hessian(f, argnums=kind(1))(x, y)) == 4.0
    assert xp.jit(lambda x, k: xp.sum(x, axis=k), static_argnums=kind(1))(xp.ones((2, 3)), 0).shape == (3,)
    with pytest.raises(TypeError, match="grad: expected an integer or a sequence of them for argnums"):
        xp.grad(f, argnums=1.0)(x, y)  # pyright: ignore[reportArgumentType]


# ---------------------------------------------------------------------------------------------- shapes of numbers


def test_arrays_of_numbers_broadcast_as_in_numpy() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 3, 4))
    x[0, 1], x[1, 2], x[2, 0] = np.nan, np.inf, -np.inf
    column, row = random.uniform(0.1, 1.0, size=(3, 1)), random.uniform(0.1, 1.0, size=4)
    calls: list[Callable[[Any, Callable[[Any], Any]], Any]] = [
        lambda np_, a: np_.isclose(a(x), a(y), rtol=a(column), atol=a(row)),
        lambda np_, a: np_.isclose(a(y[0]), a(y[0]), rtol=a(column), atol=0.0, equal_nan=True),
        lambda np_, a: np_.nan_to_num(a(x), nan=a(row), posinf=a(column), neginf=a(column * row)),
        lambda np_, a: np_.pad(a(y), ((1, 2), (2, 0)), constant_values=a(row.reshape(2, 2))),
        lambda np_, a: np_.pad(a(y), 1, constant_values=a(row[:2])),
        lambda np_, a: np_.trapezoid(a(y), dx=a(row[:3])),
        lambda np_, a: np_.trapezoid(a(y), dx=a(column[:2]), axis=0),
        lambda np_, a: np_.trapezoid(a(y), dx=a(random.uniform(size=(2, 3, 3)))),
    ]
    for call in calls:
        random = np.random.default_rng(1)
        wanted = call(np, lambda v: v)
        random = np.random.default_rng(1)
        same(call(xp, xp.asarray), wanted, rtol=1e-14)


def test_a_number_put_into_an_array_must_fit_its_shape_and_its_dtype() -> None:
    with pytest.raises(ValueError, match=r"nan_to_num: nan of shape \(2,\) cannot be broadcast to \(3,\)"):
        xp.nan_to_num(xp.ones(3), nan=xp.ones(2))
    with pytest.raises(ValueError, match=r"pad: constant_values of shape \(3,\) cannot be broadcast to \(1, 2\)"):
        xp.pad(xp.ones(3), 1, constant_values=xp.ones(3))
    with pytest.raises(TypeError, match="pad: complex128 cannot be converted to float64"):
        xp.pad(xp.ones(3), 1, constant_values=xp.asarray([1j, 0]))
    assert xp.pad(xp.ones(2, dtype="float32"), 1, constant_values=xp.asarray(0.5)).dtype == xp.float32


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0, np.inf, -np.inf])
@pytest.mark.parametrize("zeros", [0, 1, 4])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_norm_whose_order_is_not_known_yet(order: float, zeros: int, dtype: str) -> None:
    x = np.asarray([1.5, -0.5, 2.5, 0.25]).astype(dtype) * (np.arange(4) >= zeros)

    def norm(x: Any, p: Any) -> xp.Array:
        return xp.linalg.vector_norm(x, ord=p)

    with np.errstate(divide="ignore"):
        same(xp.jit(norm)(xp.asarray(x), order), norm(xp.asarray(x), order), rtol=1e-14)
    if zeros == 0 or order == 2.0:
        got, wanted = (xp.grad(f)(xp.asarray(x), order) for f in (xp.jit(norm), norm))
        np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-13)


@pytest.mark.parametrize("order", [2.5, 1.0, -1.5, -1.0])
def test_the_slope_by_the_order_of_a_norm_beside_zeros(order: float) -> None:
    for x in ([0.0, 1.0, 2.0], [0.0, 0.0], [1.5, 0.5]):
        f = weighted(lambda p, x=x: xp.linalg.vector_norm(xp.asarray(x), ord=p), order)
        wanted = central_difference(f, (np.asarray(order),), 0)
        for transform in (lambda f: f, xp.jit):
            np.testing.assert_allclose(float(transform(xp.grad(f))(order)), wanted, rtol=1e-6, atol=1e-7)


def test_a_norm_of_nothing_whose_order_is_not_known_yet() -> None:
    for order in (0.0, 1.0, 2.0, np.inf):
        assert float(xp.jit(lambda x, p: xp.linalg.vector_norm(x, ord=p))(xp.zeros((0,)), order)) == 0.0


@pytest.mark.parametrize("f", [xp.fft.fftfreq, xp.fft.rfftfreq])
def test_a_distance_of_0_is_refused_where_it_is_known(f: Callable[..., xp.Array]) -> None:
    for call in (lambda d: f(4, d=d), xp.grad(lambda d: xp.sum(f(4, d=d)))):
        with pytest.raises(ZeroDivisionError, match="a distance d other than 0"):
            call(0.0)


# ---------------------------------------------------------------------------------------------- through NumPy

THROUGH_NUMPY: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "pad": (lambda x, v: np.pad(x, 1, constant_values=v), 0.7),
    "var": (lambda x, v: np.var(x, axis=0, ddof=v), 0.5),
    "std": (lambda x, v: np.std(x, ddof=v), 0.5),
    "nanstd": (lambda x, v: np.nanstd(x, ddof=v), 0.5),
    "nan_to_num": (lambda x, v: np.nan_to_num(x / 0.0 * 0.0, nan=v), 0.5),
    "trapezoid": (lambda x, v: np.trapezoid(x, dx=v), 0.5),
    "norm": (lambda x, v: np.linalg.norm(x, ord=v, axis=1), 2.5),
    "norm along an axis of NumPy's": (lambda x, v: np.linalg.norm(x * v, 3, axis=np.int64(1)), 0.7),
}


@pytest.mark.parametrize(("call", "value"), THROUGH_NUMPY.values(), ids=THROUGH_NUMPY)
def test_a_number_keeps_its_derivative_through_numpy(call: Callable[[Any, Any], Any], value: float) -> None:
    x = xp.asarray([[0.3, 1.7, 2.5], [1.1, 0.4, 3.2]])
    f = weighted(lambda v: call(x, v), value)
    wanted = central_difference(f, (np.asarray(value),), 0)
    np.testing.assert_allclose(float(xp.grad(f)(value)), wanted, rtol=1e-6)
    np.testing.assert_allclose(float(xp.jit(xp.grad(f))(value)), wanted, rtol=1e-6)


# ---------------------------------------------------------------------------------------------- arrays in sequences

SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "UserList": UserList,
    "deque in a list": lambda items: [deque(items)],
    "list in a deque": lambda items: deque([items]),
}


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES)
def test_an_array_in_any_sequence_keeps_its_derivative(sequence: Callable[[list[Any]], Any]) -> None:
    def f(v: Any) -> xp.Array:
        return xp.sum(xp.asarray(sequence([v * v, 1.0, np.float64(2.0)])))

    assert float(xp.grad(f)(3.0)) == 6.0
    assert float(xp.jit(f)(3.0)) == 12.0
    assert xp.vmap(f)(xp.asarray([1.0, 3.0])).tolist() == [4.0, 12.0]
    same(xp.asarray(sequence([1, 2])), np.asarray(sequence([1, 2])))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(sequence([1.0]), copy=False)
