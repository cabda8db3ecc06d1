"""Statements: names bound, bound anew and dropped, writes through views, loops, results read on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.fuzz.draw import Drawer, Node, Refused
from tests.fuzz.draw_gathers import index_list
from tests.fuzz.draw_linalg import scalar_product
from tests.fuzz.draw_movement import basic_key, draw_view

__all__ = ["STATEMENTS", "draw_kept"]

# {x} is a named array, {n} a number that goes with it or the length of its first axis, {t} a new name
MASKED_WRITES = (
    "{x}[{x} > 0] = {n}",
    "{x}[{x} < {n}] *= 2",
    "{x}[{x} <= 1] += {n}",
    "{x}[~({x} > 0)] = -{x}[~({x} > 0)]",
    "{x}[xp.abs({x}) > 1] = 0",
)
FUNCTION_WRITES = (
    "np.copyto({x}, {n})",
    "np.copyto({x}, {n}, where={x} > 0)",
    "np.put({x}, [0, -1], {n})",
    "{x}.put([-1], {n})",
    "{x}.flat[-1] = {n}",
    "{x}.flat[1:3] = {n}",
    "np.fill_diagonal({x}, {n})",
    "np.put_along_axis({x}, xp.argmax({x}, axis=-1, keepdims=True), {n}, axis=-1)",
    "np.putmask({x}, {x} > 0, {n})",
    "np.place({x}, {x} > 0, [{n}])",
    "np.add({x}, {n}, out={x})",
    "np.multiply({x}, {x}, out={x})",
    "np.maximum({x}, {n}, out={x})",
    "np.subtract({x}, {n}, out={x}, where={x} > 1)",
    "np.nan_to_num({x}, copy=False)",
    "np.cumsum({x}, axis=0, out={x})",
)
ROW_WRITES = (
    "{x}[0] = {x}[-1]",
    "{x}[:, 0] = {x}[:, -1]",
    "{x}[1:] = {x}[:-1]",
    "{x}[::-1] += {x}",
    "{x}[:] = {x}[::-1]",
    "{x}[0], {x}[-1] = {x}[-1] * 1, {x}[0] * 1",
    "{x}[:] = {x} - {x}.mean(axis=0)",
    "{x} -= {x}[0]",
    "{x}.T[0] = {n}",
    "{x}[..., 1:] -= {x}[..., :-1]",
    "{x}.ravel()[1] = {n}",
    "{x}.fill({n})",
    "{x}.sort(axis=0)",
)
ELEMENT_LOOPS = (
    "for i in range(1, {n}):\n    {x}[i] = 0.5 * {x}[i - 1] + {x}[i]",
    "for i in range({n}):\n    {x}[i] += i",
    "for i in range({n} - 1):\n    {x}[i] -= {x}[i + 1] / 2",
    "for i in range({n}):\n    {x}[i] = xp.sum({x}[:i + 1])",
    "for i in range(3):\n    {x}[1:-1] = 0.5 * ({x}[:-2] + {x}[2:])",
    "for i in range(2):\n    {x} = xp.roll({x}, 1, axis=0) - {x} / 2",
    "for i in range(2):\n    {x}[i:] *= 0.5",
    "{t} = 0.0\nfor row in {x}:\n    {t} = {t} + row",
    "{t} = 0.0\nfor i in range({n}):\n    {t} += {x}[i]",
    "{t} = []\nfor i in range({n}):\n    {t}.append({x}[i] * i)\n{t} = xp.stack({t})",
    "{t}, u = [], xp.sum({x}[:0], axis=0)\nfor row in {x}:\n    u += row\n    {t}.append(u)\n{t} = xp.stack({t})",
    "{t} = []\nfor row in {x}:\n    {t}.append(row)\n    row *= 2\n    {t}.append(row)\n{t} = xp.stack({t})",
    "{t} = xp.sum({x})\nu = {t}\n{t} -= {x}[0]\n{t} = {t} + u",
    "{t} = {x}[0]\nu = {t}\n{x}[0] = {n}\n{t} *= 2\n{t} = {t} - u",
    "{t} = {x}\nfor i in range(3):\n    {t} = {t}[:-1] if {t}.shape[0] > 1 else {t}\n    {t}[0] = i",
)


def _assign(d: Drawer) -> None:
    d.depth = d.choice(0, 1, 2, 2, 3, 3)
    d.assign(d.new_name(), d.expression())


def _assign_chain(d: Drawer) -> None:
    """One long expression without a name in it: what is fused."""
    d.depth = d.integer(3, 6)
    d.assign(d.new_name(), d.expression())


def _assign_pair(d: Drawer) -> None:
    """What weights make rare: any production of any other, named or inside something that is."""
    d.depth = d.choice(0, 0, 1)
    node = d.pair()
    d.assign(d.new_name(), node)


def _assign_anew(d: Drawer) -> None:
    """A temporary dies while others that may need its values live on."""
    names = d.names()
    if not names:
        raise Refused
    d.depth = d.choice(1, 2)
    d.assign(d.choice(*names[-5:]).text, d.expression())


def _view(d: Drawer) -> None:
    d.depth = 0
    d.assign(d.new_name(), draw_view(d))


def _drop(d: Drawer) -> None:
    names = [x for x in d.names() if x.text.startswith("t")]
    if len(names) < 3:
        raise Refused
    d.execute(f"del {d.choice(*names).text}")


def _read(d: Drawer) -> None:
    names = [x for x in d.names() if x.text.startswith("t")]
    if not names:
        raise Refused
    d.body.append(f"read({d.choice(*names[-4:]).text})")


def _target(d: Drawer, kinds: str = "fciub") -> Node:
    """A named array of at least one axis that may be written to."""
    return d.choice(*(d.names(kinds, (1, 5), where=lambda x: x.value.flags.writeable) or [_refuse()]))


def _refuse() -> Node:
    raise Refused


def _value_for(d: Drawer, target: Node, shape: tuple[int, ...]) -> str:
    """What is stored in a part of this shape: a number, an expression, the part itself from elsewhere."""
    if d.chance(0.4):
        return d.number(Node("", target.value))
    d.depth = d.choice(0, 1, 2)
    kinds = {"f": "fiub", "c": "cf", "i": "i", "u": "u", "b": "b"}[target.kind]

    def fits(x: Node) -> bool:
        try:
            return np.broadcast_shapes(shape, x.shape) == shape
        except ValueError:
            return False

    value = d.operand(kinds, where=fits)
    if target.kind in "iu" and value.dtype != target.dtype:
        return f"xp.astype({value.text}, xp.{target.dtype.name})"
    return value.text


def _shape_of_part(x: Node, key: str) -> tuple[int, ...]:
    try:
        return np.shape(eval(f"x[{key}]", {"x": x.value}))
    except IndexError as error:
        raise Refused from error


def _store(d: Drawer) -> None:
    x = _target(d)
    key = basic_key(d, x) if d.chance(0.9) else "..."
    part = _shape_of_part(x, key)
    d.execute(f"{x.text}[{key}] = {_value_for(d, x, part)}")


def _augment_part(d: Drawer) -> None:
    x = _target(d, "fciu")
    key = basic_key(d, x)
    part = _shape_of_part(x, key)
    if not part and x.kind in "iu":
        raise Refused
    op = d.choice("+=", "-=", "*=") if x.kind in "iu" else d.choice("+=", "-=", "*=", "*=", "/=")
    value = _value_for(d, x, part)
    d.execute(f"{x.text}[{key}] {op} {value}" if op != "/=" else f"{x.text}[{key}] {op} {d.choice(2, 4.0, 0.5)}")


def _augment(d: Drawer) -> None:
    """All of an array, seen through every view of it; a number is bound anew."""
    x = d.choice(*(d.names("fciu", where=lambda x: x.ndim == 0 or x.value.flags.writeable) or [_refuse()]))
    op = d.choice("+=", "-=", "*=") if x.kind in "iu" else d.choice("+=", "-=", "*=", "/=")
    value = _value_for(d, x, x.shape) if op != "/=" else d.choice("2", "1.5")
    if x.ndim == 0 and not value.replace(".", "").lstrip("-").isdigit():
        raise Refused  # of a number the dtype may change, and `vmap` maps over numbers
    d.execute(f"{x.text} {op} {value}")


def _store_masked(d: Drawer) -> None:
    x = _target(d, "fiu")
    form = d.choice(*MASKED_WRITES)
    d.execute(form.format(x=x.text, n=d.number(x)))


def _store_indexed(d: Drawer) -> None:
    x = _target(d, "fiuc")
    rows = index_list(d, x.shape[0])
    form = d.choice(
        "{x}[{i}] = {n}", "{x}[{i}] += {n}", "{x}[{i}] = {x}[0]", "{x}[{i}] *= {x}[{i}]", "np.add.at({x}, {i}, {n})"
    )
    if "at(" in form and x.kind == "u":
        raise Refused  # NumPy adds in float64
    d.execute(form.format(x=x.text, i=rows, n=d.number(x)))


def _store_by_function(d: Drawer) -> None:
    """Functions that write into an array that they are given."""
    x = _target(d, "fi")
    form = d.choice(*FUNCTION_WRITES)
    if d.options.traced and ("> 0" in form or "> 1" in form):
        raise Refused
    d.execute(form.format(x=x.text, n=d.number(x)))


def _store_rows(d: Drawer) -> None:
    x = _target(d, "fc")
    if x.ndim < 2 or 0 in x.shape:
        raise Refused
    form = d.choice(*ROW_WRITES)
    if x.kind == "c" and ("sort" in form or ("mean" in form and not np.isfinite(x.value).all())):
        raise Refused  # in the standard a mean is taken part by part
    if "ravel" in form and not x.value.flags.c_contiguous:
        raise Refused
    d.execute(form.format(x=x.text, n=d.number(x)))


def _loop_over_steps(d: Drawer) -> None:
    """Time steps: names bound anew from each other, values kept in bounds."""
    names = d.names("f", (0, 3))
    if not names:
        raise Refused
    lines = []
    for _ in range(d.choice(1, 1, 2, 3)):
        x = d.choice(*names)
        d.depth = d.choice(1, 2)
        value = d.operand("f", where=lambda y: y.shape == x.shape and y.dtype == x.dtype)
        lines.append(f"    {x.text} = {d.choice('0.5 * {0}', 'xp.tanh({0})', '0.25 * {0} + 0.5')}".format(value.text))
    d.execute("\n".join([f"for i in range({d.integer(1, 4)}):", *lines]))


def _loop_over_elements(d: Drawer) -> None:
    x = _target(d, "f")
    n = x.shape[0]
    if not 2 <= n <= 20:
        raise Refused
    form = d.choice(*ELEMENT_LOOPS)
    d.execute(form.format(x=x.text, n=n, t=d.new_name()))


def draw_kept(d: Drawer) -> None:
    """Steps of an iterative method: scalar products kept and used, vectors bound anew from them."""
    vectors = d.names("f", (1, 1))
    if len(vectors) < 2:
        n = vectors[0].shape[0] if vectors else d.choice(3, 5, 8, 17, 64, 129)
        d.new_input((n,), "f")
        return
    scalars = d.names("f", (0, 0))
    d.depth = d.choice(0, 1)
    roll = d.rng.random()
    if roll < 0.4 or not scalars:
        form = d.choice("{0}", "{0}", "xp.sqrt(xp.abs({0}))", "({0} / 2)", "(1 / (1 + {0} * {0}))")
        return d.assign(d.new_name(), d.apply(form, scalar_product(d)))
    x = d.choice(*vectors)
    y = d.operand("f", (1, 1), where=lambda v: v.shape == x.shape)
    s = d.choice(*scalars)
    step = d.choice(
        "({0} + {2} * {1})",
        "({0} - {2} * {1})",
        "({0} / (1 + {2} * {2}))",
        "({1} + {2})",
        "({0} * xp.dot({1}, {1}) * 0.01)",
        "({2} * {0} - xp.sum({1}))",
    )
    target = d.choice(d.new_name(), x.text if d.options.traced is False or x.text.startswith("t") else d.new_name())
    return d.assign(target, d.apply(step, x, y, s))


STORED = (  # results that become memory whatever uses them
    "xp.sum({0}, axis=-1)",
    "xp.mean({0}, axis=0)",
    "xp.max({0}, axis=-1, keepdims=True)",
    "xp.cumsum({0}, axis=-1)",
    "xp.sort({0}, axis=-1)",
    "xp.dot({0}.reshape((-1,)), {0}.reshape((-1,)))",
    "xp.sum({0})",
    "xp.take({0}, [0, -1, 0], axis=0)",
)
SIBLINGS = ("({0} + {1})", "({0} * {1})", "({1} - {0})", "xp.maximum({0}, {1})", "xp.sin({0} + {1})", "({1} * 2)")


def _siblings(d: Drawer) -> None:
    """A temporary that is read for one of several results, which share operands, and dies."""
    x = d.operand("f", (1, 3), where=lambda x: x.value.size > 0)
    stored = d.apply(d.choice(*STORED), x)
    name = d.new_name()
    d.assign(name, stored)
    beside = d.names("f", where=lambda y: y.shape == stored.shape and y.text != name)
    known = [d.choice(*beside) if beside and d.chance(0.6) else d.new_input(stored.shape, "f")]
    for takes in d.choice((False, True), (False, True), (False, True, False), (True, False)):
        x, y = Node(name, stored.value) if takes else d.choice(*known), d.choice(*known)
        made = d.apply(d.choice(*SIBLINGS), *d.rng.sample((x, y), 2))
        result = d.new_name()
        d.assign(result, made)
        known.append(Node(result, made.value))
    d.execute(f"del {name}")


Statement = Callable[[Drawer], None]
# subject, weight, how to draw it, whether programs that become functions may have it
STATEMENTS: tuple[tuple[str, float, Statement, bool], ...] = (
    ("assign", 6, _assign, True),
    ("chain", 2.5, _assign_chain, True),
    ("pairs", 3, _assign_pair, True),
    ("assign", 1.5, _assign_anew, True),
    ("kept", 1, draw_kept, True),
    ("kept", 1, _siblings, True),
    ("views", 1.5, _view, True),
    ("drop", 0.8, _drop, True),
    ("read", 0.6, _read, True),
    ("writes", 1.2, _store, True),
    ("writes", 1.2, _augment_part, True),
    ("writes", 1, _augment, True),
    ("writes", 0.5, _store_masked, False),
    ("writes", 0.7, _store_indexed, True),
    ("writes", 0.6, _store_rows, True),
    ("writes", 0.8, _store_by_function, True),
    ("loops", 0.7, _loop_over_steps, True),
    ("loops", 0.6, _loop_over_elements, True),
)
