"""Item assignment: the node of an array after ``x[key] = value``, and the write in place where nobody else can see it.

Index arrays scatter into the view that the basic items of the key select; that is written back to what it came from.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import numpy as np

from uopc_array._handle import Handle, View
from uopc_array._indexing import ItemLens, ParsedKey, advanced_orders, concrete_key, is_basic, parse_key, view_of
from uopc_array._lenses import write_back
from uopc_array._nodes import Operand, as_node, cast_handle, cast_node, const_node, is_scalar, to_operand
from uopc_array._origins import check_places
from uopc_array._realize import buffer_from_numpy, buffer_of_node
from uopc_core import DType, Ops, UOp, composite, converted, dtypes, is_bool, is_complex, is_integer
from uopc_core.errors import DTypeError, DTypeValueError, IndexBoundsError, ShapeError

__all__ = ["assign", "assigned", "check_assignable", "own_memory", "value_node"]

NumPyArray = np.ndarray[Any, Any]
_BUFFER = Ops.BUFFER
_NOTHING = UOp.const(0, dtypes.float64)
_REALS = frozenset({bool, int, float})
_PARTS = frozenset({int, type(None)})
_count = sys.getrefcount
LARGE = 1 << 15  # elements from which a pending value is written in the graph


def assigned(x: UOp, key: Any, value: Any) -> UOp:
    """The node of `x` after ``x[key] = value``.

    Raises:
        ShapeError: the value cannot be broadcast to what the key selects.
        DTypeError: a complex value for a real array.
        IndexError: see `parse_key`.
    """
    operand = _operand_for(x.dtype, value)
    mask = _mask_alone(key)
    if mask is not None and _fits_under_mask(x, mask, operand):
        return _assigned_where(x, mask, operand)
    parsed = parse_key(key, x.shape)

    def placed(view: UOp) -> UOp:
        return _scattered(view, parsed, operand) if parsed.arrays else value_node(operand, x.dtype, view.shape)

    return write_back(x, lambda node: view_of(node, parsed), placed)


def _operand_for(dtype: DType, value: Any) -> Operand:
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
    """`value` in the dtype and shape of the place it is written to; surplus leading axes of extent 1 are dropped."""
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
            f"assignment: a value of shape {node.shape} cannot be broadcast to the place of shape {shape}"
        ) from None


def check_assignable(given: DType, dtype: DType) -> None:
    """
    Raises:
        DTypeError: values of `given` would lose their imaginary part in an array of `dtype`.
    """
    if is_complex(given) and not (is_complex(dtype) or is_bool(dtype)):
        raise DTypeError(
            f"assignment: a value of {given.name} cannot be stored in an array of {dtype.name}; "
            "take its real part first"
        )


def _scattered(view: UOp, key: ParsedKey, value: Operand) -> UOp:
    """`view` after the assignment to what the index arrays of `key` pick from it."""
    order, back = advanced_orders(key)
    moved = view.permute(order)
    gathered = key.arrays[0].shape + moved.shape[len(key.arrays) :]
    placed = value_node(value, view.dtype, tuple([gathered[axis] for axis in back]))
    source = placed.permute([back.index(axis) for axis in range(len(back))])
    check_places("assignment", moved, key.arrays, order)
    out = UOp.new(Ops.SCATTER, (moved, source, *key.arrays), "set")
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
    if x._alias is None and not x._node.shape:
        x._refuse_number("assignment")
    # no local variable here may hold the node or its memory: `own_memory` counts who does
    if type(value) in _REALS and x._alias is None and x._uop.op is _BUFFER and not x._uop.flags and _is_plain(key):
        _store(own_memory(x), key, value)
        return
    operand = _operand_for(x._uop.dtype, value)
    if _is_same_view(x, key, operand):
        return
    if _needs_graph(x, key, operand) or (_is_large_and_pending(operand) and is_basic(key)):
        _settle_base(x)
        x._write(assigned(x._uop, key, operand))
        return
    check_assignable(as_node(operand).dtype, x._uop.dtype)
    stored = operand if is_scalar(operand) else _values_of(operand)
    if isinstance(stored, np.ndarray) and x._uop.dtype is dtypes.uint32:
        stored = converted(stored, dtypes.uint32)
    _store(_writable(x), _key_for_numpy(key), stored)


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


def _writable(x: Handle) -> NumPyArray:
    """The elements of `x` as a NumPy array to write to."""
    alias = x._alias
    if not isinstance(alias, View):
        x._memory("item assignment")
        if alias is not None:
            alias.version += 1
        return own_memory(x)
    base = alias.base
    base._memory("item assignment")
    x._rebind(_NOTHING)  # its node would keep the memory shared; `x` follows its base when it is read
    alias.root.version += 1
    target = own_memory(base)
    for lens in alias.lenses:
        target = lens.on_array(target)
    return target


def _is_plain(key: Any) -> bool:
    """Whether `key` is an int, a slice of ints or a tuple of those."""
    if type(key) is tuple:
        return all([type(item) is int or _is_plain_slice(item) for item in cast("tuple[Any, ...]", key)])
    return type(key) is int or _is_plain_slice(key)


def _is_plain_slice(item: Any) -> bool:
    return type(item) is slice and {type(item.start), type(item.stop), type(item.step)} <= _PARTS


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
                f"assignment: a value of shape {np.shape(value)} does not fit the place; {error}"
            ) from None
        raise


def _needs_graph(x: Handle, key: Any, value: Operand) -> bool:
    """Whether anything that takes part is under differentiation or traced, or no strides lead to `x`."""
    if isinstance(x._alias, View) and x._alias.is_scattered():
        return True
    if x._uop.flags or (not is_scalar(value) and as_node(value).flags):
        return True
    items = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
    return any(isinstance(item, Handle) and item._uop.flags for item in items)


def _is_large_and_pending(value: Operand) -> bool:
    """A computation whose result fuses with the write, rather than being stored first and copied then."""
    if is_scalar(value):
        return False
    node = as_node(value)
    return node.realized is None and node.size >= LARGE


def _values_of(value: Operand) -> NumPyArray:
    return value._memory("item assignment").array if isinstance(value, Handle) else buffer_of_node(as_node(value)).array


def _key_for_numpy(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple([_key_for_numpy(item) for item in cast("tuple[Any, ...]", key)])
    if isinstance(key, Handle):
        return _within_range(key._memory("indexing").array)
    if not isinstance(key, np.ndarray | list):
        return concrete_key(key)
    places: NumPyArray = np.asarray(cast("Any", key))
    return _within_range(places) if places.size else cast("Any", key)


def _within_range(places: NumPyArray) -> NumPyArray:
    """Indices that NumPy would wrap to negative ones, as the last there is."""
    return np.minimum(places, 2**63 - 1) if places.dtype == np.uint64 else places


def own_memory(x: Handle) -> NumPyArray:
    """The memory of `x`, which has been computed, to write to: a copy if it is read-only or seen by others."""
    if x._uop.arg is not x._uop.realized:  # another node until it was computed, with one reference less
        x._rebind(UOp.buffer(x._uop.realized))
    uop = x._uop
    memory = uop.realized
    array = memory.array
    base = array.base
    shared = (
        not array.flags.writeable
        or _count(uop) > _ALONE[0]
        or _count(memory) > _ALONE[1]
        or _count(array) > _ALONE[2]
        or (base is not None and _count(base) > _ALONE[3])
    )
    if shared:
        x._rebind(UOp.buffer(buffer_from_numpy(array, copy=True)))
        return x._uop.realized.array
    return array


def _references(x: Handle) -> tuple[int, int, int, int]:
    """How many references there are to the node of `x`, its memory, the array over that, and the owner of the bytes.

    The local variables are those of `own_memory`, which count too.
    """
    uop = x._uop
    memory = uop.realized
    array = memory.array
    base = array.base
    return _count(uop), _count(memory), _count(array), _count(base)


# of a handle whose memory nobody else can see; measured, since it depends on how the interpreter holds its local
# variables
_ALONE = _references(Handle._from_uop(UOp.buffer(buffer_from_numpy(np.zeros(1)))))
