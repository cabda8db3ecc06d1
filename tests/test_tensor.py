"""The lazy Tensor: values against NumPy, gradients against central differences, and what a handle does."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import special

from tests.support.tensor_checks import Case, assert_gradients_match, inputs_of
from uopc_core.dtype import dtypes
from uopc_core.errors import AxisError, DTypeError, GradientError, ShapeError
from uopc_core.ir import Ops
from uopc_core.runtime.execute import MAX_DEPTH
from uopc_core.schedule.plan import make_plan
from uopc_core.settings import context
from uopc_core.tensor import Tensor

# ------------------------------------------------------------------------------------------- functions and their slopes

A, B, C = (3, 4), (3, 4), (2, 3, 4)
LABELS = [0, 3, 1]
MASK = np.array([[True, False, True, True], [False, True, False, True], [True, True, False, False]])


def _softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _cross_entropy(x: Any) -> Any:
    return -np.log(_softmax(x))[np.arange(3), LABELS].mean()


ELEMENTWISE = [
    Case("exp", Tensor.exp, np.exp),
    Case("log", Tensor.log, np.log, low=0.2),
    Case("sin", Tensor.sin, np.sin),
    Case("cos", Tensor.cos, np.cos),
    Case("tanh", Tensor.tanh, np.tanh),
    Case("sigmoid", Tensor.sigmoid, special.expit),
    Case("relu", Tensor.relu, lambda x: np.where(x > 0, x, 0)),
    Case("gelu", Tensor.gelu, lambda x: x * special.ndtr(x)),
    Case(
        "gelu-tanh",
        lambda x: x.gelu("tanh"),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    Case("sqrt", Tensor.sqrt, np.sqrt, low=0.2),
    Case("reciprocal", Tensor.reciprocal, lambda x: 1 / x, low=0.5),
    Case("square", Tensor.square, np.square),
    Case("abs", Tensor.abs, np.abs),
    Case("neg", lambda x: -x, np.negative),
    Case("cast", lambda x: x.cast("float64").cast("float32"), lambda x: x),
    Case("pow-2", lambda x: x**2, lambda x: x**2),
    Case("pow-3", lambda x: x**3, lambda x: x**3),
    Case("pow-half", lambda x: x**0.5, lambda x: x**0.5, low=0.2),
    Case("pow", lambda x, y: x**y, lambda x, y: x**y, (A, B), low=0.3),
    Case("rpow", lambda x: 2.0**x, lambda x: 2.0**x),
    Case("add", lambda x, y: x + y, np.add, (A, B)),
    Case("sub", lambda x, y: x - y, np.subtract, (A, B)),
    Case("mul", lambda x, y: x * y, np.multiply, (A, B)),
    Case("div", lambda x, y: x / y, np.divide, (A, B), low=0.5),
    Case("mod", lambda x: x % 0.7, lambda x: np.mod(x, 0.7)),
    Case("scalars", lambda x: 1 - (3 + x) * 2 + 4 / (5 - x), lambda x: 1 - (3 + x) * 2 + 4 / (5 - x)),
    Case("broadcast", lambda x, y: x * y, np.multiply, ((3, 1), (2, 1, 4))),
    Case("maximum", lambda x, y: x.maximum(y), np.maximum, (A, B)),
    Case("minimum", lambda x, y: x.minimum(y), np.minimum, (A, B)),
    Case("maximum-scalar", lambda x: x.maximum(0.123), lambda x: np.maximum(x, 0.123)),
    Case("where", lambda x, y: Tensor.where(x > 0, x * y, y), lambda x, y: np.where(x > 0, x * y, y), (A, B)),
    Case("where-scalar", lambda x: (x < 0).where(1.5, x * x), lambda x: np.where(x < 0, 1.5, x * x)),
]
ALONG_AXES = [
    Case("sum", Tensor.sum, np.sum),
    Case("sum-axis", lambda x: x.sum(1), lambda x: x.sum(1), (C,)),
    Case("sum-keepdim", lambda x: x.sum((0, -1), keepdim=True), lambda x: x.sum((0, 2), keepdims=True), (C,)),
    Case("max", lambda x: x.max(-1), lambda x: x.max(-1)),
    Case("max-all", Tensor.max, np.max),
    Case("min", lambda x: x.min(0, keepdim=True), lambda x: x.min(0, keepdims=True)),
    Case("mean", lambda x: x.mean((0, 2)), lambda x: x.mean((0, 2)), (C,)),
    Case("var", lambda x: x.var(1), lambda x: x.var(1, ddof=1)),
    Case("var-population", lambda x: x.var(correction=0), lambda x: x.var()),
    Case("softmax", Tensor.softmax, _softmax),
    Case("softmax-axis", lambda x: x.softmax(0), lambda x: _softmax(x, 0)),
    Case("log_softmax", Tensor.log_softmax, lambda x: np.log(_softmax(x))),
    Case("cross_entropy", lambda x: x.cross_entropy(LABELS), _cross_entropy),
    Case(
        "cross_entropy-soft",
        lambda x: x.cross_entropy(Tensor([0, 3, 1]).one_hot(4) * 0.6 + 0.1),
        lambda x: -((np.eye(4)[[0, 3, 1]] * 0.6 + 0.1) * np.log(_softmax(x))).sum(-1).mean(),
    ),
    Case("matmul", lambda x, y: x @ y, np.matmul, ((3, 4), (4, 2))),
    Case("matmul-batched", lambda x, y: x @ y, np.matmul, ((2, 1, 3, 4), (5, 4, 2))),
    Case("matmul-vectors", lambda x, y: x @ y, np.matmul, ((4,), (4,))),
    Case("matmul-row", lambda x, y: x @ y, np.matmul, ((4,), (2, 4, 3))),
    Case("matmul-column", lambda x, y: x @ y, np.matmul, ((2, 3, 4), (4,))),
]
MOVEMENT = [
    Case("reshape", lambda x: x.reshape(2, -1), lambda x: x.reshape(2, -1)),
    Case("permute", lambda x: x.permute(1, 2, 0), lambda x: x.transpose(1, 2, 0), (C,)),
    Case("transpose", Tensor.transpose, lambda x: x.swapaxes(-1, -2), (C,)),
    Case("transpose-axes", lambda x: x.transpose(0, 2), lambda x: x.swapaxes(0, 2), (C,)),
    Case("T", lambda x: x.T, lambda x: x.T, (C,)),
    Case("expand", lambda x: x.expand(2, 3, -1), lambda x: np.broadcast_to(x, (2, 3, 4)), ((1, 4),)),
    Case("shrink", lambda x: x.shrink(((1, 3), None)), lambda x: x[1:3]),
    Case("pad", lambda x: x.pad((None, (1, 2))), lambda x: np.pad(x, ((0, 0), (1, 2)))),
    Case("flip", lambda x: x.flip(0), lambda x: x[::-1]),
    Case("flip-all", lambda x: x.flip(), np.flip),
    Case("unsqueeze", lambda x: x.unsqueeze(-1), lambda x: x[..., None]),
    Case("stack_with", lambda x, y: x.stack_with(y * y), lambda x, y: np.stack([x, y * y]), (A, B)),
    Case("stack", lambda x, y: Tensor.stack(x, y, axis=-1), lambda x, y: np.stack([x, y], -1), (A, B)),
    Case("cat", lambda x, y: Tensor.cat([x, y], axis=1), lambda x, y: np.concatenate([x, y], 1), ((3, 4), (3, 2))),
    Case("index-int", lambda x: x[1], lambda x: x[1]),
    Case("index-negative", lambda x: x[-1, -2], lambda x: x[-1, -2]),
    Case("index-slice", lambda x: x[1:, ::2], lambda x: x[1:, ::2]),
    Case("index-reverse", lambda x: x[::-2, 3:0:-1], lambda x: x[::-2, 3:0:-1]),
    Case("index-none", lambda x: x[:, None, 1:3], lambda x: x[:, None, 1:3]),
    Case("index-ellipsis", lambda x: x[..., 1], lambda x: x[..., 1], (C,)),
    Case("gather", lambda x: x[[2, 0, 2]], lambda x: x[[2, 0, 2]]),
    Case("gather-column", lambda x: x[:, Tensor([3, 3, -4])], lambda x: x[:, [3, 3, -4]]),
    Case("gather-two", lambda x: x[[0, 1, 0], :, [3, 1, 3]], lambda x: x[[0, 1, 0], :, [3, 1, 3]], (C,)),
    Case("gather-beside-int", lambda x: x[1, :, [3, 1]], lambda x: x[1, :, [3, 1]], (C,)),
    Case("gather-grid", lambda x: x[:, [[0, 2], [1, 1]], 1], lambda x: x[:, [[0, 2], [1, 1]], 1], (C,)),
    Case("mask", lambda x: x[MASK], lambda x: x[MASK]),
]
CASES = [*ELEMENTWISE, *ALONG_AXES, *MOVEMENT]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_value_is_numpys(case: Case) -> None:
    arrays = inputs_of(case)
    out = case.ours(*[Tensor(x) for x in arrays])
    wanted = np.asarray(case.reference(*[x.astype(np.float64) for x in arrays]))
    assert out.shape == wanted.shape
    assert out.dtype is dtypes.float32
    np.testing.assert_allclose(out.numpy(), wanted, rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradient_is_the_central_difference(case: Case) -> None:
    assert_gradients_match(case)


@pytest.mark.parametrize("name", ["exp", "matmul", "softmax"])
def test_a_gradient_off_by_a_thousandth_is_found(name: str) -> None:
    case = next(c for c in CASES if c.name == name)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_gradients_match(case, scale=1.001)


def test_sigmoid_and_its_slope_are_finite_far_out() -> None:
    x = Tensor([-200.0, -20.0, 0.0, 20.0, 200.0], requires_grad=True)
    y = x.sigmoid()
    y.sum().backward([x])
    assert x.grad is not None
    s = special.expit(np.array([-200.0, -20.0, 0.0, 20.0, 200.0]))
    np.testing.assert_allclose(y.numpy(), s, rtol=1e-6, atol=1e-37)
    np.testing.assert_allclose(x.grad.numpy(), s * (1 - s), rtol=1e-5, atol=1e-8)


def test_cross_entropy_of_huge_logits_is_finite() -> None:
    assert Tensor([[1e4, 0.0], [0.0, 1e4]]).cross_entropy([0, 0]).item() == 5000.0


# -------------------------------------------------------------------------------------------------- dtypes and operands


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([1.0, 2.0], dtypes.float32),
        (3.5, dtypes.float32),
        ([1, 2], dtypes.int32),
        ([2**40], dtypes.int64),
        ([True], dtypes.bool),
        ([1j], dtypes.complex64),
        (np.ones(2), dtypes.float64),
        (np.ones(2, ">f4"), dtypes.float32),
        (np.uint8(3), dtypes.uint8),
    ],
    ids=repr,
)
def test_python_numbers_get_the_default_dtype_and_arrays_keep_theirs(data: Any, dtype: Any) -> None:
    tensor = Tensor(data)
    assert tensor.dtype is dtype
    np.testing.assert_array_equal(tensor.numpy(), np.asarray(data))


@pytest.mark.parametrize(
    ("x", "y", "dtype"),
    [
        ("int64", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("uint8", "int8", "int16"),
        ("float32", "float64", "float64"),
        ("float64", "complex64", "complex128"),
    ],
)
def test_operands_meet_in_the_higher_category(x: str, y: str, dtype: str) -> None:
    product = Tensor(np.full(2, 1, x)) * Tensor(np.full(2, 3, y))
    assert product.dtype.name == dtype
    assert product.numpy().tolist() == [3, 3]


@pytest.mark.parametrize(
    ("dtype", "scalar", "result"),
    [("int8", 2, "int8"), ("int32", 2.0, "float32"), ("float64", 2.0, "float64"), ("bool", 2, "int32")],
)
def test_a_python_scalar_never_widens(dtype: str, scalar: float, result: str) -> None:
    assert (Tensor(np.ones(2, dtype)) * scalar).dtype.name == result


def test_int64_and_uint64_have_no_common_integer_dtype() -> None:
    with pytest.raises(DTypeError, match=r"int64 and uint64|uint64 and int64"):
        Tensor(np.ones(1, np.int64)) + Tensor(np.ones(1, np.uint64))


def test_numpy_array_on_the_left_gives_a_tensor() -> None:
    out = np.array([1.0, 2.0], np.float32) - Tensor([3.0, 5.0])
    assert isinstance(out, Tensor)
    assert out.numpy().tolist() == [-2.0, -3.0]
    assert Tensor.numpy(np.eye(2, dtype=np.float32) @ Tensor([3.0, 5.0])).tolist() == [3.0, 5.0]  # pyright: ignore[reportArgumentType]


def test_comparisons_are_elementwise_bools() -> None:
    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([3.0, 2.0, 1.0])
    for got, wanted in [
        (x < y, [True, False, False]),
        (x <= y, [True, True, False]),
        (x > 2, [False, False, True]),
        (2 >= x, [True, True, False]),
        (x == y, [False, True, False]),
        (x != y, [True, False, True]),
        ((x < y) | (x > y), [True, False, True]),
        (~(x < y) & (x <= y), [False, True, False]),
    ]:
        assert got.dtype is dtypes.bool
        assert got.numpy().tolist() == wanted


def test_integer_division_rounds_down_and_true_division_is_float() -> None:
    x = Tensor([-7, 7])
    assert (x // 2).numpy().tolist() == [-4, 3]
    assert (x % 3).numpy().tolist() == [2, 1]
    assert (x / 2).numpy().tolist() == [-3.5, 3.5]
    assert (x / 2).dtype is dtypes.float32
    with pytest.raises(ValueError, match="integers to negative integer powers"):
        x**-1


def test_sums_of_small_integers_do_not_overflow() -> None:
    assert Tensor(np.full(1000, 100, np.int8)).sum().item() == 100_000
    assert Tensor(np.ones(300, np.bool_)).sum().item() == 300
    assert Tensor([1, 2, 4]).mean().item() == np.float32(7 / 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Tensor([1.0, 2.0]).item(), ShapeError, r"one element, got shape \(2,\)"),
        (lambda: Tensor([1.0]).sum(1), AxisError, "sum: axis 1 is out of bounds for an array of 1 axes"),
        (lambda: Tensor([[1.0]]).max((0, -2)), AxisError, "max: every axis may be named once"),
        (lambda: Tensor([1.0, 2.0]).reshape(-1, 3), ShapeError, "2 elements of shape .* cannot take the shape"),
        (lambda: Tensor([[1.0, 2.0]]) @ Tensor([[1.0, 2.0]]), ShapeError, r"matmul: the last axis .* \(2 != 1\)"),
        (lambda: Tensor(1.0) @ Tensor([1.0]), ShapeError, "matmul: expected one axis or more"),
        (lambda: Tensor([1.0]) + Tensor([[1.0, 2.0]] * 3) + Tensor([1.0] * 4), ShapeError, "cannot be broadcast"),
        (lambda: Tensor([1.0])[1], IndexError, "index 1 is out of bounds for axis 0 with size 1"),
        (lambda: Tensor([1.0])[0, 0], IndexError, "too many indices"),
        (lambda: Tensor([1.0])[..., ...], IndexError, "one ellipsis"),
        (lambda: Tensor([1.0])[1.5], IndexError, "only integers, slices"),
        (lambda: Tensor([1.0]).where(1, 2), DTypeError, "where: expected a bool condition, got float32"),
        (lambda: Tensor([[1.0, 2.0]]).cross_entropy([2]), IndexError, "label 2 is out of bounds for 2 classes"),
        (lambda: Tensor([0, -1]).one_hot(2), IndexError, "label -1 is out of bounds for 2 classes"),
        (lambda: Tensor([1.0]).one_hot(2), DTypeError, "one_hot: expected integer labels, got float32"),
        (lambda: Tensor([[1.0, 2.0]]).cross_entropy([0, 1]), ShapeError, "cross_entropy: expected integer labels"),
        (lambda: Tensor([1.0]).gelu("sigmoid"), ValueError, "gelu: approximate"),  # pyright: ignore[reportArgumentType]
        (lambda: Tensor([1], requires_grad=True), GradientError, "expected a floating Tensor, got int32"),
        (lambda: Tensor([1.0]) + object(), TypeError, "unsupported operand"),  # pyright: ignore[reportOperatorIssue]
        (lambda: len(Tensor(1.0)), TypeError, "without axes"),
        (lambda: iter(Tensor(1.0)), TypeError, "without axes"),
        (lambda: np.asarray(Tensor([1.0]), copy=False), ValueError, "without a copy"),
        (lambda: Tensor(["a"]), DTypeError, "Tensor: expected a dtype, one of .* got str32"),
    ],
)
def test_mistakes_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_gather_out_of_bounds_is_found_when_it_is_read() -> None:
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 6"):
        Tensor(np.arange(6.0))[Tensor([0, 7])].realize()


# ------------------------------------------------------------------------------------------------------------- handles


def test_memory_is_copied_in_and_out() -> None:
    source = np.array([1.0, 2.0], np.float32)
    x = Tensor(source)
    source[0] = 9
    out = x.numpy()
    out[1] = 9
    assert x.numpy().tolist() == [1.0, 2.0]
    assert np.asarray(x, np.float64).tolist() == [1.0, 2.0]


def test_python_numbers_come_out() -> None:
    x = Tensor([2.5])
    assert float(x) == 2.5
    assert int(x) == 2
    assert bool(x > 2)
    assert [t.item() for t in Tensor([1, 2])] == [1, 2]
    assert len(Tensor([1, 2])) == 2


def test_repr_shows_what_is_in_memory_and_computes_nothing() -> None:
    x = Tensor([1.0, 2.5], requires_grad=True)
    y = x + 1
    assert repr(x) == "Tensor([1. , 2.5], dtype=float32, requires_grad=True)"
    assert repr(y.detach()) == "Tensor(shape=(2,), dtype=float32)"
    assert y.uop.realized is None


def test_a_computed_tensor_lets_its_history_go() -> None:
    x = Tensor([1.0, 2.0])
    y = x * 3 + 1
    assert y.realize() is y
    assert y.uop.op is Ops.BUFFER
    assert y.numpy().tolist() == [4.0, 7.0]


def test_a_differentiable_tensor_keeps_its_history() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    y = w * 3
    node = y.uop
    y.realize()
    assert y.uop is node
    assert y.requires_grad
    assert node.realized is not None


def test_realize_all_computes_several_at_once() -> None:
    x = Tensor([1.0, 2.0])
    parts = [x + 1, x * 2, x.sum()]
    Tensor.realize_all(parts)
    assert all(p.uop.op is Ops.BUFFER for p in parts)
    assert [p.numpy().tolist() for p in parts] == [[2.0, 3.0], [2.0, 4.0], 3.0]


def test_a_detached_tensor_stays_detached_when_it_is_computed() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    d = w.detach()
    assert not d.requires_grad
    assert not d.realize().requires_grad
    assert not (d * 2).requires_grad
    assert w.requires_grad


def test_a_handle_counts_itself_on_its_node() -> None:
    x = Tensor([1.0, 2.0])
    y = x + 1
    node = y.uop
    assert node.held == 1
    z = Tensor(y)
    assert node.held == 2
    del y
    assert node.held == 1
    z.realize()
    assert z.uop is node
    del z
    assert node.held == 0


def test_a_value_computed_along_with_another_is_read() -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3))
    total = x.sum(1)
    assert (total * 2).numpy().tolist() == [6.0, 24.0]
    assert total.numpy().tolist() == [3.0, 12.0]
    assert "3." in repr(total)


def test_a_constant_that_was_looked_at_stays_a_constant() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    w.sum().backward([w])
    assert w.grad is not None
    ones = w.grad.uop
    assert w.grad.numpy().tolist() == [1.0, 1.0]
    _, bindings = make_plan([ones * w.uop])
    assert bindings.buffers == (w.uop.realized,)


def test_a_long_loop_holds_a_bounded_graph() -> None:
    x = Tensor([1.0])
    for _ in range(3 * MAX_DEPTH):
        x = x * 0.999 + 1
        assert x.uop.depth <= MAX_DEPTH + 1
    np.testing.assert_allclose(x.item(), 1000 - 999 * 0.999**3000, rtol=1e-4)


MOVES = {
    "x[:-2]": lambda x: x[:-2],
    "x[::-1][1:]": lambda x: x[::-1][1:],
    "x.T": lambda x: x.T,
    "x.reshape(2, -1).T.reshape(-1)": lambda x: x.reshape(2, -1).T.reshape(-1),
    "x.unsqueeze(0)[0]": lambda x: x.unsqueeze(0)[0],
    "x.flip(0)": lambda x: x.flip(0),
    "x.pad([(1, 1)])[2:]": lambda x: x.pad([(1, 1)])[2:],
}


@pytest.mark.parametrize("is_pending", [False, True], ids=["memory", "pending"])
@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_long_loop_of_movements_holds_a_bounded_graph(move: Any, is_pending: bool) -> None:
    values = np.arange(2.0 * 2 * MAX_DEPTH + 2)
    x = Tensor(values) * 1.0 if is_pending else Tensor(values)
    want = values
    for _ in range(2 * MAX_DEPTH - 4):
        x = move(x)
        want = move(_Moved(want)).values
        assert x.uop.depth <= MAX_DEPTH + 1
    np.testing.assert_array_equal(x.numpy(), want, strict=True)


class _Moved:
    """An array of NumPy with the names that Tensor has."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __getitem__(self, key: Any) -> "_Moved":
        return _Moved(self.values[key])

    def __getattr__(self, name: str) -> Any:
        functions = {
            "reshape": self.values.reshape,
            "flip": lambda axis: np.flip(self.values, axis),
            "pad": lambda widths: np.pad(self.values, widths),
            "unsqueeze": lambda axis: np.expand_dims(self.values, axis),
        }
        return _Moved(self.values.T) if name == "T" else lambda *args: _Moved(functions[name](*args))


