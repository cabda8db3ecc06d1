"""The C text: the same for many shapes, right for every nesting of operators, every literal, every position."""

import math
import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.support.graphs import heat_step, layer_norm, softmax
from tests.support.kernel_runs import bits, call_of, check, execute, has_libmvec, param, render_one, run
from uopc_core.codegen import c_source
from uopc_core.codegen.c_math import COMPLEX_MATH, OWN_MATH, REAL_MATH
from uopc_core.codegen.c_ops import C_OPS
from uopc_core.codegen.c_source import Renderer, render
from uopc_core.codegen.c_types import literal
from uopc_core.dtype import dtypes
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.composite import broadcast_to, concat, reduce_axes, slice_axes, stack
from uopc_core.ir.op import COMPLEX_FUNCTIONS, ELEMENTWISE, MATH_FUNCTIONS, Ops
from uopc_core.ir.uop import UOp
from uopc_core.loop.fuse import fuse_rows, lower_group, needed_outside
from uopc_core.loop.loop_ir import print_block
from uopc_core.schedule.kernel import KernelCall
from uopc_core.schedule.plan import make_plan

GOLDEN = Path(__file__).parent / "golden"


def test_every_elementwise_op_has_c():
    assert ELEMENTWISE == set(C_OPS) | set(REAL_MATH)
    assert set(COMPLEX_MATH) == COMPLEX_FUNCTIONS
    assert set(REAL_MATH) == MATH_FUNCTIONS


# ----------------------------------------------------------------------------------------------------- nested operators

INTEGER_OPS = [
    Ops.ADD,
    Ops.SUB,
    Ops.MUL,
    Ops.FLOORDIV,
    Ops.FLOORMOD,
    Ops.MAX,
    Ops.MIN,
    Ops.AND,
    Ops.OR,
    Ops.XOR,
    Ops.SHL,
    Ops.SHR,
]
INTEGER_UNARY = [Ops.NEG, Ops.NOT, Ops.ABS, Ops.SIGN]


def nested(x, y, z):
    """Every op of two operands inside every other one, on either side, and inside every op of one operand."""
    outputs = []
    for inner in INTEGER_OPS:
        value = x.binary(inner, y)
        outputs += [value.binary(outer, z) for outer in INTEGER_OPS]
        outputs += [z.binary(outer, value) for outer in INTEGER_OPS]
        outputs += [value.unary(outer) for outer in INTEGER_UNARY]
    for inner in INTEGER_UNARY:
        outputs += [x.unary(inner).binary(outer, y) for outer in INTEGER_OPS]
        outputs += [y.binary(outer, x.unary(inner)) for outer in INTEGER_OPS]
        outputs += [x.unary(inner).unary(outer) for outer in INTEGER_UNARY]
    compared = [x < y, x <= y, x.eq(y), x.ne(y)]
    outputs += [c.where(x, z) + (z < x).where(y, z) for c in compared]
    outputs += [(a & b | ~a).cast(x.dtype) for a in compared for b in compared]
    return outputs


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.uint8, dtypes.int64], ids=str)
def test_every_pair_of_nested_operators(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    arrays = [rng.integers(max(info.min, -40), 40, 60).astype(dtype) for _ in range(3)]
    outputs = nested(*[param(i, a) for i, a in enumerate(arrays)])
    for start in range(0, len(outputs), 60):
        check(outputs[start : start + 60], arrays)


@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.int64], ids=str)
def test_negative_literals_inside_of_operators(dtype):
    x = np.arange(-5, 6).astype(dtype)
    p = param(0, x)
    check(
        [
            -(p - (-3)),
            (-3) - p,
            p * (-2) - (-1),
            -UOp.const(-5, dtype, p.shape) - p,
            p - UOp.const(-1, dtype, p.shape).unary(Ops.NEG),
        ],
        [x],
    )


FLOAT_LITERALS = [
    0.0,
    -0.0,
    0.1,
    -1 / 3,
    math.pi,
    1e308,
    5e-324,
    -5e-324,
    2.0**-1022,
    math.inf,
    -math.inf,
    math.nan,
    1e22,
    123456789.0,
]


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128], ids=str)
def test_float_literals_are_exact(dtype):
    values = [
        v for v in FLOAT_LITERALS if dtype.itemsize > 8 or dtype is dtypes.float64 or not (1e38 < abs(v) < math.inf)
    ]
    if dtype.kind == "c":
        values = [complex(a, b) for a, b in zip(values, values[::-1], strict=True)]
    outputs = [UOp.const(v, dtype, (1,)) for v in values]
    for got, value in zip(run(outputs), values, strict=True):
        assert bits(got) == bits(np.array([value], dtype)), literal(value, dtype)


