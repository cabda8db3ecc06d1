"""Item assignment: the node of an array after ``x[key] = value``, and the write in place where nobody else can see it.

Index arrays scatter into the view that the basic items of the key select; that is written back to what it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.handle import Handle
from uopc_array._array.index import (
    ItemLens,
    concrete_key,
    is_basic,
    is_plain_key,
    names_one_element,
    parse_key,
)
from uopc_array._array.lenses import Lens, write_back
from uopc_array._array.nodes import Operand, as_node, cast_handle, cast_node, const_node, is_scalar, to_operand
from uopc_array._array.origins import scatter
from uopc_array._array.realize import buffer_of_node, view_in_memory
from uopc_array._array.view import View
from uopc_core import DType, Ops, UOp, composite, converted, dtypes, is_bool, is_complex, is_integer, name_of
from uopc_core.errors import DTypeError, DTypeValueError, IndexBoundsError, ShapeError
from uopc_core.frontend.cells import Cell, change_in_memory, is_leaf, make_leaf, write_element, write_in_memory
from uopc_core.numerics.boxes import box_of
from uopc_core.numerics.indexing import ParsedKey, advanced_orders, view_of

__all__ = [
    "assign",
    "assigned",
    "assigned_box",
    "changed_in_place",
    "check_assignable",
    "operand_for",
    "part_in_place",
    "scattered",
    "value_node",
]

NumPyArray = np.ndarray[Any, Any]
_BUFFER = Ops.BUFFER
_REALS = frozenset({bool, int, float})
LARGE = 1 << 15  # elements from which a pending value is written in the graph, where it is half of the array


def assigned(x: UOp, key: Any, value: Any) -> UOp:
    """The node of `x` after ``x[key] = value``.

    Raises:
        ShapeError: the value cannot be broadcast to what the key selects.
        DTypeError: a complex value for a real array.
        IndexError: see `parse_key`.
    """
    operand = operand_for(x.dtype, value)
    box = box_of(x.shape, key)
    if box is not None:
        return box.write(x, value_node(operand, x.dtype, box.kept))
    mask = _mask_alone(key)
    if mask is not None and _fits_under_mask(x, mask, operand):
        return _assigned_where(x, mask, operand)
    parsed = parse_key(key, x.shape)

    def placed(view: UOp) -> UOp:
        if parsed.arrays:
            return scattered("assignment", view, parsed, operand, "set")
        return value_node(operand, x.dtype, view.shape)

    return write_back(x, lambda node: view_of(node, parsed), placed)


def operand_for(dtype: DType, value: Any) -> Operand:
    """`value` ready to be stored in an array of `dtype`; ints in a list must fit into it, as one alone must, and as a
    real number of NumPy must.
    """
    if is_integer(dtype) and isinstance(value, list | tuple):
        return as_node(value, dtype, name="assignment")
    if is_integer(dtype) and isinstance(value, np.integer | np.floating):
        return value.item()
    if isinstance(value, str | bytes):
        raise DTypeValueError(f"assignment: expected numbers or arrays, got {value!r:.60} ({type(value).__name__})")
    return to_operand(value, "assignment")


def value_node(value: Operand, dtype: DType, shape: tuple[int, ...]) -> UOp:
    """`value` in the dtype and shape of what it is written to; surplus leading axes of extent 1 are dropped."""
    if is_scalar(value):
        check_assignable(as_node(value, name="assignment").dtype, dtype)
        return const_node("assignment", value, dtype, shape)
    node = as_node(value, name="assignment")
    check_assignable(node.dtype, dtype)
    if isinstance(value, Handle) and value._weak:
        node = cast_handle(value, dtype, "assignment")
    extra = max(0, node.ndim - len(shape))
    if node.shape[:extra] == (1,) * extra:
        node = node.reshape(node.shape[extra:])
    try:
        return composite.broadcast_to(cast_node(node, dtype), shape)
    except ShapeError:
        raise ShapeError(
            f"assignment: a value of shape {node.shape} cannot be broadcast to what is assigned to, of shape {shape}"
        ) from None


def check_assignable(given: DType, dtype: DType) -> None:
    """
    Raises:
        DTypeError: values of `given` would lose their imaginary part in an array of `dtype`.
    """
    if is_complex(given) and not (is_complex(dtype) or is_bool(dtype)):
        raise DTypeError(
            f"assignment: a value of {name_of(given)} cannot be stored in an array of {name_of(dtype)}; "
            "take its real part first"
        )


def scattered(name: str, view: UOp, key: ParsedKey, value: Operand, mode: str) -> UOp:
    """`view` after `value` has been put at what the index arrays of `key` pick from it, or combined with what is there.

    Args:
        name: the function, for messages.
        mode: of SCATTER.
    """
    order, back = advanced_orders(key)
    moved = view.permute(order)
    gathered = key.arrays[0].shape + moved.shape[len(key.arrays) :]
    placed = value_node(value, view.dtype, tuple([gathered[axis] for axis in back]))
    source = placed.permute([back.index(axis) for axis in range(len(back))])
    out = scatter(name, moved, source, *key.arrays, mode=mode, axes=order)
    return out.permute([order.index(axis) for axis in range(len(order))])


def _mask_alone(key: Any) -> UOp | None:
    """The mask, where the whole key is one."""
    if isinstance(key, tuple) or not (isinstance(key, Handle) or hasattr(key, "dtype")):
        return None
    node = as_node(key)
    return node if is_bool(node.dtype) and node.shape else None


def _fits_under_mask(x: UOp, mask: UOp, value: Operand) -> bool:
    """Whether `value` is one and the same for every element of the mask, so that no positions are needed."""
    if mask.shape != x.shape[: mask.ndim]:
        return False
    shape = () if is_scalar(value) else as_node(value).shape
    rest = x.shape[mask.ndim :]
    return len(shape) <= len(rest) and all(n in (1, m) for n, m in zip(shape[::-1], rest[::-1], strict=False))


def _assigned_where(x: UOp, mask: UOp, value: Operand) -> UOp:
    spread = composite.broadcast_to(mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim)), x.shape)
    return spread.where(value_node(value, x.dtype, x.shape), x)


def assign(x: Handle, key: Any, value: Any) -> None:
    """``x[key] = value``: on the memory itself where only `x` can see it, else in the graph."""
    alias = x._alias  # looked at once: another thread may give the handle another one
    if alias is None:
        shape = x._node.shape
        if not shape:
            x._refuse_write("assignment")
        if type(value) in _REALS and not x._is_shadowed:
            if type(key) is not slice and names_one_element(key, shape):
                if write_element(x, key, value):
                    return
            elif is_plain_key(key) and write_in_memory(x, (), _store, key, value):
                return
    elif not alias.is_writable:
        x._refuse_write("assignment")
    operand = operand_for(x._node.dtype, value)
    if not _is_same_view(x, key, operand):
        while not _is_assigned(x, key, operand):
            pass


def assigned_box(x: Handle, key: Any, value: Handle) -> bool:
    """``x[key] = value`` for what is still to be computed and is most of `x`, in the graph: the short way of `assign`
    where nothing is a view, and the value has the dtype and the shape of a box; whether it has been done.
    """
    # one step
    target, alias = x._own_node, x._own_alias
    if x._is_shadowed or (alias is not None and (alias.is_view or alias.is_claim or not alias.is_writable)):
        return False
    if value._alias is not None or value._weak:
        return False
    node = value._uop
    if node.realized is not None or node.flags or target.flags or node.dtype is not target.dtype:
        return False
    box = box_of(target.shape, key)
    if box is None or box.kept != node.shape or box.size < max(LARGE, target.size // 2):
        return False
    x._memory("item assignment")  # see `_settle_base`
    while True:
        before = x._node_to_change()
        if before.shape != target.shape:  # another thread has changed that
            return False
        if x._replace(before, box.write(before, node)):
            return True


def _is_assigned(x: Handle, key: Any, operand: Operand) -> bool:
    """Assign, unless another thread comes between."""
    if _needs_graph(x, key, operand) or (_is_most_of(x, operand) and is_basic(key)):
        _settle_base(x)
        x._update(lambda node: assigned(node, key, operand))
        return True
    stored = _values_for(x._node.dtype, operand)
    indices = _key_for_numpy(key)
    cell, lenses = _target_of(x)
    return write_in_memory(cell, lenses, _store, indices, stored)


def _target_of(x: Handle) -> tuple[Cell, Sequence[Lens]]:
    """The cell whose memory has the elements of `x`, with a leaf, and the steps from there; `x` holds nothing of it."""
    alias = x._alias
    base, lenses = (alias.base, alias.steps()) if isinstance(alias, View) else (x, ())
    cell = base._cell() if base._is_shadowed else base
    if not is_leaf(cell):
        base._memory("item assignment")
        make_leaf(cell)
    if lenses:
        x._let_go()
    return cell, lenses


def changed_in_place(x: Handle, name: str, at: Callable[..., None], key: Any, values: Sequence[Operand]) -> bool:
    """Do ``at(target, key, *values)``, the method of a ufunc of NumPy's, on the elements of `x`; whether it has been
    done: not so where something is traced or differentiated, or other threads run.

    Raises:
        TypeError, ValueError: `x` cannot be written to.
        IndexError: see `parse_key`.
    """
    x._refuse_write(name)
    if any([_needs_graph(x, key, value) for value in (*values, 0)]):
        return False
    arguments = [_key_for_numpy(key), *[value if is_scalar(value) else _values_of(value) for value in values]]
    cell, lenses = _target_of(x)
    try:
        return change_in_memory(cell, lenses, at, arguments)
    except IndexError as error:
        parse_key(key, x._node.shape)  # finds words for what is no index
        raise IndexBoundsError(f"{name}: {error}") from None


def part_in_place(change: Callable[[Any, Any], Any], x: Handle, y: Any) -> bool:
    """``x op= y`` by a function of NumPy's on part of an array in memory, if nobody else sees that, and `y` is a number
    or in memory; whether it has been done.
    """
    alias = x._alias
    if not isinstance(alias, View) or not alias.is_writable or alias.is_scattered() or x._is_shadowed:
        return False
    base = alias.base
    if base._is_shadowed or base._node.flags:
        return False
    values = _values_in_memory(y)
    if values is None:
        return False
    if base._node.realized is None:
        base._memory("item assignment")
    make_leaf(base)
    if not is_leaf(base):
        return False
    x._let_go()
    try:
        return change_in_memory(base, alias.steps(), change, (values,))
    except Exception:  # nothing has been written, and the longer way has words for it
        return False


def _values_in_memory(y: Any) -> Any:
    """A number of Python's, or what is in memory as NumPy has it, with dtypes of ours alone; else None."""
    if type(y) is int or type(y) is float:
        return y
    if not isinstance(y, Handle) or y._weak:
        return None
    node = y._uop
    return None if node.flags else view_in_memory(node)


