"""How ufuncs are described: names, what they take, the rule, the text and an example, all in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from uopc_array._array.promotion import promote, promote_comparison, promote_floating, promote_to
from uopc_array._functions.arguments import as_bits, as_real, as_real_floating
from uopc_array._functions.describe import function_of_numpy
from uopc_array._functions.ufunc import BinaryUfunc, PairUfunc, UnaryUfunc, entered
from uopc_core import Ops, UOp, dtypes
from uopc_core.records import record

__all__ = [
    "ANY",
    "BITS",
    "FLOATING",
    "REAL",
    "REAL_FLOATING",
    "binary",
    "comparison",
    "logical",
    "numpys_ufunc",
    "unary",
]

_new = UOp.new
Unary = Ops | Callable[[UOp], UOp]
Prepare = Callable[[str, UOp], UOp]
Binary = Ops | Callable[[UOp, UOp], Any]


@record
class Takes:
    """What a ufunc takes: how an operand is converted, the words for it, whether it computes in floating numbers."""

    prepare: Prepare | None
    words: str
    is_floating: bool = False
    direct: str = ""  # kinds of dtypes that need no conversion


def _floating(name: str, x: UOp) -> UOp:
    return x if x.dtype.kind in "fc" else x.cast(dtypes.float64)


def _real(name: str, x: UOp) -> UOp:
    return as_real(name, x)[0]


def _real_floating(name: str, x: UOp) -> UOp:
    return as_real_floating(name, x)[0]


def _bits(name: str, x: UOp) -> UOp:
    return as_bits(name, x)[0]


ANY = Takes(None, "any dtype")
FLOATING = Takes(_floating, "real or complex floating; integers and bool are converted to float64", True, "fc")
REAL = Takes(_real, "a real dtype or bool")
REAL_FLOATING = Takes(_real_floating, "real floating; integers and bool are converted to float64", True, "f")
BITS = Takes(_bits, "an integer dtype or bool")

_MORE = """
        out: takes the result.
        where: a mask; where it is False, ``out`` keeps what it holds, or without one the result is 0.
        casting: the rule by which ``dtype`` and ``out`` may convert: "same_kind" or another of NumPy's.
        order, subok: as of NumPy's ufuncs, without effect.
        dtype: dtype in which to compute.
        signature: one of NumPy's loops, which then computes on the values."""
_UNARY = """{summary}

    Args:
        x: {takes}; any shape.{more}
    Returns:
        {returns}; shape of ``x``.
    Raises:
        DTypeError: ``x`` has another dtype.
    Example:
        >>> import uopc_array as xp
        >>> xp.{name}({call})
        {result}
    """
_BINARY = """{summary}

    Args:
        x1: {takes}.
        x2: likewise; a shape that can be broadcast with that of ``x1``. One of the two may be a Python scalar.{more}
    Returns:
        {returns}; the common shape.
    Raises:
        ShapeError: the shapes cannot be broadcast together.
        DTypeError: the operands have another dtype.{errors}
    Example:
        >>> import uopc_array as xp
        >>> xp.{name}({call})
        {result}
    """


def _shown(result: str) -> str:
    """A result as it is printed: "[1, 2] int64", of float64 without the dtype."""
    values, _, dtype = result.rpartition("] ")
    return f"Array({values}], dtype={dtype})" if values else f"Array({result}, dtype=float64)"


def numpys_ufunc(name: str) -> np.ufunc:
    return cast("np.ufunc", function_of_numpy(name))


def _rule_of_one(prepare: Prepare | None, body: Unary) -> Callable[[str, UOp], UOp]:
    """From the name and the operand to the result; for an op in as few steps as there can be."""
    if isinstance(body, Ops):
        assert prepare is not None, body
        return lambda name, x: _new(body, (prepare(name, x),))
    if prepare is None:
        return lambda name, x: body(x)
    return lambda name, x: body(prepare(name, x))


def _rule_of_two(prepare: Prepare | None, body: Binary) -> Callable[[str, UOp, UOp], Any]:
    if isinstance(body, Ops):
        assert prepare is not None, body
        return lambda name, x, y: _new(body, (prepare(name, x), prepare(name, y)))
    if prepare is None:
        return lambda name, x, y: body(x, y)
    return lambda name, x, y: body(prepare(name, x), prepare(name, y))


def unary(
    names: str,
    takes: Takes,
    body: Unary,
    summary: str,
    call: str,
    result: str,
    returns: str = "dtype of ``x`` as converted",
) -> None:
    """Describe a ufunc of one operand; `call` and `result` are its example."""
    rule = _rule_of_one(takes.prepare, body)
    for name in names.split():
        text = _UNARY.format(
            summary=summary, takes=takes.words, more=_MORE, returns=returns, name=name, call=call, result=_shown(result)
        )
        entered(UnaryUfunc(name, numpys_ufunc(name), text, rule, body if isinstance(body, Ops) else None, takes.direct))


def binary(
    names: str,
    takes: Takes,
    body: Binary,
    summary: str,
    call: str,
    result: str,
    returns: str = "the promoted dtype",
    errors: str = "",
    promoted: Callable[..., tuple[UOp, ...]] | None = None,
    kind: type[BinaryUfunc] = BinaryUfunc,
) -> None:
    """Describe a ufunc of two operands."""
    promoted = promoted or (promote_floating if takes.is_floating else promote)
    rule = _rule_of_two(takes.prepare, body)
    for name in names.split():
        words = {"summary": summary, "takes": takes.words, "more": _MORE, "returns": returns, "errors": errors}
        shown = result if kind is PairUfunc else _shown(result)
        text = _BINARY.format(**words, name=name, call=call, result=shown)
        entered(kind(name, numpys_ufunc(name), text, promoted, rule))


def comparison(names: str, takes: Takes, body: Binary, summary: str, call: str, result: str) -> None:
    binary(names, takes, body, summary, call, result, "bool", promoted=promote_comparison)


def logical(names: str, takes: Takes, op: Ops, summary: str, call: str, result: str) -> None:
    def rule(x: UOp, y: UOp) -> UOp:
        return UOp.new(op, (x.cast(dtypes.bool), y.cast(dtypes.bool)))

    def promoted(name: str, x1: Any, x2: Any) -> tuple[UOp, ...]:
        return promote_to(name, dtypes.bool, x1, x2)

    binary(names, takes, rule, summary, call, result, "bool", promoted=promoted)
