"""Registry of EXTERN functions: pure functions of a host library on whole tensors, each with its rules beside it.

A function is registered once, with the shapes of its outputs, its evaluation and its derivative; the planner, both
modes of differentiation and batching look it up by name. Nothing here names a particular library.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from uopc_core.dtype import DType
from uopc_core.ir.arguments import Field
from uopc_core.records import record

if TYPE_CHECKING:
    from uopc_core.ir.uop import UOp

__all__ = ["EXTERNS", "NO_PARAMS", "Extern", "TensorType", "register_extern"]

TensorType = tuple[tuple[int, ...], DType]
Params = tuple[Hashable, ...]

NO_PARAMS = Field("params", lambda params: params == (), "()")


@record
class Extern:
    """A host function with everything the graph needs to know of it.

    Attributes:
        infer: ``(params, types of the sources) -> types of the outputs``; raises ShapeError or DTypeError.
        evaluate: ``(params, arrays) -> arrays``, on NumPy arrays that it must not write to.
        params: which parameters there are; the rules get none but those.
        n_sources: how many nodes it takes.
        into: ``(params, arrays, outputs) -> None``: the same into arrays that are given, for functions whose library
            can do so.
        jvp: ``(params, outputs, sources, tangents) -> tangents of the outputs``; a tangent is None where nothing
            depends on the variable. Must be linear in the tangents. None means not differentiable.
        transpose: ``(params, sources, cotangents of the outputs, which) -> cotangent of source `which```, for the
            operands in which the function is linear (`linear`). None where the function is linear in none.
        linear: numbers of the operands in which the function is linear, each with the others fixed.
        core: how many trailing axes it mixes, where it is linear; those before are a batch, the same for sources and
            outputs. None: it mixes all.
        batch: ``(params, sources, batched flags) -> outputs`` with a new leading axis; None means one call per element.
    """

    name: str
    infer: Callable[[Params, Sequence[TensorType]], tuple[TensorType, ...]]
    evaluate: Callable[..., tuple[Any, ...]]
    params: Field = NO_PARAMS
    n_sources: int = 1
    into: Callable[..., None] | None = None
    jvp: Callable[[Params, tuple[UOp, ...], tuple[UOp, ...], tuple[UOp | None, ...]], tuple[UOp | None, ...]] | None = (
        None
    )
    transpose: Callable[[Params, tuple[UOp, ...], tuple[UOp | None, ...], int], UOp] | None = None
    linear: frozenset[int] = frozenset()
    core: int | None = None
    batch: Callable[[Params, tuple[UOp, ...], tuple[bool, ...]], tuple[UOp, ...]] | None = None


EXTERNS: dict[str, Extern] = {}


def register_extern(extern: Extern) -> Extern:
    """Enter `extern` in the registry under its name; a name is taken once."""
    assert extern.name not in EXTERNS, extern.name
    EXTERNS[extern.name] = extern
    return extern