def _is_same_view(x: Handle, key: Any, value: Operand) -> bool:
    """Whether `value` is ``x[key]`` itself: the second half of ``x[key] += y``, which has written already."""
    if not isinstance(value, Handle) or not isinstance(value._alias, View):
        return False
    *before, lens = value._alias.lenses
    if not isinstance(lens, ItemLens) or not is_basic(key) or lens.key != key:
        return False
    alias = x._alias
    base, lenses = (alias.base, alias.lenses) if isinstance(alias, View) else (x, ())
    return value._alias.base is base and tuple(before) == lenses


def _settle_base(x: Handle) -> None:
    """Compute what is written to before it changes again, so that a loop of assignments does not pile up."""
    base = x._alias.base if isinstance(x._alias, View) else x
    if not base._uop.flags:
        base._memory("item assignment")


def _store(target: NumPyArray, key: Any, value: Any) -> None:
    try:
        target[key] = value
    except IndexError as error:
        parse_key(key, target.shape)  # finds words for what is no index
        raise IndexBoundsError(f"assignment: {error}") from None
    except OverflowError as error:
        raise OverflowError(f"assignment: {error}; convert the array to a wider dtype first") from None
    except ValueError as error:
        if np.ndim(value):
            raise ShapeError(
                f"assignment: a value of shape {np.shape(value)} does not fit what is assigned to; {error}"
            ) from None
        raise


