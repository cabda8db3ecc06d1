"""Make a failing program small: drop statements, put operands in the place of what is made of them, cut inputs.

Every step must show a failure of the same kind; candidates that NumPy refuses simply do not. Greedy, until nothing
helps or the budget of checks is spent.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tests.fuzz.program import Input, Program

__all__ = ["shrink"]

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, budget: int = 600) -> Program:
    """The smallest program found that still fails."""
    remaining = budget
    progress = True
    while progress and remaining > 0:
        progress = False
        for candidate in _candidates(program):
            remaining -= 1
            if remaining <= 0:
                break
            if _size(candidate) < _size(program) and fails(candidate):
                program, progress = candidate, True
                break
    return program


def _size(program: Program) -> tuple[int, int, int, int]:
    """Inputs and statements first, then nodes of the text, then elements, then how odd the values are."""
    nodes = sum(1 for _ in ast.walk(ast.parse(program.source)))
    elements = sum(int(np.prod(x.shape)) + x.dtype.startswith("complex") for x in program.inputs)
    constants = [n.value for n in ast.walk(ast.parse(program.source)) if isinstance(n, ast.Constant)]
    odd = sum(x.style != "ones" for x in program.inputs) + sum(x.style not in ("ones", "ramp") for x in program.inputs)
    odd += sum(min(int(abs(c)), 1000) + (c < 0) for c in constants if isinstance(c, (int, float)) and np.isfinite(c))
    return (
        len(program.inputs) + len(program.body),
        nodes,
        elements,
        odd + sum((x.dtype != "float64") + (x.layout != "rows") for x in program.inputs),
    )


def _candidates(program: Program) -> Iterator[Program]:
    yield from _fewer_statements(program)
    yield from _smaller_statements(program)
    yield from _simpler_inputs(program)


def _with_body(program: Program, body: list[str]) -> Program:
    names = {n.id for n in ast.walk(ast.parse("\n".join(body))) if isinstance(n, ast.Name)}
    return Program(tuple([x for x in program.inputs if x.name in names]), tuple(body))


def _fewer_statements(program: Program) -> Iterator[Program]:
    body = list(program.body)
    length = len(body) // 2
    while length >= 1:
        for start in range(0, len(body), length):
            yield _with_body(program, body[:start] + body[start + length :])
        length //= 2
    for place, statement in enumerate(body):
        if statement.startswith("for "):
            inner = ast.parse(statement).body[0]
            assert isinstance(inner, ast.For)
            for part in inner.body:
                yield _with_body(program, [*body[:place], ast.unparse(part), *body[place + 1 :]])


def _smaller_statements(program: Program) -> Iterator[Program]:
    for place, statement in enumerate(program.body):
        for smaller in _smaller_texts(statement):
            yield _with_body(program, [*program.body[:place], smaller, *program.body[place + 1 :]])
    for (place, first), (_, second) in pairwise(enumerate(program.body)):
        yield from _merged(program, place, first, second)


def _merged(program: Program, place: int, first: str, second: str) -> Iterator[Program]:
    """`x = y` before another statement: the statement says `y` itself."""
    made = ast.parse(first).body[0]
    if (
        isinstance(made, ast.Assign)
        and isinstance(made.targets[0], ast.Name)
        and second == f"read({made.targets[0].id})"
    ):
        yield _with_body(
            program, [*program.body[:place], f"read({ast.unparse(made.value)})", *program.body[place + 2 :]]
        )


def _smaller_texts(statement: str) -> Iterator[str]:
    """Every way to replace one expression by one of its operands or one literal by a smaller one."""
    count = sum(1 for _ in ast.walk(ast.parse(statement)))
    for index in range(count):
        node = list(ast.walk(ast.parse(statement)))[index]
        for choice in range(len(_replacements(node))):
            tree = ast.parse(statement)
            target = list(ast.walk(tree))[index]
            yield ast.unparse(_Replace(target, _replacements(target)[choice]).visit(tree))


def _replacements(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in (0, 1):
        return [ast.Constant(n) for n in ((0, 1, node.value // 2) if isinstance(node.value, int) else (1.0, 2.0))]
    if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1 and isinstance(node.ctx, ast.Load):
        return [type(node)(node.elts[:k] + node.elts[k + 1 :], ast.Load()) for k in range(len(node.elts))]
    if isinstance(node, ast.Call):
        own = [node.func.value] if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value) else []
        fewer = [
            ast.Call(node.func, node.args, node.keywords[:k] + node.keywords[k + 1 :])
            for k in range(len(node.keywords))
            if node.keywords[k].arg != "stable"  # NumPy would order equal elements otherwise
        ]
        parts = [part for x in node.args for part in (x.elts if isinstance(x, (ast.Tuple, ast.List)) else [x])]
        return [*own, *parts, *fewer]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if (
        isinstance(node, (ast.Subscript, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
        and not _is_module(node.value)
    ):
        return [node.value]
    return []


def _is_module(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ("xp", "np")) or (
        isinstance(node, ast.Attribute) and _is_module(node.value)
    )


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, replacement: ast.expr) -> None:
        self._target, self._replacement = target, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        return self._replacement if node is self._target else self.generic_visit(node)


def _simpler_inputs(program: Program) -> Iterator[Program]:
    for place, x in enumerate(program.inputs):
        if x.number:
            continue
        for simpler in (*_shorter(x), *_plainer(x)):
            yield Program((*program.inputs[:place], simpler, *program.inputs[place + 1 :]), program.body)
    yield from _shorter_together(program)


def _plainer(x: Input) -> list[Input]:
    return (
        [replace(x, layout="rows")] * (x.layout != "rows")
        + [replace(x, style=style) for style in ("ones", "ramp")]
        + ([replace(x, dtype="float64", style="ramp")] if x.dtype != "float64" else [])
    )


def _shorter(x: Input) -> list[Input]:
    without = [replace(x, shape=x.shape[:axis] + x.shape[axis + 1 :]) for axis in range(len(x.shape))]
    return without + [
        replace(x, shape=(*x.shape[:axis], n, *x.shape[axis + 1 :]))
        for axis, extent in enumerate(x.shape)
        for n in _lower(extent)
    ]


def _lower(extent: int) -> list[int]:
    return [n for n in dict.fromkeys((1, 2, 3, extent // 2, extent - 1)) if 0 < n < extent]


def _shorter_together(program: Program) -> Iterator[Program]:
    """One extent made smaller wherever it occurs."""
    for extent in sorted({n for x in program.inputs for n in x.shape}, reverse=True):
        for n in _lower(extent):
            yield Program(
                tuple([replace(x, shape=tuple([n if m == extent else m for m in x.shape])) for x in program.inputs]),
                program.body,
            )
