"""Checkpoints: functions that derivatives compute again, so that nothing of what is inside is kept for them.

The function is called as it is, with the arguments as they are: control flow, writes and what it keeps around it are
those of any other call. What it returned is then made the results of one call of a region (`uopc_core.checkpoint`),
whose inputs are the arrays among the arguments and those that the function can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import uopc_core
from uopc_array._array.array import Array
from uopc_array._array.origins import hand_on_origins
from uopc_array._array.tracing import RUNNING, records, run_user
from uopc_array._transforms.captures import Reached
from uopc_array._transforms.transformed import Transformed
from uopc_array._transforms.trees import flatten, unflatten
from uopc_core import UOp

__all__ = ["checkpoint"]

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(f: Callable[P, R]) -> Callable[P, R]:
    """The function `f`, of whose inner results none is kept for a derivative: that computes them again.

    A derivative in reverse mode needs what was computed on the way to the result, so its memory grows with the length
    of the way. Of a function that is checkpointed it keeps the arguments alone, and computes the function once more
    when it comes to it. Values and derivatives of any order are those of `f`. Where neither a derivative nor a trace
    is around it, `f` is just called.

    Args:
        f: takes and returns arrays, numbers, and nested containers of them. Arrays that it finds around it, in
            variables and in the attributes of objects, are arguments as well.
    Returns:
        a function of the same arguments and results.
    Raises:
        TypeError: `f` is no function.
    Example:
        >>> import uopc_array as xp
        >>> layer = checkpoint(lambda x, w: xp.tanh(x @ w))
        >>> xp.grad(lambda w: xp.sum(layer(xp.ones(2), w)))(xp.zeros((2, 2)))
        Array([[1., 1.],
               [1., 1.]], dtype=float64)
    """
    return Transformed(checkpoint, _build_checkpoint, f)


def _build_checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if not RUNNING and not records():
            return run_user(f, args, kwargs, name="checkpoint")
        reached = Reached()
        for leaf in flatten((args, kwargs))[0]:
            reached.visit(leaf)
        reached.visit(f)
        reached.look_into_namespaces()
        inputs = [x._uop for x in reached.handles if x._value is None]  # what is known has nothing below it
        return _as_one_call(run_user(f, args, kwargs, name="checkpoint"), inputs)

    return checkpointed


def _as_one_call(result: Any, inputs: Sequence[UOp]) -> Any:
    """`result`, a tree of arrays, as the results of one call of a region with these inputs."""
    leaves, treedef = flatten(result)
    places = [i for i, x in enumerate(leaves) if isinstance(x, Array) and x._value is None]
    nodes = [leaves[i]._uop for i in places]
    if not any(node.flags for node in nodes):
        return result
    called = uopc_core.checkpoint(nodes, inputs)
    hand_on_origins(nodes, set(inputs), called)
    for i, node, new in zip(places, nodes, called, strict=True):
        if new is not node and new.flags == node.flags:  # what has a value outside of the derivative or trace keeps it
            leaves[i] = leaves[i]._same_kind(new, leaves[i]._weak)
    return unflatten(treedef, leaves)
