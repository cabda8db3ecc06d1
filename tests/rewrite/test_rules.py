"""Every rule of the tables keeps the value, on random and special values: a new rule is tested by being in a table."""

from collections.abc import Callable
from itertools import count, product

import pytest

from tests.support.leaf_values import bits_of, environment, special_values
from uopc_core.dtype import DTYPES, DType, dtypes
from uopc_core.errors import DTypeError, VerifyError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.op import ELEMENTWISE, Ops
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import UOp, walk
from uopc_core.rewrite.algebra import RULES, simplify
from uopc_core.rewrite.engine import rewrite
from uopc_core.rewrite.pattern import Literal, Node, Pattern, Rule, Variable
from uopc_core.settings import context

SIZE = 2000


class _Unfit(Exception):
    """A pattern that a dtype cannot fill."""


def _leaf_maker() -> Callable[..., UOp]:
    numbers = count()
    return lambda shape, dtype=dtypes.float32: UOp.param(next(numbers), shape, dtype)


def _instances(pattern: Pattern, dtype: DType, constants: list[object], bound: dict[str, UOp]) -> UOp:
    """The pattern over inputs of `dtype` (bool for a condition), and `constants` for the variables of constants."""
    match pattern:
        case Literal(value):
            try:
                return UOp.const(value, dtype, (SIZE,))
            except OverflowError:
                raise _Unfit from None
        case Variable(name, of_constants):
            if name not in bound:
                value = UOp.const(constants[len(bound) % len(constants)], dtype, (SIZE,)) if of_constants else None  # pyright: ignore[reportArgumentType]
                bound[name] = UOp.param(len(bound), (SIZE,), dtype) if value is None else value
            return bound[name]
        case Node(op, sources):
            return _instance_of_node(op, sources, dtype, constants, bound)
        case _:
            raise TypeError(pattern)


def _instance_of_node(
    op: Ops, sources: tuple[Pattern, ...], dtype: DType, constants: list[object], bound: dict[str, UOp]
) -> UOp:
    src = [_instances(p, dtype, constants, bound) for p in sources[1:]]
    first = dtypes.bool if op is Ops.WHERE else dtype
    condition_constants: list[object] = [bool(constants[0])] if op is Ops.WHERE else constants
    src.insert(0, _instances(sources[0], first, condition_constants, bound))
    try:
        return UOp.new(
            op, tuple(src), None, dtypes.float64 if op is Ops.CAST else dtypes.int32 if op is Ops.BITCAST else None
        )
    except DTypeError:
        raise _Unfit from None


def _constant_choices(rule: Rule, dtype: DType) -> list[list[object]]:
    """Values for the variables that stand for constants: all special ones singly, a few in combination."""
    special: list[object] = [v.item() for v in special_values(dtype)]
    powers: list[object] = (
        [0.25, 8.0, -0.5, 2.0**100, 2.0**-130] if dtype.kind == "f" else [-1] if dtype.kind == "i" else []
    )
    single = [[v] for v in [*special, *powers]]
    return (
        [*single, *[[a, b, a] for a, b in product(special[:6], special[:6])]]
        if rule.name.startswith("fold")
        else single
    )


def _graphs(rule: Rule) -> list[UOp]:
    if rule.examples is not None:
        return list(rule.examples(_leaf_maker()))
    graphs: dict[UOp, None] = {}
    for dtype in DTYPES:
        if not rule.where(dtype):
            continue
        for constants in _constant_choices(rule, dtype):
            try:
                graphs[_instances(rule.pattern, dtype, constants, {})] = None
            except _Unfit:
                continue
    return list(graphs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_keeps_the_value(rule: Rule):
    applied = 0
    for graph in _graphs(rule):
        if not rule.admits(graph):
            continue
        new = rule.apply(graph)
        if new is None:
            continue
        applied += 1
        assert (new.shape, new.dtype) == (graph.shape, graph.dtype)
        env = environment([graph])
        before, after = evaluate([graph, new], env)
        assert bits_of(before) == bits_of(after), (graph, graph.src)
    assert applied, "no example of this rule was made"


def test_names_of_rules_are_unique():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_every_elementwise_op_folds_on_constants():
    folded = {rule.pattern.op for rule in RULES if rule.name.startswith("fold-")}
    assert folded == ELEMENTWISE


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.examples is not None], ids=lambda rule: rule.name)
def test_examples_simplify_to_a_fixpoint_of_equal_value(rule: Rule):
    for graph in _graphs(rule):
        (new,) = simplify([graph])
        assert simplify([new]) == [new]
        env = environment([graph])
        before, after = evaluate([graph, new], env)
        assert bits_of(before) == bits_of(after)