@pytest.mark.parametrize(
    "dtype", [d for d in vars(dtypes).values() if isinstance(d, np.dtype) and d.kind in "iu"], ids=str
)
def test_integer_literals_are_exact(dtype):
    info = np.iinfo(dtype)
    values = [info.min, info.min + 1, 0, 1, info.max - 1, info.max]
    for got, value in zip(run([UOp.const(v, dtype, (1,)) for v in values]), values, strict=True):
        assert got[0] == value


# ----------------------------------------------------------------------------------------------- position of an element


@pytest.mark.parametrize("op", [op for op in sorted(REAL_MATH) if REAL_MATH[op].arity == 1])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
def test_result_does_not_depend_on_position(op, dtype):
    x = (np.random.default_rng(0).random(40) * 1.8 + 0.1 - (1 if op in (Ops.ERF, Ops.TANH, Ops.SIN) else 0)).astype(
        dtype
    )
    if op in (Ops.ASIN, Ops.ACOS, Ops.ATANH):
        x = (x / 2.5).astype(dtype)
    if op is Ops.ACOSH:
        x += 1
    whole = run([param(0, x).unary(op)], [x])[0]
    source = render_one([param(0, x).unary(op)])
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 31, 33, 39):
        part = np.array(x[40 - n :])
        out = np.empty_like(part)
        assert execute(_with_extent(source, n), {0: out, 100: part}) is None
        assert bits(out) == bits(whole[40 - n :])
    for pieces in (2, 7, 40):
        assert bits(run([param(0, x).unary(op)], [x], pieces)[0]) == bits(whole)


@pytest.mark.parametrize("op", [Ops.EXP, Ops.LOG, Ops.SIN])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
def test_result_does_not_depend_on_the_kind_of_kernel(op, dtype):
    x = (np.random.default_rng(0).random(40) * 1.8 + 0.1).astype(dtype)
    whole = run([param(0, x).unary(op)], [x])[0]
    one = np.array(x[17])
    assert bits(run([param(0, one).unary(op)], [one])[0]) == bits(whole[17])
    strided = np.repeat(x, 2)
    every_other = slice_axes(param(0, strided), [slice(None, None, 2)])
    assert bits(run([every_other.unary(op)], [strided])[0]) == bits(whole)
    rows = np.stack([x, x[::-1]])
    column = param(0, rows).permute((1, 0)).unary(op).permute((1, 0))
    assert bits(run([column], [rows])[0][0]) == bits(whole)
    assert bits(run([param(0, x).unary(op).reduce(Ops.MAX, 1)], [x])[0]) == bits(np.array(whole.max()))
    assert bits(run([param(0, x).unary(op).scan(Ops.MAX)], [x])[0]) == bits(np.maximum.accumulate(whole))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128], ids=str)
def test_no_product_is_fused_into_a_sum(dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((2, 33)) + (1j * rng.standard_normal((2, 33)) if dtype.kind == "c" else 0)).astype(
        dtype
    )
    p, q = param(0, x), param(1, y)
    product = p * q
    zeros = [product - p * q, stack([product - p * q, product + -(p * q)], 1)]
    for root in (stack([p * q - q, p * q + q], 1), stack([p * q + q, p * q - q], 1)):
        if dtype.kind == "f":
            check([root], [x, y])
    for root in zeros:
        assert not run([root], [x, y])[0].any()
    if dtype.kind == "c":
        a, b = x.astype(dtype), y.astype(dtype)
        re, im = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
        got = run([product], [x, y])[0]
        assert bits(np.real(got).copy()) == bits(re)
        assert bits(np.imag(got).copy()) == bits(im)


def _with_extent(source, n):
    assert source.dims == ()
    return type(source)(**{name: getattr(source, name) for name in source.__slots__} | {"extent": n})


