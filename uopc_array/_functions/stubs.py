"""What type checkers and editors see of the described functions: stubs, which this module writes when it is run.

A function is made from its description when the package is imported, and a tool that only reads text knows nothing of
it. A test asserts that the stubs say what the descriptions say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np

from uopc_array._functions import methods, public
from uopc_array._functions.describe import ABSENT, DESCRIPTIONS, Description, Kind, Parameter, path_of

__all__ = ["stubs"]

_HERE = Path(__file__).parent
_HEAD = '"""Made from the descriptions: python -m uopc_array._functions.stubs"""\n'
_SETS = ("UniqueAll", "UniqueCounts", "UniqueInverse")
_UFUNCS = ("Binary", "Host", "Pair", "Unary")
_IMPORTS = {  # by the name that needs it
    "Callable": "from collections.abc import Callable",
    "Sequence": "from collections.abc import Sequence",
    "Any": "from typing import Any",
    "Literal": "from typing import Literal",
    "overload": "from typing import overload",
    "Self": "from typing import Self",
    "np": "import numpy as np",
    "ArrayLike": "from uopc_array._functions.array_like import ArrayLike",
    "AxisLike": "from uopc_array._functions.arguments import AxisLike",
    "ShapeLike": "from uopc_array._functions.arguments import ShapeLike",
    "Handle": "from uopc_array._array.handle import Handle",
    "Array": "from uopc_array._array.array import Array",
    "DType": "from uopc_core import DType",
    "FloatLimits": "from uopc_array._functions.data_types import FloatLimits",
    "IntegerLimits": "from uopc_array._functions.data_types import IntegerLimits",
    "NamespaceInfo": "from uopc_array._functions.inspection import NamespaceInfo",
    **{name: f"from uopc_array._functions.sets import {name}" for name in _SETS},
    **{f"{kind}Ufunc": f"from uopc_array._functions.ufunc import {kind}Ufunc" for kind in _UFUNCS},
    "VectorUfunc": "from uopc_array._functions.vector_ufunc import VectorUfunc",
}
_MIXED = ("arrays_and_dtypes", "operands")  # with dtypes among them, or letters
_OUT = "_Out = Array | np.ndarray[Any, Any] | None"
_OF_KIND = {
    Kind.OPERAND: "ArrayLike",
    Kind.OPERANDS: "Sequence[ArrayLike]",
    Kind.NUMBER: "ArrayLike",
    Kind.AXIS: "AxisLike",
    Kind.SHAPE: "ShapeLike",
    Kind.DTYPE: "Any",
    Kind.OUT: "_Out",
    Kind.WHERE: "ArrayLike",
}


def _type_of(p: Parameter) -> str:
    """The type of a parameter: that of the native version, unless it is of nodes or says nothing."""
    if p.star:
        return "ArrayLike" if p.star == "*" and p.name not in _MIXED else "Any"
    if p.annotation is not None and p.annotation != "Any" and "UOp" not in p.annotation:
        return p.annotation
    known = _OF_KIND.get(p.kind)
    if known is None:
        return "Any" if p.default is None or p.default is ABSENT else type(p.default).__name__
    return f"{known} | None" if p.default is None and p.kind in (Kind.OPERAND, Kind.NUMBER) else known


def _result_of(description: Description, array: str) -> str:
    if isinstance(description.gives, type):
        return description.gives.__name__
    result = description.result
    return "Any" if result == "UOp | tuple[UOp, ...]" else re.sub(r"\b(UOp|Lens|Array)\b", array, result)


def _line(description: Description, name: str, of_array: bool = False) -> str:
    signature = public.signature_of_method(description) if of_array else description.signature
    for p in description.parameters:
        typed = rf"\g<1>{p.name}: {_type_of(p)}{'' if p.default is ABSENT else ' = ...'}"
        signature = re.sub(rf"(^|, |\*){p.name}(=(\([^)]*\)|[^,]*))?(?=,|$)", typed, signature)
    signature = re.sub(r"(\*\w+: [^,=]*) = \.\.\.", r"\1", signature)  # what takes the rest has no default
    return f"def {name}({signature}) -> {_result_of(description, 'Self' if of_array else 'Array')}: ..."


def _lines(description: Description, name: str) -> Iterator[str]:
    """The function, once for each kind of result where a parameter decides that."""
    line = _line(description, name)
    if not description.variants:
        yield line
    for typed, result in description.variants.items():
        parameter = typed.removeprefix("*, ").partition(":")[0]
        head = re.sub(rf"{parameter}: [^,)]*", typed, line.rpartition(" -> ")[0])
        yield f"@overload\n{head} -> {result}: ..."


def _functions(folder: str) -> Iterator[str]:
    named = {path_of(d.folder, name): d for d in DESCRIPTIONS.values() for name in d.names}
    names = sorted(public.functions_in(folder))
    yield f"__all__ = {names!r}"
    for name in names:
        description = named.get(path_of(folder, name))
        found = type(public.FUNCTIONS[path_of(folder, name)]).__name__
        if description is None:
            yield f"{name}: {found}"
        else:
            yield from _lines(description, name)


def _module(folder: str) -> Iterator[str]:
    """A public module: the classes of results, NumPy's other classes, the functions."""
    found = {
        d.gives.__name__: d.native.__module__
        for d in DESCRIPTIONS.values()
        if d.folder == folder and isinstance(d.gives, type)
    }
    for name in sorted(found):
        yield f"from {found[name]} import {name} as {name}"
    theirs = cast("dict[str, object]", vars(getattr(np, folder))) if hasattr(np, folder) else {}
    yield from [f"from numpy.{folder} import {name} as {name}" for name in theirs if isinstance(theirs[name], type)]
    yield from _functions(folder)


def _methods() -> Iterator[str]:
    yield "__all__ = ['DescribedMethods']"
    yield "class DescribedMethods(Handle):"
    yield from (f"    {_line(d, name, of_array=True)}" for name, d in sorted(public.DESCRIBED_METHODS.items()))


def _text(lines: Iterator[str]) -> str:
    body = [_OUT, *lines]
    words = set(re.findall(r"\w+", "\n".join(body)))
    imports = [line for name, line in _IMPORTS.items() if name in words]
    return "\n".join([_HEAD, *imports, "", *body, ""])


def stubs() -> dict[Path, str]:
    """The stubs by their file."""
    assert "reductions" in [subject.__name__.rpartition(".")[2] for subject in methods.SUBJECTS]
    return {
        _HERE / "namespace.pyi": _text(_functions("")),
        _HERE.parent / "_array" / "described_methods.pyi": _text(_methods()),
        _HERE.parent / "fft.pyi": _text(_module("fft")),
        _HERE.parent / "linalg.pyi": _text(_module("linalg")),
        _HERE.parent / "special.pyi": _text(_module("special")),
    }


if __name__ == "__main__":
    for file, text in stubs().items():
        file.write_text(text)
