"""What follows from a description: the public function, the method of arrays, the way of calls of NumPy's function.

Invariant: a public function has real parameters, and where only those are given that the native version knows, it calls
that at once. So each is made from a few lines of source, as the methods of a dataclass are; functions of one signature
share them.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, TypeVar

from uopc_array._array.array import Array
from uopc_array._array.programs import of_known, several_of_known, view_of_known
from uopc_array._functions.arguments import frame_of, node_of, seen, wrap, wrap_array, wrap_like
from uopc_array._functions.describe import (
    ABSENT,
    DESCRIPTIONS,
    NOTHING,
    Description,
    Kind,
    Parameter,
    described,
    description_of,
    function_of_numpy,
    path_of,
)
from uopc_array._functions.hints import check_hint
from uopc_array._functions.host import call_host
from uopc_array._functions.outputs import only, store
from uopc_core import UOp
from uopc_core.errors import shortened

__all__ = [
    "DESCRIBED_METHODS",
    "FUNCTIONS",
    "METHODS",
    "ROUTES",
    "function",
    "functions_in",
    "method",
    "signature_of_method",
]

Public = Callable[..., Any]
F = TypeVar("F", bound=Public)

FUNCTIONS: dict[str, Public] = {}  # by path, aliases as well
METHODS: dict[str, Public] = {}  # of arrays, by name
DESCRIBED_METHODS: dict[str, Description] = {}
ROUTES: dict[Any, Public] = {}  # functions of NumPy, to what takes their calls


def function(
    text: str,
    also: str = "",
    *,
    method: str = "",
    gives: str | type = "value",
    casting: str = "same_kind",
    array: str = "",
    of_method: str = "",
    hints: str = "",
    variants: Mapping[str, str] = NOTHING,
    looks_at_values: bool = False,
    at_once: Callable[..., Any] | None = None,
    route: Callable[[Public], Public] | None = None,
) -> Callable[[F], F]:
    """Describe a public function by its native version, which stays as it is.

    Args:
        text: its path and signature: "linalg.qr(a, mode='reduced')".
        also: other names of it, between spaces.
        method: names of the method of arrays, between spaces.
        gives, casting, array, of_method, variants, looks_at_values, at_once: see `Description`.
        hints: see `description_of`.
        route: from the public function, what takes the calls of NumPy's where these mean something else.
    """

    def describe(native: F) -> F:
        facts = {"gives": gives, "casting": casting, "array": array, "of_method": of_method}
        looks = {"looks_at_values": looks_at_values, "at_once": at_once}
        description = described(native, text, also, hints=hints, variants=variants, **facts, **looks)
        for name in description.names:
            path = path_of(description.folder, name)
            FUNCTIONS[path] = public = _made(description, name)
            theirs = function_of_numpy(path)
            if theirs is not None and (theirs not in ROUTES or theirs.__name__ == name):
                ROUTES[theirs] = route(public) if route else public
        for name in method.split():
            METHODS[name] = _made(description, name, of_array=True)
            DESCRIBED_METHODS[name] = description
        return native

    return describe


def method(text: str, *, gives: str | type = "value", of_method: str = "") -> Callable[[F], F]:
    """Describe a method of arrays that is no function of the namespace; see `function`."""

    def describe(native: F) -> F:
        description = description_of(native, text, gives=gives, of_method=of_method)
        (name,) = description.names
        METHODS[name] = _made(description, name, of_array=True)
        DESCRIBED_METHODS[name] = description
        return native

    return describe


def functions_in(folder: str) -> dict[str, Public]:
    """The public functions of a folder, "" or "linalg", by name."""
    found = [path.rpartition(".") for path in FUNCTIONS]
    return {name: FUNCTIONS[path_of(where, name)] for where, _, name in found if where == folder}


# ---------------------------------------------------------------------------------------------- source

_WAYS = {
    "value": "wrap({})",
    "array": "wrap_array({})",
    "kept": "(wrap_array if keepdims else wrap)({})",
    "like": "wrap_like({first}, {})",
    "view": "seen({first}, frame, {})",
}
_SOURCE = """\
def make(name, native, description, gives):
    def function({signature}):
        try:
{body}
        except Exception as error:
            raise shortened(error) from error.__cause__

    return function
