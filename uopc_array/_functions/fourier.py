"""Fourier transforms: pocketfft through NumPy, lazy and differentiable.

Every transform is composed of one along the last axis; other axes are moved there, other lengths cut or padded with
zeros first. `norm` says where the factor 1/n goes: "backward" to the inverse transform, "forward" to the forward one,
"ortho" half to each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uopc_array._functions.arguments import (
    AxisLike,
    check_choice,
    check_shape,
    integer,
    integers,
    normalize_axes,
    normalize_axis,
)
from uopc_array._functions.public import function
from uopc_core import OPPOSITE_NORM, Ops, UOp, composite, dtypes, is_complex, is_float, name_of
from uopc_core.errors import DTypeError, ShapeError

__all__: list[str] = []

_ONE = "(a, n=None, axis=-1, norm=None, out=None)"
_TWO = "(a, s=None, axes=(-2, -1), norm=None, out=None)"
_ALL = "(a, s=None, axes=None, norm=None, out=None)"
AxisAndLength = tuple[int, int | None]


# ---------------------------------------------------------------------------------------------- along one axis


@function(f"fft.fft{_ONE}")
def fft(name: str, a: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """Discrete Fourier transform along an axis.

    Args:
        a: floating; real input is taken for complex.
        n: length along ``axis``, to which ``a`` is cut or padded with zeros; None is as it is.
        axis: axis of the transform.
        norm: "backward" (or None) scales by 1, "ortho" by 1/sqrt(n), "forward" by 1/n.
        out: takes the result.
    Returns:
        complex; shape of ``a`` with ``n`` along ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: unknown ``norm``, or no elements along the axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fft(xp.asarray([1.0, 0.0, 0.0, 0.0]))
        Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _one(name, "fft", _complex(a), n, axis, _norm_of(name, norm))


