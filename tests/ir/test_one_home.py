"""What the graph is made with is stated once: no other code rebuilds nodes, calls host functions, or tells ops by their
order.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
FILES = [path for package in ("uopc_core", "uopc_array") for path in sorted((ROOT / package).rglob("*.py"))]

# who makes a node of another's op: `UOp.over`; batching, with another argument; the verifier, which wants the same node
MAKERS = {"uopc_core/ir/uop.py", "uopc_core/transform/vmap.py", "uopc_core/ir/verify.py"}


@cache
def _nodes() -> list[tuple[str, ast.Call | ast.Compare]]:
    return [
        (path.relative_to(ROOT).as_posix(), node)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call | ast.Compare)
    ]


def _first_arguments() -> Iterator[tuple[str, int, str]]:
    """What `UOp.new` is given first, as it is written, with file and line."""
    for path, node in _nodes():
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == "UOp.new":
            yield path, node.lineno, ast.unparse(node.args[0])


def _of(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "Ops"


def test_a_node_is_rebuilt_by_over():
    found = {name: line for name, line, op in _first_arguments() if op.endswith(".op")}
    assert found.keys() <= MAKERS, found


def test_a_host_function_is_called_in_one_place():
    found = {(name, line) for name, line, op in _first_arguments() if op.endswith("EXTERN")}
    assert {name for name, _ in found} == {"uopc_core/ir/composite.py"}, found


def test_a_region_is_called_in_one_place():
    found = {name for name, _, op in _first_arguments() if op.endswith("CALL")}
    assert found == {"uopc_core/ir/calls.py"}, found


def test_the_order_of_ops_means_nothing():
    for path, node in _nodes():
        if isinstance(node, ast.Compare) and any(isinstance(op, ORDERS) for op in node.ops):
            assert not any(_of(x) for x in (node.left, *node.comparators)), f"{path}, line {node.lineno}"
