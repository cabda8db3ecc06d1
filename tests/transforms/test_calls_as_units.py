"""Functions that are called as units in the graph around them: `checkpoint` and `jit` with ``inline=False``.

Whatever is done with them, they are what the function itself is, whoever computes.
"""

import functools
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.transforms.test_jit_inside import AROUND, FUNCTIONS, X, tree
from uopc_core import Ops, UOp, make_plan, plan_stats, walk
from uopc_core.errors import GradientError, IndexBoundsError, TraceError
from uopc_core.runtime.compiled import kernels_in_use
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.steps import ExternCall, Plan, RegionCall

UNITS: dict[str, Callable[..., Any]] = {"checkpoint": xp.checkpoint, "jit": functools.partial(xp.jit, inline=False)}
# where the argument is read around the call as well, what comes from there is added before or after the sum over what
# is inside: in another order than without the call
ADDS_IN_ANOTHER_ORDER = {"grad(jit)", "jit(grad(jit))"}
unit = pytest.mark.parametrize("wrap", UNITS.values(), ids=UNITS.keys())


def check(got: Any, want: Any, around: str) -> None:
    ulps = 2 if around in ADDS_IN_ANOTHER_ORDER else 0
    np.testing.assert_array_max_ulp(np.asarray(got), np.asarray(want), ulps) if ulps else np.testing.assert_array_equal(
        np.asarray(got), np.asarray(want)
    )


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", FUNCTIONS)
@unit
def test_a_unit_is_the_function_inside_of_any_transformation(wrap: Any, name: str, around: str) -> None:
    wanted = np.asarray(AROUND[around](FUNCTIONS[name])(xp.asarray(X)))
    for at_once in (0, 32768):
        with xp.context(at_once=at_once):
            transformed = AROUND[around](wrap(FUNCTIONS[name]))
            for _ in range(2):
                check(transformed(xp.asarray(X)), wanted, around)


@pytest.mark.parametrize("tier", ["interpret", "compile", "auto"])
@pytest.mark.parametrize("around", ["jit", "jit(grad)", "second derivative", "vmap(grad)", "jvp"])
@unit
def test_every_executor_runs_it_and_every_form_verifies(wrap: Any, around: str, tier: str) -> None:
    function = FUNCTIONS["selection"]
    wanted = np.asarray(AROUND[around](function)(xp.asarray(X)))
    with xp.context(tier=tier, verify=True, at_once=0):
        transformed = AROUND[around](wrap(function))
        for _ in range(3):
            check(transformed(xp.asarray(X)), wanted, around)


@unit
def test_units_in_units_under_transformations_of_transformations(wrap: Any) -> None:
    def inner(x: Any) -> Any:
        return xp.where(x > 0, xp.sqrt(x), x * 2.0)

    def composed(f: Any, outer: Any) -> Callable[[Any], Any]:
        per_row = xp.vmap(xp.grad(outer(lambda x: xp.sum(f(f(x)) * xp.vmap(f)(xp.stack([x, x]))))))
        return xp.jacfwd(lambda y: xp.sum(per_row(xp.stack([y, y + 1.0])), axis=0))

    x = xp.asarray([0.5, 2.0, 3.0])
    wanted = np.asarray(composed(inner, lambda f: f)(x))
    np.testing.assert_allclose(np.asarray(composed(wrap(inner), wrap)(x)), wanted, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(xp.jit(composed(wrap(inner), wrap))(x)), wanted, rtol=1e-13)


@unit
def test_a_selection_hides_an_infinite_slope_inside_outside_and_through_a_unit(wrap: Any) -> None:
    x = xp.asarray([0.0, 4.0])
    root = wrap(xp.sqrt)
    around = xp.grad(lambda x: xp.sum(xp.where(x > 0, root(x), 0.0)))
    inside = xp.grad(lambda x: xp.sum(wrap(lambda y: xp.where(y > 0, xp.sqrt(y), 0.0))(x)))
    through = xp.grad(lambda x: xp.sum(root(xp.where(x > 0, x, 1.0))))
    for gradient in (around, inside, through):
        for _ in range(2):
            assert np.asarray(gradient(x)).tolist() == [0.0, 0.25]
            assert np.asarray(xp.vmap(gradient)(x[None])).tolist() == [[0.0, 0.25]]
    assert np.isnan(float(xp.grad(lambda x: root(x) * 0.0)(0.0)))  # a zero by value is not strong