def _needs_graph(x: Handle, key: Any, value: Operand) -> bool:
    """Whether anything that takes part is under differentiation or traced, or no strides lead to `x`."""
    alias = x._alias
    if isinstance(alias, View) and alias.is_scattered():
        return True
    if x._base()._node.flags or (not is_scalar(value) and as_node(value).flags):
        return True
    items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
    return any(isinstance(item, Handle) and item._uop.flags for item in items)


def _is_most_of(x: Handle, value: Operand) -> bool:
    """Whether `value` is a computation whose result fuses with the write, rather than being stored first and copied
    then: the write in the graph passes over all of the base of `x`.
    """
    if is_scalar(value):
        return False
    node = as_node(value)
    base = x._alias.base if isinstance(x._alias, View) else x
    return node.size >= max(LARGE, base._node.size // 2) and view_in_memory(node) is None


def _values_for(dtype: DType, value: Operand) -> Any:
    """`value` as NumPy stores it in an array of `dtype`: a number, or an array.

    Raises:
        DTypeError: see `check_assignable`.
    """
    if is_scalar(value):
        if isinstance(value, complex):
            check_assignable(as_node(value).dtype, dtype)
        return value
    values = _values_of(value)
    check_assignable(values.dtype, dtype)
    return converted(values, dtypes.uint32) if dtype is dtypes.uint32 else values


def _values_of(value: Operand) -> NumPyArray:
    node = as_node(value)
    if not node.flags and (there := view_in_memory(node)) is not None:
        return there
    if isinstance(value, Handle):
        return value._memory("item assignment").array
    return buffer_of_node(node).array


def _key_for_numpy(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple([_key_for_numpy(item) for item in cast("tuple[Any, ...]", key)])
    if isinstance(key, Handle):
        return _within_range(key._memory("indexing").array)
    if not isinstance(key, np.ndarray | list):
        return concrete_key(key)
    indices: NumPyArray = np.asarray(cast("Any", key))
    return _within_range(indices) if indices.size else cast("Any", key)


def _within_range(indices: NumPyArray) -> NumPyArray:
    """Indices that NumPy would wrap to negative ones, as the last there is."""
    return np.minimum(indices, 2**63 - 1) if indices.dtype == np.uint64 else indices
