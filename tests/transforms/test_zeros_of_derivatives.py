"""What a zero means in a derivative: one of a selection hides what was not taken, one by value multiplies. Both modes
say the same.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core import context

Function = Callable[[Any], Any]
TIERS = ("interpret", "compile")
NAMES = (
    "abs acos acosh asin asinh atan atanh cbrt cos cosh deg2rad exp exp2 expm1 fabs floor log log10 log1p log2 "
    "negative positive reciprocal sign sin sinc sinh sqrt square tan tanh"
)
FUNCTIONS: dict[str, Function] = {
    **{name: getattr(xp, name) for name in NAMES.split()},
    "x + 2": lambda x: x + 2,
    "2 - x": lambda x: 2 - x,
    "0 * x": lambda x: 0 * x,
    "x / 2": lambda x: x / 2,
    "2 / x": lambda x: 2 / x,
    "x**0": lambda x: x**0,
    "x**2": lambda x: x**2,
    "x**3": lambda x: x**3,
    "x**0.5": lambda x: x**0.5,
    "x**1.5": lambda x: x**1.5,
    "x**-1": lambda x: x**-1,
    "2**x": lambda x: 2**x,
    "0**x": lambda x: 0.0**x,
    "x % 2": lambda x: x % 2,
    "2 % x": lambda x: 2.0 % x,
    "fmod(x, 2)": lambda x: xp.fmod(x, 2.0),
    "copysign(x, 1)": lambda x: xp.copysign(x, 1.0),
    "hypot(x, 0)": lambda x: xp.hypot(x, 0.0),
    "hypot(x, 1)": lambda x: xp.hypot(x, 1.0),
    "atan2(x, 0)": lambda x: xp.atan2(x, 0.0),
    "atan2(x, 1)": lambda x: xp.atan2(x, 1.0),
    "atan2(1, x)": lambda x: xp.atan2(xp.ones_like(x), x),
    "logaddexp(x, 0)": lambda x: xp.logaddexp(x, 0.0),
    "logaddexp2(x, 0)": lambda x: xp.logaddexp2(x, 0.0),
    "maximum(x, 0)": lambda x: xp.maximum(x, 0.0),
    "minimum(x, 1)": lambda x: xp.minimum(x, 1.0),
    "clip(x, -1, 1)": lambda x: xp.clip(x, -1.0, 1.0),
    "relu": lambda x: xp.where(x > 0, x, 0.0),
    "where(x > 0, x, 1)": lambda x: xp.where(x > 0, x, 1.0),
    "x + x": lambda x: x + x,
    "x - x": lambda x: x - x,
    "x * x": lambda x: x * x,
    "x / x": lambda x: x / x,
    "x**x": lambda x: x**x,
    "hypot(x, x)": lambda x: xp.hypot(x, x),
    "atan2(x, x)": lambda x: xp.atan2(x, x),
    "logaddexp(x, x)": lambda x: xp.logaddexp(x, x),
    "maximum(x, x)": lambda x: xp.maximum(x, x),
}
# beside 0 the two slopes of these leave the range; that they cancel is seen by the mode that adds them first
OF_TWO_POLES = ("x / x", "atan2(x, x)", "atan2(x, 0)")
_POINTS = [0.0, 1e-300, 5e-324, 1e-9, 0.5, 1.0, 2.0, np.pi, 800.0, 1e5, 1e300, np.inf]
POINTS = np.asarray([sign * point for point in _POINTS for sign in (1, -1)] + [np.nan])
ORDINARY = np.asarray([point for point in POINTS if not 0 < abs(point) < 1e-9])


def backward(f: Function) -> Function:
    """The derivative of an elementwise function, in reverse mode."""
    return lambda x: xp.grad(lambda t: xp.sum(f(t)))(x)


def forward(f: Function) -> Function:
    return lambda x: xp.jvp(f, (x,), (xp.ones_like(x),))[1]


def assert_agree(x: Any, y: Any, rtol: float = 1e-9, atol: float = 1e-300) -> None:
    """Equal numbers, and in the same places none: nan, or infinite."""
    x, y = np.asarray(x), np.asarray(y)
    np.testing.assert_array_equal(np.isfinite(x), np.isfinite(y))
    np.testing.assert_allclose(x[np.isfinite(x)], y[np.isfinite(y)], rtol=rtol, atol=atol)


# ------------------------------------------------------------------------------------------ reverse and forward agree


@pytest.mark.parametrize("outer", FUNCTIONS)
def test_both_modes_agree_on_compositions_at_special_points(outer: str) -> None:
    points = xp.asarray(ORDINARY if outer in OF_TWO_POLES else POINTS)
    for name, inner in FUNCTIONS.items():
        # the slope of x**x is 0 at exp(-1), but for rounding
        atol = 1e-15 if (outer, name) == ("x**x", "exp") else 1e-300

        def f(x: Any, inner: Function = inner) -> Any:
            return FUNCTIONS[outer](inner(x))

        assert_agree(backward(f)(points), forward(f)(points), atol=atol)


@pytest.mark.parametrize("turn", range(4))
def test_both_modes_agree_on_compositions_in_compiled_code(turn: int) -> None:
    functions = list(FUNCTIONS.values())
    pairs = [
        (f, functions[(k * 7 + turn) % len(functions)])
        for k, (name, f) in enumerate(FUNCTIONS.items())
        if name not in OF_TWO_POLES
    ]
    with context(tier="compile"):
        chosen = [(lambda x, p=p: p[0](p[1](x))) for p in pairs[turn::4]]
        both = xp.jit(lambda x: tuple(xp.stack([mode(f)(x) for f in chosen]) for mode in (backward, forward)))
        assert_agree(*both(xp.asarray(ORDINARY)), rtol=1e-7, atol=1e-30)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_orders_of_modes_agree_on_second_derivatives(name: str) -> None:
    f, x = FUNCTIONS[name], xp.asarray(ORDINARY)
    first = backward(backward(f))(x)
    for second in (forward(backward(f)), backward(forward(f)), forward(forward(f))):
        assert_agree(first, second(x))


# ----------------------------------------------------------------------------------- a zero by value times an infinity

NOT_KNOWN: dict[str, tuple[Function, Any]] = {
    "exp(log(x))": (lambda x: xp.exp(xp.log(x)), 0.0),
    "cbrt(x)**3": (lambda x: xp.cbrt(x) ** 3, 0.0),
    "1 / (1 / x)": (lambda x: 1 / (1 / x), 0.0),
    "(x**0.5)**2": (lambda x: (x**0.5) ** 2, 0.0),
    "sqrt(0 * x)": (lambda x: xp.sqrt(0 * x), 1.0),
    "0 * sqrt(x)": (lambda x: 0 * xp.sqrt(x), 0.0),
    "log(exp(x))": (lambda x: xp.log(xp.exp(x)), 800.0),
    "log(cosh(x))": (lambda x: xp.log(xp.cosh(x)), 800.0),
    "log(exp(x)) below": (lambda x: xp.log(xp.exp(x)), -1e4),
    "1 / log(exp(x))": (lambda x: 1 / xp.log(xp.exp(x)), 800.0),
    "log of small": (lambda x: xp.log(x * 1e-200 * 1e-200), 800.0),
    "sqrt(abs(x))": (lambda x: xp.sqrt(xp.abs(x)), 0.0),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x"), NOT_KNOWN.values(), ids=NOT_KNOWN.keys())
def test_no_number_where_the_derivative_is_not_known(f: Function, x: float) -> None:
    for tier in TIERS:
        with context(tier=tier):
            for transform in (lambda f: f, xp.jit):
                for mode in (backward, forward):
                    assert not np.isfinite(float(transform(mode(f))(xp.asarray(x))))


def test_an_overflow_is_nan_only_where_it_is() -> None:
    def f(x: Any) -> Any:
        return xp.log(xp.sum(xp.exp(x)))

    x = xp.asarray([800.0, 1.0, 2.0])
    for got in (xp.grad(f)(x), xp.jacfwd(f)(x), xp.jacrev(f)(x)):
        np.testing.assert_array_equal(np.asarray(got), [np.nan, 0.0, 0.0])


def test_a_square_root_squared_has_its_slope_at_zero() -> None:
    for mode in (backward, forward):
        got = mode(lambda x: xp.sqrt(x) ** 2)(xp.asarray([0.0, 4.0, -1.0, np.nan]))
        np.testing.assert_array_equal(np.asarray(got), [1.0, 1.0, np.nan, np.nan])


# ---------------------------------------------------------------------------------------------------- powers of lengths

E = 2 * np.eye(2)
SMOOTH: dict[str, tuple[Function, list[float], Any]] = {
    "vector_norm(x)**2": (lambda x: xp.linalg.vector_norm(x) ** 2, [0.0, 0.0], E),
    "square of vector_norm": (lambda x: xp.square(xp.linalg.vector_norm(x)), [0.0, 0.0], E),
    "sum of vector_norm(x, axis=1)**2": (
        lambda x: xp.sum(xp.linalg.vector_norm(xp.reshape(x, (2, 1)), axis=1, keepdims=True) ** 2), [0.0, 3.0], E
    ),
    "hypot(x, y)**2": (lambda x: xp.hypot(x[0], x[1]) ** 2, [0.0, 0.0], E),
    "hypot(x, y) * hypot(x, y)": (lambda x: xp.hypot(x[0], x[1]) * xp.hypot(x[0], x[1]), [0.0, 0.0], E),
    "std(x)**2": (lambda x: xp.std(x) ** 2, [1.5, 1.5], [[0.5, -0.5], [-0.5, 0.5]]),
    "sum of abs(x)**2": (lambda x: xp.sum(xp.abs(x) ** 2), [0.0, 1.0], E),
    "abs(z)**2": (lambda x: xp.abs(x[0] + 1j * x[1]) ** 2, [0.0, 0.0], E),
    "abs(z)**2.0 elsewhere": (lambda x: xp.abs(x[0] + 1j * x[1]) ** 2.0, [1.0, -2.0], E),
    "sqrt of a sum, squared": (lambda x: xp.sqrt(xp.sum(x * x)) ** 2, [0.0, 0.0], E),
    "vector_norm(x)**3": (lambda x: xp.linalg.vector_norm(x) ** 3, [0.0, 0.0], 0 * E),
    "vector_norm(x)**3 at (3, 4)": (lambda x: xp.linalg.vector_norm(x) ** 3, [3.0, 4.0], [[20.4, 7.2], [7.2, 24.6]]),
    "hypot(x, y)**4": (lambda x: xp.hypot(x[0], x[1]) ** 4, [0.0, 0.0], 0 * E),
    "hypot(x, y)**4 elsewhere": (lambda x: xp.hypot(x[0], x[1]) ** 4, [1.0, 0.0], [[12.0, 0.0], [0.0, 4.0]]),
}  # fmt: skip
HESSIANS: dict[str, Callable[[Function], Function]] = {
    "forward over reverse": xp.hessian,
    "reverse over reverse": lambda f: xp.jacrev(xp.jacrev(f)),
    "forward over forward": lambda f: xp.jacfwd(xp.jacfwd(f)),
    "reverse over forward": lambda f: xp.jacrev(xp.jacfwd(f)),
}


@pytest.mark.parametrize("hessian", HESSIANS.values(), ids=HESSIANS.keys())
@pytest.mark.parametrize(("f", "x", "wanted"), SMOOTH.values(), ids=SMOOTH.keys())
def test_second_derivatives_of_powers_of_lengths(f: Function, x: list[float], wanted: Any, hessian: Any) -> None:
    transforms: list[Callable[[Function], Function]] = [lambda f: f, xp.jit]
    for transform in transforms:
        np.testing.assert_allclose(np.asarray(transform(hessian(f))(xp.asarray(x))), wanted, rtol=1e-12, atol=1e-12)


def test_the_derivative_by_a_length_itself() -> None:
    """The length is a variable here, not a function of what is below it."""
    x = xp.asarray([3.0, 4.0])
    got = xp.grad(lambda y: xp.grad(lambda n: n**2)(xp.linalg.vector_norm(y)))(x)
    np.testing.assert_allclose(np.asarray(got), [1.2, 1.6], rtol=1e-15)


# ------------------------------------------------------------------------------------------------- zeros of selections


def written(y: Any) -> Any:
    y = y + 0.0
    y[0] = 1.0
    return y


# functions whose slope at 0 is no number
POISON: dict[str, Function] = {
    "sqrt": xp.sqrt,
    "log": xp.log,
    "reciprocal": xp.reciprocal,
    "x**0.3": lambda x: x**0.3,
    "sin(x) / x": lambda x: xp.sin(x) / x,
    "root of a root": lambda x: xp.sqrt(xp.sqrt(x)),
    "acos(x + 2)": lambda x: xp.where(x > 0, 0.5 * x, xp.acos(x + 2.0)),
}
# what leaves the first element out
SELECTIONS: dict[str, Callable[[Function, Any], Any]] = {
    "where": lambda f, x: xp.where(x > 0, f(x), 0.0),
    "where, the other way": lambda f, x: xp.where(x <= 0, x * 0.0, f(x)),
    "slice": lambda f, x: f(x)[1:],
    "steps": lambda f, x: f(x)[1::2],
    "gather": lambda f, x: f(x)[xp.asarray([1, 2, 1])],
    "mask": lambda f, x: f(x)[xp.asarray([False, True, True, True])],
    "write": lambda f, x: written(f(x)),
    "concat of a part": lambda f, x: xp.concat([f(x)[2:], f(x)[1:3]]),
    "roll and slice": lambda f, x: xp.roll(f(x), 1)[2:],
    "flip": lambda f, x: xp.flip(f(x))[:3],
    "tril": lambda f, x: xp.tril(xp.broadcast_to(f(x), (4, 4)).T, k=-1),
    "slice of a running sum backwards": lambda f, x: xp.cumulative_sum(xp.flip(f(x)))[:3],
}
# what follows: sums and products of matrices
THEN: dict[str, Function] = {
    "sum": lambda y: xp.sum(y),
    "squares": lambda y: xp.sum(y * y),
    "matrix": lambda y: xp.sum(xp.tanh(xp.outer(xp.reshape(y, (-1,)), xp.ones(3)) @ xp.ones((3, 2)))),
}


@pytest.mark.parametrize("then", THEN.values(), ids=THEN.keys())
@pytest.mark.parametrize("select", SELECTIONS.values(), ids=SELECTIONS.keys())
def test_a_selection_hides_what_it_did_not_take(select: Callable[[Function, Any], Any], then: Function) -> None:
    at = [0.0, 0.5, 0.7, 0.9]
    for name, poison in POISON.items():

        def f(x: Any, poison: Function = poison) -> Any:
            return then(select(poison, x))

        x = xp.asarray(at)
        reverse, ahead = np.asarray(xp.grad(f)(x)), np.asarray(xp.jacfwd(f)(x))
        aside = np.asarray(xp.grad(f)(xp.asarray([0.25, *at[1:]])))  # where the poison has a slope
        np.testing.assert_allclose(reverse, [0.0, *aside[1:]], rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(ahead, reverse, rtol=1e-12, atol=1e-14, err_msg=name)


BEFORE: dict[str, tuple[Function, list[float]]] = {
    "pad": (lambda x: xp.pad(x, (1, 1)), [0.5, 0.7]),
    "concat with zeros": (lambda x: xp.concat([x, xp.zeros(2)]), [0.5, 0.7]),
    "where": (lambda x: xp.where(x > 0, x, 0.0), [-0.5, 0.7]),
    "maximum": (lambda x: xp.maximum(x, 0.0), [-0.5, 0.7]),
    "minimum": (lambda x: -xp.minimum(x, 0.0), [0.5, -0.7]),
    "clip": (lambda x: xp.clip(x, 0.0, 0.8), [-0.5, 0.7]),
    "write": (lambda x: xp.where(xp.asarray([True, False]), xp.zeros(2), x), [0.5, 0.7]),
    "tril": (lambda x: xp.tril(xp.broadcast_to(x, (2, 2))), [0.5, 0.7]),
    "greatest of a row": (lambda x: xp.max(xp.stack([x, xp.zeros(2)]), axis=0), [-0.5, 0.7]),
}


@pytest.mark.parametrize(("before", "at"), BEFORE.values(), ids=BEFORE.keys())
def test_a_selection_before_an_infinite_slope(before: Function, at: list[float]) -> None:
    """A zero that does not vary goes through functions that have no slope there."""
    for name, poison in POISON.items():
        f = lambda x, poison=poison: xp.sum(poison(before(x)))  # noqa: E731
        reverse, ahead = np.asarray(xp.grad(f)(xp.asarray(at))), np.asarray(xp.jacfwd(f)(xp.asarray(at)))
        assert np.isfinite(reverse).all(), name
        np.testing.assert_allclose(reverse, ahead, rtol=1e-12, err_msg=name)


EXECUTION: dict[str, Callable[[Function], Function]] = {
    "jit": xp.jit,
    "jit of vmap": lambda f: lambda x: xp.jit(xp.vmap(f))(xp.stack([x, x]))[1],
}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("execution", EXECUTION.values(), ids=EXECUTION.keys())
def test_selections_in_every_way_to_run(execution: Callable[[Function], Function], tier: str) -> None:
    def all_of(x: Any) -> Any:
        parts = [xp.sum(xp.square(select(xp.log, x))) for select in SELECTIONS.values()]
        parts += [xp.sum(xp.sqrt(BEFORE["pad"][0](x[1:]))), xp.sum(xp.sqrt(BEFORE["maximum"][0](x - 0.6)))]
        return sum(parts[1:], parts[0])

    x = xp.asarray([0.0, 0.8, 0.7, 0.9])
    with context(tier="interpret"):
        first, second = np.asarray(xp.grad(all_of)(x)), np.asarray(xp.grad(lambda t: xp.grad(all_of)(t)[1])(x))
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    with context(tier=tier):
        for f, wanted in (
            (xp.grad(all_of), first),
            (lambda x: xp.jvp(all_of, (x,), (xp.where(x > 0, xp.ones(4), 0.0),))[1], first[1:].sum()),
            (lambda x: xp.jvp(xp.grad(all_of), (x,), (xp.asarray([0.0, 1.0, 0.0, 0.0]),))[1], second),
        ):
            np.testing.assert_allclose(np.asarray(execution(f)(x)), wanted, rtol=1e-10)


# ------------------------------------------------------------------------------------------------ products of matrices

# the product of operands of n rows and columns, and which axis of each is not summed
PRODUCTS: dict[str, tuple[Callable[[Any, Any], Any], int, int, int]] = {
    "matmul": (lambda a, b: a @ b, 2, -2, -1),
    "matmul transposed": (lambda a, b: a.T @ b.T, 2, -1, -2),
    "batch": (lambda a, b: a @ b, 3, -2, -1),
    "einsum": (lambda a, b: xp.einsum("ik,jk->ij", a, b), 2, -2, -2),
    "einsum turned around": (lambda a, b: xp.einsum("ki,jk->ji", a, b), 2, -1, -2),
    "tensordot": (lambda a, b: xp.tensordot(a, b, axes=1), 2, -2, -1),
}
SIZES = (4, 24, 28, 64)  # from 28 on by BLAS


def operands(name: str, n: int, dtype: str) -> tuple[Any, Any, Any, Any]:
    """Two operands with a row or column that is no number, and the same with zeros there."""
    _, ndim, free_a, free_b = PRODUCTS[name]
    rng = np.random.default_rng(n)
    out: list[Any] = []
    for free in (free_a, free_b):
        x = rng.standard_normal((2, n, n)[3 - ndim :]).astype(dtype)
        bad = x.copy()
        np.moveaxis(bad, free, 0)[1] = np.inf
        np.moveaxis(bad, free, 0)[2] = np.nan
        out += [bad, np.where(np.isfinite(bad), x, 0)]
    return out[0], out[2], out[1], out[3]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_matrices_of_any_size_hide_what_was_not_taken(name: str, n: int, tier: str) -> None:
    product = PRODUCTS[name][0]
    for dtype, rtol in (("float64", 1e-10), ("float32", 2e-3), ("complex128", 1e-10)):
        a, b, zero_a, zero_b = operands(name, n, dtype)
        with warnings.catch_warnings(), context(tier="interpret"):
            warnings.simplefilter("ignore")
            taken = xp.asarray(np.isfinite(np.asarray(product(xp.asarray(a), xp.asarray(b)))))
        weights = xp.asarray(np.random.default_rng(1).standard_normal(taken.shape).astype(dtype))

        def f(a: Any, b: Any, taken: Any = taken, weights: Any = weights) -> Any:
            return xp.sum(xp.real(xp.where(taken, product(a, b), 0.0) * weights))

        with context(tier=tier):
            for transform in (lambda f: f, xp.jit):
                got = transform(xp.grad(f, (0, 1)))(xp.asarray(a), xp.asarray(b))
                wanted = xp.grad(f, (0, 1))(xp.asarray(zero_a), xp.asarray(zero_b))
                for x, y in zip(got, wanted, strict=True):
                    np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("n", SIZES)
def test_tangents_that_were_not_taken_meet_infinities_in_a_product(n: int, tier: str) -> None:
    rng = np.random.default_rng(n)
    a, w, x = rng.standard_normal((3, n, n))
    w[2] = np.inf
    keep = np.arange(n) != 2

    def f(a: Any) -> Any:
        return xp.where(xp.asarray(keep), a, 0.5) @ xp.asarray(w)

    with context(tier=tier), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the values are infinite
        moved = xp.jvp(f, (xp.asarray(a),), (xp.asarray(x),))[1]
        back = xp.vjp(f, xp.asarray(a))[1](xp.asarray(x))[0]
    np.testing.assert_allclose(np.asarray(moved), x[:, keep] @ w[keep], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        np.asarray(back), np.where(keep, x @ np.where(keep[:, None], w, 0).T, 0), rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("n", SIZES)
def test_zeros_by_value_in_a_product_are_not_strong(n: int) -> None:
    """The cotangent of the first row is 0, but nothing selects it."""
    a, w = np.ones((n, n)), np.ones((n, n))
    w[:, 1] = np.inf
    factor = np.ones((n, n))
    factor[0] = 0
    for mask in (np.ones((n, n), bool), np.arange(n) < n):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = np.asarray(
                xp.grad(lambda a, m=mask: xp.sum(xp.where(xp.asarray(m), a @ xp.asarray(w), 0.0) * factor))(
                    xp.asarray(a)
                )
            )
        assert np.isnan(got[0]).all()
        assert np.isinf(got[1:]).all()


BATCHED: dict[str, Function] = {
    "fft": lambda x: xp.abs(xp.fft.fft(x[:, :, 0])) ** 2,
    "irfft": lambda x: xp.fft.irfft(xp.fft.rfft(x[:, 0]) ** 2),
    "solve": lambda x: xp.linalg.solve(x + 4 * xp.eye(3), x),
    "inv": lambda x: xp.linalg.inv(x + 4 * xp.eye(3)),
    "det": xp.linalg.det,
    "cumulative_prod": lambda x: xp.cumulative_prod(x, axis=-1),
    "sort": lambda x: xp.sort(x, axis=-1) ** 2,
    "max": lambda x: xp.max(x, axis=-1) ** 2,
    "prod": lambda x: xp.prod(x, axis=-1),
    "vector_norm": lambda x: xp.linalg.vector_norm(x, axis=-1),
    "softmax": lambda x: xp.exp(x) / xp.sum(xp.exp(x), axis=-1, keepdims=True),
}


@pytest.mark.parametrize("mode", [lambda f: xp.grad(f), xp.jacfwd], ids=["reverse", "forward"])
@pytest.mark.parametrize("f", BATCHED.values(), ids=BATCHED.keys())
def test_elements_of_a_batch_that_are_left_out(f: Function, mode: Callable[[Function], Function]) -> None:
    """One is nan throughout; neither it nor the others have a nan from that."""
    x = np.random.default_rng(0).standard_normal((3, 3, 3))
    x[1] = np.nan
    kept = xp.asarray([True, False, True])

    def total(x: Any) -> Any:
        y = f(xp.asin(xp.tanh(x)))
        return xp.sum(xp.where(xp.reshape(kept, (3, *[1] * (y.ndim - 1))), y, 0.0))

    got = np.asarray(mode(total)(xp.asarray(x)))
    wanted = np.asarray(xp.grad(lambda x: xp.sum(f(xp.asin(xp.tanh(x)))))(xp.asarray(x[[0, 2]])))
    np.testing.assert_allclose(got, np.stack([wanted[0], np.zeros((3, 3)), wanted[1]]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tier", TIERS)
def test_a_network_on_rows_that_are_left_out(tier: str) -> None:
    """Rows of nan, as padding is, through layers of every kind, and a mask at the end."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 32))
    x[5:9] = np.nan
    kept: Any = ~np.isnan(x).any(1)
    params = [xp.asarray(rng.standard_normal((32, 32)) / 6) for _ in range(3)]

    def loss(params: Any, x: Any, kept: Any) -> Any:
        y = xp.maximum(x @ params[0], 0.0)
        y = xp.tanh(y @ params[1])
        y = y / xp.sqrt(xp.mean(y * y, axis=1, keepdims=True) + 1e-3)
        return xp.sum(xp.where(kept, xp.log(xp.sum(xp.exp(y @ params[2]), axis=1)), 0.0))

    with context(tier=tier):
        got = xp.jit(xp.grad(loss))(params, xp.asarray(x), xp.asarray(kept))
        wanted = xp.grad(loss)(params, xp.asarray(x[kept]), xp.asarray(kept[kept]))
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-9, atol=1e-12)


