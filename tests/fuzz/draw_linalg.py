"""Products and linear algebra: dot, matmul, einsum with letters that repeat, solve, factorizations, norms."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Drawer, Node, Production, Refused

__all__ = ["PRODUCTIONS", "scalar_product"]

LINEAR = "fc"
MOST_PRODUCTS = 300_000


def _apply(d: Drawer, template: str, *operands: Node) -> Node:
    """Of finite numbers: what becomes of infinities depends on the order of products and sums."""
    if not all(np.isfinite(x.value).all() for x in operands):
        raise Refused
    return d.apply(template, *operands)


def _limit(d: Drawer, rows: int, columns: int) -> None:
    """Refuse what would be thrown away for its size after it was computed."""
    if rows * columns > d.options.largest:
        raise Refused


def _vector(d: Drawer, n: int | None = None, kinds: str = LINEAR) -> Node:
    """A vector, of `n` elements where that matters."""
    if n is None:
        return d.operand(kinds, (1, 1))
    try:
        return d.operand(kinds, (1, 1), where=lambda x: x.shape == (n,))
    except Refused:
        return d.new_input((n,), kinds)


def _matrix(d: Drawer, rows: int | None = None, columns: int | None = None, kinds: str = LINEAR) -> Node:
    def fits(x: Node) -> bool:
        return rows in (None, x.shape[-2]) and columns in (None, x.shape[-1])

    try:
        return d.operand(kinds, (2, 2), where=fits)
    except Refused:
        return d.new_input((rows or d.integer(1, 5), columns or d.integer(1, 5)), kinds)


def scalar_product(d: Drawer) -> Node:
    x = _vector(d)
    y = _vector(d, x.shape[0]) if d.chance(0.7) else x
    form = d.choice(
        "xp.dot({0}, {1})",
        "({0} @ {1})",
        "xp.sum({0} * {1})",
        "xp.vdot({0}, {1})",
        "xp.einsum('i,i->', {0}, {1})",
        "xp.inner({0}, {1})",
    )
    return _apply(d, form, x, y)


def _product(d: Drawer) -> Node:
    a = _matrix(d)
    roll = d.rng.random()
    if roll < 0.4:
        return _apply(d, d.choice("({0} @ {1})", "xp.dot({0}, {1})", "xp.matmul({0}, {1})"), a, _vector(d, a.shape[1]))
    if roll < 0.6:
        return _apply(d, d.choice("({1} @ {0})", "xp.dot({1}, {0})"), a, _vector(d, a.shape[0]))
    if roll < 0.7:
        _limit(d, max(a.shape), max(a.shape))
        return _apply(d, d.choice("({0} @ {0}.T)", "({0}.T @ {0})"), a)
    return _apply(d, d.choice("({0} @ {1})", "xp.dot({0}, {1})", "xp.matmul({0}, {1})"), a, _matrix(d, rows=a.shape[1]))


def _batched(d: Drawer) -> Node:
    x = d.operand(LINEAR, (3, 4))
    y = d.new_input((x.shape[-1], d.integer(1, 4)), "f")
    return _apply(
        d,
        d.choice(
            "({0} @ {1})", "({0} @ xp.matrix_transpose({0}))", "xp.vecdot({0}, {0})", "xp.tensordot({0}, {1}, axes=1)"
        ),
        x,
        y,
    )


def _integer_product(d: Drawer) -> Node:
    a = _matrix(d, kinds="iu")
    _limit(d, max(a.shape), max(a.shape))
    return _apply(
        d,
        d.choice(
            "({0} @ {0}.T)", "xp.dot({0}.T, {0})", "xp.einsum('ij,ij->i', {0}, {0})", "xp.tensordot({0}, {0}, axes=2)"
        ),
        a,
    )


def _outer(d: Drawer) -> Node:
    x = d.operand("fciu", (1, 1))
    y = d.operand(x.kind, (1, 1))
    _limit(d, x.shape[0], y.shape[0])
    forms = ("xp.outer({0}, {1})", "({0}[:, None] * {1})", "xp.kron({0}, {1})", "({0}[:, None] - {1}[None, :])")
    return _apply(d, d.choice(*forms), x, y)


def _einsum(d: Drawer) -> Node:
    """Any specification: letters that repeat inside a term and between terms, sums over some, results in any order."""
    letters: dict[str, int] = {}
    terms: list[str] = []
    operands: list[Node] = []
    for _ in range(d.choice(1, 2, 2, 2, 3)):
        x = d.operand(LINEAR, (1, 3))
        term = ""
        for n in x.shape:
            known = [letter for letter, extent in letters.items() if extent == n]
            fresh = "ijklmn"[len(letters)] if len(letters) < 6 else ""
            choices = [*known, *([fresh] if fresh else [])]
            if not choices:
                raise Refused
            letter = d.choice(*choices)
            letters[letter] = n
            term += letter
        terms.append(term)
        operands.append(x)
    if np.prod([max(n, 1) for n in letters.values()], dtype=float) > MOST_PRODUCTS:
        raise Refused  # NumPy's loop goes over all of them, or makes an array of them though one extent is 0
    kept = [letter for letter in letters if d.chance(0.4)]
    d.rng.shuffle(kept)
    places = ", ".join([f"{{{k}}}" for k in range(len(operands))])
    optimize = d.choice("", "", ", optimize=True", ", optimize=False")
    return _apply(d, f"xp.einsum('{','.join(terms)}->{''.join(kept)}', {places}{optimize})", *operands)


def _quadratic_form(d: Drawer) -> Node:
    x = _vector(d)
    a = _matrix(d, x.shape[0], x.shape[0])
    return _apply(
        d,
        d.choice(
            "xp.einsum('i,ij,j->', {0}, {1}, {0})",
            "({0} @ {1} @ {0})",
            "xp.dot({0}, xp.dot({1}, {0}))",
            "xp.sum({0} * ({1} @ {0}))",
        ),
        x,
        a,
    )


def _definite(d: Drawer) -> Node:
    """A symmetric positive definite matrix."""
    a = _matrix(d, kinds="f")
    if max(a.shape) > 40:
        raise Refused
    return _apply(d, f"({{0}} @ {{0}}.T + {a.shape[0] + 1} * xp.eye({a.shape[0]}, dtype={{0}}.dtype))", a)


def _solved(d: Drawer) -> Node:
    m = _definite(d)
    n = m.shape[0]
    if d.chance(0.6):
        right = _vector(d, n, "f") if d.chance(0.6) else _matrix(d, rows=n, kinds="f")
        return _apply(d, "xp.linalg.solve({0}, {1})", m, right)
    return _apply(d, f"xp.linalg.{d.choice('cholesky', 'inv', 'det', 'eigvalsh')}({{0}})", m)


def _norm(d: Drawer) -> Node:
    x = d.operand("fc", (1, 3))
    axis = d.axis(x)
    return _apply(
        d,
        d.choice(
            "xp.linalg.vector_norm({0})",
            f"xp.linalg.vector_norm({{0}}, axis={axis})",
            f"xp.linalg.vector_norm({{0}}, axis={axis}, ord=1)",
            "np.linalg.norm({0})",
        ),
        x,
    )


def _convolved(d: Drawer) -> Node:
    x, y = d.operand("f", (1, 1)), d.operand("f", (1, 1), where=lambda v: 0 < v.shape[0] < 10)
    return _apply(
        d, f"xp.{d.choice('convolve', 'correlate')}({{0}}, {{1}}, mode='{d.choice('full', 'same', 'valid')}')", x, y
    )


PRODUCTIONS = (
    Production("linalg", 1.5, scalar_product, smooth=True),
    Production("linalg", 1.5, _product, smooth=True),
    Production("linalg", 0.5, _batched, smooth=True),
    Production("linalg", 0.4, _integer_product),
    Production("linalg", 0.6, _outer, smooth=True),
    Production("einsum", 1.5, _einsum, smooth=True),
    Production("einsum", 0.5, _quadratic_form, smooth=True),
    Production("linalg", 0.5, _solved, smooth=True),
    Production("linalg", 0.5, _norm, smooth=True),
    Production("linalg", 0.3, _convolved, smooth=True),
)
