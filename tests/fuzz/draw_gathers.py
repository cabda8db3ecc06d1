"""Gathers: index arrays, masks, take, take_along_axis."""

from __future__ import annotations

from tests.fuzz.draw import Drawer, Node, Production, Refused
from tests.fuzz.draw_elementwise import condition

__all__ = ["PRODUCTIONS", "index_list", "index_node"]


def index_list(d: Drawer, extent: int, count: int | None = None) -> str:
    """Indices into an axis, some counted from the end, some equal."""
    if extent == 0:
        raise Refused
    n = d.integer(1, 5) if count is None else count
    return str([d.integer(-extent, extent - 1) for _ in range(n)])


def index_node(d: Drawer, extent: int) -> Node:
    """The same as an expression: literal, computed from an array of integers, or an order of sorting."""
    if extent and d.chance(0.4):
        try:
            return d.apply(f"(xp.abs({{0}}) % {extent})", d.operand("i", (1, 2)))
        except Refused:
            pass
    if d.chance(0.4):
        return d.new_places(extent, d.choice((3,), (5,), (2, 2), (17,)))
    return d.apply(f"xp.asarray({index_list(d, extent)})")


def _take(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 4))
    axis = d.axis(x)
    index = index_node(d, x.shape[axis])
    return d.apply(d.choice(f"xp.take({{0}}, {{1}}, axis={axis})", f"{{0}}.take({{1}}, axis={axis})"), x, index)


def _along(d: Drawer) -> Node:
    x = d.operand("fiu", (1, 4))
    axis = d.axis(x) % x.ndim
    if x.shape[axis] == 0:
        raise Refused
    if d.chance(0.4):
        shape = (*x.shape[:axis], d.choice(x.shape[axis], 1, 2), *x.shape[axis + 1 :])
        places = d.new_places(x.shape[axis], shape)
        return d.apply(f"xp.take_along_axis({{0}}, {{1}}, axis={axis})", x, places)
    if d.chance(0.5):
        order = d.choice(
            f"xp.argsort({{0}}, axis={axis}, stable=True)", f"xp.expand_dims(xp.argmax({{0}}, axis={axis}), {axis})"
        )
        return d.apply(f"xp.take_along_axis({{0}}, {order}, axis={axis})", x)
    index = d.apply(f"(xp.astype(xp.nan_to_num(xp.clip({{0}}, 0, 50)), xp.int64) % {x.shape[axis]})", x)
    return d.apply(f"xp.take_along_axis({{0}}, {{1}}, axis={axis})", x, index)


def _indexed(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 4))
    index = index_node(d, x.shape[0])
    return d.apply(d.choice("{0}[{1}]", "{0}[{1}]", "{0}[{1}, ...]", "{0}[{1}[::-1]]"), x, index)


def _indexed_twice(d: Drawer) -> Node:
    x = d.operand(ndim=(2, 4))
    n = d.integer(1, 4)
    rows, columns = index_list(d, x.shape[0], n), index_list(d, x.shape[1], n)
    forms = [
        f"{{0}}[{rows}, {columns}]",
        f"{{0}}[:, {columns}]",
        f"{{0}}[xp.asarray({rows})[:, None], xp.asarray({columns})]",
        f"{{0}}[{rows}, 0]",
    ]
    forms += [f"{{0}}[::-1, {columns}]", f"{{0}}[{rows}, ::2]", f"{{0}}[{rows}][:, {columns}]"]
    forms += [f"{{0}}[{rows}, :, 0]", f"{{0}}[{rows}, :, [0]]"] if x.ndim > 2 else []
    return d.apply(d.choice(*forms), x)


def _masked(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 3))
    test = condition(d, x)
    return d.apply("{0}[{1}]", x, test)


def _masked_sum(d: Drawer) -> Node:
    x = d.operand("fiu", (1, 3))
    return d.apply(d.choice("xp.sum({0}[{1}])", "{0}[{1}].sum()"), x, condition(d, x))


def _row_mask(d: Drawer) -> Node:
    x = d.operand("fiu", (2, 3))
    return d.apply(d.choice("{0}[{0}[:, 0] > 0]", "{0}[:, {0}[0] > 0]", "{0}[xp.any({0} > 1, axis=1)]"), x)


def _nonzero(d: Drawer) -> Node:
    return d.apply(d.choice("xp.nonzero({0} > 0)[0]", "xp.nonzero({0})[-1]"), d.operand("fiu", (1, 3)))


PRODUCTIONS = (
    Production("gathers", 1, _take, smooth=True),
    Production("gathers", 1, _along, smooth=True),
    Production("gathers", 1, _indexed, smooth=True),
    Production("gathers", 1, _indexed_twice, smooth=True),
    Production("gathers", 0.8, _masked, traced=False),
    Production("gathers", 0.4, _masked_sum, traced=False),
    Production("gathers", 0.4, _row_mask, traced=False),
    Production("gathers", 0.4, _nonzero, traced=False),
)