def test_nothing_is_printed_at_exit() -> None:
    code = "from uopc_core.tensor import Tensor\nx = Tensor([1.0])\ny = x + 1\nz = [y]\nz.append(z)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


# ----------------------------------------------------------------------------------------------------------- gradients


def test_backward_accumulates_until_it_is_cleared() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward([w])
    (w * 3).sum().backward(w)
    assert w.grad is not None
    assert w.grad.numpy().tolist() == [5.0, 7.0]
    w.zero_grad()
    assert w.grad is None


def test_backward_computes_nothing() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    loss = (w * w).sum()
    loss.backward([w])
    assert loss.uop.realized is None
    assert w.grad is not None
    assert w.grad.uop.realized is None


def test_a_parameter_that_is_not_reached_gets_zeros() -> None:
    w, other = Tensor([1.0], requires_grad=True), Tensor([[1.0, 2.0]], requires_grad=True)
    (w * w).sum().backward([w, other])
    assert other.grad is not None
    assert other.grad.numpy().tolist() == [[0.0, 0.0]]


def test_an_interior_tensor_is_a_target_too() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    h = w * w
    (h * h).sum().backward([h, w])
    assert h.grad is not None
    assert w.grad is not None
    assert h.grad.numpy().tolist() == [2.0, 8.0]
    assert w.grad.numpy().tolist() == [4.0, 32.0]


