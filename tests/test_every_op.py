"""Every op end to end, from a graph to numbers, by NumPy and by compiled C: one record an op.

.ci/run repeats this file without a compiler.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from uopc_core import Buffer, Executable, Ops, UOp, composite, context, dtypes, realize_all
from uopc_core.ir.calls import close
from uopc_core.ir.squares import squares64
from uopc_core.runtime.toolchain import find_toolchain

pytestmark = pytest.mark.every_op

RNG = np.random.default_rng(0)
REAL = RNG.uniform(-3, 3, (3, 5))
OTHER = RNG.uniform(-3, 3, (3, 5))
UNIT = RNG.uniform(-0.9, 0.9, (3, 5))
POSITIVE = RNG.uniform(0.1, 3, (3, 5))
WHOLE = RNG.integers(-9, 9, (3, 5))
NATURAL = RNG.integers(1, 9, (3, 5))
PLANE = REAL + 1j * OTHER
MASK = REAL > 0
PICK = np.array([2, 0, -1, 2])


@dataclass(frozen=True)
class Case:
    """`build` makes the graph from leaves that hold `inputs`; `expected` is the same in NumPy."""

    op: Ops
    inputs: tuple[Any, ...]
    build: Callable[..., UOp]
    expected: Callable[..., Any]
    name: str = ""


def unary(op: Ops, expected: Callable[..., Any], x: Any) -> Case:
    return Case(op, (x,), lambda node: node.unary(op), expected, x.dtype.name)


def binary(op: Ops, expected: Callable[..., Any], x: Any, y: Any) -> Case:
    return Case(op, (x, y), lambda node, other: node.binary(op, other), expected, x.dtype.name)


def _scattered(ufunc: Any) -> Callable[..., Any]:
    def expected(base: Any, value: Any, index: Any) -> Any:
        out = base.copy()
        if ufunc is None:
            out[index] = value
        else:
            ufunc.at(out, index, value)
        return out

    return expected


def scatter(mode: str, ufunc: Any) -> Case:
    inputs = (REAL, RNG.uniform(-3, 3, (4, 5)), PICK)
    return Case(Ops.SCATTER, inputs, lambda *src: UOp.new(Ops.SCATTER, src, mode), _scattered(ufunc), mode)


def reduce(op: Ops, ufunc: Any, x: Any) -> Case:
    return Case(Ops.REDUCE, (x,), lambda node: node.reduce(op, 1), lambda x: ufunc.reduce(x, axis=-1), op.name)


def scan(op: Ops, ufunc: Any) -> Case:
    return Case(Ops.SCAN, (REAL,), lambda node: node.scan(op), lambda x: ufunc.accumulate(x, axis=-1), op.name)


def _random_bits(key: Any) -> Any:
    return squares64(key, np.arange(6, dtype=np.uint64)).reshape(2, 3)


LEAVES = [
    Case(Ops.CONST, (), lambda: UOp.const(2.5, dtypes.float64, (3,)), lambda: np.full(3, 2.5)),
    Case(Ops.BUFFER, (REAL,), lambda node: node, lambda x: x),
    Case(Ops.IOTA, (), lambda: composite.iota((2, 4), 1), lambda: np.arange(8).reshape(2, 4) % 4),
    Case(Ops.RANDOM, (np.uint64(0x9E3779B97F4A7C15),), lambda key: UOp.new(Ops.RANDOM, (key,), (2, 3)), _random_bits),
]
UNARY = [
    unary(Ops.NEG, np.negative, REAL),
    unary(Ops.RECIP, np.reciprocal, POSITIVE),
    unary(Ops.SQRT, np.sqrt, POSITIVE),
    unary(Ops.SQRT, np.sqrt, PLANE),
    unary(Ops.EXP, np.exp, REAL),
    unary(Ops.EXP, np.exp, PLANE),
    unary(Ops.EXP2, np.exp2, REAL),
    unary(Ops.EXPM1, np.expm1, UNIT),
    unary(Ops.LOG, np.log, POSITIVE),
    unary(Ops.LOG, np.log, PLANE),
    unary(Ops.LOG2, np.log2, POSITIVE),
    unary(Ops.LOG10, np.log10, POSITIVE),
    unary(Ops.LOG1P, np.log1p, UNIT),
    unary(Ops.SIN, np.sin, REAL),
    unary(Ops.COS, np.cos, REAL),
    unary(Ops.TAN, np.tan, UNIT),
    unary(Ops.ASIN, np.arcsin, UNIT),
    unary(Ops.ACOS, np.arccos, UNIT),
    unary(Ops.ATAN, np.arctan, REAL),
    unary(Ops.SINH, np.sinh, REAL),
    unary(Ops.COSH, np.cosh, REAL),
    unary(Ops.TANH, np.tanh, REAL),
    unary(Ops.ASINH, np.arcsinh, REAL),
    unary(Ops.ACOSH, np.arccosh, POSITIVE + 1),
    unary(Ops.ATANH, np.arctanh, UNIT),
    unary(Ops.ERF, np.vectorize(math.erf), REAL),
    unary(Ops.ERFC, np.vectorize(math.erfc), REAL),
    unary(Ops.FLOOR, np.floor, REAL),
    unary(Ops.CEIL, np.ceil, REAL),
    unary(Ops.TRUNC, np.trunc, REAL),
    unary(Ops.RINT, np.rint, REAL),
    unary(Ops.ABS, np.abs, REAL),
    unary(Ops.ABS, np.abs, PLANE),
    unary(Ops.SIGN, np.sign, REAL),
    unary(Ops.NOT, np.invert, WHOLE),
    unary(Ops.NOT, np.invert, MASK),
    Case(Ops.CAST, (REAL,), lambda x: x.cast(dtypes.int16), lambda x: x.astype(np.int16)),
    Case(Ops.BITCAST, (REAL,), lambda x: x.bitcast(dtypes.uint64), lambda x: x.view(np.uint64)),
    unary(Ops.REAL, np.real, PLANE),
    unary(Ops.IMAG, np.imag, PLANE),
    unary(Ops.CONJ, np.conj, PLANE),
]
BINARY = [
    binary(Ops.ADD, np.add, REAL, OTHER),
    binary(Ops.ADD, np.add, PLANE, PLANE[::-1]),
    binary(Ops.SUB, np.subtract, REAL, OTHER),
    binary(Ops.MUL, np.multiply, REAL, OTHER),
    binary(Ops.MUL, np.multiply, PLANE, PLANE[::-1]),
    binary(Ops.DIV, np.divide, REAL, OTHER),
    binary(Ops.FLOORDIV, np.floor_divide, WHOLE, WHOLE[::-1]),
    binary(Ops.FLOORDIV, np.floor_divide, REAL, OTHER),
    binary(Ops.FLOORMOD, np.remainder, WHOLE, WHOLE[::-1]),
    binary(Ops.FLOORMOD, np.remainder, REAL, OTHER),
    binary(Ops.MAX, np.maximum, REAL, OTHER),
    binary(Ops.MIN, np.minimum, REAL, OTHER),
    binary(Ops.POW, np.power, POSITIVE, OTHER),
    binary(Ops.POW, np.power, WHOLE, NATURAL),
    binary(Ops.ATAN2, np.arctan2, REAL, OTHER),
    binary(Ops.HYPOT, np.hypot, REAL, OTHER),
    binary(Ops.COPYSIGN, np.copysign, REAL, OTHER),
    binary(Ops.NEXTAFTER, np.nextafter, REAL, OTHER),
    binary(Ops.LOGADDEXP, np.logaddexp, REAL, OTHER),
    binary(Ops.CMPLT, np.less, WHOLE, WHOLE[::-1]),
    binary(Ops.CMPLE, np.less_equal, WHOLE, WHOLE[::-1]),
    binary(Ops.CMPEQ, np.equal, WHOLE, WHOLE[::-1]),
    binary(Ops.CMPNE, np.not_equal, WHOLE, WHOLE[::-1]),
    binary(Ops.AND, np.bitwise_and, WHOLE, WHOLE[::-1]),
    binary(Ops.OR, np.bitwise_or, MASK, MASK[::-1]),
    binary(Ops.XOR, np.bitwise_xor, WHOLE, WHOLE[::-1]),
    binary(Ops.SHL, np.left_shift, WHOLE, NATURAL * 9),
    binary(Ops.SHR, np.right_shift, WHOLE, NATURAL * 9),
    binary(Ops.COMPLEX, lambda x, y: x + 1j * y, REAL, OTHER),
]


def _call(x: UOp, y: UOp) -> UOp:
    """A region with an input that it is not given as one, and one of two results."""
    row = (x + 1).reduce(Ops.ADD, 1)
    results = [x.reduce(Ops.MAX, 2), x * y + row.reshape((x.shape[0], 1)).expand(x.shape)]
    return close(results, [x]).over([x].__getitem__)[1]


WHOLE_TENSORS = [
    Case(Ops.WHERE, (MASK, REAL, OTHER), lambda mask, x, y: mask.where(x, y), np.where),
    Case(Ops.RESHAPE, (REAL,), lambda x: (-x).reshape((5, 3)), lambda x: (-x).reshape(5, 3)),
    Case(Ops.EXPAND, (REAL[:1],), lambda x: (-x).expand((4, 5)), lambda x: np.tile(-x, (4, 1))),
    Case(Ops.PERMUTE, (REAL,), lambda x: (-x).permute((1, 0)), lambda x: -x.T),
    Case(Ops.SHRINK, (REAL,), lambda x: (-x).shrink(((1, 3), (2, 4))), lambda x: -x[1:3, 2:4]),
    Case(Ops.PAD, (REAL,), lambda x: (-x).pad(((1, 0), (0, 2))), lambda x: np.pad(-x, ((1, 0), (0, 2)))),
    Case(Ops.FLIP, (REAL,), lambda x: (-x).flip((0, 1)), lambda x: -x[::-1, ::-1]),
    Case(Ops.CONCAT, (REAL, OTHER), lambda *parts: composite.concat(parts, 1), lambda *parts: np.concatenate(parts, 1)),
    reduce(Ops.ADD, np.add, REAL),
    reduce(Ops.MUL, np.multiply, REAL),
    reduce(Ops.MAX, np.maximum, REAL),
    reduce(Ops.MIN, np.minimum, REAL),
    reduce(Ops.AND, np.bitwise_and, WHOLE),
    reduce(Ops.OR, np.bitwise_or, MASK),
    scan(Ops.ADD, np.add),
    scan(Ops.MUL, np.multiply),
    scan(Ops.MAX, np.maximum),
    scan(Ops.MIN, np.minimum),
    Case(Ops.INDEX, (REAL, PICK), lambda x, i: x.index(i), lambda x, i: x[i]),
    scatter("set", None),
    scatter("add", np.add),
    scatter("mul", np.multiply),
    scatter("max", np.maximum),
    scatter("min", np.minimum),
    Case(Ops.MATERIALIZE, (REAL,), lambda x: (x * 2).materialize() + 1, lambda x: x * 2 + 1),
    Case(Ops.DETACH, (REAL,), lambda x: (x * 2).detach() + 1, lambda x: x * 2 + 1),
    Case(Ops.VARIABLE, (REAL,), lambda x: (x * 2).variable(1) + 1, lambda x: x * 2 + 1),
    Case(Ops.EXTERN, (REAL,), lambda x: UOp.new(Ops.EXTERN, (x,), ("sort", (False, True), 0)), np.sort),
    Case(Ops.CALL, (REAL, OTHER), _call, lambda x, y: x * y + np.sum(x + 1, axis=1, keepdims=True)),
]
CASES = [*LEAVES, *UNARY, *BINARY, *WHOLE_TENSORS]


def leaf(value: Any) -> UOp:
    return UOp.buffer(Buffer.from_numpy(np.asarray(value)))


def build(case: Case) -> UOp:
    return case.build(*map(leaf, case.inputs))


@pytest.fixture(params=["interpret", "compile"])
def tier(request: pytest.FixtureRequest) -> str:
    if request.param == "compile" and find_toolchain() is None:
        pytest.skip("no C compiler here")
    return request.param


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op.name} {case.name}".rstrip())
def test_every_op_computes_what_numpy_computes(case: Case, tier: str) -> None:
    root = build(case)
    assert case.op in {node.op for node in root.walk()}
    with context(tier=tier):
        found = realize_all([root])[0].array
    expected = np.asarray(case.expected(*case.inputs))
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)


def test_an_input_of_a_trace_gets_its_value_at_every_run(tier: str) -> None:
    x, factor = UOp.param(0, (3, 5), dtypes.float64), UOp.param(1, (), dtypes.float64, "scalar")
    program = Executable([x * composite.broadcast_to(factor, x.shape)])
    with context(tier=tier):
        for value in (2.0, -0.5):
            found = program.run([Buffer.from_numpy(REAL), value])[0].array
            np.testing.assert_array_equal(found, REAL * value)


def test_the_cases_cover_every_op() -> None:
    assert {case.op for case in CASES} | {Ops.PARAM} == set(Ops)


def test_what_is_large_or_repeated_is_computed_without_a_compiler_too() -> None:
    x = leaf(np.linspace(0, 1, 1_000_000))
    for _ in range(5):
        np.testing.assert_allclose(realize_all([(x * x + 1.0).reduce(Ops.ADD, 1)])[0].array, 4 / 3 * 1e6, rtol=1e-6)
