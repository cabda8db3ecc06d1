"""What is made of a graph like one that was seen is what the transformation itself gives of it, node for node."""

import random
from collections.abc import Sequence
from itertools import count

import numpy as np

from tests.schedule.test_structure import Step, changed, drawn, leaf, made, with_other_numbers
from uopc_array._array.tracing import substitute
from uopc_core import HIDDEN, TRACKED, UOp, dtypes, gradient, jvp
from uopc_core.errors import GradientError
from uopc_core.ir.op import Ops
from uopc_core.runtime.buffer import Buffer
from uopc_core.transform.repeated import repeated

NUMBERS = count(1)  # a variable that is a constant is another one each time


class Program:
    """The sum of what the steps make of two variables and one more leaf, and what it is computed from."""

    def __init__(self, steps: Sequence[Step], computed: int | None = None, inner: UOp | None = None) -> None:
        self.sources = [leaf() if inner is None else inner, UOp.const(next(NUMBERS), dtypes.float64, (3, 4))]
        self.variables = [x.variable() for x in self.sources]
        values = [*self.variables, leaf()]
        for i, step in enumerate(steps):
            values.append(made(step, values))
            if i == computed and values[-1].op not in (Ops.CONST, Ops.EXPAND):
                values[-1].settle(Buffer.from_numpy(np.ones((3, 4))))
        self.roots = [values[-1].reduce(Ops.ADD, 2), values[-2]]

    def transformed(self, name: str) -> list[UOp]:
        if name == "jvp":
            results = jvp(self.roots[:1], self.variables, [self.roots[1].detach(), self.variables[1] * 2.0])
        else:
            results = gradient(self.roots[0], self.variables)
        return [*self.roots, *results]

    def closed(self, nodes: Sequence[UOp]) -> list[UOp]:
        return substitute(nodes, dict(zip(self.variables, self.sources, strict=True)), TRACKED | HIDDEN)

    def is_repeated(self, name: str) -> bool:
        """Whether the transformation was not called; then what comes is what it gives."""
        calls: list[None] = []

        def transform() -> list[UOp]:
            calls.append(None)
            return self.transformed(name)

        wanted = self.closed(self.transformed(name))
        found = repeated(name, self.roots, self.variables, self.sources, transform, self.closed)
        assert calls or [*map(id, found)] == [*map(id, wanted)]
        return not calls


def can_be_differentiated(steps: Sequence[Step]) -> bool:
    try:
        Program(steps).transformed("gradient")
    except (GradientError, NotImplementedError):
        return False
    return True


def test_graphs_like_one_that_was_seen_get_what_the_transformation_gives():
    n_repeated = 0
    for seed in range(150):
        rng = random.Random(seed)
        steps = drawn(rng, rng.randrange(2, 12))
        computed = rng.choice((None, None, rng.randrange(len(steps))))
        if not can_be_differentiated(steps):
            continue
        for name in ("gradient", "jvp"):
            are_repeated = [Program(steps, computed).is_repeated(name) for _ in range(4)]
            n_repeated += are_repeated[-1]
            # other constants, other steps, other things that have been computed: the same law
            for other in (with_other_numbers(steps), changed(rng, steps)):
                if can_be_differentiated(other):
                    Program(other, rng.choice((None, rng.randrange(len(steps))))).is_repeated(name)
            Program(steps, computed).is_repeated(name)
    assert n_repeated > 100


def test_what_stands_for_variables_may_be_anything():
    steps: list[Step] = [("number right", 0, 0, 0, 7.0), ("binary", 1, 2, 5, 0.0), ("binary", 4, 3, 5, 0.0)]
    seven = UOp.const(7.0, dtypes.float64, (3, 4))
    one = leaf()
    for sources in ([seven, seven], [one, one], [leaf(), leaf()], [one, seven], [leaf() + seven, one]):
        for _ in range(3):
            program = Program(steps)
            program.sources = sources
            is_repeated = program.is_repeated("gradient")
    assert is_repeated


def test_what_another_derivative_or_trace_looks_at_is_transformed():
    steps: list[Step] = [("unary", 0, 0, 5, 0.0), ("binary", 1, 3, 2, 0.0)]
    for inner in (leaf().variable(), UOp.param(0, (3, 4), dtypes.float64)):
        assert not any([Program(steps, inner=inner).is_repeated(f"{inner.op}") for _ in range(5)])