@function(f"fft.ifft{_ONE}")
def ifft(name: str, a: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """Inverse of `fft` along an axis; arguments as there, with "backward" scaling by 1/n and "forward" by 1.

    Raises:
        AxisError, ValueError: as `fft`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.ifft(xp.asarray([4.0, 0.0, 0.0, 0.0]))
        Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _one(name, "ifft", _complex(a), n, axis, _norm_of(name, norm))


@function(f"fft.rfft{_ONE}")
def rfft(name: str, a: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """Fourier transform of real data along an axis: the non-negative frequencies.

    Args:
        a: real floating.
        n: length along ``axis``, to which ``a`` is cut or padded with zeros; None is as it is.
        axis: axis of the transform.
        norm: see `fft`.
        out: takes the result.
    Returns:
        complex; shape of ``a`` with ``n // 2 + 1`` along ``axis``.
    Raises:
        DTypeError: ``a`` is complex.
        AxisError: ``axis`` is out of range.
        ValueError: unknown ``norm``, or no elements along the axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.rfft(xp.asarray([1.0, 0.0, 0.0, 0.0]))
        Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _one(name, "rfft", _real(name, a), n, axis, _norm_of(name, norm))


@function(f"fft.irfft{_ONE}")
def irfft(name: str, a: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """Inverse of `rfft`.

    Args:
        a: complex (real is taken for complex): the non-negative frequencies.
        n: length of the result along ``axis``; None is ``2 * (m - 1)`` for m frequencies.
        axis: axis of the transform.
        norm: see `ifft`.
        out: takes the result.
    Returns:
        real; shape of ``a`` with ``n`` along ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: unknown ``norm``, or no elements along the axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.irfft(xp.fft.rfft(xp.asarray([1.0, 2.0, 3.0, 4.0])))
        Array([1., 2., 3., 4.], dtype=float64)
    """
    return _one_to_real(name, _complex(a), n, axis, _norm_of(name, norm))


@function(f"fft.hfft{_ONE}")
def hfft(name: str, a: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """Transform of a signal that is Hermitian in time and so has a real spectrum.

    Args:
        a: complex: the non-negative times.
        n: length of the result along ``axis``; None is ``2 * (m - 1)`` for m times.
        axis, norm: see `fft`.
        out: takes the result.
    Returns:
        real; shape of ``a`` with ``n`` along ``axis``.
    Raises:
        AxisError, ValueError: see `irfft`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.hfft(xp.asarray([1.0 + 0j, 0j, 0j]))
        Array([1., 1., 1., 1.], dtype=float64)
    """
    opposite = OPPOSITE_NORM[_norm_of(name, norm)]
    return _one_to_real(name, _complex(a).unary(Ops.CONJ), n, axis, opposite)


@function(f"fft.ihfft{_ONE}")
def ihfft(name: str, a: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """Inverse of `hfft`: the non-negative times of a signal with the real spectrum ``a``.

    Raises:
        AxisError, DTypeError, ValueError: a wrong axis, complex numbers, an unknown ``norm``.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.ihfft(xp.asarray([4.0, 0.0, 0.0, 0.0]))
        Array([1.-0.j, 1.-0.j, 1.-0.j], dtype=complex128)
    """
    opposite = OPPOSITE_NORM[_norm_of(name, norm)]
    return _one(name, "rfft", _real(name, a), n, axis, opposite).unary(Ops.CONJ)


# ---------------------------------------------------------------------------------------------- along several axes


@function(f"fft.fft2{_TWO}")
@function(f"fft.fftn{_ALL}")
def fftn(name: str, a: UOp, s: Sequence[int] | None, axes: AxisLike, norm: str | None) -> UOp:
    """Discrete Fourier transform along several axes; `fft2` is along the last two.

    Args:
        a: floating; real input is taken for complex.
        s: lengths along ``axes``; None is as they are, and so is a length of -1.
        axes: axes of the transform; None is all, or the last ``len(s)``.
        norm: see `fft`.
        out: takes the result.
    Returns:
        complex; shape of ``a`` with ``s`` along ``axes``.
    Raises:
        AxisError: an axis is out of range or given twice.
        ValueError: ``s`` and ``axes`` differ in length, unknown ``norm``, or no elements along an axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fftn(xp.asarray([[1.0, 0.0], [0.0, 0.0]]))
        Array([[1.+0.j, 1.+0.j],
               [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return _several(name, "fft", _complex(a), s, axes, norm)


@function(f"fft.ifft2{_TWO}")
@function(f"fft.ifftn{_ALL}")
def ifftn(name: str, a: UOp, s: Sequence[int] | None, axes: AxisLike, norm: str | None) -> UOp:
    """Inverse of `fftn`, or `ifft2` of `fft2`; arguments as there.

    Raises:
        AxisError, ValueError: as `fftn`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.ifftn(xp.asarray([[4.0, 0.0], [0.0, 0.0]]))
        Array([[1.+0.j, 1.+0.j],
               [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return _several(name, "ifft", _complex(a), s, axes, norm)


@function(f"fft.rfft2{_TWO}")
@function(f"fft.rfftn{_ALL}")
def rfftn(name: str, a: UOp, s: Sequence[int] | None, axes: AxisLike, norm: str | None) -> UOp:
    """Fourier transform of real data along several axes: `rfft` along the last of them, then `fft` along the others;
    `rfft2` is along the last two.

    Args:
        a: real floating.
        s, axes, norm: see `fftn`.
        out: takes the result.
    Returns:
        complex; shape of ``a`` with ``s`` along ``axes``, but ``s[-1] // 2 + 1`` along the last.
    Raises:
        DTypeError, AxisError, ValueError: see `rfft` and `fftn`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.rfftn(xp.asarray([[1.0, 0.0], [0.0, 0.0]])).shape
        (2, 2)
    """
    node = _real(name, a)
    norm = _norm_of(name, norm)
    others, axis, n = _split_last(name, _axes_and_lengths(name, node.shape, s, axes))
    node = _one(name, "rfft", node, n, axis, norm)
    for other, length in reversed(others):
        node = _one(name, "fft", node, length, other, norm)
    return node


@function(f"fft.irfft2{_TWO}")
@function(f"fft.irfftn{_ALL}")
def irfftn(name: str, a: UOp, s: Sequence[int] | None, axes: AxisLike, norm: str | None) -> UOp:
    """Inverse of `rfftn`, or `irfft2` of `rfft2`; ``s`` gives the lengths of the result.

    Raises:
        AxisError, ValueError: as `rfftn`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.irfftn(xp.fft.rfftn(xp.asarray([[1.0, 2.0], [3.0, 4.0]])))
        Array([[1., 2.],
               [3., 4.]], dtype=float64)
    """
    node = _complex(a)
    norm = _norm_of(name, norm)
    others, axis, n = _split_last(name, _axes_and_lengths(name, node.shape, s, axes))
    for other, length in others:
        node = _one(name, "ifft", node, length, other, norm)
    return _one_to_real(name, node, n, axis, norm)


def _several(name: str, kind: str, node: UOp, s: Sequence[int] | None, axes: AxisLike, norm: str | None) -> UOp:
    norm = _norm_of(name, norm)
    for axis, n in reversed(_axes_and_lengths(name, node.shape, s, axes)):
        node = _one(name, kind, node, n, axis, norm)
    return node


def _axes_and_lengths(
    name: str, shape: tuple[int, ...], s: Sequence[int] | None, axes: AxisLike
) -> list[AxisAndLength]:
    """The axes, from the front, each with its length; None where it is to stay, for which `s` may have -1 as well."""
    s = None if s is None else integers(name, "s", s)
    if axes is None:
        count = len(shape) if s is None else min(len(s), len(shape))
        chosen = tuple(range(len(shape) - count, len(shape)))
    else:
        chosen = normalize_axes(name, axes, len(shape))
    if s is not None and len(s) != len(chosen):
        raise ShapeError(f"{name}: expected one length per axis, got s={tuple(s)} for axes {chosen} of shape {shape}")
    lengths = [None] * len(chosen) if s is None else [None if n == -1 else n for n in s]
    return list(zip(chosen, lengths, strict=True))


def _split_last(name: str, chosen: list[AxisAndLength]) -> tuple[list[AxisAndLength], int, int | None]:
    """All axes but the last, and the last with its length: the one that a transform of real data halves."""
    if not chosen:
        raise ShapeError(f"{name}: expected one axis or more")
    return chosen[:-1], *chosen[-1]


# ---------------------------------------------------------------------------------------------- one transform


def _norm_of(name: str, norm: str | None) -> str:
    """The norm; None, as NumPy's functions hand it on, is the default.

    Raises:
        ValueError: an unknown one.
    """
    if norm is None:
        return "backward"
    check_choice(name, "norm", norm, OPPOSITE_NORM)
    return norm


def _complex(a: UOp) -> UOp:
    return a if is_complex(a.dtype) else a.cast(dtypes.complex64 if a.dtype is dtypes.float32 else dtypes.complex128)


def _real(name: str, a: UOp) -> UOp:
    if is_complex(a.dtype):
        raise DTypeError(
            f"{name}: expected a real dtype, got {name_of(a.dtype)}; take real(x) first, or use the complex transform"
        )
    return a if is_float(a.dtype) else a.cast(dtypes.float64)


def _one(name: str, kind: str, node: UOp, n: int | None, axis: int, norm: str) -> UOp:
    """The transform `kind` along one axis; `n` counts the elements that go in."""
    at = normalize_axis(name, axis, node.ndim)
    length = node.shape[at] if n is None else integer(name, "n", n)
    return _along(name, node, at, length, kind, (norm,))


def _one_to_real(name: str, node: UOp, n: int | None, axis: int, norm: str) -> UOp:
    at = normalize_axis(name, axis, node.ndim)
    length = 2 * (node.shape[at] - 1) if n is None else integer(name, "n", n)
    if length < 1:
        raise ShapeError(f"{name}: expected one element or more in the result, got n={length}")
    return _along(name, node, at, length // 2 + 1, "irfft", (norm, length))


def _along(name: str, node: UOp, axis: int, length: int, kind: str, params: tuple[Any, ...]) -> UOp:
    """The transform `kind`, of the last axis, applied to `axis`, cut or padded with zeros to `length` first."""
    if axis == node.ndim - 1:
        return composite.call_extern(kind, _with_length(name, node, length), params=params)
    order = [*[i for i in range(node.ndim) if i != axis], axis]
    out = composite.call_extern(kind, _with_length(name, node.permute(order), length), params=params)
    return out.permute([order.index(i) for i in range(node.ndim)])


def _with_length(name: str, node: UOp, n: int) -> UOp:
    """`node` cut or padded with zeros to `n` elements along its last axis."""
    if n < 1:
        raise ShapeError(f"{name}: expected one element or more along the axis, got n={n}")
    have = node.shape[-1]
    if have == n:
        return node
    others = node.shape[:-1]
    if have > n:
        return node.shrink([*[(0, k) for k in others], (0, n)])
    check_shape(name, (*others, n))
    return node.pad([*[(0, 0) for _ in others], (0, n - have)])
