"""What the argument of an op may be, field by field: for the parser, which is given it as text, and for the verifier.

Numbers are Python's own ints: 1.0 and True are equal to 1, so a node with one of those in its argument would be taken
for the node with 1 by whoever makes that.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, cast

from uopc_core.dtype import DTYPES
from uopc_core.ir.op import REDUCIBLE, SCANNABLE, SCATTER_MODES, Ops
from uopc_core.ir.region import Region
from uopc_core.records import record

__all__ = ["FIELDS", "Check", "Field", "field_values", "is_dtype", "is_flag", "is_natural", "is_shape", "is_text"]
__all__ += ["is_tuple_of", "one_of"]

Check = Callable[[Any], bool]

MAX_AXES = 64  # of a NumPy array, which any node may have to become
MAX_ELEMENTS = 2**63 - 1


@record(slots=True)
class Field:
    """One part of an argument.

    Attributes:
        name: in text.
        accepts: whether a value is one that the op takes, as far as that can be told without its sources.
        wanted: the same in words.
    """

    name: str
    accepts: Check
    wanted: str


def is_natural(value: Any) -> bool:
    """Whether `value` is an int of 0 to 2**63 - 1."""
    return type(value) is int and 0 <= value <= MAX_ELEMENTS


def is_flag(value: Any) -> bool:
    return type(value) is bool


def is_text(value: Any) -> bool:
    return type(value) is str


def _is_region(value: Any) -> bool:
    return type(value) is Region


def is_dtype(value: Any) -> bool:
    return any(value is dtype for dtype in DTYPES)


def is_shape(value: Any) -> bool:
    """Whether an array can have the shape `value`."""
    return _are_naturals(value) and len(value) <= MAX_AXES and prod([n or 1 for n in value]) <= MAX_ELEMENTS


def one_of(*choices: Any) -> Check:
    """The check for one of these, strings or ops."""
    return lambda value: type(value) is type(choices[0]) and value in choices


def is_tuple_of(*checks: Check) -> Check:
    """The check for a tuple of as many items, each as its check wants it."""

    def check(value: Any) -> bool:
        items = _items(value)
        return (
            items is not None
            and len(items) == len(checks)
            and all([wanted(item) for wanted, item in zip(checks, items, strict=True)])
        )

    return check


def _row_of(wanted: Check) -> Check:
    def check(value: Any) -> bool:
        items = _items(value)
        return items is not None and all([wanted(item) for item in items])

    return check


def _items(value: Any) -> tuple[Any, ...] | None:
    return cast("tuple[Any, ...]", value) if type(value) is tuple else None


_are_naturals = _row_of(is_natural)
_are_pairs = _row_of(is_tuple_of(is_natural, is_natural))

# what is told of an argument besides the type of the node
FIELDS: dict[Ops, tuple[Field, ...]] = {
    Ops.PARAM: (
        Field("index", is_natural, "a number of 0 or more"),
        Field("kind", one_of("buffer", "scalar"), '"buffer" or "scalar"'),
    ),
    Ops.PERMUTE: (Field("axes", _are_naturals, "a tuple of axes"),),
    Ops.SHRINK: (Field("bounds", _are_pairs, "a tuple of pairs (start, stop)"),),
    Ops.PAD: (Field("widths", _are_pairs, "a tuple of pairs (before, after)"),),
    Ops.FLIP: (Field("axes", _are_naturals, "a tuple of axes"),),
    Ops.CONCAT: (Field("axis", is_natural, "an axis"),),
    Ops.REDUCE: (
        Field("op", one_of(*REDUCIBLE), "an operation that reduces"),
        Field("n", is_natural, "a number of axes"),
    ),
    Ops.SCAN: (Field("op", one_of(*SCANNABLE), "an operation that accumulates"),),
    Ops.SCATTER: (Field("mode", one_of(*SCATTER_MODES), "one of " + ", ".join(SCATTER_MODES)),),
    Ops.VARIABLE: (Field("number", is_natural, "a number of 0 or more"),),
    Ops.EXTERN: (
        Field("name", is_text, "the name of a function"),
        Field("params", _row_of(lambda value: True), "a tuple"),  # which the type rule looks at
        Field("output", is_natural, "the number of an output"),
    ),
    Ops.CALL: (
        Field("region", _is_region, "a region"),
        Field("output", is_natural, "the number of an output"),
    ),
}


def field_values(op: Ops, arg: Any) -> tuple[Any, ...]:
    """The values of the fields of `op` in `arg`."""
    if op is Ops.PARAM:
        return (arg[0], arg[2])
    return arg if len(FIELDS.get(op, ())) > 1 else (arg,)