@unit
def test_keywords_containers_and_several_results(wrap: Any) -> None:
    def f(x: Any, *, scale: Any, more: Any) -> Any:
        return {"a": x * scale, "b": (tree(x), more["w"][0] * 2.0), "n": 3, "none": None}

    def loss(function: Any) -> Any:
        def value(x: Any, scale: Any) -> Any:
            out = function(x, scale=scale, more={"w": [x + 1.0]})
            assert out["n"] == 3
            assert out["none"] is None
            return xp.sum(out["a"] * out["b"][1]) + out["b"][0]["rest"][0]

        return xp.grad(value, argnums=(0, 1))

    want, got = (loss(function)(xp.asarray(X), 2.5) for function in (f, wrap(f)))
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(np.asarray(b), np.asarray(a), rtol=1e-15)
    assert wrap(f)(xp.asarray(X), scale=2.0, more={"w": [1.0]})["n"] == 3


@unit
def test_arrays_around_it_and_in_objects_are_arguments(wrap: Any) -> None:
    class Layer:
        def __init__(self, w: Any) -> None:
            self.w = w

        def apply(self, x: Any) -> Any:
            return xp.tanh(x * (self.w * 2.0))

    def loss(w: Any, x: Any, through: Any) -> Any:
        layer = Layer(w)
        return xp.sum(through(layer.apply)(x) * through(lambda x: x * w)(x))

    x, w = xp.asarray(X), xp.asarray([1.0, -2.0, 0.5, 0.25])
    want = xp.grad(lambda w: loss(w, x, lambda f: f))(w)
    got = xp.grad(lambda w: loss(w, x, wrap))(w)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-14)


@unit
def test_integers_and_truth_values_go_through(wrap: Any) -> None:
    def f(x: Any, i: Any, mask: Any) -> Any:
        return x[i] * mask, xp.argmax(x), xp.sum(mask)

    def loss(function: Any) -> Any:
        def value(x: Any) -> Any:
            picked, place, n = function(x, xp.asarray([2, 0]), xp.asarray([True, True]))
            return xp.sum(picked) * x[place] * n

        return xp.grad(value)(xp.asarray(X))

    np.testing.assert_allclose(np.asarray(loss(wrap(f))), np.asarray(loss(f)), rtol=1e-15)


@unit
@pytest.mark.parametrize("around", [xp.jit, xp.grad, lambda f: xp.jit(xp.grad(f))], ids=["jit", "grad", "jit(grad)"])
def test_what_it_writes_around_it_is_written_at_each_call(wrap: Any, around: Any) -> None:
    seen, weights = xp.zeros(4), xp.ones(4)

    @wrap
    def inner(x: Any) -> Any:
        seen[1] = seen[1] + weights[0]
        return x * 2.0

    outer = around(lambda x: xp.sum(inner(x)))
    for turn in range(1, 4):
        np.asarray(outer(xp.asarray(X)))
        assert np.asarray(seen).tolist() == [0.0, float(turn), 0.0, 0.0]


@unit
def test_a_result_that_has_a_value_keeps_it(wrap: Any) -> None:
    """Though it comes out of a function of which other results are traced, or are differentiated."""
    values: list[float] = []

    def outer(x: Any, n: Any) -> Any:
        scaled, total = wrap(lambda x, n: (x * n, xp.sum(n) + 0.5))(x, n)
        values.append(float(total))
        return xp.sum(scaled) * values[-1]

    n = xp.asarray([1.0, 2.0])
    assert np.asarray(xp.grad(lambda x: outer(x, n))(xp.asarray([3.0, 4.0]))).tolist() == [3.5, 7.0]
    assert np.asarray(xp.vmap(lambda x: outer(x, n))(xp.asarray([[3.0, 4.0]]))).tolist() == [38.5]
    counts = np.zeros(2)
    written = wrap(lambda x, n: (x * n, n.__setitem__(0, 7.0))[0])
    xp.jit(lambda x: xp.sum(written(x, counts)))(xp.asarray([3.0, 4.0]))
    assert counts.tolist() == [7.0, 0.0]
    assert values == [3.5, 3.5]


