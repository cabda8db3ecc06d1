"""Reductions over any axes, scans, sorts, searches, sets."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Drawer, Node, Production, Refused

__all__ = ["PRODUCTIONS"]


def _keepdims(d: Drawer) -> str:
    return ", keepdims=True" if d.chance(0.35) else ""


def _sum(d: Drawer) -> Node:
    x = d.operand("fciub")
    return d.apply(
        d.choice(f"xp.sum({{0}}, axis={d.axes(x)}{_keepdims(d)})", f"{{0}}.sum(axis={d.axes(x)}{_keepdims(d)})"), x
    )


def _mean(d: Drawer) -> Node:
    x = d.operand("fc")
    if x.kind == "c" and not np.isfinite(x.value).all():
        raise Refused  # part by part in the standard, not in NumPy
    return d.apply(
        d.choice(f"xp.mean({{0}}, axis={d.axes(x)}{_keepdims(d)})", f"{{0}}.mean(axis={d.axes(x)}{_keepdims(d)})"), x
    )


def _spread(d: Drawer) -> Node:
    x = d.operand("f")
    ddof = ", correction=1" if d.chance(0.2) else ""
    return d.apply(f"xp.{d.choice('std', 'var')}({{0}}, axis={d.axes(x)}{ddof}{_keepdims(d)})", x)


def _standardized(d: Drawer) -> Node:
    """Two reductions of one array, and the array again."""
    x = d.operand("f", (1, 4))
    axes = f"axis={d.axes(x)}, keepdims=True"
    form = d.choice(
        f"(({{0}} - xp.mean({{0}}, {axes})) / (xp.std({{0}}, {axes}) + 0.5))",
        f"({{0}} / (xp.sum(xp.abs({{0}}), {axes}) + 1))",
        f"({{0}} - xp.max({{0}}, {axes}))",
        f"(xp.exp({{0}}) / xp.sum(xp.exp({{0}}), {axes}))",
        "xp.sum(({0} - xp.mean({0})) ** 2)",
    )
    return d.apply(form, x)


def _extreme(d: Drawer) -> Node:
    x = d.operand("fiub")
    name = d.choice("max", "min", "max", "min", "ptp") if x.kind != "b" else d.choice("max", "min")
    return d.apply(f"xp.{name}({{0}}, axis={d.axes(x)}{_keepdims(d)})", x)


def _product(d: Drawer) -> Node:
    x = d.operand("fiu")
    return d.apply(f"xp.prod({{0}}, axis={d.axes(x)}{_keepdims(d)})", x)


def _truth(d: Drawer) -> Node:
    x = d.operand("bf")
    return d.apply(f"xp.{d.choice('any', 'all', 'count_nonzero')}({{0}}, axis={d.axes(x)}{_keepdims(d)})", x)


def _place(d: Drawer) -> Node:
    x = d.operand("fiu")
    axis = d.axis(x) if x.ndim and d.chance(0.7) else None
    return d.apply(f"xp.{d.choice('argmax', 'argmin')}({{0}}, axis={axis}{_keepdims(d)})", x)


def _scan(d: Drawer) -> Node:
    x = d.operand("fciu", (1, 4))
    axis = d.axis(x)
    forms = [
        f"xp.cumsum({{0}}, axis={axis})",
        f"xp.cumsum({{0}}, axis={axis})",
        f"xp.cumprod({{0}}, axis={axis})",
        f"xp.cumulative_sum({{0}}, axis={axis})",
    ]
    forms += ["{0}.cumsum()"]
    return d.apply(d.choice(*forms), x)


def _sorted(d: Drawer) -> Node:
    x = d.operand("fiub", (1, 4))
    return d.apply(f"xp.sort({{0}}, axis={d.axis(x)})", x)


def _order(d: Drawer) -> Node:
    x = d.operand("fiu", (1, 4))
    return d.apply(f"xp.argsort({{0}}, axis={d.axis(x)}, stable=True)", x)


def _quantile(d: Drawer) -> Node:
    x = d.operand("f", (1, 4), where=lambda x: x.value.size > 0)
    axis = d.axis(x)
    return d.apply(
        d.choice(
            f"xp.median({{0}}, axis={axis})",
            f"xp.quantile({{0}}, 0.25, axis={axis})",
            f"xp.percentile({{0}}, 90, axis={axis})",
        ),
        x,
    )


def _search(d: Drawer) -> Node:
    x, y = d.operand("f", (1, 1)), d.operand("f", (1, 3))
    return d.apply(f"xp.searchsorted(xp.sort({{0}}), {{1}}, side='{d.choice('left', 'right')}')", x, y)


def _unique(d: Drawer) -> Node:
    x = d.operand("iub", (1, 3))
    return d.apply(
        d.choice(
            "xp.sort(xp.unique_values({0}))", "xp.unique_counts({0}).counts", "xp.unique_inverse({0}).inverse_indices"
        ),
        x,
    )


def _average(d: Drawer) -> Node:
    x = d.operand("f", (1, 3))
    axis = d.axis(x)
    return d.apply(
        d.choice(
            f"xp.average({{0}}, axis={axis})",
            f"xp.average({{0}}, axis={axis}, weights=xp.arange({{0}}.shape[{axis}]) + 1.0)",
            f"xp.trapezoid({{0}}, axis={axis})",
        ),
        x,
    )


def _gradient(d: Drawer) -> Node:
    x = d.operand("f", (1, 3), where=lambda x: min(x.shape) >= 2)
    return d.apply(f"xp.gradient({{0}}, axis={d.axis(x)})", x)


PRODUCTIONS = (
    Production("reductions", 4, _sum, smooth=True),
    Production("reductions", 1.5, _mean, smooth=True),
    Production("reductions", 1.2, _spread, smooth=True),
    Production("reductions", 1.5, _standardized, smooth=True),
    Production("reductions", 1.5, _extreme, smooth=True),
    Production("reductions", 0.5, _product, smooth=True),
    Production("reductions", 0.8, _truth),
    Production("reductions", 1, _place),
    Production("reductions", 0.4, _average, smooth=True),
    Production("reductions", 0.3, _gradient, smooth=True),
    Production("scans", 1.5, _scan, smooth=True),
    Production("sorting", 1, _sorted, smooth=True),
    Production("sorting", 0.7, _order),
    Production("sorting", 0.5, _quantile, smooth=True),
    Production("sorting", 0.4, _search),
    Production("sorting", 0.3, _unique, traced=False),
)