def test_no_scalar_function_takes_the_place_of_a_vector_one():
    if not has_libmvec():
        pytest.skip("no vector functions here")
    x = np.ones(100, np.float32)
    libms = [op for op in sorted(REAL_MATH) if REAL_MATH[op].arity == 1 and (op, dtypes.float32) not in OWN_MATH]
    texts = {op: render_one([param(0, x).unary(op)]).text.split("typedef union")[0] for op in libms}
    functions = [f"{REAL_MATH[op].name}f" for op in libms]
    unique = "\n".join(dict.fromkeys("\n".join(texts.values()).split("\n")[:2])) + "\n"
    bodies = {op: text.split("\n", 2)[2] for op, text in texts.items()}
    exported = "".join(f"void keep_{f}(float *y, const float *x, int64_t n) {{ {f}_v(y, x, n); }}\n" for f in functions)
    command = [
        "gcc",
        "-std=gnu99",
        "-O3",
        "-march=native",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fopenmp-simd",
        "-w",
        "-S",
        "-x",
        "c",
        "-",
        "-o",
        "-",
    ]
    assembly = subprocess.run(
        command, input=unique + "".join(bodies.values()) + exported, capture_output=True, text=True, check=True
    ).stdout
    called = {
        line.split()[1].split("@")[0]
        for line in assembly.splitlines()
        if line.strip().startswith(("call", "jmp")) and "." not in line
    }
    vector = {name for name in called if name.startswith("_ZGV")}
    assert len(vector) == len(bodies)
    assert len({name[:6] for name in vector}) == 1, "all of one width"
    assert not called & set(functions)


# ---------------------------------------------------------------------------------------------- one source, many shapes


def sources_of(make, shapes):
    texts = set()
    for shape in shapes:
        texts.add(render_one(make(shape)).text)
    return len(texts)


SHAPES = [(int(a), int(b)) for a, b in np.random.default_rng(0).integers(17, 3000, (50, 2))] + [(64, 64), (100, 100)]


def _p(i, *shape):
    return UOp.param(i, shape, dtypes.float32)


