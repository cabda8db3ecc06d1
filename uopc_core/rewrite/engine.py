"""The rewriter: rules applied bottom-up until none applies, each node once.

Iterative, so depth is no limit. A node is rewritten after its sources; what a rule returns is rewritten in turn, and so
is every new node below it. Nodes that have a value already are leaves: there is nothing to save below them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence

from uopc_core.ir.composite import CONST_FORMS, const_of
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import UOp
from uopc_core.ir.verify import verify
from uopc_core.rewrite.pattern import Rule
from uopc_core.settings import current

__all__ = ["Rewriter", "rewrite"]

# every rule of the tables makes a graph smaller or moves an op towards the leaves, so a graph never needs so many
_MAX_STEPS_PER_NODE = 200
_DEBUG_RULES = 2
_MAX_KEYED_SOURCES = 3  # what follows, in a CONCAT or SCATTER, no pattern looks at


class Rewriter:
    """A table of rules. For each node only those are tried that its op, its dtype and the ops of its sources admit."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._candidates: dict[Hashable, tuple[Rule, ...]] = {}

    def step(self, x: UOp) -> UOp | None:
        """`x` after the first rule that changes it at its root; None where none does."""
        src = x.src
        if not src:
            return None
        # a constant by the negative of its op
        kinds = [-s.op if s.op in CONST_FORMS and const_of(s) is not None else s.op for s in src[:_MAX_KEYED_SOURCES]]
        key = (x.op, src[0].dtype, *kinds)
        candidates = self._candidates.get(key)
        if candidates is None:
            candidates = self._candidates[key] = tuple([rule for rule in self.rules if rule.admits(x)])
        for rule in candidates:
            new = rule.apply(x)
            if new is None or new is x:
                continue
            assert new.shape == x.shape and new.dtype is x.dtype, (rule, x, new)  # noqa: PT018
            if current().debug >= _DEBUG_RULES:
                print(f"rewrite {rule.name}: {x} -> {new}", file=sys.stderr)
            return new
        return None

    def rewrite(self, roots: Sequence[UOp]) -> list[UOp]:
        """`roots` with every rule applied wherever it applies, down to a fixpoint.

        Raises:
            RecursionError: the rules go in circles.
            VerifyError: with the switch `verify`, a rule made a node that is not well formed.
        """
        new = _to_fixpoint(roots, self.step)
        if current().debug >= _DEBUG_RULES:
            print(f"# rewritten\n{to_uir(new)}", file=sys.stderr)
        if current().verify:
            verify(new)
        return new


def rewrite(roots: Sequence[UOp], rules: Sequence[Rule]) -> list[UOp]:
    """`roots` with `rules` applied until none does. Keep the `Rewriter` where it is done often."""
    return Rewriter(rules).rewrite(roots)


def _to_fixpoint(roots: Sequence[UOp], step: Callable[[UOp], UOp | None]) -> list[UOp]:
    done: dict[UOp, UOp] = {}
    becomes: dict[UOp, UOp] = {}  # what a node on the stack was replaced by, which is being rewritten above it
    n_left = 0
    stack = [*reversed(roots)]
    while stack:  # not over `walk`: what a rule makes is gone through as well
        x = stack[-1]
        if x in done:
            stack.pop()
            continue
        new = becomes.get(x)
        if new is None:
            waiting = [s for s in x.src if s not in done] if x.realized is None else ()
            if waiting:
                stack += waiting
                continue
            over = _over_finished(x, done)
            new = step(over) if over not in done and over.realized is None else None
            if new is None or new is over:
                done[x] = done.setdefault(over, over)
                stack.pop()
                continue
        if new in done:
            done[x] = done[new]
            stack.pop()
            continue
        n_left += 1
        if n_left > _MAX_STEPS_PER_NODE * (len(done) + _MAX_STEPS_PER_NODE):
            raise RecursionError(f"rewrite: the rules do not come to an end; the last ones made {x} into {new}")
        becomes[x] = new
        stack.append(new)
    return [done[root] for root in roots]


def _over_finished(x: UOp, done: dict[UOp, UOp]) -> UOp:
    """`x` over what its sources have become, which no rule changes any more."""
    if x.realized is not None:
        return x
    src = tuple([done[s] for s in x.src])
    return x if src == x.src else x.over(src)
