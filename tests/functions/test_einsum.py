"""einsum against NumPy's, over specifications drawn at random: letters repeated within and across operands."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uopc_array as xp
from uopc_core import context

LETTERS = "ijkl"
OPTIMIZE: tuple[Any, ...] = (False, True, "auto", "greedy", "optimal", ("greedy", 50), "path")


@st.composite
def equations(draw: st.DrawFn) -> tuple[str, list[np.ndarray[Any, Any]]]:
    """A specification and operands of small whole numbers, so that every order of products gives the same bits."""
    extents = {a: draw(st.sampled_from([2, 3, 2, 3, 1, 0])) for a in LETTERS}
    terms = [draw(st.text(LETTERS, max_size=3)) for _ in range(draw(st.integers(1, 4)))]
    dots = [draw(st.booleans()) for _ in terms] if draw(st.booleans()) else [False] * len(terms)
    operands: list[np.ndarray[Any, Any]] = []
    for term, has_dots in zip(terms, dots, strict=True):
        own = {a: draw(st.sampled_from([extents[a]] * 7 + [1])) for a in dict.fromkeys(term)}
        further = draw(st.sampled_from([(), (2,), (1,)])) if has_dots else ()
        shape = (*[own[a] for a in term[:1]], *further, *[own[a] for a in term[1:]])
        random = np.random.default_rng(draw(st.integers(0, 99)))
        operands.append(random.integers(-4, 5, shape).astype(draw(st.sampled_from(["float64", "float64", "int32"]))))
    spec = ",".join(term[:1] + "..." * has + term[1:] for term, has in zip(terms, dots, strict=True))
    if draw(st.booleans()):
        used = draw(st.permutations(sorted(set("".join(terms)))))
        spec += "->" + "..." * any(dots) + "".join(used[: draw(st.integers(0, len(used)))])
    return spec, operands


def in_lists(spec: str, operands: list[Any]) -> list[Any]:
    """The same call in NumPy's other form, with axis numbers."""
    terms, arrow, output = spec.partition("->")
    lists = [[Ellipsis if c == "E" else LETTERS.index(c) for c in t.replace("...", "E")] for t in terms.split(",")]
    out = [Ellipsis if c == "E" else LETTERS.index(c) for c in output.replace("...", "E")]
    return [x for pair in zip(operands, lists, strict=True) for x in pair] + ([out] if arrow else [])


def method_of(optimize: Any, spec: str, operands: list[Any]) -> Any:
    return np.einsum_path(spec, *operands, optimize="greedy")[0] if optimize == "path" else optimize


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@given(equations(), st.sampled_from(OPTIMIZE), st.booleans())
def test_values_are_numpys(tier, equation, optimize, lists):
    spec, operands = equation
    want = np.einsum(spec, *operands)
    ours = [xp.asarray(x) for x in operands]
    how = method_of(optimize, spec, operands)
    call = in_lists(spec, ours) if lists else [spec, *ours]
    with context(tier=tier):
        for got in (xp.einsum(*call, optimize=how), np.einsum(*call, optimize=how)):
            assert isinstance(got, xp.Array)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_array_equal(np.asarray(got), want)


@given(equations(), st.sampled_from(OPTIMIZE), st.data())
def test_gradients_are_those_of_a_multilinear_function(equation, optimize, data):
    """The derivative with respect to one operand along d is the value with d in its place."""
    spec, operands = equation
    operands = [x.astype("float64") for x in operands]
    how = method_of(optimize, spec, operands)
    place = data.draw(st.integers(0, len(operands) - 1))
    along = [*operands[:place], operands[place] * 0.5 + 1, *operands[place + 1 :]]

    def f(x):
        return xp.sum(xp.einsum(spec, *operands[:place], x, *operands[place + 1 :], optimize=how))

    want = np.sum(np.einsum(spec, *along))
    x, d = xp.asarray(operands[place]), xp.asarray(along[place])
    for gradient in (xp.grad(f)(x), xp.jit(xp.grad(f))(x)):
        assert float(xp.sum(gradient * d)) == want
    assert float(xp.jvp(f, (x,), (d,))[1]) == want


@given(st.text("ij", min_size=2, max_size=2), st.sampled_from([(2, 1), (1, 2), (2, 3), (0, 1), (2, 2)]))
def test_a_letter_twice_in_one_operand_wants_one_extent(term, shape):
    if term[0] == term[1] and shape[0] != shape[1]:
        for call in (np.einsum, xp.einsum):
            with pytest.raises(ValueError, match=r"."):
                call(term, np.ones(shape))
    else:
        np.testing.assert_array_equal(np.asarray(xp.einsum(term, np.ones(shape))), np.einsum(term, np.ones(shape)))


def test_paths_lead_from_one_library_to_the_other():
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2))
    path, report = xp.einsum_path("ij,jk,kl", a, b, c)
    assert path[0] == "einsum_path"
    assert "FLOP" in str(report)
    want = np.einsum("ij,jk,kl", a, b, c)
    for way in (path, path[1:], tuple(path)):
        np.testing.assert_array_equal(np.asarray(xp.einsum("ij,jk,kl", a, b, c, optimize=way)), want)
    np.testing.assert_array_equal(np.einsum("ij,jk,kl", a, b, c, optimize=path), want)
    assert xp.einsum_path("ij,jk,kl", a, b, c, optimize=path)[0] == path


@pytest.mark.parametrize("path", [[(0, 3), (0, 1)], [(0, 1)], [(0, 0), (0, 1)], [(), (0, 1, 2)], [(0, 1, 2), (0, 1)]])
def test_a_path_that_does_not_fit_is_refused(path):
    with pytest.raises(ValueError, match="einsum: "):
        xp.einsum("i,i,i", xp.ones(2), xp.ones(2), xp.ones(2), optimize=path)


@pytest.mark.parametrize("optimize", [("greedy", 1, 2), ["greedy"], [1, 2]])
def test_what_is_no_way_to_optimize_is_refused(optimize):
    with pytest.raises(TypeError, match="einsum: expected optimize"):
        xp.einsum("i,i,i", xp.ones(2), xp.ones(2), xp.ones(2), optimize=optimize)
