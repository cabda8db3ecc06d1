"""Arrays cut into parts along an axis: views of the parts."""

from __future__ import annotations

from collections.abc import Sequence

from uopc_array._array.array import Array
from uopc_array._array.index import ItemLens
from uopc_array._array.lenses import Lens
from uopc_array._functions.arguments import ArrayLike, array_of, integer, integers, is_sequence, normalize_axis
from uopc_array._functions.public import function
from uopc_core import UOp
from uopc_core.errors import ShapeError

__all__: list[str] = []

_WHOLE = slice(None)


@function("unstack(x, /, *, axis=0)", gives="view")
def unstack(name: str, x: ArrayLike, axis: int) -> tuple[Array, ...]:
    """The slices of ``x`` along an axis: views, or the numbers in a vector.

    Args:
        x: any dtype, one axis or more.
        axis: axis that is taken apart.
    Returns:
        as many arrays as the axis is long, in the dtype of ``x`` and its shape without ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
    Example:
        >>> import uopc_array as xp
        >>> xp.unstack(xp.asarray([[1, 2], [3, 4]]))
        (Array([1, 2], dtype=int64), Array([3, 4], dtype=int64))
    """
    whole = array_of(name, x)
    at = normalize_axis(name, axis, whole.ndim)
    return tuple([whole[(_WHOLE,) * at + (i,)] for i in range(whole.shape[at])])


@function("array_split(ary, indices_or_sections, axis=0)", gives="view")
def array_split(name: str, ary: UOp, indices_or_sections: int | Sequence[int], axis: int) -> list[Lens]:
    """``ary`` cut into parts along an axis, views.

    Args:
        ary: any dtype, one axis or more.
        indices_or_sections: a number of parts as equal as may be, or the indices where to cut.
        axis: axis that is cut.
    Returns:
        the parts, in the dtype of ``ary``.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: no parts are asked for.
    Example:
        >>> import uopc_array as xp
        >>> xp.array_split(xp.arange(5), 2)
        [Array([0, 1, 2], dtype=int64), Array([3, 4], dtype=int64)]
    """
    return _parts(name, ary, indices_or_sections, axis, equal=False)


def _parts(name: str, node: UOp, how: int | Sequence[int], axis: int, equal: bool) -> list[Lens]:
    at = normalize_axis(name, axis, node.ndim)
    n = node.shape[at]
    if is_sequence(how):
        cuts = list(integers(name, "indices_or_sections", how))
    else:
        cuts = _even_cuts(name, n, integer(name, "indices_or_sections", how), equal)
    return [ItemLens((_WHOLE,) * at + (slice(*bounds),)) for bounds in zip([0, *cuts], [*cuts, n], strict=True)]


def _even_cuts(name: str, n: int, parts: int, equal: bool) -> list[int]:
    """The indices at which an axis is cut into parts that differ by one at most, the longer ones in front."""
    if parts < 1:
        raise ValueError(f"{name}: an axis of extent {n} cannot be cut into {parts} parts, expected 1 or more")
    if equal and n % parts:
        raise ValueError(
            f"{name}: an axis of extent {n} cannot be cut into {parts} parts of one extent; array_split makes parts of "
            "different extents"
        )
    cuts = [n] * (parts - 1)  # at once, so that too many for the memory fail here
    for i in range(1, min(parts, n)):
        cuts[i - 1] = i * (n // parts) + min(i, n % parts)
    return cuts


@function("split(ary, indices_or_sections, axis=0)", gives="view")
def split(name: str, ary: UOp, indices_or_sections: int | Sequence[int], axis: int) -> list[Lens]:
    """``ary`` cut into parts along an axis, all of one extent where a number is given; views.

    Args:
        ary: any dtype, one axis or more.
        indices_or_sections: a number of parts, or the indices where to cut.
        axis: axis that is cut.
    Returns:
        the parts, in the dtype of ``ary``.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: the extent is no multiple of the number of parts.
    Example:
        >>> import uopc_array as xp
        >>> xp.split(xp.arange(4), 2)
        [Array([0, 1], dtype=int64), Array([2, 3], dtype=int64)]
    """
    return _parts(name, ary, indices_or_sections, axis, equal=True)


@function("vsplit(ary, indices_or_sections)", gives="view")
def vsplit(name: str, ary: UOp, indices_or_sections: int | Sequence[int]) -> list[Lens]:
    """`split` along axis 0, of two axes or more.

    Raises:
        ShapeError: there are fewer axes.
        ValueError: the extent is no multiple of the number of parts.
    Example:
        >>> import uopc_array as xp
        >>> [part.shape for part in xp.vsplit(xp.zeros((4, 3)), 2)]
        [(2, 3), (2, 3)]
    """
    return _parts(name, _of_axes(name, ary, 2), indices_or_sections, 0, equal=True)


@function("hsplit(ary, indices_or_sections)", gives="view")
def hsplit(name: str, ary: UOp, indices_or_sections: int | Sequence[int]) -> list[Lens]:
    """`split` along axis 1, or the only axis of a vector.

    Raises:
        ShapeError: there are no axes.
        ValueError: the extent is no multiple of the number of parts.
    Example:
        >>> import uopc_array as xp
        >>> [part.shape for part in xp.hsplit(xp.zeros((2, 4)), 2)]
        [(2, 2), (2, 2)]
    """
    return _parts(name, _of_axes(name, ary, 1), indices_or_sections, min(ary.ndim - 1, 1), equal=True)


@function("dsplit(ary, indices_or_sections)", gives="view")
def dsplit(name: str, ary: UOp, indices_or_sections: int | Sequence[int]) -> list[Lens]:
    """`split` along axis 2.

    Raises:
        ShapeError: there are fewer than three axes.
        ValueError: the extent is no multiple of the number of parts.
    Example:
        >>> import uopc_array as xp
        >>> [part.shape for part in xp.dsplit(xp.zeros((1, 2, 4)), 2)]
        [(1, 2, 2), (1, 2, 2)]
    """
    return _parts(name, _of_axes(name, ary, 3), indices_or_sections, 2, equal=True)


def _of_axes(name: str, node: UOp, least: int) -> UOp:
    if node.ndim < least:
        raise ShapeError(f"{name}: expected {least} axes or more, got shape {node.shape}")
    return node
