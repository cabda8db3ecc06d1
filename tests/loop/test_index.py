"""Index arithmetic against plain integers, and the simplifications that kernels rely on."""

from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import given

from uopc_core.loop.index import ZERO, Cond, Div, Index, Mod, Value, Var, atoms_of, flatten, strides_of, unflatten

VI, VJ, VK = Var("i", 0, 6), Var("j", 0, 4), Var("k", 2, 7)
VARS = (VI, VJ, VK)
i, j, k = map(Index.of, VARS)


def value_of(expr, env):
    """The integer that an expression stands for."""
    total = expr.const
    for atom, coef in expr.terms:
        if isinstance(atom, Div):
            total += coef * (value_of(atom.expr, env) // atom.by)
        elif isinstance(atom, Mod):
            total += coef * (value_of(atom.expr, env) % atom.by)
        else:
            total += coef * env[atom]
    return total


def environments():
    for values in product(*[range(v.lo, v.hi) for v in VARS]):
        yield dict(zip(VARS, values, strict=True))


@st.composite
def expressions(draw):
    """An index and the same computation on plain integers."""
    terms = draw(st.lists(st.tuples(st.sampled_from(VARS), st.integers(-9, 9)), max_size=3))
    const = draw(st.integers(-20, 20))
    expr = Index((), const)
    for var, coef in terms:
        expr = expr + Index.of(var) * coef
    steps = draw(st.lists(st.tuples(st.sampled_from("*/%+"), st.integers(1, 12), st.sampled_from(VARS)), max_size=4))
    for op, n, var in steps:
        if op == "*":
            expr = expr * n
        elif op == "/":
            expr = expr.div(n)
        elif op == "%":
            expr = expr.mod(n)
        else:
            expr = expr + Index.of(var) * n

    def plain(env):
        value = const + sum(coef * env[var] for var, coef in terms)
        for op, n, var in steps:
            value = {"*": value * n, "/": value // n, "%": value % n, "+": value + n * env[var]}[op]
        return value

    return expr, plain


@given(expressions())
def test_simplified_expressions_keep_their_value_and_bounds(case):
    expr, plain = case
    for env in environments():
        value = value_of(expr, env)
        assert value == plain(env), expr
        assert expr.lo <= value <= expr.hi, expr


@given(expressions(), expressions())
def test_sums_and_differences_keep_their_value(a, b):
    total, difference = a[0] + b[0], a[0] - b[0]
    for env in environments():
        assert value_of(total, env) == a[1](env) + b[1](env)
        assert value_of(difference, env) == a[1](env) - b[1](env)


@given(expressions(), st.integers(0, 5), st.integers(1, 3))
def test_substitution_keeps_the_value(case, shift, factor):
    expr, plain = case
    inner = Var("m", 0, 2)
    replaced = expr.substitute({VI: Index.of(inner) * factor + shift})
    for env in environments():
        for m in range(2):
            assert value_of(replaced, env | {inner: m}) == plain(env | {VI: m * factor + shift})


def test_quotients_resolve_by_ranges():
    flat = i * 4 + j
    assert flat.div(4) == i
    assert flat.mod(4) == j
    assert (flat * 5).div(20) == i
    assert (i * 12 + j * 3).mod(12) == j * 3
    assert (i * 8 + j).div(2) == i * 4 + j.div(2)


def test_quotient_and_remainder_join_again():
    flat = i * 4 + j
    assert flat.div(3) * 3 + flat.mod(3) == flat
    assert flat.div(6) * 18 + flat.mod(6) * 3 == flat * 3


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_coordinates_flatten_back(shape, other):
    at = [Index.of(Var(f"x{axis}", 0, n)) for axis, n in enumerate(shape)]
    assert flatten(unflatten(flatten(at, shape), shape), shape) == flatten(at, shape)
    padded = (*other, max(1, flatten(at, shape).hi + 1))
    assert flatten(unflatten(flatten(at, shape), padded), padded) == flatten(at, shape)


def test_a_loop_of_one_turn_is_a_constant():
    assert Index.of(Var("x", 3, 4)) == Index((), 3)
    assert ZERO.is_const


def test_strides_are_row_major():
    assert strides_of((3, 4, 5)) == [20, 5, 1]
    assert strides_of(()) == []


@pytest.mark.parametrize("coef", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize("const", range(-9, 10))
def test_threshold_is_where_the_truth_changes(coef, const):
    cond = Cond(i * coef + const)
    threshold = cond.threshold()
    assert threshold is not None
    var, first = threshold
    assert var == VI
    for value in range(-20, 20):
        assert (coef * value + const >= 0) == ((value >= first) if coef > 0 else (value < first))
    truths = {coef * value + const >= 0 for value in range(VI.lo, VI.hi)}
    assert cond.truth == (truths.pop() if len(truths) == 1 else None)


def test_conditions_on_several_variables_have_no_threshold():
    assert Cond(i - j).threshold() is None
    assert Cond(i.mod(4) - 1).threshold() is None


def test_atoms_inside_of_quotients_are_found():
    value = Value("v0", 9)
    expr = (i * 3 + Index.of(value)).div(2) + j
    assert {VI, VJ, value} <= set(atoms_of(expr))


def test_expressions_print():
    assert repr(i * 4 + j + 1) == "4*i + j + 1"
    assert repr((i * 3 + j).mod(5)) == "(3*i + j)%5"
    assert str(Cond(i + -2)) == "i + -2 >= 0"