def test_a_tensor_without_requires_grad_is_a_target_while_it_is_in_the_graph() -> None:
    x = Tensor([1.0, 2.0])
    loss = (x * x).sum()
    loss.backward([x])
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [2.0, 4.0]
    loss.item()
    with pytest.raises(GradientError, match=r"Tensor number 0.*requires_grad=True"):
        loss.backward([x])


def test_backward_starts_at_one_real_number() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(GradientError, match=r"one real floating number, got float32 \(2,\)"):
        w.backward([w])
    with pytest.raises(GradientError, match="got int32"):
        w.sum().cast("int32").backward([w])


def test_gradients_are_differentiated_again() -> None:
    x = Tensor([0.5, 1.5], requires_grad=True)
    x.sin().sum().backward([x])
    first = x.grad
    assert first is not None
    x.zero_grad()
    first.sum().backward([x])
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), -np.sin([0.5, 1.5]), rtol=1e-6)


# ----------------------------------------------------------------------------------------------- creation, random draws


def test_arange() -> None:
    assert Tensor.arange(4).numpy().tolist() == [0, 1, 2, 3]
    assert Tensor.arange(4).dtype is dtypes.int32
    assert Tensor.arange(5, 1, -2).numpy().tolist() == [5, 3]
    assert Tensor.arange(3, 1).shape == (0,)
    x = Tensor.arange(0.0, 1.0, 0.25)
    assert x.dtype is dtypes.float32
    assert x.numpy().tolist() == [0.0, 0.25, 0.5, 0.75]


