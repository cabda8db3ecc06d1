"""The loops that kernels get, as printed."""

from tests.support.kernel_runs import call_of
from uopc_core.dtype import dtypes
from uopc_core.ir.composite import broadcast_to, concat, reduce_axes, stack
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp
from uopc_core.loop.loop_ir import print_block
from uopc_core.loop.lower import lower_call


def param(i, *shape):
    return UOp.param(i, shape, dtypes.float64)


def nest_of(*outputs):
    call = call_of(outputs)
    return print_block(lower_call(call, set(call.outputs)).body)


def test_contiguous_elementwise_kernel():
    assert nest_of(param(0, 20, 30) + param(1, 20, 30)) == (
        "parallel simd for i0.i1 in 0..600:\n"
        "    v0:float64 = buf1[i0.i1]\n"
        "    v1:float64 = buf2[i0.i1]\n"
        "    v2:float64 = add(v0, v1)\n"
        "    buf0[i0.i1] = v2"
    )


def test_what_stands_still_in_the_inner_loop_is_computed_outside():
    column = broadcast_to(param(1, 20, 1).unary(Ops.SQRT), (20, 30))
    assert nest_of(param(0, 20, 30) * column) == (
        "parallel for i0 in 0..20:\n"
        "    v1:float64 = buf2[i0]\n"
        "    v2:float64 = sqrt(v1)\n"
        "    simd for i1 in 0..30:\n"
        "        v0:float64 = buf1[30*i0 + i1]\n"
        "        v3:float64 = mul(v0, v2)\n"
        "        buf0[30*i0 + i1] = v3"
    )


def test_row_reduction_with_epilogue():
    assert nest_of(param(0, 20, 30).reduce(Ops.ADD, 1) * 2.0) == (
        "parallel for i0 in 0..20:\n"
        "    reduce a0 by add:\n"
        "        simd for r0 in 0..30:\n"
        "            v0:float64 = buf1[30*i0 + r0]\n"
        "            a0 <- v0\n"
        "    w0:float64 = mul(a0, 2.0:float64)\n"
        "    buf0[i0] = w0"
    )


def test_column_reduction_works_on_tiles():
    assert nest_of(reduce_axes(param(0, 20, 30), Ops.ADD, [0])) == (
        "parallel reduce tiles of i0 a0 by add:\n"
        "    for r0 in 0..20:\n"
        "        simd for i0 in 0..30:\n"
        "            v0:float64 = buf1[i0 + 30*r0]\n"
        "            a0 <- v0\n"
        "then:\n"
        "    simd for i0 in 0..30:\n"
        "        buf0[i0] = a0"
    )


def test_reduction_of_everything_is_one_loop():
    assert "for r0.r1 in 0..600" in nest_of(param(0, 20, 30).reduce(Ops.MAX, 2))


def test_transposition_runs_in_tiles():
    assert nest_of(param(0, 40, 50).permute((1, 0))).startswith(
        "parallel tiled for i0 in 0..50:\n    simd for i1 in 0..40:"
    )


def test_concatenation_cuts_the_loop():
    text = nest_of(concat([param(0, 20), param(1, 30)], 0))
    assert "for i0 in 0..20" in text
    assert "for i0 in 20..50" in text
    assert "if" not in text


def test_interleaving_cuts_the_inner_loop():
    text = nest_of(stack([param(0, 20), param(1, 20)], 1))
    assert text.count("for i1") == 2
    assert "if" not in text


def test_many_cuts_keep_their_conditions_at_the_ends():
    x = param(0, 100).pad([(20, 20)])
    windows = [x.shrink([(a, a + 120)]) for a in range(0, 20)]
    total = windows[0]
    for window in windows[1:]:
        total = total * window
    text = nest_of(total)
    assert text.count("for i0") == 3
    middle = text.split("for i0")[2]
    assert " if " not in middle


def test_scan_and_scatter():
    assert "scan a0 by add" in nest_of(param(0, 20, 30).scan(Ops.ADD))
    index = UOp.param(2, (5,), dtypes.int64)
    text = nest_of(UOp.new(Ops.SCATTER, (param(0, 20), param(1, 5), index), "add"))
    assert "unless buf0 is buf1" in text
    assert "u1 = wrap(u0, size=20, axis=0)" in text


def test_deep_kernels_need_no_deep_stack():
    x = param(0, 10)
    y = x
    for _ in range(5000):
        y = y * 0.5 + x
    assert nest_of(y).count("\n") == 10002
