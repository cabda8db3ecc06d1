"""One description per public function: a line with the public signature, and below it the native version, of nodes.

    @function("roll(a, shift, axis=None)")
    def roll(name: str, a: UOp, shift: Any, axis: AxisLike) -> UOp:
        \"\"\"Elements moved along an axis ...\"\"\"

The signature is NumPy's joined with the standard's. What is public follows from it: the function under each of its
names, the method of arrays, the way that calls of NumPy's function come, the records of the tests. The annotations of
the native version say what is an array (`UOp`) and what comes out; a parameter that it lacks is one that only NumPy's
own function knows, which then computes on the values. `name` is what the user called.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar

import numpy as np

from uopc_core.records import record

__all__ = ["ABSENT", "DESCRIPTIONS", "NOTHING", "Description", "Kind", "Parameter", "described", "description_of"]

Native = Callable[..., Any]
F = TypeVar("F", bound=Native)

ABSENT: Any = object()  # the default of a parameter that has none
NOTHING: Mapping[str, str] = MappingProxyType({})
_TAKES_THE_REST = 0x04  # flag of code with *args


class Kind(Enum):
    """What a parameter is."""

    OPERAND = "an array"
    OPERANDS = "several arrays"
    NUMBER = "a number or an array of them, perhaps with a derivative"
    AXIS = "axes"
    SHAPE = "extents"
    DTYPE = "a dtype"
    STATIC = "part of the structure: a switch, a choice, a count"
    OUT = "the array that takes the result"
    WHERE = "a mask"
    HINT = "what changes no value here"


_KIND_OF_NAME = {
    **dict.fromkeys(("axis", "axes", "axis1", "axis2", "source", "destination"), Kind.AXIS),
    **dict.fromkeys(("initial", "ddof", "correction", "mean"), Kind.NUMBER),
    **dict.fromkeys(("casting", "device", "like", "order", "overwrite_input", "subok"), Kind.HINT),
    "shape": Kind.SHAPE,
    "dtype": Kind.DTYPE,
    "out": Kind.OUT,
    "where": Kind.WHERE,
}
_KIND_OF_ANNOTATION = {
    "UOp": Kind.OPERAND,
    "UOp | None": Kind.OPERAND,
    "Sequence[UOp]": Kind.OPERANDS,
    "Sequence[ArrayLike]": Kind.OPERANDS,
    "ArrayLike": Kind.NUMBER,
    "ArrayLike | None": Kind.NUMBER,
}


@record
class Parameter:
    """A parameter of a public function.

    Attributes:
        default: what it is where nothing is given; ABSENT where something must be.
        star: "*" of one that takes the positional arguments that are left, "**" of the keywords, else empty.
        is_keyword: whether it is passed by keyword only.
        annotation: that of the native version, of a parameter that this knows; None of another.
    """

    name: str
    kind: Kind
    default: Any
    star: str
    is_keyword: bool
    annotation: str | None

    @property
    def is_native(self) -> bool:
        return self.annotation is not None

    def is_left_out(self, value: Any) -> bool:
        """Whether `value` is what the parameter is where nothing is given."""
        if self.star:
            return not value
        default = self.default
        return value is default or (type(value) is type(default) and isinstance(value, str | int) and value == default)


@record(eq=False)
class Description:
    """What is known of a public function.

    Attributes:
        folder: where it stands below the package: "" or "linalg".
        names: all its names, the main one first.
        signature: what stands between the parentheses.
        native: the version for nodes: the name that was called, then the parameters that it knows.
        numpy: the function of NumPy, if there is one.
        gives: "value", "array" (of no axes too), "kept" (an array where axes are kept), "like" (as its first operand),
            "view" (of its first operand: the native version gives the steps to it), or the class of the tuple that
            comes out.
        casting: the rule by which a result is stored in `out`.
        array: the parameter in whose place a method has the array itself.
        of_method: the signature of the method, without the array; it is that of the function but for "*shape", which
            stands for one argument or several.
        variants: for type checkers, what comes out by a parameter: "mode: Literal['r']" -> "Array".
        looks_at_values: whether what it does, or refuses, depends on values that are known, so that what it made of
            some operands (see `of_known`) is not good for others of their shapes.
        at_once: from the class of arrays and what the native version takes, the result where that can be had at the
            line, else None; of a function that knows such a way.
    """

    folder: str
    names: tuple[str, ...]
    signature: str
    parameters: tuple[Parameter, ...]
    native: Native
    numpy: Callable[..., Any] | None
    gives: str | type
    casting: str
    array: str
    of_method: str
    variants: Mapping[str, str]
    looks_at_values: bool = False
    at_once: Callable[..., Any] | None = None

    @property
    def path(self) -> str:
        return path_of(self.folder, self.names[0])

    @property
    def result(self) -> str:
        """The annotation of what the native version gives, where it does not give up."""
        return re.sub(r" \| NotImplementedType|NotImplementedType \| ", "", self.native.__annotations__["return"])

    @property
    def may_give_up(self) -> bool:
        """Whether the native version leaves some calls to NumPy's own function."""
        return "NotImplementedType" in self.native.__annotations__["return"]


