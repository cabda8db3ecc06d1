"""Elementwise expressions: arithmetic with numbers and broadcasting, mathematical functions, choices, conversions."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Drawer, Node, Production, Refused

__all__ = ["PRODUCTIONS"]

SMOOTH = ("sin", "cos", "tanh", "exp", "arctan", "arcsinh", "expm1", "sinh", "cosh", "cbrt")
OF_POSITIVE = ("sqrt", "log", "log1p", "log2", "log10")  # of abs(x) and a little
INSIDE_ONE = ("arcsin", "arccos", "arctanh")
ANY = ("abs", "negative", "positive", "square")
ROUNDING = ("floor", "ceil", "trunc", "rint", "sign")
COMPLEX = ("exp", "sin", "cos", "sqrt", "conj", "abs", "square", "negative")


def _floats(d: Drawer) -> Node:
    """Floats, or integers wide enough that NumPy computes them in float64 too."""
    x = d.operand("fiu" if not d.options.smooth else "f")
    return x if x.kind == "f" or x.dtype.itemsize >= 4 else d.apply("({0} + 0.5)", x)


def _unary(d: Drawer) -> Node:
    roll = d.rng.random()
    if roll < 0.5:
        return d.apply(f"xp.{d.choice(*SMOOTH)}({{0}})", _floats(d))
    if roll < 0.7:
        return d.apply(f"xp.{d.choice(*OF_POSITIVE)}(xp.abs({{0}}) + {d.choice('0.5', '1', '1e-3')})", _floats(d))
    if roll < 0.8:
        return d.apply(f"xp.{d.choice(*INSIDE_ONE)}({{0}} / (1.25 + xp.abs({{0}})))", _floats(d))
    return d.apply(f"xp.{d.choice(*ANY)}({{0}})", d.operand("fiu"))


def _complex(d: Drawer) -> Node:
    x = d.operand("c")
    form = d.choice(
        "xp.{f}({{0}})",
        "xp.{f}({{0}})",
        "{{0}}.real",
        "{{0}}.imag",
        "xp.real({{0}})",
        "({{0}} * 1j)",
        "xp.angle({{0}})",
    )
    return d.apply(form.format(f=d.choice(*COMPLEX)), x)


def _to_complex(d: Drawer) -> Node:
    return d.apply(
        d.choice("({0} + 1j)", "({0} * 2j)", "xp.exp(1j * {0})", "xp.astype({0}, xp.complex128)"), d.operand("f")
    )


def _rounding(d: Drawer) -> Node:
    return d.apply(f"xp.{d.choice(*ROUNDING)}({{0}})", d.operand("f"))


def _arithmetic(d: Drawer) -> Node:
    x = d.operand("fciu")
    y = d.partner(x, "f" if d.options.smooth else "")
    template = d.choice("({0} + {1})", "({0} * {1})", "({0} - {1})", "({0} + {1})", "({0} * {1})", "({1} - {0})")
    return d.apply(template, x, y)


def _quotient(d: Drawer) -> Node:
    x = d.operand("f")
    y = d.partner(x, "f")
    return d.apply(
        d.choice("({0} / {1})", "({1} / {0})", "({0} / (1 + {1} * {1}))", "({0} / (2.5 + xp.abs({1})))"), x, y
    )


def _integer_quotient(d: Drawer) -> Node:
    x = d.operand("fiu")
    y = d.partner(x, x.kind)
    if not (np.isfinite(x.value).all() and np.isfinite(y.value).all()):
        raise Refused  # the standard's floor_divide of infinities is not NumPy's
    return d.apply(d.choice("({0} // {1})", "({0} % {1})", "xp.fmod({0}, {1})", "divmod({0}, {1})[1]"), x, y)


def _power(d: Drawer) -> Node:
    x = d.operand("f")
    form = d.choice(
        "({0} ** 2)",
        "({0} ** 3)",
        "(xp.abs({0}) + 1) ** 1.5",
        "(xp.abs({0}) + 0.5) ** -1",
        "2.0 ** {0}",
        "xp.power({0}, 2)",
    )
    return d.apply(f"({form})" if form[0] == "(" or form[0] == "2" else form, x)


def _integer_power(d: Drawer) -> Node:
    return d.apply(f"({{0}} ** {d.choice(0, 1, 2, 3)})", d.operand("iu"))


def _binary(d: Drawer) -> Node:
    x = d.operand("f")
    y = d.partner(x, "f")
    return d.apply(f"xp.{d.choice('hypot', 'arctan2', 'logaddexp', 'copysign')}({{0}}, {{1}})", x, y)


def _extremes(d: Drawer) -> Node:
    x = d.operand("fiub")
    y = d.partner(x, x.kind)
    return d.apply(f"xp.{d.choice('maximum', 'minimum', 'maximum', 'minimum', 'fmax', 'fmin')}({{0}}, {{1}})", x, y)


def _clip(d: Drawer) -> Node:
    low, high = (
        d.choice(("-1", "1"), ("0", "2"), ("-0.5", "None"), ("None", "1.5")) if d.chance(0.8) else ("0.25", "0.75")
    )
    return d.apply(f"xp.clip({{0}}, {low}, {high})", d.operand("f"))


def _clip_integers(d: Drawer) -> Node:
    return d.apply(f"xp.clip({{0}}, {d.choice(0, 1)}, {d.choice(3, 9)})", d.operand("iu"))


def _comparison(d: Drawer) -> Node:
    x = d.operand("fiub")
    y = d.partner(x, "fiub")
    return d.apply(f"({{0}} {d.choice('<', '<=', '>', '>=', '==', '!=')} {{1}})", x, y)


def condition(d: Drawer, x: Node) -> Node:
    """Truth values of the shape of `x` or of one that broadcasts to it."""
    if x.kind == "c":
        return d.apply("({0}.real > 0)", x)
    if x.kind == "b":
        return x
    return d.apply(f"({{0}} {d.choice('<', '>', '<=', '!=')} {d.choice('0', '1', '0.5')})", x)


def _where(d: Drawer) -> Node:
    x = d.operand()
    y = d.partner(x, x.kind)
    test = condition(d, d.choice(x, y) if y.ndim else x)
    return d.apply(d.choice("xp.where({0}, {1}, {2})", "xp.where({0}, {2}, {1})"), test, x, y)


def _logic(d: Drawer) -> Node:
    x = d.operand("b")
    y = d.partner(x, "b")
    return d.apply(
        d.choice(
            "({0} & {1})", "({0} | {1})", "({0} ^ {1})", "(~{0})", "xp.logical_not({0})", "xp.logical_and({0}, {1})"
        ),
        x,
        y,
    )


def _bits(d: Drawer) -> Node:
    x = d.operand("iu")
    y = d.partner(x, x.kind)
    return d.apply(
        d.choice(
            "({0} & {1})",
            "({0} | {1})",
            "({0} ^ {1})",
            "(~{0})",
            "({0} << 2)",
            "({0} >> 1)",
            "({0} << (xp.abs({1}) % 5))",
        ),
        x,
        y,
    )


def _tests(d: Drawer) -> Node:
    return d.apply(f"xp.{d.choice('isfinite', 'isnan', 'isinf', 'signbit')}({{0}})", d.operand("f"))


def _conversion(d: Drawer) -> Node:
    x = d.operand("fiub")
    if x.kind == "f" and d.chance(0.4):
        return d.apply(f"xp.astype(xp.nan_to_num(xp.clip({{0}}, 0, 100)), xp.{d.choice('int64', 'int32', 'uint8')})", x)
    return d.apply(f"xp.astype({{0}}, xp.{d.choice('float64', 'float32', 'float64', 'bool')})", x)


def _narrow(d: Drawer) -> Node:
    return d.apply(f"xp.astype({{0}}, xp.{d.choice('int64', 'int8', 'uint8', 'int16', 'uint32')})", d.operand("iub"))


def _through_numpy(d: Drawer) -> Node:
    x = d.operand("f", (1, 4))
    if x.is_name and d.chance(0.5):
        return d.apply(f"np.{d.choice('sum', 'mean', 'prod')}({{0}}, where={{0}} > 0)", x)
    return d.apply(f"np.{d.choice('exp', 'sin', 'negative', 'square', 'tanh')}({{0}})", x)


def _of_input_like(d: Drawer) -> Node:
    x = d.operand("f", (1, 4))
    if x.ndim != 1:
        raise Refused
    return d.apply(
        d.choice(
            "(xp.arange({0}.shape[0]) * {0})", "(xp.linspace(0, 1, {0}.shape[0]) + {0})", "(xp.ones_like({0}) - {0})"
        ),
        x,
    )


PRODUCTIONS = (
    Production("elementwise", 6, _unary, smooth=True),
    Production("elementwise", 9, _arithmetic, smooth=True),
    Production("elementwise", 3, _quotient, smooth=True),
    Production("elementwise", 2.25, _power, smooth=True),
    Production("elementwise", 2.25, _where, smooth=True),
    Production("elementwise", 1.5, _extremes, smooth=True),
    Production("elementwise", 1.2, _clip, smooth=True),
    Production("elementwise", 1.2, _binary, smooth=True),
    Production("elementwise", 0.9, _of_input_like, smooth=True),
    Production("elementwise", 1.5, _complex),
    Production("elementwise", 0.45, _to_complex),
    Production("elementwise", 1.05, _rounding),
    Production("elementwise", 1.5, _integer_quotient),
    Production("elementwise", 0.75, _integer_power),
    Production("elementwise", 0.75, _clip_integers),
    Production("elementwise", 1.5, _comparison),
    Production("elementwise", 1.2, _logic),
    Production("elementwise", 1.2, _bits),
    Production("elementwise", 0.6, _tests),
    Production("elementwise", 1.2, _conversion),
    Production("elementwise", 0.75, _narrow),
    Production("elementwise", 0.6, _through_numpy),
)
