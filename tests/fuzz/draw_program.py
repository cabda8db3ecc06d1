"""A whole program from a seed: a profile chooses which statements and which subjects it is made of."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np

from tests.fuzz import draw_elementwise, draw_gathers, draw_linalg, draw_movement, draw_reductions, draw_spectra
from tests.fuzz.draw import HUGE, Drawer, Options, Production, Refused
from tests.fuzz.draw_statements import STATEMENTS
from tests.fuzz.program import LAYOUTS, Input, Program, quiet

__all__ = ["MODES", "SUBJECTS", "draw_program"]

PRODUCTIONS = (
    *draw_elementwise.PRODUCTIONS,
    *draw_movement.PRODUCTIONS,
    *draw_reductions.PRODUCTIONS,
    *draw_gathers.PRODUCTIONS,
    *draw_linalg.PRODUCTIONS,
    *draw_spectra.PRODUCTIONS,
)
SUBJECTS = tuple(dict.fromkeys((*[p.name for p in PRODUCTIONS], *[s[0] for s in STATEMENTS], "large")))
# Subjects that are made likelier in one program of each profile, so that programs have a theme.
PROFILES = (
    ((), 5),
    (("chain",), 3),
    (("kept", "linalg", "reductions"), 2),
    (("writes", "views"), 2),
    (("loops", "views"), 1),
    (("gathers", "chain"), 1),
    (("reductions", "movement", "chain"), 2),
    (("einsum", "linalg"), 1),
    (("fft", "factors"), 1),
    (("pairs",), 3),
)
MODES = {
    "values": Options(huge=0.01),
    "auto": Options(errors=0, largest=20000, huge=0.01),
    "jit": Options(traced=True, errors=0, huge=0.01),
    "state": Options(traced=True, errors=0, huge=0.01),
    "vmap": Options(traced=True, errors=0, large=0.05, largest=600),
    "grad": Options(smooth=True, traced=True, errors=0, special=0, large=0.03, largest=150),
    "threads": Options(errors=0, large=0.8, largest=100_000, huge=0.05),
}


def draw_program(seed: int, mode: str, only: tuple[str, ...] = ()) -> Program:
    """The program of this seed; `only` names subjects that all others make way for."""
    d = _drawer(seed, mode, only)
    theme = only or d.rng.choices([p for p, _ in PROFILES], [w for _, w in PROFILES])[0]
    d.productions = [_weighted(p, theme, only) for p in d.productions]
    statements = [s for s in STATEMENTS if s[3] or not d.options.traced]
    weights = [s[1] * _factor(s[0], theme, only) for s in statements]
    with quiet():
        for _ in range(d.choice(1, 2, 2)):
            d.new_input()
        if d.chance(0.1):
            d.new_number()
        wanted, attempts = d.integer(1, 8) if "chain" not in theme else d.integer(1, 3), 0
        while len(d.body) < wanted and not d.finished and attempts < 60:
            attempts += 1
            [statement] = d.rng.choices(statements, weights)
            try:
                statement[2](d)
            except Refused:
                continue
    body = (*d.body, *_reads(d))
    used = set(re.findall(r"\b[a-h]\b", "\n".join(body)))
    program = Program(tuple([x for x in d.inputs if x.name in used]), body)
    return replace(program, inputs=tuple([_laid_out(d, x, program.writes) for x in program.inputs]))


def _drawer(seed: int, mode: str, only: tuple[str, ...]) -> Drawer:
    options = MODES[mode]
    if "large" in only:
        options = replace(options, large=0.8)
    elif random.Random(seed).random() < options.huge:
        options = replace(options, large=1, largest=HUGE)
    return Drawer(f"{mode} {seed}", options, PRODUCTIONS)


def _laid_out(d: Drawer, x: Input, written: bool) -> Input:
    """In some other layout, now and then; where NumPy's views depend on it, a program that writes has none."""
    if d.chance(0.75):
        return x
    return replace(x, layout=d.choice("rows", "shared") if written else d.choice(*LAYOUTS))


def _factor(subject: str, theme: tuple[str, ...], only: tuple[str, ...]) -> float:
    if subject in theme:
        return 6.0
    return 0.15 if only and subject != "assign" else 1.0


def _weighted(p: Production, theme: tuple[str, ...], only: tuple[str, ...]) -> Production:
    return p._replace(weight=p.weight * _factor(p.name, theme, only))


def _reads(d: Drawer) -> list[str]:
    """Most results, and inputs that may have been written to, each at its place in any order."""
    if d.finished:
        return []
    made = [x.text for x in d.names(where=_is_result) if x.text.startswith("t")]
    share = d.choice(0.4, 0.8, 0.8, 1)
    kept = [name for name in made if d.chance(share)] or made[-1:]
    kept += [x.name for x in d.inputs if x.name in d.env and (not kept or d.chance(0.2))]
    d.rng.shuffle(kept)
    if d.chance(0.1) and kept:
        kept.append(kept[0])
    return [f"read({name})" for name in kept]


def _is_result(x: object) -> bool:
    return isinstance(getattr(x, "value", None), (np.ndarray, np.generic))
