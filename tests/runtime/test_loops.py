"""Ufuncs made at run time: strides, core dimensions, and the same values where NumPy's table is not to be had."""

from typing import Any

import numpy as np
import pytest

from uopc_core import dtypes
from uopc_core.errors import CompileError
from uopc_core.ir.op import Ops
from uopc_core.runtime import ufunc
from uopc_core.runtime.loops import loops_for, make_gufunc, make_ufunc
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.runtime.ufunc import ForeignLoop
from uopc_core.settings import context

pytestmark = pytest.mark.skipif(find_toolchain() is None, reason="without a compiler there are no loops")

F64 = dtypes.float64
TEXT = """
typedef __INT64_TYPE__ int64_t;
void affine(char **args, const int64_t *dims, const int64_t *steps, void *unused) {
    for (int64_t i = 0; i < dims[0]; i++)
        *(double *)(args[2] + i * steps[2])
            = *(double *)(args[0] + i * steps[0]) * *(double *)(args[1] + i * steps[1]) + 1;
}
void total(char **args, const int64_t *dims, const int64_t *steps, void *unused) {
    for (int64_t i = 0; i < dims[0]; i++) {
        double sum = 0;
        for (int64_t k = 0; k < dims[1]; k++) sum += *(double *)(args[0] + i * steps[0] + k * steps[2]);
        *(double *)(args[1] + i * steps[1]) = sum;
    }
}
void reversed(char **args, const int64_t *dims, const int64_t *steps, void *unused) {
    for (int64_t i = 0; i < dims[0]; i++)
        for (int64_t k = 0; k < dims[1]; k++)
            *(double *)(args[1] + i * steps[1] + (dims[1] - 1 - k) * steps[3])
                = *(double *)(args[0] + i * steps[0] + k * steps[2]);
}
"""
CUBE = np.arange(5.0 * 7 * 9).reshape(5, 7, 9)
VIEWS = (CUBE, CUBE.T, CUBE[::2, :, ::-1], CUBE[:, :, :0], CUBE[:0], CUBE[0, 0], CUBE[..., 1:2])


@pytest.fixture(params=["table", "foreign"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type:
    """How loops are called: as ufuncs, or through cffi as where NumPy's table is another."""
    if request.param == "table":
        return np.ufunc
    monkeypatch.setattr(ufunc, "_maker", lambda: None)
    return ForeignLoop


@pytest.mark.parametrize("x", VIEWS, ids=str)
def test_a_loop_gets_every_view_and_broadcasts(kind: type, x: Any) -> None:
    affine = make_ufunc("affine", TEXT, "affine", (F64, F64, F64))
    assert isinstance(affine, kind)
    np.testing.assert_array_equal(affine(x, x), x * x + 1)
    np.testing.assert_array_equal(affine(2.0, x), 2 * x + 1)
    assert affine(2.0, 3.0) == 7
    assert affine(x, x).dtype == F64


@pytest.mark.parametrize("x", VIEWS, ids=str)
def test_core_dimensions_are_the_last_axes(kind: type, x: Any) -> None:
    total = make_gufunc("total", TEXT, "total", (F64, F64), "(n)->()")
    assert isinstance(total, kind)
    np.testing.assert_array_equal(total(x), x.sum(-1))
    np.testing.assert_array_equal(make_gufunc("reversed", TEXT, "reversed", (F64, F64), "(n)->(n)")(x), x[..., ::-1])


@pytest.mark.parametrize("axes", [(2, 2), (1, 2), (2, 1), (1, 1)], ids=str)
def test_core_dimensions_with_a_question_mark_may_be_missing(kind: type, axes: tuple[int, int]) -> None:
    (product,) = loops_for([("matmul", Ops.ADD, F64)])
    assert isinstance(product, kind)
    x = CUBE[0, :3, ::2] if axes[0] == 2 else CUBE[0, 0, ::2]
    y = CUBE[:, 0, :4] if axes[1] == 2 else CUBE[:, 0, 3]
    wanted = x @ y
    found = product(x, y)
    np.testing.assert_array_equal(found, wanted)
    assert type(found) is type(wanted)
    if axes != (1, 1):
        out = np.empty_like(wanted)
        product(x, y, out)
        np.testing.assert_array_equal(out, wanted)


def test_places_that_repeat_are_taken_in_turn(kind: type) -> None:
    affine = make_ufunc("affine", TEXT, "affine", (F64, F64, F64))
    target = np.arange(8.0).reshape(4, 2)
    affine.at(target, (np.array([0, 0, 3]),), np.array([[2.0, 3.0], [4.0, 5.0], [1.0, 1.0]]))
    np.testing.assert_array_equal(target, [[5.0, 21.0], [2.0, 3.0], [4.0, 5.0], [7.0, 8.0]])


def test_the_table_is_known_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ufunc._maker() is not None
    monkeypatch.setattr(np, "ufunc", object)
    assert ufunc._maker() is None


def test_without_a_compiler_there_is_an_error() -> None:
    with context(cc="/no/such/compiler"), pytest.raises(CompileError, match="no C compiler"):
        make_ufunc("affine", TEXT, "affine", (F64, F64, F64))
