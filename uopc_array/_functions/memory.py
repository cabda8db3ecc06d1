"""Methods of arrays that tell of their bytes, or change their size and what may be done to them.

NumPy's own methods do what is done with bytes, on the values.
"""

from __future__ import annotations

import pickle
from math import prod
from operator import methodcaller
from typing import Any

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.lenses import PartLens
from uopc_array._array.nodes import node_from_numpy
from uopc_array._functions.arguments import ShapeLike, integer, shape_of
from uopc_array._functions.host import call_host
from uopc_array._functions.public import method
from uopc_core import Ops, UOp, is_complex

__all__: list[str] = []


# ---------------------------------------------------------------------------------------------- bytes


@method("byteswap(a, inplace=False)")
def byteswap(name: str, a: Array, inplace: bool) -> Array:
    """The elements with their bytes in the opposite order.

    Args:
        inplace: whether they are assigned to this array, which is returned then.
    Raises:
        ValueError: it is read-only and is to be written to.
    """
    if inplace:
        a._refuse_write(name)
    swapped = call_host("numpy.ndarray.byteswap", methodcaller("byteswap"), (a,), {})
    if not inplace:
        return swapped
    a._write(swapped._uop)
    return a


@method("getfield(a, dtype, offset=0)")
def getfield(name: str, a: Array, dtype: Any, offset: int) -> Array:
    """Some bytes of each element as another dtype: views of the parts of complex numbers, else values.

    Args:
        dtype: of at most as many bytes.
        offset: the first byte.
    Raises:
        ValueError: bytes that lie outside of the element.
    """
    wanted, start = np.dtype(dtype), integer(name, "offset", offset)
    if is_complex(a.dtype) and wanted.kind == "f" and wanted.itemsize * 2 == a.itemsize:
        op = {0: Ops.REAL, wanted.itemsize: Ops.IMAG}.get(start)
        if op is not None:
            return a._seen(a._frame(), PartLens(op))
    return call_host("numpy.ndarray.getfield", methodcaller("getfield", wanted, start), (a,), {})


@method("setfield(a, val, dtype, offset=0)")
def setfield(name: str, a: Array, val: Any, dtype: Any, offset: int) -> None:
    """Assign to some bytes of each element.

    Args:
        val: values of ``dtype``, which can be broadcast to the shape of the array.
        dtype: of at most as many bytes.
        offset: the first byte.
    Raises:
        ValueError: bytes that lie outside of the element; or the array is read-only.
    """
    a._refuse_write(name)
    wanted, start = np.dtype(dtype), integer(name, "offset", offset)

    def written(values: Any, given: Any) -> Any:
        values = np.asarray(values)
        values.setfield(given, wanted, start)
        return values

    a._update(lambda node: call_host("numpy.ndarray.setfield", written, (a._same_kind(node), val), {})._uop)


@method("tofile(a, fid, /, sep='', format='%s')", of_method="fid, /, sep='', format='%s'")
def tofile(name: str, a: Array, fid: Any, sep: str, format: str) -> None:
    """Write the elements to a file, in rows, as bytes or as text.

    Args:
        fid: an open file, or a path.
        sep: what stands between elements of text; empty for bytes.
        format: of an element of text.
    """
    call_host("numpy.ndarray.tofile", methodcaller("tofile", fid, sep, format), (a,), {})


@method("dump(a, file)")
def dump(name: str, a: Array, file: Any) -> None:
    """Pickle this array into a file.

    Args:
        file: an open file, or a path.
    """
    if hasattr(file, "write"):
        pickle.dump(a, file)
        return
    with open(file, "wb") as opened:
        pickle.dump(a, opened)


@method("dumps(a)")
def dumps(name: str, a: Array) -> bytes:
    """This array as bytes that `pickle.loads` reads."""
    return pickle.dumps(a)


# ---------------------------------------------------------------------------------------------- size and flags


@method("resize(a, new_shape, refcheck=True)", of_method="*new_shape, refcheck=True")
def resize(name: str, a: Array, new_shape: ShapeLike | None, refcheck: bool) -> None:
    """Give this array another shape; elements that are too many are dropped, those that are missing are 0.

    Args:
        new_shape: extents, an int or several; None changes nothing.
        refcheck: without effect: an array of which there are views is refused always.
    Raises:
        ShapeError: a negative extent.
        TypeError: it is a number.
        TraceError: inside `jit`, of an array that is older.
        ValueError: it is a view, has views, or is read-only.
    """
    if new_shape is None:
        return
    shape = shape_of(name, new_shape, "new_shape")
    a._refuse_write(name)
    if prod(shape) == a.size:
        if not a.flags.c_contiguous:
            raise ValueError(
                f"{name}: the elements of a view of shape {a.shape} lie apart; xp.resize gives a new array"
            )
        a._take_shape(name, shape)
        return
    a._replace_whole(name, lambda node: _resized(node, shape))


def _resized(node: UOp, shape: tuple[int, ...]) -> UOp:
    n = prod(shape)
    row = node.reshape((node.size,)).shrink([(0, min(n, node.size))])
    return row.pad([(0, n - row.size)]).reshape(shape)


@method("setflags(a, write=None, align=None, uic=None)")
def setflags(name: str, a: Array, write: bool | None, align: bool | None, uic: bool | None) -> None:
    """Say whether this array may be changed, by assignment or by functions that write to it.

    Views that are there already stay as they are; views made later are as this array is.

    Args:
        write: whether; None changes nothing. A view may be changed where its base may, unless elements of it are one.
        align: without effect: elements are always aligned.
        uic: False or None: no array here is a copy that is written back.
    Raises:
        ValueError: it is a number, a view of an array that may not be changed, or of the kind that `broadcast_to`
            gives; or ``uic`` is True.
    """
    if uic:
        raise ValueError(f"{name}: no array of uopc_array is a copy that is written back, got uic={uic}")
    if write is not None:
        a._set_writable(name, bool(write))


@method("__setstate__(a, state, /)", of_method="state, /")
def set_state(name: str, a: Array, state: tuple[Any, ...]) -> None:
    """Give this array the shape, dtype and values in what NumPy's arrays pickle: ``(version, shape, dtype, in columns,
    bytes)``.

    Raises:
        ValueError: it is a view, has views, or is read-only.
    """
    values: Any = np.empty(0)
    values.__setstate__(state)
    a._refuse_write(name)
    a._replace_whole(name, lambda _: node_from_numpy(values))