DESCRIPTIONS: dict[str, Description] = {}


def path_of(folder: str, name: str) -> str:
    return f"{folder}.{name}" if folder else name


def described(native: Native, text: str, also: str = "", **facts: Any) -> Description:
    """The description of a public function, entered among the others; see `description_of`."""
    out = description_of(native, text, also, **facts)
    DESCRIPTIONS[out.path] = out
    return out


def description_of(
    native: Native,
    text: str,
    also: str = "",
    *,
    gives: str | type = "value",
    casting: str = "same_kind",
    array: str = "",
    of_method: str = "",
    hints: str = "",
    variants: Mapping[str, str] = NOTHING,
    looks_at_values: bool = False,
    at_once: Callable[..., Any] | None = None,
) -> Description:
    """The description of a public function, or of a method that is none.

    Args:
        native: its native version.
        text: its path and signature: "linalg.qr(a, mode='reduced')".
        also: other names of it, between spaces.
        gives, casting, array, of_method, variants, looks_at_values, at_once: see `Description`; without a name the
            array is the first parameter.
        hints: parameters, between spaces, that change no value here, besides those that never do.
    """
    path, _, signature = text.removesuffix(")").partition("(")
    folder, _, name = path.rpartition(".")
    parameters = _parameters(native, signature, hints.split())
    numpys = function_of_numpy(path)
    names = (name, *also.split())
    array = array or (parameters[0].name if parameters else "")
    of_method = of_method or _without(array, signature)
    facts = gives, casting, array, of_method, variants, looks_at_values, at_once
    return Description(folder, names, signature, parameters, native, numpys, *facts)


def _without(array: str, signature: str) -> str:
    """The signature of a method: without the array, which is passed by position alone."""
    items = [f"{name}={default}" if default else name for name, default in _items(signature) if name != array]
    return ", ".join(items if "/" in items else ["/", *items])


def function_of_numpy(path: str) -> Callable[..., Any] | None:
    """NumPy's function of this path, if there is one."""
    found: Any = np
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _parameters(native: Native, signature: str, hints: Sequence[str]) -> tuple[Parameter, ...]:
    items = _items(signature)
    names = [name.lstrip("*") for name, _ in items if name.strip("*/")]
    known = _known(native, names)
    out: list[Parameter] = []
    is_keyword = False
    for item, default in items:
        name = item.lstrip("*")
        if name.strip("/"):
            annotation = known.get(name)
            named = Kind.HINT if name in hints else _KIND_OF_NAME.get(name, Kind.STATIC)
            kind = _KIND_OF_ANNOTATION.get(annotation or "", named)
            if kind is Kind.HINT and annotation is not None:
                kind = Kind.STATIC
            star = item[: len(item) - len(name)]
            out.append(Parameter(name, kind, _value(default), star, is_keyword, annotation))
        is_keyword = is_keyword or item.startswith("*")
    return tuple(out)


def _items(signature: str) -> list[tuple[str, str]]:
    """Names and defaults of a signature, with the marks between them."""
    out: list[tuple[str, str]] = []
    depth, item = 0, ""
    for c in f"{signature},":
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            name, _, default = item.strip().partition("=")
            out.append((name, default))
            item = ""
        else:
            item += c
    return [pair for pair in out if pair[0]]


@cache
def _value(default: str) -> Any:
    return ast.literal_eval(default) if default else ABSENT


def _known(native: Native, names: list[str]) -> Mapping[str, str]:
    """The parameters that the native version knows, with their annotations, in its order."""
    assert isinstance(native, FunctionType)
    code = native.__code__
    own = list(code.co_varnames[1 : code.co_argcount])
    if code.co_flags & _TAKES_THE_REST:
        own += [name for name in names[names.index(own[-1]) + 1 :] if name not in (*own, "out")]
    assert set(own) <= set(names), f"{native.__name__}: of {own}, some are not in the signature {names}"
    return {name: str(native.__annotations__.get(name, "Any")) for name in own}
