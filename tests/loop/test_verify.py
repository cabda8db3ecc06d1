"""The verifier of loop nests: what lowering makes passes, and every rule is broken once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from uopc_core import Tensor, make_plan
from uopc_core.errors import VerifyError
from uopc_core.loop.index import Index, Var
from uopc_core.loop.loop_ir import Block, Compute, Item, Load, Loop, LoopNest, RowReduce, Store
from uopc_core.loop.lower import lower_call
from uopc_core.loop.verify import verify_function
from uopc_core.schedule.kernel import KernelCall


def function_of(x: Tensor) -> LoopNest:
    plan, _ = make_plan([x])
    (step,) = plan.steps
    assert isinstance(step, KernelCall)
    return lower_call(step, set(step.outputs))


def row_sums() -> LoopNest:
    return function_of((Tensor(np.ones((32, 64), np.float32)) + 1).sum(1))


def changed(block: Block, kind: type, change: Callable[[Any], Item]) -> Block:
    """`block` with `change` made to each item of a kind, however deep it stands."""
    out: list[Item] = []
    for item in block:
        if isinstance(item, Loop | RowReduce):
            item = replace(item, body=changed(item.body, kind, change))
        out.append(change(item) if isinstance(item, kind) else item)
    return tuple(out)


def damaged(kind: type, change: Callable[[Any], Item]) -> LoopNest:
    function = row_sums()
    return replace(function, body=changed(function.body, kind, change))


BREAKS: dict[str, tuple[Callable[[], LoopNest], str]] = {
    "an unknown operand": (lambda: damaged(Compute, lambda s: replace(s, args=("nobody", s.args[1]))), "operand"),
    "a name given twice": (lambda: damaged(Compute, lambda s: replace(s, name="v0")), "a name for each value"),
    "an index out of its buffer": (lambda: damaged(Load, lambda s: replace(s, index=s.index + 1)), "an index from 0"),
    "a negative index": (lambda: damaged(Store, lambda s: replace(s, index=s.index - 1)), "an index from 0"),
    "the variable of no loop": (
        lambda: damaged(Load, lambda s: replace(s, index=Index.of(Var("nobody", 0, 2)))),
        "the variable of a loop around",
    ),
    "an input that is stored in": (lambda: damaged(Store, lambda s: replace(s, buffer=1)), "an output to store in"),
    "no buffer": (lambda: damaged(Load, lambda s: replace(s, buffer=9)), "the number of a buffer"),
    "another dtype": (lambda: damaged(Load, lambda s: replace(s, dtype=np.dtype("f8"))), "elements of float32"),
    "no accumulator": (lambda: damaged(RowReduce, lambda r: replace(r, accs=())), "for an accumulator"),
    "a loop twice": (
        lambda: damaged(Loop, lambda loop: replace(loop, body=(replace(loop),))),
        "a variable for each loop",
    ),
}


def test_what_lowering_makes_passes() -> None:
    x = Tensor(np.ones((32, 64), np.float32))
    for value in (x.exp(), x.sum(0), x.max(1), (x + 1).sum(1), x.T + x.T.exp(), x.pad(((1, 1), (0, 2)))):
        verify_function(function_of(value))


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_nest_is_found_out(name: str) -> None:
    damage, message = BREAKS[name]
    with pytest.raises(VerifyError, match=message):
        verify_function(damage())