# ----------------------------------------------------------------------------------------------------------- Jacobians


def test_jacobians_keep_apart_what_is_infinite() -> None:
    x = xp.asarray([0.0, 2.0])
    for jacobian in (xp.jacrev, xp.jacfwd):
        for transform in (lambda f: f, xp.jit):
            first, second = transform(jacobian(lambda x: (x, 1 / x)))(x)
            np.testing.assert_array_equal(np.asarray(first), np.eye(2))
            np.testing.assert_array_equal(np.asarray(second), [[-np.inf, 0.0], [0.0, -0.25]])
        by_both = jacobian(lambda x, y: x + xp.tanh(y), (0, 1))(xp.asarray([1.0]), xp.asarray([np.inf]))
        assert [np.asarray(g).tolist() for g in by_both] == [[[1.0]], [[0.0]]]
        named = jacobian(lambda x: {"a": 2 * x, "b": xp.log(x)})(xp.asarray([-1.0]))["a"]
        assert np.asarray(named).tolist() == [[2.0]]


@pytest.mark.parametrize("jacobian", [xp.jacrev, xp.jacfwd])
@pytest.mark.parametrize("name", ["sqrt", "log", "reciprocal", "cbrt", "acosh"])
def test_jacobians_of_elementwise_functions_are_diagonal(name: str, jacobian: Any) -> None:
    x = xp.asarray([0.0, 1.0, np.inf, np.nan])
    got = np.asarray(jacobian(FUNCTIONS[name])(x))
    assert np.all(np.where(np.eye(4), 0, got) == 0)
    np.testing.assert_array_equal(np.diagonal(got), np.asarray(backward(FUNCTIONS[name])(x)))


def test_cotangents_and_tangents_that_select_their_zeros() -> None:
    x = xp.asarray([0.0, 4.0])
    chosen = xp.asarray([False, True])
    ones, zeros = xp.ones(2), xp.zeros(2)
    _, pull = xp.vjp(xp.sqrt, x)
    assert pull(xp.where(chosen, ones, 0.0))[0].tolist() == [0.0, 0.25]
    assert pull(zeros)[0].tolist() == [0.0, 0.0]
    assert xp.jvp(xp.sqrt, (x,), (xp.where(chosen, ones, 0.0),))[1].tolist() == [0.0, 0.25]
    assert np.isnan(np.asarray(pull(xp.asarray([0.0, 1.0]))[0])).tolist() == [True, False]
