"""What is lazy: every function but those of LAPACK, and those whose result has a shape or type that depends on values.

A function is lazy if it gives its result without computing its arguments, and then it can be traced by `jit` as well.
The calls are those of the comparisons with NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uopc_array as xp
from tests.functions.test_comparisons import CASES, PROFILE
from tests.support.drawing import Draws, Operand
from tests.support.reference import equal, values
from uopc_core import Ops, context
from uopc_core.errors import TraceError

FEW = settings(max_examples=max(PROFILE.max_examples // 15, 1))

Arguments = tuple[Any, ...]


def _fit(x: Operand, y: Operand) -> bool:
    """Whether they can be broadcast together."""
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


# which calls must know the values of their arguments
READS_VALUES: dict[str, Callable[[Arguments], bool]] = {
    # the shape of the result depends on them
    **{name: lambda args: True for name in ("nonzero", "unique", "unique_all", "unique_counts", "unique_inverse")},
    "unique_values": lambda args: True,
    "repeat": lambda args: isinstance(args[1], Operand),
    "compress": lambda args: isinstance(args[0], Operand),
    # the result is a Python bool, and shapes alone do not decide
    "allclose": lambda args: True,
    "array_equal": lambda args: args[0].shape == args[1].shape,
    "array_equiv": lambda args: _fit(*args),
    # memory is exchanged
    "from_dlpack": lambda args: True,
}


# what LAPACK refuses is raised at the call, so it is called there; inside `jit` it is traced like everything else
COMPUTED_AT_THE_CALL = frozenset(
    f"linalg.{name}"
    for name in (
        *(
            "cholesky",
            "det",
            "eig",
            "eigh",
            "eigvals",
            "eigvalsh",
            "inv",
            "matrix_rank",
            "pinv",
            "qr",
            "slogdet",
            "solve",
        ),
        *("svd", "svdvals", "cond", "tensorsolve", "tensorinv"),
    )
)

BY_SINGULAR_VALUES = ("nuc", 2, -2)  # orders of norms

# what is written to is computed first, so that a loop of writes does not pile up; inside `jit` it is traced
COMPUTES_WHAT_IT_WRITES_TO = frozenset({"copyto", "fill_diagonal", "put", "put_along_axis"})


def operands(x: Any) -> list[Operand]:
    """The arrays among arguments."""
    if isinstance(x, Operand):
        return [x]
    if isinstance(x, dict):
        return operands(list(x.values()))
    return [found for item in x for found in operands(item)] if isinstance(x, list | tuple) else []


def replaced(x: Any, arrays: Any) -> Any:
    """Arguments with the next of `arrays` in place of each operand."""
    if isinstance(x, Operand):
        return next(arrays)
    if isinstance(x, dict):
        return {key: replaced(item, arrays) for key, item in x.items()}
    if isinstance(x, list | tuple):
        items = [replaced(item, arrays) for item in x]
        return items if isinstance(x, list) else tuple(items)
    return x


def arrays_in(x: Any) -> list[xp.Array]:
    """The arrays of a result, which may be a sequence of them or none."""
    if isinstance(x, xp.Array):
        return [x]
    return [found for item in x for found in arrays_in(item)] if isinstance(x, list | tuple) else []


def pending(x: Operand) -> xp.Array:
    """The same values, not computed yet."""
    return xp.where(xp.ones(x.shape, dtype=xp.bool), x.ours, xp.zeros(x.shape, dtype=x.dtype))


def is_computed(x: xp.Array) -> bool:
    return x._uop.op is Ops.BUFFER or x._uop.realized is not None


def reads_values(name: str, args: Arguments) -> bool:
    return name in READS_VALUES and READS_VALUES[name](args)


def check_laziness(name: str, args: Arguments, kwargs: dict[str, Any]) -> list[xp.Array]:
    """The results of a call with arguments that are not computed yet."""
    given = [pending(x) for x in operands([args, kwargs])]
    out = arrays_in(CASES[name].calls(name)[0](*replaced(args, source := iter(given)), **replaced(kwargs, source)))
    if reads_values(name, args):
        assert any(is_computed(x) for x in given) or all(x.size == 0 for x in given)
    elif name not in COMPUTED_AT_THE_CALL | COMPUTES_WHAT_IT_WRITES_TO and kwargs.get("ord") not in (
        "nuc",
        2,
        -2,
    ):  # by singular values
        assert not any(is_computed(x) for x in given)
    return out


def check_tracing(name: str, args: Arguments, kwargs: dict[str, Any], wanted: list[xp.Array]) -> None:
    @xp.jit
    def traced(given: list[xp.Array]) -> list[xp.Array]:
        call = CASES[name].calls(name)[0]
        return arrays_in(call(*replaced(args, source := iter(given)), **replaced(kwargs, source)))

    given = [x.ours for x in operands([args, kwargs])]
    if reads_values(name, args):
        with pytest.raises(TraceError, match="needs a value, and inside jit an array of shape"):
            traced(given)
        return
    with context(tier="interpret"):
        for got, want in zip(traced(given), wanted, strict=True):
            assert got.dtype == want.dtype
            assert equal(got, want, ulps=64, atol=1e-4 if got.dtype in (xp.float32, xp.complex64) else 1e-10)


@pytest.mark.parametrize("name", CASES)
def test_a_function_computes_only_if_it_must_and_else_can_be_traced(name: str) -> None:
    @FEW
    @given(st.data())
    def examine(data: st.DataObject) -> None:
        args, kwargs = CASES[name].draw(Draws(data.draw))
        check_tracing(name, args, kwargs, check_laziness(name, args, kwargs))

    examine()


# what has a shape that depends on values, of an array under differentiation, and the factors that come out of it
DIFFERENTIABLE: dict[str, tuple[Callable[[xp.Array], xp.Array], Callable[[Any], Any]]] = {
    "mask": (lambda x: x[x > 0], lambda x: np.where(x > 0, 2 * x, 0)),
    "mask of rows": (lambda x: x[xp.sum(x, axis=1) > 0], lambda x: 2 * x * (np.sum(x, axis=1) > 0)[:, None]),
    "mask beside a slice": (lambda x: x[1:, x[0] > 0], lambda x: 2 * x * (x[0] > 0) * [[0.0], [1.0], [1.0]]),
    "nonzero": (lambda x: x[xp.nonzero(x > 0)], lambda x: np.where(x > 0, 2 * x, 0)),
    "take of nonzero": (lambda x: xp.take(x, xp.nonzero(x[:, 0] > 0)[0], axis=0), lambda x: 2 * x * (x[:, :1] > 0)),
    "unique": (lambda x: xp.unique(x), lambda x: 2 * x),
    "unique_values": (lambda x: xp.unique_values(x), lambda x: 2 * x),
    "unique_all": (lambda x: xp.unique_all(x).values, lambda x: 2 * x),
    "unique_counts": (lambda x: xp.unique_counts(x).values, lambda x: 2 * x),
    "unique_inverse": (lambda x: xp.unique_inverse(x).values, lambda x: 2 * x),
    "repeat": (
        lambda x: xp.repeat(x, xp.astype(x[0] > 0, xp.int64) + 1, axis=1),
        lambda x: 2 * x * (1.0 + (x[0] > 0)),
    ),
    "sort of a mask": (lambda x: xp.sort(x[x > 0]), lambda x: np.where(x > 0, 2 * x, 0)),
    "mask of a mask": (lambda x: x[x > 0][x[x > 0] < 4], lambda x: np.where((x > 0) & (x < 4), 2 * x, 0)),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_shape_that_depends_on_values_stops_no_derivative(name: str) -> None:
    function, slope = DIFFERENTIABLE[name]
    x = values("float64", (3, 4))
    got = xp.grad(lambda x: xp.sum(function(x) ** 2))(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(got), slope(x), rtol=1e-12)
    second = xp.grad(lambda x: xp.sum(xp.grad(lambda t: xp.sum(function(t) ** 3))(x)))(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(second), 3 * slope(x), rtol=1e-12)


def test_assigning_by_a_mask_stops_no_derivative() -> None:
    def assigned(x: xp.Array) -> xp.Array:
        y = x * 1.0
        y[x < 0] = x[x > 0][0] * 2.0
        return xp.sum(y * y)

    x = np.asarray([-1.0, 3.0, -2.0, 5.0])
    got = xp.grad(assigned)(xp.asarray(x))
    np.testing.assert_allclose(np.asarray(got), [0.0, 6.0 + 2 * 8 * 3.0, 0.0, 10.0])