def test_one_hot_is_float_ones() -> None:
    x = Tensor([2, 0]).one_hot(3)
    assert x.dtype is dtypes.float32
    assert x.numpy().tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_a_seed_starts_the_draws_over() -> None:
    Tensor.manual_seed(5)
    first, second = Tensor.randn(4, 3).numpy(), Tensor.randn((4, 3)).numpy()
    Tensor.manual_seed(5)
    again = Tensor.randn(4, 3).numpy()
    Tensor.manual_seed(6)
    other = Tensor.randn(4, 3).numpy()
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == second)
    assert not np.any(first == other)


def test_normal_draws_are_normal() -> None:
    Tensor.manual_seed(0)
    x = Tensor.randn(200_000).numpy()
    assert x.dtype == np.float32
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1) < 0.01
    shares = np.histogram(x, [-9.0, -2.0, -1.0, 0.0, 1.0, 2.0, 9.0])[0] / x.size
    np.testing.assert_allclose(shares, np.diff(special.ndtr([-9.0, -2.0, -1.0, 0.0, 1.0, 2.0, 9.0])), atol=0.005)
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01


def test_uniform_draws_fill_the_unit_interval() -> None:
    Tensor.manual_seed(0)
    x = Tensor.rand(100_000).numpy()
    assert 0 <= x.min() < 1e-3
    assert 1 - 1e-3 < x.max() < 1
    np.testing.assert_allclose(np.histogram(x, 10, (0, 1))[0] / x.size, 0.1, atol=0.006)


def test_random_leaf_is_drawn_once() -> None:
    Tensor.manual_seed(1)
    w = Tensor.randn(3, requires_grad=True)
    assert w.requires_grad
    np.testing.assert_array_equal(w.numpy(), (w * 1).numpy())


def test_eager_evaluation_computes_a_tensor_at_its_line() -> None:
    with context(eager=True):
        x = Tensor([1.0, 2.0], requires_grad=True)
        y = (x * 3).sum()
        assert y.uop.realized is not None
        y.backward(x)
        assert x.grad is not None
        assert x.grad.uop.realized is not None
    assert (x * 4).uop.realized is None
    assert x.grad.numpy().tolist() == [3.0, 3.0]
