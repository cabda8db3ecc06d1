"""Movement: slices, strides, views, reshapes, joins, pads, shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Drawer, Node, Production, Refused

__all__ = ["PRODUCTIONS", "basic_key", "draw_view"]


def _slice(d: Drawer, extent: int) -> str:
    """One slice of an axis: any start, stop and step, most often one that leaves something."""
    if d.chance(0.25):
        return ":"
    if d.chance(0.7):
        return d.choice(
            "1:", ":-1", "::2", "::-1", "1:-1", "1::2", "::-2", ":2", "-2:", "2:", f"{extent // 2}:", f":{extent // 2}"
        )
    start, stop = [d.choice("", *[str(n) for n in range(-extent - 1, extent + 2)][:9]) for _ in range(2)]
    return f"{start}:{stop}:{d.choice(1, 2, 3, -1, -2, -3)}"


def basic_key(d: Drawer, x: Node) -> str:
    """A key of slices, integers, an ellipsis and new axes."""
    parts: list[str] = []
    for extent in x.shape[: d.integer(1, x.ndim)]:
        parts.append(str(d.integer(-extent, extent - 1)) if extent and d.chance(0.2) else _slice(d, extent))
    if d.chance(0.1):
        parts.insert(d.integer(0, len(parts)), "None")
    if d.chance(0.1):
        parts.append("...")
    elif d.chance(0.1) and len(parts) < x.ndim:
        parts = ["...", *parts]
    return ", ".join(parts)


def _basic(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 5))
    return d.apply(f"{{0}}[{basic_key(d, x)}]", x)


def _neighbours(d: Drawer) -> Node:
    """A stencil: neighbours along an axis."""
    x = d.operand("fiuc", (1, 4))
    axis = d.integer(0, x.ndim - 1)
    lead = ":, " * axis
    form = d.choice(
        "({0}[L1:] - {0}[L:-1])",
        "({0}[L2:] - 2 * {0}[L1:-1] + {0}[L:-2])",
        "({0}[L1:] + {0}[L:-1])",
        "({0}[L1:] * {0}[L:-1])",
    )
    return d.apply(form.replace("L", lead), x)


def _shape_of(d: Drawer, size: int) -> tuple[int, ...]:
    if size == 0:
        return d.choice((0,), (0, 2), (3, 0))
    divisors = [n for n in range(1, min(size, 300) + 1) if size % n == 0]
    n = d.choice(*divisors)
    m = d.choice(*[k for k in range(1, min(size // n, 50) + 1) if size // n % k == 0])
    return d.choice((size,), (n, size // n), (size // n, n), (n, m, size // n // m), (-1, n), (-1,))


def _reshape(d: Drawer) -> Node:
    x = d.operand()
    shape = _shape_of(d, int(np.prod(x.shape)))
    return d.apply(d.choice(f"xp.reshape({{0}}, {shape})", f"{{0}}.reshape({shape})"), x)


def _ravel(d: Drawer) -> Node:
    return d.apply(d.choice("{0}.ravel()", "xp.ravel({0})", "{0}.flatten()"), d.operand(ndim=(2, 5)))


def _transposed(d: Drawer) -> Node:
    x = d.operand(ndim=(2, 5))
    order = tuple(d.rng.sample(range(x.ndim), x.ndim))
    a, b = d.axis(x), d.axis(x)
    return d.apply(
        d.choice(
            "{0}.T",
            "{0}.T",
            f"xp.transpose({{0}}, {order})",
            f"xp.swapaxes({{0}}, {a}, {b})",
            f"xp.moveaxis({{0}}, {a}, {b})",
            "{0}.mT",
        ),
        x,
    )


def _flip(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 5))
    forms = [f"xp.flip({{0}}, axis={d.axes(x)})", f"xp.flip({{0}}, axis={d.axis(x)})"]
    forms += [f"xp.rot90({{0}}, {d.integer(0, 3)})"] if x.ndim >= 2 else []
    return d.apply(d.choice(*forms), x)


def _axes_added(d: Drawer) -> Node:
    x = d.operand()
    if x.ndim > 3:
        raise Refused
    a = d.integer(0, x.ndim)
    return d.apply(
        d.choice(f"xp.expand_dims({{0}}, {a})", f"{{0}}[{':, ' * a}None]", "xp.atleast_2d({0})", "xp.squeeze({0})"), x
    )


VIEWS = (_basic, _basic, _basic, _reshape, _ravel, _transposed, _flip, _axes_added)


def draw_view(d: Drawer) -> Node:
    return d.choice(*VIEWS)(d)


def _roll(d: Drawer) -> Node:
    x = d.operand()
    shift = d.choice(1, -1, 2, 3, -5, 17)
    if x.ndim == 0 or d.chance(0.2):
        return d.apply(f"xp.roll({{0}}, {shift})", x)
    if x.ndim > 1 and d.chance(0.2):
        return d.apply(f"xp.roll({{0}}, ({shift}, 1), axis=(0, 1))", x)
    return d.apply(f"xp.roll({{0}}, {shift}, axis={d.axis(x)})", x)


def _pad(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 4))
    width = d.choice("1", "2", "(0, 1)", "(2, 1)", str(tuple([(d.integer(0, 2), d.integer(0, 2)) for _ in x.shape])))
    mode = d.choice("constant", "constant", "edge", "wrap", "reflect", "symmetric")
    value = f", constant_values={d.choice(1, 2)}" if mode == "constant" and d.chance(0.3) else ""
    return d.apply(f"xp.pad({{0}}, {width}, mode='{mode}'{value})", x)


def _same_rank(d: Drawer, x: Node, equal: bool) -> Node:
    def joins(y: Node) -> bool:
        return y.shape == x.shape if equal else y.ndim == x.ndim

    if d.chance(0.3):
        return x
    try:
        return d.operand(x.kind, where=joins)
    except Refused:
        return d.new_input(x.shape, x.kind)


def _join(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 4))
    y = _same_rank(d, x, equal=False)
    axis = d.axis(x)
    forms = [f"xp.concatenate(({{0}}, {{1}}), axis={axis})", f"xp.concatenate([{{1}}, {{0}}, {{1}}], axis={axis})"]
    forms += [
        "xp.concatenate(({0}, {1}), axis=None)",
        "xp.vstack(({0}, {1}))",
        "xp.hstack(({0}, {1}))",
        "xp.append({0}, {1})",
    ]
    form = d.choice(*forms)
    return d.apply(form, x, y)


def _stack(d: Drawer) -> Node:
    x = d.operand(ndim=(0, 3))
    y = _same_rank(d, x, equal=True)
    return d.apply(
        d.choice(f"xp.stack(({{0}}, {{1}}), axis={d.integer(-x.ndim - 1, x.ndim)})", "xp.column_stack(({0}, {1}))"),
        x,
        y,
    )


def _tile(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 3))
    return d.apply(
        d.choice(
            f"xp.tile({{0}}, {d.choice(2, 3, (2, 1), (1, 2))})",
            f"xp.repeat({{0}}, {d.integer(0, 3)}, axis={d.axis(x)})",
            "xp.repeat({0}, 2)",
        ),
        x,
    )


def _broadcast(d: Drawer) -> Node:
    x = d.operand(ndim=(0, 3))
    shape = tuple([d.choice(2, 3, 5) if n == 1 else n for n in x.shape])
    return d.apply(f"xp.broadcast_to({{0}}, {d.choice(shape, (2, *shape), (3, *shape))})", x)


def _triangle(d: Drawer) -> Node:
    return d.apply(f"xp.{d.choice('tril', 'triu')}({{0}}, {d.choice(0, 1, -1, 2)})", d.operand(ndim=(2, 4)))


def _differences(d: Drawer) -> Node:
    x = d.operand("fiuc", (1, 4))
    return d.apply(d.choice(f"xp.diff({{0}}, axis={d.axis(x)})", f"xp.diff({{0}}, n=2, axis={d.axis(x)})"), x)


def _part(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 4))
    forms: list[Any] = [
        f"xp.array_split({{0}}, {d.choice(2, 3)})[{d.choice(0, 1, -1)}]",
        "xp.split({0}, 2)[1]",
        f"xp.unstack({{0}})[{d.choice(0, -1)}]",
    ]
    forms += ["xp.diagonal({0})", "xp.diag({0})", "xp.trace({0})"] if x.ndim == 2 else []
    return d.apply(d.choice(*forms), x)


PRODUCTIONS = (
    Production("views", 4, _basic, smooth=True),
    Production("views", 1, _reshape, smooth=True),
    Production("views", 0.5, _ravel, smooth=True),
    Production("views", 1.5, _transposed, smooth=True),
    Production("views", 0.7, _flip, smooth=True),
    Production("views", 1, _axes_added, smooth=True),
    Production("movement", 1, _neighbours, smooth=True),
    Production("movement", 1, _roll, smooth=True),
    Production("movement", 0.8, _pad, smooth=True),
    Production("movement", 1, _join, smooth=True),
    Production("movement", 0.8, _stack, smooth=True),
    Production("movement", 0.6, _tile, smooth=True),
    Production("movement", 0.6, _broadcast, smooth=True),
    Production("movement", 0.6, _triangle, smooth=True),
    Production("movement", 0.6, _differences, smooth=True),
    Production("movement", 0.6, _part, smooth=True),
)