@unit
def test_threads_call_it_at_the_same_time(wrap: Any) -> None:
    f = wrap(lambda x: xp.tanh(x) * x)
    gradient = xp.jit(xp.grad(lambda x: xp.sum(f(f(x)))))
    wanted = np.asarray(gradient(xp.asarray(X))).tolist()
    results: list[Any] = []

    def work() -> None:
        results.extend(np.asarray(xp.grad(lambda x: xp.sum(f(f(x))))(xp.asarray(X))).tolist() for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [wanted] * 20


@unit
def test_an_index_out_of_bounds_inside_is_told_with_the_function_that_was_called(wrap: Any) -> None:
    f = xp.jit(lambda x, i: xp.sum(wrap(lambda x, i: xp.take(x * 2.0, i))(x, i) * 3.0))
    assert float(f(xp.asarray(X), xp.asarray([1]))) == pytest.approx(6.6)
    with pytest.raises(IndexBoundsError, match="take: index 9 is out of bounds for axis 0 with size 4"):
        float(f(xp.asarray(X), xp.asarray([9])))


@unit
def test_a_unit_pickles_and_is_a_method(wrap: Any) -> None:
    assert pickle.loads(pickle.dumps(wrap(xp.exp)))(0.0).item() == 1.0

    class Model:
        scale = 2.0

        @wrap
        def apply(self, x: Any) -> Any:
            return x * self.scale

    assert float(xp.grad(lambda x: Model().apply(x))(3.0)) == 2.0


@unit
def test_what_is_no_function_is_refused(wrap: Any) -> None:
    with pytest.raises(TypeError, match=r"(checkpoint|jit): expected a function, got an array"):
        wrap(xp.ones(3))


@unit
def test_a_call_that_does_not_fit_names_the_transform(wrap: Any) -> None:
    def two(x: Any, y: Any) -> Any:
        return x + y

    with pytest.raises(TypeError, match=r"(checkpoint|jit): the function .*two\(\) missing 1 required"):
        xp.jit(lambda x: wrap(two)(x))(1.0)


# ------------------------------------------------------------------------------------------------- checkpoint alone


def test_without_a_derivative_or_a_trace_it_is_a_call() -> None:
    x = xp.ones(100_000)
    result = xp.checkpoint(lambda x: (x * 2.0, x))(x)
    assert result[1] is x
    assert not any(node.op is Ops.CALL for node in walk([result[0]._uop]))


def test_control_flow_by_value_works_as_without_it() -> None:
    f = xp.checkpoint(lambda x: x * 2.0 if x > 1 else x * 3.0)
    assert (float(xp.grad(f)(2.0)), float(xp.grad(f)(0.5))) == (2.0, 3.0)
    with pytest.raises(TraceError, match="bool"):
        xp.jit(f)(2.0)


def test_a_value_does_not_leave_the_derivative() -> None:
    with pytest.raises(GradientError, match="float: the value depends on what is differentiated by"):
        xp.grad(xp.checkpoint(lambda x: x * float(x)))(2.0)


def test_what_it_writes_and_keeps_is_written_and_kept() -> None:
    seen, kept = xp.zeros(4), []

    @xp.checkpoint
    def f(x: Any) -> Any:
        seen[1] = seen[1] + 1.0
        kept.append(x * 3.0)
        x[0] = 5.0
        return x * 2.0

    def loss(x: Any) -> Any:
        y = x * 1.0
        out = xp.sum(f(y))
        assert float(xp.stop_gradient(y[0])) == 5.0
        return out

    assert np.asarray(xp.grad(loss)(xp.asarray(X))).tolist() == [0.0, 2.0, 2.0, 2.0]
    assert np.asarray(seen).tolist() == [0.0, 1.0, 0.0, 0.0]
    np.testing.assert_allclose(np.asarray(kept[0]), X * 3.0)


def test_an_argument_or_a_view_of_it_comes_back_as_itself() -> None:
    @xp.checkpoint
    def f(x: Any) -> Any:
        return x, x[1:], x * 2.0

    def loss(x: Any) -> Any:
        y = x * 1.0
        same, view, double = f(y)
        assert same is y
        view[0] = 7.0
        return xp.sum(y * y) + xp.sum(double)

    assert np.asarray(xp.grad(loss)(xp.asarray([1.0, 2.0]))).tolist() == [4.0, 2.0]


# -------------------------------------------------------------------------------------------------- what it is for


def chain(x: Any, weights: Any) -> Any:
    for w in weights:
        x = xp.tanh(x @ w)
    return x


def plan_of_value_and_gradient(forward: Any, n_layers: int, batch: int = 256, width: int = 64) -> tuple[Plan, Any]:
    rng = np.random.default_rng(0)
    weights = [xp.asarray(rng.standard_normal((width, width)) / 8) for _ in range(n_layers)]
    x = xp.asarray(rng.standard_normal((batch, width)))
    value, gradients = xp.value_and_grad(lambda ws: xp.sum(forward(x, ws) ** 2))(weights)
    plan, _ = make_plan([value._uop, *[g._uop for g in gradients]], keep_held=False)
    return plan, [np.asarray(g) for g in gradients]


def executed(plan: Plan) -> Counter[type]:
    """How many kernels and how many products of matrices a run of the plan takes."""
    counts: Counter[type] = Counter()
    for step in plan.steps:
        counts += executed(step.plan) if isinstance(step, RegionCall) else Counter([type(step)])
    return counts


def test_memory_of_a_long_chain_grows_with_the_root_of_its_length_at_a_third_more_of_work() -> None:
    """Of N layers, checkpointed every sqrt(N): sqrt(N) results between them, and sqrt(N) inside of one, are alive."""
    n, part = 64, 8

    def checkpointed(x: Any, weights: Any) -> Any:
        layers = xp.checkpoint(chain)
        for i in range(0, n, part):
            x = layers(x, weights[i : i + part])
        return x

    whole, wanted = plan_of_value_and_gradient(chain, n)
    parts, got = plan_of_value_and_gradient(checkpointed, n)
    one = 256 * 64 * 8  # bytes of the result of a layer
    assert whole.temporary_bytes >= 2 * n * one  # the product and its tanh
    assert parts.temporary_bytes <= (n // part + 2 * part + 4) * one
    assert parts.temporary_bytes < whole.temporary_bytes / 4
    # forward, a product a layer, and backward two; forward, a kernel, and backward another: forward comes twice
    assert executed(whole)[ExternCall] == 3 * n - 1
    assert executed(parts)[ExternCall] <= executed(whole)[ExternCall] * 4 / 3 + 1
    assert executed(parts)[KernelCall] <= executed(whole)[KernelCall] * 3 / 2 + 1
    assert len(parts.plans) == 4  # forward; backward in general, of the first part, and the plan around
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_checkpoints_in_checkpoints_take_less_memory_still() -> None:
    def halves(x: Any, weights: Any) -> Any:
        if len(weights) == 1:
            return chain(x, weights)
        middle = len(weights) // 2
        inner = xp.checkpoint(halves)
        return inner(inner(x, weights[:middle]), weights[middle:])

    whole, wanted = plan_of_value_and_gradient(chain, 32)
    parts, got = plan_of_value_and_gradient(halves, 32)
    assert parts.temporary_bytes < whole.temporary_bytes / 4
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def test_a_function_that_is_called_a_thousand_times_is_planned_and_compiled_once() -> None:
    step = xp.jit(lambda x: xp.cos(x) * 0.5625 + xp.flip(x) * 0.25, inline=False)

    def thousand(x: Any) -> Any:
        for _ in range(1000):
            x = step(x)
        return x

    plans: list[Plan] = []

    def look(x: Any) -> Any:
        result = thousand(x)
        before = plan_stats()["made"]
        plans.append(make_plan([result._uop], keep_held=False)[0])
        assert plan_stats()["made"] - before == 2
        return result

    x = np.linspace(0.1, 1.0, 50)
    with xp.context(tier="compile"):
        got = np.asarray(xp.jit(look)(xp.asarray(x)))
    (plan,) = plans
    around, inner = plan.plans
    assert [type(s) for s in around.steps] == [RegionCall] * 1000
    assert not around.kernels
    assert kernels_in_use(plan)
    assert len(inner.kernels) <= 2
    want = x
    for _ in range(1000):
        want = np.cos(want) * 0.5625 + want[::-1] * 0.25
    np.testing.assert_allclose(got, want, rtol=1e-9)


def test_a_step_of_training_makes_no_plan_again() -> None:
    layer = xp.checkpoint(lambda x, w: xp.tanh(x @ w))
    w, x = xp.asarray(np.eye(3) * 0.5), xp.asarray(np.ones((4, 3)))
    made: list[int] = []
    for number in range(4):
        _, g = xp.value_and_grad(lambda w: xp.sum(layer(layer(x, w), w)))(w)
        w = w - g * (0.3 / (number + 17.0))
        np.asarray(w)
        made.append(plan_stats()["made"])
    assert made[-1] == made[-2]


@unit
def test_constants_inside_that_change_from_step_to_step_are_scalars_of_the_plan(wrap: Any) -> None:
    """Also in units in units, beside other constants, and where two of them happen to be equal."""
    made: list[int] = []
    w, x = xp.asarray(np.eye(3) * 0.5), xp.asarray(np.ones((4, 3)))
    for number in range(5):
        rate, other = 0.3 / (number + 17.0), 0.25 if number == 2 else 0.3 / (number + 17.0)

        def model(w: Any, one: Any, wrap: Any, rate: float = rate, other: float = other) -> Any:
            inner = wrap(lambda y: xp.tanh(y * rate) + y * 1.7)
            return wrap(lambda x: inner(x @ w) * rate + inner(x) * (other + 0.001))(x) + one

        value, g = xp.value_and_grad(lambda w: xp.sum(model(w, 0.75, wrap) ** 2))(w)
        want_value, want = xp.value_and_grad(lambda w: xp.sum(model(w, 0.75, lambda f: f) ** 2))(w)
        np.testing.assert_allclose(float(value), float(want_value), rtol=1e-14)
        before = plan_stats()["made"]
        np.testing.assert_allclose(np.asarray(g), np.asarray(want), rtol=1e-13)
        made.append(plan_stats()["made"] - before)
    assert made[3:] == [0, 0]


@unit
def test_a_constant_among_the_arguments_leaves_the_results_one_call(wrap: Any) -> None:
    f = wrap(lambda x, rate: (x * rate, xp.sin(x) + rate))
    plans: list[Plan] = []

    def outer(x: Any) -> Any:
        a, b = f(x, xp.full(4, 0.3125))
        plans.append(make_plan([a._uop, b._uop], keep_held=False)[0])
        return a + b

    with xp.context(at_once=0):
        got = xp.jit(outer)(xp.asarray(X))
    np.testing.assert_allclose(np.asarray(got), X * 0.3125 + np.sin(X) + 0.3125)
    assert [type(step) for step in plans[0].steps] == [RegionCall]


def test_the_plan_of_a_region_prints_once_below_the_plan_that_calls_it() -> None:
    layer = xp.checkpoint(lambda x: xp.tanh(x) * x)
    texts: list[str] = []

    def loss(x: Any) -> Any:
        result = layer(layer(x))
        texts.append(xp.explain(result))
        return xp.sum(result)

    with xp.context(at_once=0):
        xp.grad(loss)(xp.asarray(np.ones(1000)))
    lines = texts[0].splitlines()
    assert lines.count("# plan 1") == 1
    assert [line for line in lines if "call of" in line] == [
        "# step 0: call of plan 1, slots [0] -> [1]",
        "# step 1: call of plan 1, slots [1] -> [2]",
    ]
    assert lines.count("region r0") == 1
    assert "temporaries: 8000 bytes at most" in lines
    assert lines.count("# functions of plan 1") == 1


def test_inline_is_true_or_false() -> None:
    with pytest.raises(TypeError, match="jit: expected True or False for inline, got 1"):
        xp.jit(lambda x: x, inline=1)  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_a_trace_that_is_called_as_a_unit_is_called_by_one_region() -> None:
    inner = xp.jit(lambda x: {"a": xp.sin(x), "b": (x * 2.0, x)}, inline=False)
    calls: list[UOp] = []

    def outer(x: Any) -> Any:
        out = inner(x)
        assert out["b"][1] is x
        calls.extend(node for node in walk([out["a"]._uop, out["b"][0]._uop]) if node.op is Ops.CALL)
        return out["a"] + out["b"][0]

    xp.jit(outer)(xp.ones(3))
    assert len({(node.arg[0], node.src) for node in calls}) == 1
