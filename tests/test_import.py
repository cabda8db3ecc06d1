"""What importing the packages loads, and that what is left out comes when it is asked for."""

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import uopc_core

# what a program that only computes small arrays never needs
LATE = {
    *("optree", "opt_einsum", "subprocess", "hashlib", "concurrent.futures"),
    *("uopc_core.rewrite", "uopc_core.loop", "uopc_core.codegen", "uopc_core.transform", "uopc_core.tensor"),
    *("uopc_core.schedule.plan", "uopc_core.runtime.auto", "uopc_core.runtime.compiled"),
}


def _modules_after(source: str) -> set[str]:
    """The modules that a fresh interpreter has after `source`, beyond those of NumPy."""
    program = f"import json, sys, numpy\nbefore = set(sys.modules)\n{source}\n"
    program += "print(json.dumps(sorted(set(sys.modules) - before)))"
    environment = {**os.environ, "UOPC_TIER": "auto"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_loads_neither_planner_nor_compiler_nor_derivatives() -> None:
    assert not LATE & _modules_after("import uopc_array")


# what makes the loops of operations whose bits are our own
LOOPS = {"subprocess", "hashlib", "uopc_core.loop", "uopc_core.codegen"}


def test_a_small_value_needs_none_of_them() -> None:
    assert not LATE & _modules_after("import uopc_array as xp\nfloat((xp.asarray([1.0, 2.0]) * 2.0)[1])")


def test_small_sums_and_functions_need_their_loops_alone() -> None:
    loaded = _modules_after("import uopc_array as xp\nfloat(xp.sum(xp.sin(xp.asarray([1.0, 2.0]))))")
    assert not (LATE - LOOPS) & loaded


def test_a_derivative_loads_what_it_needs() -> None:
    loaded = _modules_after("import uopc_array as xp\nprint(float(xp.grad(lambda x: x * x)(3.0)))")
    assert {"optree", "uopc_core.transform"} <= loaded


def test_every_late_name_is_the_one_that_its_module_defines() -> None:
    tree = ast.parse(Path(uopc_core.__file__).read_text())
    declared = {
        alias.name: statement.module
        for node in tree.body
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
    assert declared == uopc_core._LATE  # the same list twice: for type checkers and for Python
    assert all(getattr(uopc_core, name) is getattr(import_module(module), name) for name, module in declared.items())


def test_every_public_name_of_the_core_is_listed_and_there() -> None:
    assert set(uopc_core.__all__) <= set(dir(uopc_core))
    assert all(hasattr(uopc_core, name) for name in uopc_core.__all__)


def test_an_unknown_name_of_the_core_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'uopc_core' has no attribute 'gradients'"):
        _ = uopc_core.gradients  # pyright: ignore[reportAttributeAccessIssue]
