"""Who computes: the table of executors, by the values of the setting `tier`.

An executor makes of a plan what runs it, once, and keeps it with the plan. Whoever runs plans asks the table and
compares no names, so a further executor is a class and a row (see `docs/contributing.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

from uopc_core.costs import COMPILE_WORK
from uopc_core.dtype import DType
from uopc_core.ir.uop import Shape
from uopc_core.lazy import LazyModule
from uopc_core.records import record
from uopc_core.runtime.buffer import Buffer
from uopc_core.schedule.steps import PerPlan, Plan
from uopc_core.settings import current, set_tiers

if TYPE_CHECKING:
    from uopc_core.runtime import auto, compiled, interpreted, rendered, runner
else:
    auto = LazyModule("uopc_core.runtime.auto", computes=True)
    compiled = LazyModule("uopc_core.runtime.compiled", computes=True)
    interpreted = LazyModule("uopc_core.runtime.interpreted", computes=True)
    rendered = LazyModule("uopc_core.runtime.rendered", computes=True)
    runner = LazyModule("uopc_core.runtime.runner", computes=True)

__all__ = [
    "COMPILE",
    "EXECUTORS",
    "INTERPRET",
    "DirectCall",
    "Executor",
    "PreparedPlan",
    "current_executor",
    "register_executor",
    "unregister_executor",
    "warm_up",
]


class PreparedPlan(Protocol):
    """A plan that an executor is ready to run, from several threads at once."""

    def run(self, buffers: Sequence[Buffer], scalars: Sequence[Any]) -> list[Buffer]:
        """The outputs of the plan for these inputs: its first `n_inputs` slots, and its scalars.

        An output that is an input is the same buffer; no other shares memory with an input or with another.

        Raises:
            IndexBoundsError: a gather or scatter met an index outside its axis.
        """
        ...


@record(slots=True)
class DirectCall:
    """What a run of a compiled plan does, where that is one call of a program.

    Attributes:
        entry, program: addresses, of a function of C and of its first argument.
        outputs: shape and dtype of each; their addresses follow those of the inputs.
        offsets, arena_bytes: of temporaries, whose addresses follow.
        plan: with the dtypes of the scalars, which follow, and how much work it is.
        kept: what the addresses belong to.
    """

    entry: int
    program: int
    outputs: tuple[tuple[Shape, DType], ...]
    offsets: tuple[int, ...]
    arena_bytes: int
    plan: Plan
    kept: Any


def _nothing() -> None:
    pass


def _no_text(plan: Plan) -> list[str]:
    return []


class Executor:
    """A row of the table.

    Args:
        prepare: what makes a PreparedPlan of a plan; its class, as a rule. What it raises, whoever asks for the
            value gets.
        numpy_work: work of a graph, over all its runs, that NumPy does before `prepare` is asked: node by node and
            without a plan where that is faster. With 0 all of it comes as plans, the smallest arrays too.
        warm_up: called while a function is traced, for whatever `prepare` can begin without a plan.
        text: what `prepare` makes of a plan, in parts, for `explain`.
    """

    __slots__ = ("numpy_work", "prepared", "text", "warm_up")

    def __init__(
        self,
        prepare: Callable[[Plan], PreparedPlan],
        *,
        numpy_work: float = 0,
        warm_up: Callable[[], None] = _nothing,
        text: Callable[[Plan], list[str]] = _no_text,
    ) -> None:
        self.prepared = PerPlan(prepare)
        self.numpy_work = numpy_work
        self.warm_up = warm_up
        self.text = text


# each loads its module at the first plan
COMPILE = Executor(
    lambda plan: compiled.CompiledPlan(plan),
    warm_up=lambda: runner.prepare_compiler(),
    text=lambda plan: rendered.loops_and_c(plan),
)
INTERPRET = Executor(lambda plan: interpreted.InterpretedPlan(plan), numpy_work=inf)
EXECUTORS = {
    "auto": Executor(
        lambda plan: auto.AutoPlan(plan), numpy_work=COMPILE_WORK, warm_up=COMPILE.warm_up, text=COMPILE.text
    ),
    "compile": COMPILE,
    "interpret": INTERPRET,
}


def register_executor(name: str, executor: Executor) -> None:
    """Make `name` a value of the setting `tier`: what is computed under it, `executor` computes."""
    EXECUTORS[name] = executor
    set_tiers(EXECUTORS)


def unregister_executor(name: str) -> None:
    """Take `name` from the table again."""
    del EXECUTORS[name]
    set_tiers(EXECUTORS)


def current_executor() -> Executor:
    """The executor that the settings in force name."""
    return EXECUTORS[current().tier]


def warm_up() -> None:
    """Have the current executor get ready what needs no plan, while something else is done."""
    current_executor().warm_up()