# ----------------------------------------------------------------------------------------- what must not be simplified


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda x: x * 0.0, id="inf * 0 is nan"),
        pytest.param(lambda x: x + 0.0, id="-0.0 + 0.0 is 0.0"),
        pytest.param(lambda x: x - -0.0, id="-0.0 - -0.0 is 0.0"),
        pytest.param(lambda x: 0.0 - x, id="0.0 - 0.0 is not -0.0"),
        pytest.param(lambda x: x - x, id="inf - inf is nan"),
        pytest.param(lambda x: x / x, id="nan / nan"),
        pytest.param(lambda x: x.eq(x), id="nan is not nan"),
        pytest.param(lambda x: x <= x, id="nan <= nan is false"),
        pytest.param(lambda x: (x + 1.0) + 2.0, id="no reassociation"),
        pytest.param(lambda x: x / 3.0, id="1/3 is rounded"),
        pytest.param(lambda x: x / 2.0**127, id="the reciprocal is subnormal"),
        pytest.param(lambda x: x**0.5, id="pow(-0.0, 0.5) is 0.0"),
        pytest.param(lambda x: x.cast("int32").cast("float32"), id="the fraction goes"),
        pytest.param(lambda x: x.cast("float64").cast("int8"), id="a float out of range converts by its own dtype"),
        pytest.param(lambda x: x.reduce(Ops.ADD, 1), id="a sum"),
    ],
)
def test_what_is_not_exact_on_floats_stays(make: Callable[[UOp], UOp]):
    graph = make(UOp.param(0, (4,), dtypes.float32))
    assert simplify([graph])[0] is graph


def test_multiplying_complex_by_one_stays():
    graph = UOp.param(0, (4,), dtypes.complex128) * 1
    assert simplify([graph]) == [graph]


def test_a_literal_tells_zero_from_minus_zero():
    x = UOp.param(0, (4,), dtypes.float64)
    assert simplify([x - 0.0, x + -0.0]) == [x, x]


def test_rules_reach_a_fixpoint_through_each_other():
    x = UOp.param(0, (4,), dtypes.float32)
    negated = -(x * 1)
    graph = (-negated).cast("float64").cast("float32") / 1.0
    assert simplify([graph]) == [x]


def test_constants_fold_in_any_shape():
    two = UOp.const(2.0, dtypes.float64, (3, 4))
    assert simplify([(two * 3.0 + 1.0).permute((1, 0))]) == [UOp.const(7.0, dtypes.float64, (4, 3))]


def test_only_named_rules_apply_in_a_table_of_ones_own():
    x = UOp.param(0, (4,), dtypes.float32)
    rules = [rule for rule in RULES if rule.name == "mul-one"]
    assert rewrite([(x * 1) - 0.0], rules) == [x - 0.0]


def test_rule_names_and_the_result_are_traced(capsys: pytest.CaptureFixture[str]):
    x = UOp.param(0, (4,), dtypes.float32)
    with context(debug=2):
        simplify([-(x * 1)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("rewrite mul-one: ")
    assert lines[1:] == ["# rewritten", *to_uir([-x]).splitlines()]


def test_the_result_is_verified_when_asked_for():
    x = UOp.param(93, (4,), dtypes.float32)
    forged = -x
    forged.depth = 0
    with context(verify=True), pytest.raises(VerifyError, match="expected a depth of 1 or more, got 0"):
        simplify([forged])


def test_a_slice_of_one_part_of_a_join_reads_only_that_part():
    parts = [UOp.param(i, (2, 3), dtypes.float32) for i in range(3)]
    joined = UOp.new(Ops.CONCAT, tuple(parts), 0)
    (new,) = simplify([joined.shrink([(2, 4), (0, 3)])])
    assert new is parts[1]
    assert parts[0] not in walk([new])
