"""Functions of one value as functions of many (`vmap`), and the derivatives of vector functions that follow (`jacrev`
and its kin).

A function is traced once on values without the mapped axis; then the axis is put in front of every node that depends on
them. Nothing loops over the axis.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import uopc_core
from uopc_array._array.array import Array
from uopc_array._array.nodes import as_node, is_scalar
from uopc_array._array.numbers import integer, integers, is_sequence
from uopc_array._array.tracing import Record, run_user
from uopc_array._functions.arguments import wrap_like
from uopc_array._transforms.boxes import Box, Contents, differences, put_back
from uopc_array._transforms.captures import Surroundings, holds_traced
from uopc_array._transforms.grad import check_argnums, jvp, vjp
from uopc_array._transforms.shadows import close_record, run_traced
from uopc_array._transforms.transformed import Transformed
from uopc_array._transforms.trees import flatten, map_tree, spread, unflatten
from uopc_core import UOp, composite, fresh_number
from uopc_core.errors import AxisError, ShapeError, TraceError

__all__ = ["hessian", "jacfwd", "jacrev", "vmap"]

UserFunction = Callable[..., Any]
P = ParamSpec("P")
R = TypeVar("R")


def vmap(f: Callable[P, R], in_axes: Any = 0, out_axes: Any = 0) -> Callable[P, R]:
    """The function that maps `f` over an axis of its arguments.

    Args:
        f: takes and returns arrays, numbers, and nested containers of them. Inside it there are no values, as in `jit`.
        in_axes: the axis of each argument that is mapped over, None for an argument that is the same for all: one for
            every argument, or a sequence with one per argument, each of which may be a container like the argument.
        out_axes: where the mapped axis goes in each result, in the same manner.
    Returns:
        A function of the same arguments, with one more axis. Keyword arguments are mapped over their first axis.
    Raises:
        ShapeError: (a ValueError, when called) mapped axes of different extents, or none at all.
        AxisError: an argument does not have the axis.
        TraceError: `f` asks for a value, as in ``if x > 0``.
    Example:
        >>> import uopc_array as xp
        >>> vmap(lambda x, y: xp.sum(x * y), in_axes=(0, None))(xp.ones((3, 2)), xp.asarray([1.0, 2.0]))
        Array([3., 3., 3.], dtype=float64)
    """
    return Transformed(vmap, _build_vmap, f, in_axes, out_axes)


def _build_vmap(f: UserFunction, in_axes: Any, out_axes: Any) -> UserFunction:
    around = Surroundings(f)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        replacements: dict[UOp, UOp] = {}
        axes: list[Any] = _entries(in_axes) if isinstance(in_axes, tuple | list) else [in_axes] * len(args)
        if len(axes) != len(args):
            raise ShapeError(f"vmap: expected one entry of in_axes per argument, got {len(axes)} for {len(args)}")
        inner = [_without_axis(x, axis, replacements) for x, axis in zip(args, axes, strict=True)]
        named = {name: _without_axis(x, 0, replacements) for name, x in kwargs.items()}
        if not replacements:
            raise ShapeError(
                f"vmap: expected one argument or more to map over, got {len(args)} with in_axes={in_axes!r:.60}"
            )
        return _mapped_result(f, around, inner, named, replacements, out_axes)

    return mapped


def _mapped_result(
    f: UserFunction,
    around: Surroundings,
    inner: list[Any],
    named: dict[str, Any],
    replacements: dict[UOp, UOp],
    out_axes: Any,
) -> Any:
    """What `f` returns on inputs without the axis, with the axis put in.

    Raises:
        TraceError: it keeps what it computed of one value somewhere around it, where there is no place for the others.
    """
    record = Record("vmap", getattr(f, "__name__", repr(f)))
    params = set(replacements)
    boxes = around.boxes()

    def run() -> tuple[list[Any], Any, list[UOp], bool]:
        leaves, treedef = flatten(run_user(f, inner, named))
        nodes = [as_node(leaf, name="vmap") for leaf in leaves]
        return leaves, treedef, nodes, any(differences(x, before) and holds_traced(x, params) for x, before in boxes)

    try:
        leaves, treedef, nodes, stored = run_traced(record, run, lambda: None)
        batched = uopc_core.batch(nodes, replacements)
        wanted = _axes_of("out_axes", out_axes, unflatten(treedef, batched))
        moved = [_moved(leaf, node, axis) for leaf, node, axis in zip(leaves, batched, wanted, strict=True)]
        leaves.clear()
    except BaseException:
        _put_back(boxes)
        close_record(record, params)
        raise
    if stored:
        _put_back(boxes)
    faults = close_record(record, params)
    if stored or faults:
        what = "writes to " + faults[0] if faults else "keeps an array in a variable, a container or an attribute"
        raise TraceError(
            f"vmap: {record.function} {what} around it, where there is place for one value of many; return the array"
        )
    return unflatten(treedef, moved)


def _put_back(boxes: Sequence[tuple[Box, Contents]]) -> None:
    for box, before in boxes:
        put_back(box, before)


def _entries(axes: Any) -> list[Any]:
    return list(axes)


def _axes_of(name: str, axes: Any, tree: Any) -> list[int | None]:
    """One axis per leaf of `tree`; an entry of `axes` stands for all leaves below its position."""
    try:
        return [axis if axis is None else _axis(name, axis) for axis in spread(axes, tree)]
    except ValueError:
        raise ShapeError(
            f"vmap: {name} must be a number, None, or a container like what it is for, got {axes!r}"
        ) from None


def _without_axis(tree: Any, axes: Any, replacements: dict[UOp, UOp]) -> Any:
    """`tree` with its mapped leaves replaced by inputs that lack the axis; what they stand for goes to
    `replacements`.
    """
    leaves, treedef = flatten(tree)
    inner = [_input(x, axis, replacements) for x, axis in zip(leaves, _axes_of("in_axes", axes, tree), strict=True)]
    return unflatten(treedef, inner)


def _axis(what: str, axis: Any) -> int:
    """
    Raises:
        TypeError: it is no integer.
    """
    if isinstance(axis, bool):
        raise TypeError(f"vmap: expected an integer or None for {what}, got {axis}")
    return integer("vmap", what, axis)


def _input(leaf: Any, axis: int | None, replacements: dict[UOp, UOp]) -> Any:
    if axis is None:
        return leaf
    node = as_node(leaf, name="vmap")
    if is_scalar(leaf) or not -node.ndim <= axis < node.ndim:
        raise AxisError(
            f"vmap: axis {axis} is out of bounds for an argument of shape {node.shape}; use None in in_axes for an "
            "argument that is the same for all"
        )
    front = node.permute([axis % node.ndim, *[a for a in range(node.ndim) if a != axis % node.ndim]])
    sizes = {full.shape[0] for full in replacements.values()}
    if sizes and front.shape[0] not in sizes:
        raise ShapeError(f"vmap: mapped axes must have one extent, got {front.shape[0]} and {sizes.pop()}")
    param = UOp.param(fresh_number(), front.shape[1:], node.dtype)
    replacements[param] = front
    return Array._from_uop(param)


def _moved(leaf: Any, node: UOp, axis: int | None) -> Array:
    """The result `leaf`, of which `node` has the mapped axis in front, with that axis where it was asked for."""
    if axis is None:
        return wrap_like(leaf, node.shrink([(0, 1), *[(0, n) for n in node.shape[1:]]]).reshape(node.shape[1:]))
    if not -node.ndim <= axis < node.ndim:
        raise AxisError(f"vmap: axis {axis} of out_axes is out of bounds for a result of {node.ndim} axes")
    order = list(range(1, node.ndim))
    order.insert(axis % node.ndim, 0)
    return Array._from_uop(node.permute(order))


# -------------------------------------------------------------------------------------- derivatives of vector functions


def jacrev(f: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """The function that returns the Jacobian of `f`, by reverse mode: one pass per element of the result.

    Args:
        f: takes and returns floating arrays, or nested containers of them.
        argnums: the argument or arguments to differentiate by.
    Returns:
        A function of the arguments of `f`. For each array in the result, a tree like the argument (a tuple for several
        `argnums`) of arrays of shape ``result.shape + argument.shape``.
    Raises:
        GradientError: (a TypeError, when called) an argument that is not floating.
    Example:
        >>> import uopc_array as xp
        >>> jacrev(lambda x: x * x)(xp.asarray([1.0, 2.0]))
        Array([[2., 0.],
               [0., 4.]], dtype=float64)
    """
    return Transformed(jacrev, _build_jacrev, f, argnums)


def _build_jacrev(f: UserFunction, argnums: int | Sequence[int]) -> UserFunction:
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers = integers("jacrev", "argnums", argnums)
        check_argnums("jacrev", args, kwargs, numbers)
        value, pull = vjp(_of_arguments(f, args, kwargs, numbers), *[args[i] for i in numbers])
        leaves, treedef = flatten(value)
        rows: list[Any] = []
        for i, leaf in enumerate(leaves):

            def pull_one(number: Array, i: int = i) -> Any:
                parts = [_direction(as_node(x), number if k == i else None) for k, x in enumerate(leaves)]
                return pull(unflatten(treedef, parts))

            columns = vmap(pull_one)(_numbers(as_node(leaf)))
            shape = as_node(leaf).shape
            split = map_tree(functools.partial(_unfolded, shape), columns)
            rows.append(split if is_sequence(argnums) else split[0])
        return unflatten(treedef, rows)

    return jacobian


def jacfwd(f: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """The function that returns the Jacobian of `f`, by forward mode: one pass per element of the argument.

    Args:
        f: takes and returns floating arrays, or nested containers of them.
        argnums: the argument or arguments to differentiate by.
    Returns:
        A function as that of `jacrev`.
    Raises:
        GradientError: (a TypeError, when called) an argument that is not floating.
    Example:
        >>> import uopc_array as xp
        >>> jacfwd(lambda x: x * x)(xp.asarray([1.0, 2.0]))
        Array([[2., 0.],
               [0., 4.]], dtype=float64)
    """
    return Transformed(jacfwd, _build_jacfwd, f, argnums)


def _build_jacfwd(f: UserFunction, argnums: int | Sequence[int]) -> UserFunction:
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers = integers("jacfwd", "argnums", argnums)
        check_argnums("jacfwd", args, kwargs, numbers)
        chosen = tuple([args[i] for i in numbers])
        leaves, treedef = flatten(chosen)
        nodes = [as_node(leaf) for leaf in leaves]
        g = _of_arguments(f, args, kwargs, numbers)
        columns: list[list[Any]] = []
        out_tree: Any = None
        for i, node in enumerate(nodes):

            def push_one(number: Array, i: int = i) -> Any:
                parts = [_direction(x, number if k == i else None) for k, x in enumerate(nodes)]
                return jvp(g, chosen, unflatten(treedef, parts))[1]

            pushed, out_tree = flatten(vmap(push_one, out_axes=-1)(_numbers(node)))
            columns.append([x.reshape((*x.shape[:-1], *node.shape)) for x in pushed])
        rows = [unflatten(treedef, [column[k] for column in columns]) for k in range(out_tree.num_leaves)]
        return unflatten(out_tree, [row if is_sequence(argnums) else row[0] for row in rows])

    return jacobian


def _unfolded(shape: tuple[int, ...], x: Array) -> Array:
    """`x` with its first axis as the axes of `shape`."""
    return x.reshape((*shape, *x.shape[1:]))


def _of_arguments(f: UserFunction, args: Sequence[Any], kwargs: dict[str, Any], numbers: Sequence[int]) -> UserFunction:
    """`f` as a function of the arguments `numbers` alone."""

    def restricted(*chosen: Any) -> Any:
        full = list(args)
        for number, value in zip(numbers, chosen, strict=True):
            full[number] = value
        return f(*full, **kwargs)

    return restricted


def _numbers(node: UOp) -> Array:
    """The numbers of its elements."""
    return Array._from_uop(composite.iota((node.size,), 0))


def _direction(node: UOp, number: Array | None) -> Array:
    """The unit array of the shape of `node` along one of its elements, or all zeros: zeros that are selected, so that
    an infinite slope has no part in them.
    """
    zeros, ones = composite.zeros_like(node), composite.ones_like(node)
    if number is None or node.size == 1:
        return Array._from_uop(zeros if number is None else ones)
    positions = composite.iota((node.size,), 0).reshape(node.shape)
    return Array._from_uop(positions.eq(composite.broadcast_to(number._uop, node.shape)).where(ones, zeros))


def hessian(f: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """The function that returns the matrix of second derivatives of `f`: forward mode over reverse mode.

    Args:
        f: returns one real floating number; `jacrev` is taken of it, and of that `jacfwd`.
        argnums: the argument or arguments to differentiate by.
    Returns:
        A function of the arguments of `f`; for one array, an array of shape ``argument.shape + argument.shape``.
    Raises:
        GradientError: (a TypeError, when called) an argument that is not floating.
    Example:
        >>> import uopc_array as xp
        >>> hessian(lambda x: xp.sum(x ** 3))(xp.asarray([1.0, 2.0]))
        Array([[ 6.,  0.],
               [ 0., 12.]], dtype=float64)
    """
    return Transformed(hessian, _build_hessian, f, argnums)


def _build_hessian(f: UserFunction, argnums: int | Sequence[int]) -> UserFunction:
    return jacfwd(jacrev(f, argnums), argnums)
