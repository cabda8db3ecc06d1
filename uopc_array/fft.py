"""The `fft` extension of the standard: pocketfft through NumPy, lazy and differentiable.

Every transform is composed of one along the last axis; other axes are moved there, other lengths cut or padded with
zeros first. `norm` says where the factor 1/n goes: "backward" to the inverse transform, "forward" to the forward one,
"ortho" half to each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import node_from_numpy
from uopc_array._array.realize import buffer_of_node
from uopc_array._functions.arguments import (
    ArrayLike,
    AxisLike,
    check_choice,
    check_device,
    check_shape,
    integer,
    integers,
    node_of,
    normalize_axes,
    normalize_axis,
    number_or_node,
    optional_dtype,
    wrap,
)
from uopc_array._interop.numpy_names import numpy_dir, numpy_name
from uopc_core import TRACED, DType, Ops, UOp, composite, dtypes, is_complex, is_float
from uopc_core.errors import DTypeError, IntegerError, ShapeError, ZeroStepError, shortened

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]
_OPPOSITE: dict[str, str] = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
_OneAxis = Callable[[UOp], UOp]


def _norm_of(name: str, norm: str | None) -> str:
    """The norm; None, as NumPy's functions hand it on, is the default.

    Raises:
        ValueError: an unknown one.
    """
    if norm is None:
        return "backward"
    try:
        check_choice(name, "norm", norm, _OPPOSITE)
    except Exception as error:
        raise shortened(error) from None
    return norm


def _complex_node(name: str, x: Array) -> UOp:
    node = node_of(name, x)
    if is_complex(node.dtype):
        return node
    return node.cast(dtypes.complex64 if node.dtype is dtypes.float32 else dtypes.complex128)


def _real_node(name: str, x: Array) -> UOp:
    node = node_of(name, x)
    if is_complex(node.dtype):
        raise DTypeError(
            f"{name}: expected a real dtype, got {node.dtype.name}; take real(x) first, or use the complex transform"
        )
    return node if is_float(node.dtype) else node.cast(dtypes.float64)


def _with_length(name: str, node: UOp, n: int) -> UOp:
    """`node` cut or padded with zeros to `n` elements along its last axis."""
    if n < 1:
        raise ShapeError(f"{name}: expected one element or more along the axis, got n={n}")
    check_shape(name, (*node.shape[:-1], n))
    have = node.shape[-1]
    others = node.ndim - 1
    if have > n:
        return node.shrink([*[(0, k) for k in node.shape[:-1]], (0, n)])
    return node.pad([*[(0, 0)] * others, (0, n - have)])


def _along(name: str, node: UOp, axis: int, transform: _OneAxis) -> UOp:
    """`transform`, of the last axis, applied to `axis`."""
    try:
        where = normalize_axis(name, axis, node.ndim)
        order = [*[a for a in range(node.ndim) if a != where], where]
        out = transform(node.permute(order))
    except Exception as error:
        raise shortened(error) from None
    return out.permute([order.index(a) for a in range(node.ndim)])


def _extern(kind: str, node: UOp, *params: Any) -> UOp:
    return UOp.new(Ops.EXTERN, (node,), (kind, params, 0))


def _one(name: str, kind: str, node: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    """The transform `kind` along one axis; `n` counts the elements that go in."""
    norm = _norm_of(name, norm)

    def transform(moved: UOp) -> UOp:
        length = moved.shape[-1] if n is None else integer(name, "n", n)
        return _extern(kind, _with_length(name, moved, length), norm)

    return _along(name, node, axis, transform)


def _one_irfft(name: str, node: UOp, n: int | None, axis: int, norm: str | None) -> UOp:
    norm = _norm_of(name, norm)

    def transform(moved: UOp) -> UOp:
        length = 2 * (moved.shape[-1] - 1) if n is None else integer(name, "n", n)
        if length < 1:
            raise ShapeError(f"{name}: expected one element or more in the result, got n={length}")
        return _extern("irfft", _with_length(name, moved, length // 2 + 1), norm, length)

    return _along(name, node, axis, transform)


def _axes_and_lengths(
    name: str, shape: tuple[int, ...], s: Sequence[int] | None, axes: AxisLike
) -> list[tuple[int, int | None]]:
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


def _split_last(
    name: str, chosen: list[tuple[int, int | None]]
) -> tuple[list[tuple[int, int | None]], int, int | None]:
    """All axes but the last, and the last with its length: the one that a transform of real data halves."""
    if not chosen:
        raise ShapeError(f"{name}: expected one axis or more")
    return chosen[:-1], *chosen[-1]


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """Discrete Fourier transform along an axis.

    Args:
        x: floating; real input is taken for complex.
        n: length along ``axis``, to which ``x`` is cut or padded with zeros; None is as it is.
        axis: axis of the transform.
        norm: "backward" (or None) scales by 1, "ortho" by 1/sqrt(n), "forward" by 1/n.
    Returns:
        complex; shape of ``x`` with ``n`` along ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: unknown ``norm``, or no elements along the axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fft(xp.asarray([1.0, 0.0, 0.0, 0.0]))
        Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return wrap(_one("fft", "fft", _complex_node("fft", x), n, axis, norm))


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """Inverse of `fft` along an axis; arguments as there, with "backward" scaling by 1/n and "forward" by 1.

    Raises:
        AxisError, ValueError: as `fft`.
    Example:
        >>> xp.fft.ifft(xp.asarray([4.0, 0.0, 0.0, 0.0]))
        Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return wrap(_one("ifft", "ifft", _complex_node("ifft", x), n, axis, norm))


def fftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = "backward"
) -> Array:
    """Discrete Fourier transform along several axes.

    Args:
        x: floating; real input is taken for complex.
        s: lengths along ``axes``; None is as they are, and so is a length of -1.
        axes: axes of the transform; None is all, or the last ``len(s)``.
        norm: see `fft`.
    Returns:
        complex; shape of ``x`` with ``s`` along ``axes``.
    Raises:
        AxisError: an axis is out of range or given twice.
        ValueError: ``s`` and ``axes`` differ in length, unknown ``norm``, or no elements along an axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fftn(xp.asarray([[1.0, 0.0], [0.0, 0.0]]))
        Array([[1.+0.j, 1.+0.j],
               [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return wrap(_several("fftn", "fft", _complex_node("fftn", x), s, axes, norm))


def ifftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = "backward"
) -> Array:
    """Inverse of `fftn`; arguments as there.

    Raises:
        AxisError, ValueError: as `fftn`.
    Example:
        >>> xp.fft.ifftn(xp.asarray([[4.0, 0.0], [0.0, 0.0]]))
        Array([[1.+0.j, 1.+0.j],
               [1.+0.j, 1.+0.j]], dtype=complex128)
    """
    return wrap(_several("ifftn", "ifft", _complex_node("ifftn", x), s, axes, norm))


def _several(name: str, kind: str, node: UOp, s: Sequence[int] | None, axes: AxisLike, norm: str | None) -> UOp:
    try:
        for axis, n in reversed(_axes_and_lengths(name, node.shape, s, axes)):
            node = _one(name, kind, node, n, axis, norm)
    except Exception as error:
        raise shortened(error) from None
    return node


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """Fourier transform of real data along an axis: the non-negative frequencies.

    Args:
        x: real floating.
        n: length along ``axis``, to which ``x`` is cut or padded with zeros; None is as it is.
        axis: axis of the transform.
        norm: see `fft`.
    Returns:
        complex; shape of ``x`` with ``n // 2 + 1`` along ``axis``.
    Raises:
        DTypeError: ``x`` is complex.
        AxisError: ``axis`` is out of range.
        ValueError: unknown ``norm``, or no elements along the axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.rfft(xp.asarray([1.0, 0.0, 0.0, 0.0]))
        Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return wrap(_one("rfft", "rfft", _real_node("rfft", x), n, axis, norm))


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """Inverse of `rfft`.

    Args:
        x: complex (real is taken for complex): the non-negative frequencies.
        n: length of the result along ``axis``; None is ``2 * (m - 1)`` for m frequencies.
        axis: axis of the transform.
        norm: see `ifft`.
    Returns:
        real; shape of ``x`` with ``n`` along ``axis``.
    Raises:
        AxisError: ``axis`` is out of range.
        ValueError: unknown ``norm``, or no elements along the axis.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.irfft(xp.fft.rfft(xp.asarray([1.0, 2.0, 3.0, 4.0])))
        Array([1., 2., 3., 4.], dtype=float64)
    """
    return wrap(_one_irfft("irfft", _complex_node("irfft", x), n, axis, norm))


def rfftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = "backward"
) -> Array:
    """Fourier transform of real data along several axes: `rfft` along the last of them, then `fft` along the others.

    Args:
        x: real floating.
        s, axes, norm: see `fftn`.
    Returns:
        complex; shape of ``x`` with ``s`` along ``axes``, but ``s[-1] // 2 + 1`` along the last.
    Raises:
        DTypeError, AxisError, ValueError: see `rfft` and `fftn`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.rfftn(xp.asarray([[1.0, 0.0], [0.0, 0.0]])).shape
        (2, 2)
    """
    node = _real_node("rfftn", x)
    others, axis, n = _split_last("rfftn", _axes_and_lengths("rfftn", node.shape, s, axes))
    node = _one("rfftn", "rfft", node, n, axis, norm)
    for other, length in reversed(others):
        node = _one("rfftn", "fft", node, length, other, norm)
    return wrap(node)


def irfftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm | None = "backward"
) -> Array:
    """Inverse of `rfftn`; ``s`` gives the lengths of the result.

    Raises:
        AxisError, ValueError: as `rfftn`.
    Example:
        >>> xp.fft.irfftn(xp.fft.rfftn(xp.asarray([[1.0, 2.0], [3.0, 4.0]])))
        Array([[1., 2.],
               [3., 4.]], dtype=float64)
    """
    node = _complex_node("irfftn", x)
    others, axis, n = _split_last("irfftn", _axes_and_lengths("irfftn", node.shape, s, axes))
    for other, length in others:
        node = _one("irfftn", "ifft", node, length, other, norm)
    return wrap(_one_irfft("irfftn", node, n, axis, norm))


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """Transform of a signal that is Hermitian in time and so has a real spectrum.

    Args:
        x: complex: the non-negative times.
        n: length of the result along ``axis``; None is ``2 * (m - 1)`` for m times.
        axis, norm: see `fft`.
    Returns:
        real; shape of ``x`` with ``n`` along ``axis``.
    Raises:
        AxisError, ValueError: see `irfft`.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.hfft(xp.asarray([1.0 + 0j, 0j, 0j]))
        Array([1., 1., 1., 1.], dtype=float64)
    """
    opposite = _OPPOSITE[_norm_of("hfft", norm)]
    return wrap(_one_irfft("hfft", _complex_node("hfft", x).unary(Ops.CONJ), n, axis, opposite))


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm | None = "backward") -> Array:
    """Inverse of `hfft`: the non-negative times of a signal with the real spectrum ``x``.

    Raises:
        AxisError, DTypeError, ValueError: a wrong axis, complex numbers, an unknown ``norm``.
    Example:
        >>> xp.fft.ihfft(xp.asarray([4.0, 0.0, 0.0, 0.0]))
        Array([1.-0.j, 1.-0.j, 1.-0.j], dtype=complex128)
    """
    opposite = _OPPOSITE[_norm_of("ihfft", norm)]
    return wrap(_one("ihfft", "rfft", _real_node("ihfft", x), n, axis, opposite).unary(Ops.CONJ))


def _frequency_dtype(name: str, dtype: Any) -> DType:
    wanted = optional_dtype(name, dtype) or dtypes.float64
    if not is_float(wanted):
        raise DTypeError(f"{name}: expected a real floating dtype, got {wanted.name}")
    return wanted


def _spacing(name: str, n: int, d: ArrayLike) -> tuple[int, int | float | UOp]:
    """The number of samples and their distance, checked; a distance that is not known yet is a node."""
    count = integer(name, "n", n, IntegerError)
    distance = number_or_node(name, "d", d)
    check_shape(name, (max(count, 0),))
    if count < 1:
        raise ZeroStepError(f"{name}: expected n of 1 or more, got n={count}")
    if _is_zero(name, distance):
        raise ZeroStepError(f"{name}: expected a distance d other than 0, got d={d}")
    return count, distance


def _is_zero(name: str, x: int | float | UOp) -> bool:
    """Whether a number is 0, where its value can be known."""
    if not isinstance(x, UOp):
        return x == 0
    return not x.flags & TRACED and bool(buffer_of_node(x, name).array == 0)


def _frequencies(counts: np.ndarray[Any, Any], n: int, d: int | float | UOp, dtype: DType) -> Array:
    """``counts / (n * d)``, in NumPy's order."""
    if not isinstance(d, UOp):
        return wrap(node_from_numpy((counts * (1.0 / (n * d))).astype(dtype)))
    unit = 1.0 / (d.cast(dtypes.float64) * n)
    node = node_from_numpy(counts.astype(np.float64)) * composite.broadcast_to(unit, counts.shape)
    return wrap(node.cast(dtype))


def fftfreq(n: int, /, *, d: ArrayLike = 1.0, dtype: Any = None, device: object = None) -> Array:
    """Frequencies of the elements that `fft` gives, in cycles per unit of ``d``.

    Args:
        n: length of the transform.
        d: distance of two samples; differentiable where it is an array.
        dtype: real floating; None is float64.
        device: "cpu" or None.
    Returns:
        shape (n,): 0 and the positive frequencies, then the negative ones.
    Raises:
        DTypeError: ``dtype`` is not real floating.
        IntegerError: (a TypeError and a ValueError) ``n`` is no integer.
        ZeroStepError: (a ValueError and a ZeroDivisionError) ``n`` is less than 1, or ``d`` is 0.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fftfreq(4)
        Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float64)
    """
    check_device("fftfreq", device)
    count, distance = _spacing("fftfreq", n, d)
    counts = np.empty(count, np.int64)  # `arange` of too many is empty, this is an error
    half = (count + 1) // 2
    counts[:half], counts[half:] = np.arange(half), np.arange(-(count // 2), 0)
    return _frequencies(counts, count, distance, _frequency_dtype("fftfreq", dtype))


def rfftfreq(n: int, /, *, d: ArrayLike = 1.0, dtype: Any = None, device: object = None) -> Array:
    """Frequencies of the elements that `rfft` gives, in cycles per unit of ``d``; see `fftfreq`.

    Raises:
        DTypeError, ValueError: ``dtype`` is not real floating; an unknown device.
    Example:
        >>> xp.fft.rfftfreq(5, d=0.1)
        Array([0., 2., 4.], dtype=float64)
    """
    check_device("rfftfreq", device)
    count, distance = _spacing("rfftfreq", n, d)
    return _frequencies(np.arange(count // 2 + 1), count, distance, _frequency_dtype("rfftfreq", dtype))


def fftshift(x: Array, /, *, axes: AxisLike = None) -> Array:
    """Move the zero frequency to the middle.

    Args:
        x: any dtype.
        axes: axes to shift; None is all.
    Returns:
        dtype and shape of ``x``.
    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> import uopc_array as xp
        >>> xp.fft.fftshift(xp.fft.fftfreq(4))
        Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float64)
    """
    node = node_of("fftshift", x)
    for axis in normalize_axes("fftshift", axes, node.ndim):
        node = _rolled(node, axis, node.shape[axis] // 2)
    return wrap(node)


def ifftshift(x: Array, /, *, axes: AxisLike = None) -> Array:
    """Inverse of `fftshift`, from which it differs for odd lengths.

    Raises:
        AxisError: an axis is out of range or given twice.
    Example:
        >>> xp.fft.ifftshift(xp.asarray([-2, -1, 0, 1, 2]))
        Array([ 0,  1,  2, -2, -1], dtype=int64)
    """
    node = node_of("ifftshift", x)
    for axis in normalize_axes("ifftshift", axes, node.ndim):
        node = _rolled(node, axis, node.shape[axis] - node.shape[axis] // 2)
    return wrap(node)


def _rolled(node: UOp, axis: int, by: int) -> UOp:
    """`node` with its last `by` elements along `axis` moved to the front."""
    n = node.shape[axis]
    if by in (0, n):
        return node
    whole = [(0, k) for k in node.shape]
    back, front = list(whole), list(whole)
    back[axis], front[axis] = (n - by, n), (0, n - by)
    return composite.concat([node.shrink(back), node.shrink(front)], axis)


def __getattr__(name: str) -> Any:
    """NumPy's other names (PEP 562)."""
    return numpy_name("fft", name)


def __dir__() -> list[str]:
    return sorted({*__all__, *numpy_dir("fft")})