EXPRESSIONS = {
    "elementwise": lambda s: [_p(0, *s) * _p(1, *s) + 1.0],
    "rows": lambda s: [_p(0, *s) + broadcast_to(_p(1, s[1]), s)],
    "columns": lambda s: [_p(0, *s) + broadcast_to(_p(1, s[0], 1), s)],
    "outer": lambda s: [broadcast_to(_p(0, s[0], 1), s) * broadcast_to(_p(1, s[1]), s)],
    "transposed": lambda s: [_p(0, *s).permute((1, 0)) * 2.0],
    "functions": lambda s: [_p(0, *s).unary(Ops.EXP).unary(Ops.SIN)],
    "row sums": lambda s: [_p(0, *s).reduce(Ops.ADD, 1)],
    "column sums": lambda s: [reduce_axes(_p(0, *s), Ops.ADD, [0])],
    "full sum": lambda s: [_p(0, *s).reduce(Ops.ADD, 2)],
    "row maxima": lambda s: [_p(0, *s).unary(Ops.EXP).reduce(Ops.MAX, 1)],
    "scan": lambda s: [_p(0, *s).scan(Ops.ADD)],
    "stencil": lambda s: [heat_step(_p(0, *s))],
    "flip": lambda s: [_p(0, *s).flip([0, 1])],
    "stack": lambda s: [stack([_p(0, *s), _p(1, *s)], 0)],
    "concat": lambda s: [concat([_p(0, *s), _p(1, *s)], 1)],
    "strided": lambda s: [slice_axes(_p(0, *s), [slice(None, None, 2), slice(1, None, 3)])],
    "reshape": lambda s: [_p(0, *s).reshape((s[1], s[0])).permute((1, 0)).reshape((s[0] * s[1],))],
    "gather": lambda s: [_p(0, *s).index(UOp.param(1, (50,), dtypes.int64))],
    "distances": lambda s: [
        ((broadcast_to(_p(0, s[0], 1, 3), (*s, 3)) - broadcast_to(_p(1, 1, s[1], 3), (*s, 3))) * 2.0).reduce(Ops.ADD, 1)
    ],
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_shapes_share_their_source(name):
    assert sources_of(EXPRESSIONS[name], SHAPES) <= 3


def test_statements_that_are_repeated_are_rendered_once(monkeypatch):
    """And each is what it would be by itself: other slots, other scalars, other outputs that are read."""
    x, y = UOp.param(0, (1000,), dtypes.float64), UOp.param(1, (1000,), dtypes.float64)
    roots = []
    for k in range(60):
        x, y = ((x + y) * (0.5 + k)).materialize(), (x - y).materialize()
        roots += [y] * (k % 3 == 0)
    plan, _ = make_plan([x, *roots])
    calls = [step for step in plan.steps if isinstance(step, KernelCall)]
    groups = [(group, needed_outside(group, plan.needed, readers_of(calls))) for group in fuse_rows(calls, plan.needed)]
    alone = [render(group, needed, has_libmvec()) for group, needed in groups]
    lowered = []
    monkeypatch.setattr(c_source, "lower_group", lambda *given: lowered.append(given) or lower_group(*given))
    renderer = Renderer(has_libmvec())
    assert [renderer.render(group, needed) for group, needed in groups] == alone
    assert len(lowered) < len(groups) / 2


def readers_of(calls):
    return Counter(slot for call in calls for slot in set(call.reads))


# ----------------------------------------------------------------------------------------------------------- fused rows


def fused_sources(root):
    plan, _ = make_plan([root])
    calls = [step for step in plan.steps if isinstance(step, KernelCall)]
    return [(group, render(group, plan.needed, has_libmvec())) for group in fuse_rows(calls, plan.needed)], plan


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_accumulators_are_written_out_vector_by_vector_in_short_loops_alone(dtype):
    """Else GCC has them in memory, where each addition waits for the one before."""
    x, y = UOp.param(0, (40, 1000), dtype), UOp.param(1, (40, 1000), dtype)
    copies = 32 * dtype.itemsize // 64
    for terms, written_out in ((1, True), (30, False)):
        value = x * y
        for k in range(terms):
            value = value * (x - y * (0.3 + k))
        ((_, source),), _ = fused_sources(value.reduce(Ops.ADD, 1))
        assert (f"#pragma GCC unroll {copies}" in source.text) is written_out


def rows_times_vector(rows, columns):
    matrix, vector = UOp.param(0, (rows, columns), dtypes.float64), UOp.param(1, (columns,), dtypes.float64)
    ((_, source),), _ = fused_sources(
        (matrix * vector.reshape((1, columns)).expand((rows, columns))).reduce(Ops.ADD, 1)
    )
    return source


def test_only_long_rows_of_much_memory_beside_a_vector_are_fetched_ahead():
    sources = [rows_times_vector(*shape) for shape in ((4000, 5000), (40, 5000), (20000, 1000))]
    assert len({source.text for source in sources}) == 1  # no other object is compiled for it
    (flag,) = map(int, re.findall(r"if \(n\[(\d+)\]\) ahead_f64\(", sources[0].text))
    assert [source.dims[flag] for source in sources] == [1, 0, 0]
    ((_, alone),), _ = fused_sources(UOp.param(0, (4000, 5000), dtypes.float64).reduce(Ops.ADD, 1))
    assert "ahead" not in alone.text


@pytest.mark.parametrize("make", [softmax, layer_norm])
@pytest.mark.parametrize("shape", [(40, 1000), (17, 20), (100, 1)])
def test_kernels_that_share_rows_run_as_one(make, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    p = UOp.param(0, shape, dtypes.float32)
    sources, plan = fused_sources(make(p))
    assert len(sources) == 1
    group, source = sources[0]
    out = np.empty(shape, np.float32)
    memory = {plan.outputs[0][0]: out, 0: x}
    status = execute(source, memory, _scalars_of(make, shape), pieces=3)
    assert status is None
    (want,) = evaluate([make(p)], {p: x})
    np.testing.assert_allclose(out, want, rtol=2e-5, atol=1e-6)
    assert len(group) == len(plan.steps)


def _scalars_of(make, shape):
    return [] if make is softmax else [np.float32(1 / shape[1]), np.float32(1 / shape[1]), np.float32(1e-5)]


def test_few_long_rows_keep_their_threads():
    sources, _ = fused_sources(softmax(UOp.param(0, (2, 500000), dtypes.float32)))
    assert len(sources) > 1


def test_softmax_reads_as_in_the_golden_file(request):
    sources, plan = fused_sources(softmax(UOp.param(0, (4096, 1024), dtypes.float32)))
    group, _ = sources[0]
    nest = print_block(lower_group(group, plan.needed).body)
    text = f"/*\n{nest}\n*/\n{render(group, plan.needed, True).text}"
    path = GOLDEN / "softmax.c"
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text()


def test_long_functions_have_a_line_for_each_statement():
    x = np.ones(3, np.complex128)
    text = render_one([param(0, x) / param(1, x)]).text
    division = text[text.index(" div_c128(") :].split("\n}\n")[0].splitlines()[1:]
    assert len(division) == 9
    assert all(line.endswith(("{", ";", "}")) for line in division)
    assert max(map(len, division)) < 120


def test_call_of_numbers_its_slots():
    x = np.zeros(3)
    assert call_of([param(1, x) + param(0, x)]).inputs == (100, 101)
