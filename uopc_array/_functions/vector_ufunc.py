"""The ufuncs of vectors and matrices: `matmul`, `matvec`, `vecdot`, `vecmat`, in the last axes or in those named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.nodes import cast_node
from uopc_array._array.operators import matmul_nodes
from uopc_array._array.products import dot_at_once, product_at_once
from uopc_array._array.programs import of_known
from uopc_array._array.promotion import promote_dtypes
from uopc_array._functions.arguments import integer, node_of, normalize_axis, wrap
from uopc_array._functions.elementwise import numpys_ufunc
from uopc_array._functions.outputs import only, store
from uopc_array._functions.ufunc import entered, ufunc
from uopc_core import UOp, composite
from uopc_core.errors import AxisError, ShapeError, shortened
from uopc_core.numerics import elementwise
from uopc_core.numerics.axes import common_shape

__all__ = ["VectorUfunc", "dot_of_vectors"]

Rule = Callable[[str, UOp, UOp], UOp]
AtOnce = Callable[[type[Array], Any, Any], Array | None]
Axes = tuple[int, ...]

_NO_VALUE = getattr(np, "_NoValue", None)  # NumPy's mark of what is not given
_ARRAYS: Any = (Array, np.ndarray)
_CASTING, _ORDER = "same_kind", "K"


class VectorUfunc(ufunc):
    """A ufunc of two operands whose last axes, one or two, are taken together.

    Args:
        rule: the node of the result, from the name that was called and the nodes of the operands.
        at_once: see `Description`.
    """

    def __init__(self, name: str, numpy: np.ufunc, text: str, rule: Rule, at_once: AtOnce) -> None:
        super().__init__(name, numpy, text)
        self._rule = rule
        self._at_once = at_once
        self.signature = cast("str", numpy.signature)
        self._cores = _cores(self.signature)

    def __call__(
        self,
        x1: Any,
        x2: Any,
        /,
        out: Any = None,
        *,
        axes: Any = _NO_VALUE,
        axis: Any = _NO_VALUE,
        keepdims: bool = False,
        casting: Any = _CASTING,
        order: Any = _ORDER,
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
    ) -> Array:
        try:
            if out is None and casting is _CASTING and order is _ORDER and dtype is signature is None:
                name = self.__name__
                if axes is axis is _NO_VALUE and keepdims is False:
                    value = self._at_once(Array, x1, x2)
                    if value is None:
                        value = of_known(Array, self._rule, name, (True, True), (x1, x2), False)
                    if value is not None:
                        return value
                x = x1._uop if type(x1) is Array else node_of(name, x1)
                y = x2._uop if type(x2) is Array else node_of(name, x2)
                if axes is axis is _NO_VALUE and keepdims is False:
                    return wrap(self._rule(name, x, y))
                return wrap(self._placed(x, y, axes, axis, keepdims))
            given = {"axes": axes, "axis": axis, "keepdims": keepdims}
            how = {key: value for key, value in given.items() if value is not _NO_VALUE and value is not False}
            result = self._otherwise((x1, x2), None, True, casting, order, dtype, signature, how)
            return result if out is None else self._stored(result, only(self.__name__, out), casting, how)
        except Exception as error:
            raise shortened(error) from error.__cause__

    def _stored(self, result: Array, out: Any, casting: Any, how: Mapping[str, Any]) -> Any:
        """`result` in `out`, which may have more of the axes that are not taken together."""
        n = 1 if "keepdims" in how else min(len(self._cores[2]), result.ndim)  # of a product with a vector fewer
        if isinstance(out, _ARRAYS):
            given: tuple[int, ...] = out.shape
            if given[len(given) - n :] != result.shape[result.ndim - n :] or (how and len(given) != result.ndim):
                raise ShapeError(
                    f"{self.__name__}: the result of shape {result.shape} does not fit out of shape {given}"
                )
        return store(self.__name__, result, out, casting, broadcasts=True)

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """Refused, as by NumPy: it is for functions of each element."""
        try:
            return self._hosted("outer", A, B, **kwargs)
        except Exception as error:
            raise shortened(error, f"{self.__name__}.outer") from error.__cause__

    def _placed(self, x: UOp, y: UOp, axes: Any, axis: Any, keepdims: bool) -> UOp:
        """The result for vectors and matrices in other axes than the last, or with an axis of extent 1 kept."""
        name = self.__name__
        counts = self._core_counts(x, y, bool(keepdims))
        if axes is not _NO_VALUE and axis is not _NO_VALUE:
            raise TypeError(f"{name}: expected axes or axis, got both")
        if axes is not _NO_VALUE:
            named = _axes_of_all(name, axes, counts, bool(self._cores[2]))
        elif axis is not _NO_VALUE:
            named = self._axis_of_all(axis, counts)
        else:
            named = [tuple(range(-n, 0)) for n in counts]
        x, y = (
            composite.move_axes_last(node, _normalized(name, i, own, node.ndim))
            for i, (node, own) in enumerate(zip((x, y), named, strict=False))
        )
        out = self._rule(name, x, y)
        if keepdims:
            out = composite.unsqueeze(out, out.ndim)
        return _moved_from_last(out, _normalized(name, 2, named[2], out.ndim))

    def _core_counts(self, x: UOp, y: UOp, keepdims: bool) -> list[int]:
        """How many axes of each operand, and of the result, are taken together.

        Raises:
            ShapeError: an operand has fewer.
            TypeError: `keepdims`, where an axis of extent 1 in the result would not say which.
        """
        name, missing = self.__name__, set[str]()
        for i, (node, core) in enumerate(zip((x, y), self._cores, strict=False)):
            lacks = max(len(core) - node.ndim, 0)
            gone = [dim for dim in core if dim.endswith("?")][:lacks]
            if len(gone) < lacks:
                raise ShapeError(
                    f"{name}: expected {len(core) - len(gone)} axes or more of x{i + 1}, got shape {node.shape}"
                )
            missing.update(gone)
        counts = [len([dim for dim in core if dim not in missing]) for core in self._cores]
        if not keepdims:
            return counts
        if len(self._cores[0]) != len(self._cores[1]) or self._cores[2]:
            raise TypeError(
                f"{name}: keepdims is for functions of vectors that give numbers, got the signature {self.signature}"
            )
        return [*counts[:2], counts[0]]

    def _axis_of_all(self, axis: Any, counts: Sequence[int]) -> list[Axes]:
        dims = {dim for core in self._cores for dim in core}
        if len(dims) != 1:
            raise TypeError(
                f"{self.__name__}: axis is for functions that take one axis of each operand, got the signature "
                f"{self.signature}; use axes"
            )
        return [(axis,) * n for n in counts]


def _cores(signature: str) -> list[tuple[str, ...]]:
    """``(n?,k),(k,m?)->(n?,m?)``: the axes of each operand and of the result."""
    parts = signature.replace("->", ",")[1:-1].split("),(")
    return [tuple([dim for dim in part.split(",") if dim]) for part in parts]


def _axes_of_all(name: str, axes: Any, counts: Sequence[int], has_result: bool) -> list[Axes]:
    """The entry of `axes` for each operand and the result.

    Args:
        has_result: whether there must be one for the result.
    Raises:
        TypeError: no list of tuples.
        ValueError: too few or too many of them.
        AxisError: one of another length.
    """
    if not isinstance(axes, list):
        raise TypeError(f"{name}: expected a list for axes, an entry for each operand, got {axes!r:.60}")
    items = [*cast("list[Any]", axes)]
    if len(items) == 2 and not has_result:
        items.append(tuple(range(-counts[2], 0)))
    if len(items) != 3:
        raise ValueError(f"{name}: expected an entry of axes for each operand and the result, got {len(items)}")
    out: list[Axes] = []
    for i, (item, n) in enumerate(zip(items, counts, strict=True)):
        given = cast("tuple[Any, ...]", item) if isinstance(item, tuple) else (item,)
        entry = tuple([axis if isinstance(axis, bool) else integer(name, "axes", axis) for axis in given])
        if len(entry) != n:
            raise AxisError(f"{name}: expected {n} for entry {i} of axes, got {item}")
        out.append(entry)
    return out


def _normalized(name: str, i: int, axes: Axes, ndim: int) -> Axes:
    out = tuple([normalize_axis(name, axis, ndim) for axis in axes])
    if len(set(out)) != len(out):
        raise ValueError(f"{name}: entry {i} of axes names an axis twice, {axes} of {ndim} axes")
    return out


def _moved_from_last(node: UOp, positions: Axes) -> UOp:
    """The last axes of `node` moved to `positions`, the others before them in their order."""
    n, k = node.ndim, len(positions)
    at = dict(zip(positions, range(n - k, n), strict=True))
    others = iter(range(n - k))
    return node.permute([at[axis] if axis in at else next(others) for axis in range(n)])


# ---------------------------------------------------------------------------------------------- rules


def dot_of_vectors(name: str, x: UOp, y: UOp, axis: int = -1) -> UOp:
    """The sum of the products along an axis of each, the first operand conjugated."""
    if x.dtype is not y.dtype:
        dtype = promote_dtypes(x.dtype, y.dtype)
        x, y = cast_node(x, dtype, name), cast_node(y, dtype, name)
    if x.ndim == 0 or y.ndim == 0:
        raise ShapeError(f"{name}: expected one axis or more, got x1 {x.shape} and x2 {y.shape}")
    first, second = (normalize_axis(name, axis, node.ndim) for node in (x, y))
    if x.shape[first] != y.shape[second]:
        raise ShapeError(
            f"{name}: the vectors must have one length, got x1 {x.shape} and x2 {y.shape} at axis {axis} "
            f"({x.shape[first]} != {y.shape[second]})"
        )
    x, y = composite.move_axes_last(composite.conj(x), [first]), composite.move_axes_last(y, [second])
    shape = common_shape(name, x.shape, y.shape)
    return elementwise.sum_of_products((composite.broadcast_to(x, shape), composite.broadcast_to(y, shape)), 1)


def _matrix_and_vector(name: str, x: UOp, y: UOp) -> UOp:
    if x.ndim < 2 or y.ndim < 1:
        raise ShapeError(f"{name}: expected (..., M, N) and (..., N), got x1 {x.shape} and x2 {y.shape}")
    out = matmul_nodes(name, x, composite.unsqueeze(y, y.ndim))
    return out.reshape(out.shape[:-1])


def _vector_and_matrix(name: str, x: UOp, y: UOp) -> UOp:
    if x.ndim < 1 or y.ndim < 2:
        raise ShapeError(f"{name}: expected (..., M) and (..., M, N), got x1 {x.shape} and x2 {y.shape}")
    out = matmul_nodes(name, composite.unsqueeze(composite.conj(x), x.ndim - 1), y)
    return out.reshape((*out.shape[:-2], out.shape[-1]))


def _has_axes(x: Any, n: int) -> bool:
    return isinstance(x, _ARRAYS) and x.ndim == n


def _matvec_at_once(cls: type[Array], x: Any, y: Any) -> Array | None:
    return product_at_once(cls, x, y) if _has_axes(x, 2) and _has_axes(y, 1) else None


def _vecmat_at_once(cls: type[Array], x: Any, y: Any) -> Array | None:
    is_real = _has_axes(x, 1) and x.dtype.kind == "f"
    return product_at_once(cls, x, y) if is_real and _has_axes(y, 2) else None


_TEXT = """{summary}

    Args:
        x1: any dtype; shape {x1}.
        x2: any dtype; shape {x2}.
        out: takes the result.
        axes: a list with the axes of each operand and of the result, in tuples; without it the last ones.
        axis: the one axis of each operand, for functions that take one.
        keepdims: keep that axis with extent 1.
        casting: the rule by which ``dtype`` and ``out`` may convert: "same_kind" or another of NumPy's.
        order, subok: as of NumPy's ufuncs, without effect.
        dtype: dtype in which to compute.
        signature: one of NumPy's loops, which then computes on the values.
    Returns:
        the promoted dtype; shape {returns}, with the leading axes broadcast.
    Raises:
        ShapeError: too few axes, extents that differ, or leading axes that cannot be broadcast.
        AxisError: an axis is out of range.
        TypeError: ``axis`` or ``keepdims`` where it has no meaning.
    Example:
        >>> import uopc_array as xp
        >>> xp.{name}({call})
        {result}
    """


def _described(
    name: str, rule: Rule, at_once: AtOnce, summary: str, x1: str, x2: str, returns: str, call: str, result: str
) -> None:
    text = _TEXT.format(summary=summary, x1=x1, x2=x2, returns=returns, name=name, call=call, result=result)
    entered(VectorUfunc(name, numpys_ufunc(name), text, rule, at_once))


_described(
    "matmul",
    matmul_nodes,
    product_at_once,
    "Matrix product.",
    "(..., M, K) or (K,), which counts as one row that the result leaves out",
    "(..., K, N) or (K,), which counts as one column that the result leaves out",
    "(..., M, N)",
    "xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 1])",
    "Array([3, 7], dtype=int64)",
)
_described(
    "matvec",
    _matrix_and_vector,
    _matvec_at_once,
    "Products of matrices and vectors.",
    "(..., M, N)",
    "(..., N)",
    "(..., M)",
    "xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 10])",
    "Array([21, 43], dtype=int64)",
)
_described(
    "vecdot",
    dot_of_vectors,
    dot_at_once,
    "Dot products of vectors, the first ones conjugated.",
    "(..., N)",
    "(..., N)",
    "(...)",
    "xp.asarray([1.0j, 2.0]), xp.asarray([1.0j, 1.0])",
    "Array(3.+0.j, dtype=complex128)",
)
_described(
    "vecmat",
    _vector_and_matrix,
    _vecmat_at_once,
    "Products of vectors, conjugated, and matrices.",
    "(..., M)",
    "(..., M, N)",
    "(..., N)",
    "xp.asarray([1, 10]), xp.asarray([[1, 2], [3, 4]])",
    "Array([31, 42], dtype=int64)",
)
