"""Products with marks: what a selection left out counts nothing, all else as in a plain product."""

from typing import Any

import numpy as np
import pytest

from uopc_core.extern.product import MATMUL
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.interpret.rows import in_rows
from uopc_core.ir import Ops, UOp
from uopc_core.ir.uop import walk
from uopc_core.schedule.contraction import lower_contractions

DTYPES = ("float32", "float64", "complex64", "complex128")


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.startswith("c") else x).astype(dtype)


def by_hand(x: Any, y: Any, alive: Any) -> Any:
    """``(x * y).sum()`` of what is alive, with an axis for each of m, n, k."""
    with np.errstate(invalid="ignore"):
        terms = x[..., :, None, :] * np.swapaxes(y, -1, -2)[..., None, :, :]
    return np.where(alive, terms, 0).sum(-1)


def marked(x: Any, alive: Any) -> Any:
    return np.where(alive, x + 0.0, complex(-0.0, -0.0) if x.dtype.kind == "c" else -0.0).astype(x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sides", [("left",), ("right",), ("left", "right")])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_marks_hide_what_is_not_finite(sides: tuple[str, ...], dtype: str, batch: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x, y = draw(rng, (*batch, 5, 4), dtype), draw(rng, (*batch, 4, 3), dtype)
    x[..., 3, 0], x[..., 4, 3], x[..., 2, 2] = np.inf, np.nan, 0  # and a zero by value
    y[..., 1, 2], y[..., 0, 1], y[..., 2, 0] = np.inf, np.nan, 0
    alive_x, alive_y = (rng.random(z.shape) < 0.6 for z in (x, y))
    alive_x[..., 2, 2] = alive_y[..., 2, 0] = True
    alive_x, alive_y = alive_x | ("left" not in sides), alive_y | ("right" not in sides)
    operands = marked(x, alive_x) if "left" in sides else x, marked(y, alive_y) if "right" in sides else y
    (got,) = MATMUL.evaluate(sides, *operands)
    wanted = by_hand(x, y, alive_x[..., :, None, :] & np.swapaxes(alive_y, -1, -2)[..., None, :, :])
    ordinary = np.isfinite(wanted)
    assert ordinary.any()
    np.testing.assert_array_equal(np.isfinite(got), ordinary)
    np.testing.assert_allclose(got[ordinary], wanted[ordinary], rtol=1e-5, atol=1e-6)


def test_a_product_without_marks_is_numpys() -> None:
    x = np.asarray([[0.0, -0.0], [1.0, 2.0]])
    y = np.asarray([[np.inf, 1.0], [1.0, 1.0]])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(MATMUL.evaluate((), x, y)[0], x @ y)


@pytest.mark.parametrize("seed", range(40))
def test_selections_around_a_product_are_planned_as_one_product(seed: int) -> None:
    """A mask that varies along any axes, with 0 on either side, transposed or not, once or twice."""
    rng = np.random.default_rng(seed)
    m, n, k = rng.choice([30, 40, 50], 3)
    x, y = draw(rng, (m, k), "float64"), draw(rng, (k, n), "float64")
    y[rng.integers(k), :] = np.inf
    a, b = (UOp.param(i, z.shape, z.dtype) for i, z in enumerate((x, y)))
    product = a.reshape((m, 1, k)).expand((m, n, k)) * b.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    values: dict[UOp, Any] = {a: x, b: y}
    alive = np.ones((m, n, k), bool)
    for number in range(2, 2 + rng.integers(1, 3)):
        shape = [(m, 1, k), (1, n, k), (m, 1, 1), (1, 1, k), (m, n, 1)][rng.integers(5)]
        condition = rng.random(shape) < 0.7
        mask = UOp.param(number, shape, condition.dtype)
        values[mask] = condition
        inverted = bool(rng.integers(2))
        chosen = mask.expand((m, n, k))
        product = chosen.where(0.0, product) if inverted else chosen.where(product, 0.0)
        alive &= ~condition if inverted else condition
    turned = rng.integers(2, size=2)  # before and after the sum: the first makes the second operand the left one
    out = (product.permute((1, 0, 2)) if turned[0] else product).reduce(Ops.ADD, 1)
    if turned[1]:
        out = out.permute((1, 0))
    (lowered,) = lower_contractions([out])
    assert sum(node.op is Ops.EXTERN for node in walk([lowered])) == 1
    assert not any(node.op is Ops.REDUCE for node in walk([lowered]))
    with np.errstate(invalid="ignore"):
        got, unchanged = evaluate([lowered, out], values)
        wanted = by_hand(x, y, alive)
    np.testing.assert_allclose(got, unchanged, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(got, wanted.T if turned.sum() == 1 else wanted, rtol=1e-9, atol=1e-9)


def selected(x: Any, y: Any, masks: list[Any]) -> tuple[UOp, UOp, dict[UOp, Any]]:
    """``sum_k x[m, k] * y[k, n]`` of what all masks, of axes (k, n), let through, and the sum of y alone by k."""
    (m, k), n = x.shape, y.shape[1]
    a, b, *conditions = (UOp.param(i, z.shape, z.dtype) for i, z in enumerate((x, y, *masks)))
    chosen = b
    product = a.reshape((m, 1, k)).expand((m, n, k)) * b.permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    for mask in conditions:
        chosen = mask.expand((k, n)).where(chosen, 0.0)
        product = mask.expand((k, n)).permute((1, 0)).reshape((1, n, k)).expand((m, n, k)).where(product, 0.0)
    total = chosen.permute((1, 0)).reduce(Ops.ADD, 1)
    return product.reduce(Ops.ADD, 1), total, dict(zip((a, b, *conditions), (x, y, *masks), strict=True))


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("n_masks", [1, 2])
def test_a_sum_of_what_a_product_takes_reads_the_marked_operand(dtype: str, n_masks: int) -> None:
    """With the same bits, also where nothing is left but zeros of either sign."""
    rng = np.random.default_rng(3)
    x, y = draw(rng, (40, 50), dtype), draw(rng, (50, 30), dtype)
    y[:, :3] *= -0.0
    y[rng.random(y.shape) < 0.3] = -0.0
    masks = [rng.random((50, 30)) < 0.6, rng.random((50, 1)) < 0.8][:n_masks]
    masks[0][:, 1] = False
    product, total, values = selected(x, y, masks)
    alone, together = lower_contractions([total]), lower_contractions([product, total])
    (call,) = [node for node in walk(together) if node.op is Ops.EXTERN]
    assert len(call.arg[1]) == 1  # one operand has all the marks
    assert together[1] is not alone[0]
    marked = call.src[0 if call.arg[1] == ("left",) else 1]
    assert together[1].src[0] in (marked, marked.permute((1, 0)))
    results = evaluate([total, alone[0], together[1]], values)
    assert len({result.tobytes() for result in results}) == 1


def test_a_short_sum_begins_with_its_first_element_and_is_left_alone() -> None:
    rng = np.random.default_rng(3)
    x, y = draw(rng, (400, 16), "float64"), draw(rng, (16, 30), "float64")
    product, total, _ = selected(x, y, [np.ones((16, 30), bool)])
    lowered = lower_contractions([product, total])
    assert any(node.op is Ops.EXTERN for node in walk(lowered))
    assert lowered[1] is lower_contractions([total])[0]


@pytest.mark.parametrize("shape", [(128, 512), (512, 128), (100, 33), (64, 1024), (3, 70, 65)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_copy_in_rows_is_one(shape: tuple[int, ...], dtype: str) -> None:
    x = draw(np.random.default_rng(0), shape, dtype)
    for view in (np.swapaxes(x, -1, -2), x[..., ::-1, :], np.broadcast_to(x[..., :1, :1], shape)):
        copied = in_rows(view)
        assert copied.flags.c_contiguous
        np.testing.assert_array_equal(copied, view)
