"""Where each slot of a compiled plan lives.

Temporaries that kernels write share one arena, placed so that those which are never alive together share bytes; a
kernel that reads a dying temporary only at the element it writes takes it over. Outputs have memory of their own. What
a library or a region makes by itself stays where it was made: a copy would take as much again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from uopc_core.codegen.c_source import CSource
from uopc_core.ir.extern import EXTERNS
from uopc_core.runtime.rendered import Between, slots_of
from uopc_core.schedule.memory import Lifetime, place
from uopc_core.schedule.steps import ExternCall, Plan

__all__ = ["Placement"]


class Placement:
    """Inputs as they come, then the outputs, then temporaries at offsets in the arena, then what libraries and regions
    make.

    Slots that share memory are one group, named by the last of them to be written, its root.

    Attributes:
        root: of the group, by slot; inputs have none.
        place: number of a slot among the pointers of a run.
        outputs: slots that get memory of their own, all of them roots.
        offsets: of the slots in the arena.
        starts: the different ones of these offsets, each of which is one pointer, however many slots begin there in the
            course of a run.
        made_first: the outputs whose memory neither a library nor a region makes.
        arena_bytes: size of the arena.
        dying: by step, the groups made by libraries and regions, no outputs, that nobody needs after it.
    """

    def __init__(self, plan: Plan, steps: Sequence[CSource | Between]) -> None:
        self.outputs = list(dict.fromkeys(slot for slot, _ in plan.outputs if slot >= plan.n_inputs))
        lives = _lifetimes(plan, steps)
        owner = _taken_over(plan, steps, lives)
        self.root = _roots(owner, (*lives, *self.outputs))
        made_by_host = {self.root[slot] for slot in _made_by_hosts(steps)}
        self.made_first = [slot for slot in self.outputs if slot not in made_by_host]
        kept = set(self.outputs)
        temporaries: dict[int, Lifetime] = {}
        for slot, life in lives.items():
            root = self.root[slot]
            if root not in kept:
                known = temporaries.get(root, life)
                temporaries[root] = replace(known, born=min(known.born, life.born), dies=max(known.dies, life.dies))
        self.dying: dict[int, list[int]] = {}
        for root in [root for root in temporaries if root in made_by_host]:
            self.dying.setdefault(temporaries.pop(root).dies, []).append(root)
        placed, self.arena_bytes = place(temporaries)
        self.offsets = {slot: placed[self.root[slot]] for slot in lives if self.root[slot] in placed}
        self.starts = tuple(dict.fromkeys(self.offsets.values()))
        self.place = self._numbers(plan.n_inputs)
        self.n_pointers = 1 + max(self.place.values(), default=-1)

    def _numbers(self, n_inputs: int) -> dict[int, int]:
        numbers = {slot: slot for slot in range(n_inputs)}
        alone = [root for roots in self.dying.values() for root in roots]
        first = n_inputs + len(self.outputs)
        of_start = {start: i for i, start in enumerate(self.starts, first)}
        numbers.update({slot: i for i, slot in enumerate(self.outputs, n_inputs)})
        numbers.update({slot: of_start[start] for slot, start in self.offsets.items()})
        numbers.update({slot: i for i, slot in enumerate(alone, first + len(self.starts))})
        numbers.update({slot: numbers[root] for slot, root in self.root.items() if slot not in self.offsets})
        return numbers


def _made_by_hosts(steps: Sequence[CSource | Between]) -> list[int]:
    """The slots that libraries and regions write to memory of their own."""
    calls = [step for step in steps if not isinstance(step, CSource)]
    return [slot for call in calls if not _writes_where_told(call) for slot in call.writes]


def _writes_where_told(step: Between) -> bool:
    return isinstance(step, ExternCall) and EXTERNS[step.name].into is not None


def _lifetimes(plan: Plan, steps: Sequence[CSource | Between]) -> dict[int, Lifetime]:
    """Of every slot that is neither input nor output and still exists after fusion."""
    outputs = {slot for slot, _ in plan.outputs}
    lives: dict[int, Lifetime] = {}
    for i, step in enumerate(steps):
        reads, writes = slots_of(step)
        for slot in (*reads, *writes):
            if slot >= plan.n_inputs and slot not in outputs:
                born = lives[slot].born if slot in lives else i
                lives[slot] = Lifetime(plan.slots[slot].size_bytes, born, i)
    return lives


def _taken_over(plan: Plan, steps: Sequence[CSource | Between], lives: Mapping[int, Lifetime]) -> dict[int, int]:
    """Temporary -> the slot whose memory it shares, because the kernel that writes that slot reads the temporary last,
    in place.
    """
    owner: dict[int, int] = {}
    outputs = {slot for slot, _ in plan.outputs}
    for i, step in enumerate(steps):
        if not isinstance(step, CSource):
            continue
        free = [slot for slot in step.outputs if slot in lives or slot in outputs]
        for slot in step.inplace:
            if slot not in lives or lives[slot].dies != i:
                continue
            for target in free:
                if plan.slots[target].size_bytes == plan.slots[slot].size_bytes:
                    owner[slot] = target
                    free.remove(target)
                    break
    return owner


def _roots(owner: Mapping[int, int], slots: Iterable[int]) -> dict[int, int]:
    """The last owner of each slot: of a loop that is written out, thousands of owners away."""
    roots: dict[int, int] = {}
    for first in slots:
        slot = first
        passed: list[int] = []
        while slot not in roots and slot in owner:
            passed.append(slot)
            slot = owner[slot]
        root = roots.setdefault(slot, slot)
        roots.update(dict.fromkeys(passed, root))
    return {slot: roots[slot] for slot in slots}