"""
_files = count()


def _made(description: Description, name: str, of_array: bool = False) -> Public:
    """The public function under one of its names, or the method of arrays of this name."""
    array = description.array if of_array else ""
    called = {p.name: "self" if p.name == array else p.name for p in description.parameters}
    signature = signature_of_method(description) if of_array else description.signature
    source = _SOURCE.format(signature=signature, body=_body(description, called, of_array))
    public: Any = _compiled(source)(name, description.native, description, description.gives)
    public.__code__ = public.__code__.replace(co_name=name, co_qualname=name)
    public.__name__ = name
    public.__qualname__ = f"Array.{name}" if of_array else name
    public.__module__ = "uopc_array" if of_array or not description.folder else f"uopc_array.{description.folder}"
    public.__doc__ = description.native.__doc__
    return public


def signature_of_method(description: Description) -> str:
    """The signature with the array in place of the parameter that it stands for."""
    return f"self, {description.of_method}"


def _body(description: Description, called: Mapping[str, str], of_array: bool) -> str:
    """The lines of the function; `called` are its names of the parameters."""
    known = [p for p in _in_order_of_native(description) if p.is_native]
    first = next(iter(called.values()), "")
    frame = first if description.gives == "view" and known[0].annotation == "UOp" else ""
    converted = ["frame" if called[p.name] == frame else _converted(called[p.name], p) for p in known]
    call = f"native({', '.join(['name', *converted])})"
    values = ", ".join(["description", "name", *called.values()])
    others = [p for p in description.parameters if not p.is_native]
    leading = description.of_method.partition(",")[0] if of_array else ""
    lines = [f"{p.name} = one_or_all({p.name})" for p in known if leading == f"*{p.name}"]
    if others:
        lines += [f"if not ({' and '.join(map(_is_left_out, others))}):", f"    return otherwise({values})"]
    if frame:
        lines += _lines_for_view(description, frame, [called[p.name] for p in known[1:]])
        lines.append("frame = self._frame()" if frame == "self" else f"frame = frame_of(name, {frame})")
    before = len(lines)
    if description.may_give_up:
        lines += [f"result = {call}", "if result is NotImplemented:", f"    return hosted({values})"]
        call = "result"
    lines[before:before] = _lines_for_known(description, [called[p.name] for p in known], known)
    lines.append(f"return {_given(call, description, first)}")
    return "\n".join(" " * 12 + line for line in lines)


_IS_ARRAY = {"value": "False", "array": "True", "kept": "keepdims"}


def _lines_for_known(description: Description, names: Sequence[str], known: Sequence[Parameter]) -> list[str]:
    """The lines that answer where all operands are known and small, see `of_known`."""
    before: list[str] = []
    if description.at_once is not None:
        before = [
            f"value = description.at_once(Array, {', '.join(names)})",
            "if value is not None:",
            "    return value",
        ]
    gives, result = description.gives, description.result
    has_several = result.startswith(("tuple[UOp", "list[UOp")) or ("tuple[UOp" in result and isinstance(gives, type))
    if description.looks_at_values or not (has_several or result.startswith("UOp")):
        return before
    if not isinstance(gives, type) and gives not in _IS_ARRAY:
        return before
    nodes = tuple([_is_node(p) for p in known])
    args = f"({', '.join(names)},)"
    if has_several:
        is_array = "False" if isinstance(gives, type) else _IS_ARRAY[gives]
        of_class = "lambda items: gives(*items)"
        several = of_class if isinstance(gives, type) else "list" if result.startswith("list") else "tuple"
        return [
            *before,
            f"value = several_of_known(Array, native, name, {nodes}, {args}, {is_array}, {several})",
            "if value is not None:",
            "    return value",
        ]
    if isinstance(gives, type):
        return before
    return [
        *before,
        f"value = of_known(Array, native, name, {nodes}, {args}, {_IS_ARRAY[str(gives)]})",
        "if value is not None:",
        "    return value",
    ]


def _lines_for_view(description: Description, first: str, names: Sequence[str]) -> list[str]:
    """The lines that answer where the operand is known and small, see `view_of_known`."""
    if description.result != "Lens":
        return []
    condition = f"if type({first}) is Array:"
    return [
        condition,
        f"    value = view_of_known({first}, native, name, ({''.join([f'{name}, ' for name in names])}))",
        "    if value is not None:",
        "        return value",
    ]


def _is_node(p: Parameter) -> bool | None:
    """What `of_known` is told of a parameter."""
    return None if "ArrayLike" in str(p.annotation) else "UOp" in str(p.annotation)


def _in_order_of_native(description: Description) -> list[Parameter]:
    order = {name: i for i, name in enumerate(description.native.__code__.co_varnames)}
    return sorted(description.parameters, key=lambda p: order.get(p.name, len(order)))


def _is_left_out(p: Parameter) -> str:
    if p.star:
        return f"not {p.name}"
    if p.default is None or isinstance(p.default, bool):
        return f"{p.name} is {p.default}"
    return f"{p.name} == {p.default!r}"


def _converted(name: str, p: Parameter) -> str:
    """The argument of the native version."""
    node = f"{name}._uop if type({name}) is Array else node_of(name, {name})"
    match p.annotation:
        case "UOp":
            return "self._uop" if name == "self" else node
        case "UOp | None":
            return f"None if {name} is None else {node}"
        case "Sequence[UOp]":
            return f"[node_of(name, item) for item in {name}]"
        case _:
            return name


def _given(call: str, description: Description, first: str) -> str:
    """What the user gets, from what the native version gives."""
    result, gives = description.result, description.gives
    if "UOp" not in result and "Lens" not in result:
        return call
    if isinstance(gives, type):
        return f"one_or_many({call}, wrap, gives)" if "|" in result else f"gives(*map(wrap, {call}))"
    each = _WAYS[gives].format("{}", first=first)
    if result in ("UOp", "Lens"):
        return each.format(call)
    if result == "UOp | tuple[UOp, ...]":
        return f"one_or_many({call}, {each.partition('(')[0]})"
    listed = f"[{each.format('node')} for node in {call}]"
    return f"tuple({listed})" if result.startswith("tuple") else listed


def _one_or_all(args: tuple[Any, ...]) -> Any:
    """``x.f(2, 3)`` and ``x.f((2, 3))`` mean the same, and ``x.f()`` what None does."""
    return args[0] if len(args) == 1 else args or None


def _one_or_many(
    result: UOp | tuple[UOp, ...], each: Callable[[UOp], Array], several: Callable[..., Any] | None = None
) -> Any:
    """What the native version gives, wrapped: one array, or several in a tuple, of the class `several`."""
    if isinstance(result, UOp):
        return each(result)
    arrays = tuple([each(node) for node in result])
    return arrays if several is None else several(*arrays)


@cache
def _compiled(source: str) -> Public:
    """The maker of the functions of this source."""
    path = os.path.join(os.path.dirname(__file__), f"<public {next(_files)}>")
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)  # tracebacks show the lines
    space = dict(_SPACE)
    exec(compile(source, path, "exec"), space)
    return space["make"]


# ---------------------------------------------------------------------------------------------- what is not native


def _otherwise(description: Description, name: str, *values: Any) -> Any:
    """The call with `out`, or with what the native version does not know."""
    given = {p: value for p, value in zip(description.parameters, values, strict=True) if not p.is_left_out(value)}
    for p, value in given.items():
        if p.kind is Kind.HINT:
            check_hint(description, name, p, value)
    out = next((value for p, value in given.items() if p.kind is Kind.OUT), None)
    casting = next((value for p, value in given.items() if p.name == "casting"), description.casting)
    if all(p.is_native or p.kind in (Kind.OUT, Kind.HINT) for p in given):
        known = {p: value for p, value in zip(description.parameters, values, strict=True) if p.is_native}
        args, kwargs = _arguments(known)
        is_function = DESCRIPTIONS.get(description.path) is description
        public = FUNCTIONS[path_of(description.folder, name)] if is_function else METHODS[name]
        result = public(*args, **kwargs)
    else:
        result = _hosted(description, name, *values)
    return result if out is None else store(name, result, only(name, out), casting)


def _hosted(description: Description, name: str, *values: Any) -> Any:
    """NumPy's own function, on the values."""
    known = {p: value for p, value in zip(description.parameters, values, strict=True) if p.kind is not Kind.OUT}
    args, kwargs = _arguments(known)
    assert description.numpy is not None, name
    try:
        return call_host(f"numpy.{description.path}", description.numpy, args, kwargs)
    except Exception as error:
        raise shortened(error, name) from error.__cause__


def _arguments(values: Mapping[Parameter, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a call needs: by position what has no default, by keyword the rest of what is given."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for p, value in values.items():
        if p.star == "**":
            kwargs.update(value)
        elif p.star:
            args += value
        elif p.default is ABSENT:
            args.append(value)
        elif not p.is_left_out(value):
            kwargs[p.name] = value
    return tuple(args), kwargs


_SPACE: dict[str, Any] = {
    "__name__": "uopc_array",
    "Array": Array,
    "frame_of": frame_of,
    "hosted": _hosted,
    "node_of": node_of,
    "of_known": of_known,
    "one_or_all": _one_or_all,
    "one_or_many": _one_or_many,
    "otherwise": _otherwise,
    "seen": seen,
    "several_of_known": several_of_known,
    "shortened": shortened,
    "view_of_known": view_of_known,
    "wrap": wrap,
    "wrap_array": wrap_array,
    "wrap_like": wrap_like,
}
