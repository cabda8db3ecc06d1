"""The methods that NumPy's `ndarray` has beyond the standard: each calls the function of its name with the array."""

from __future__ import annotations

from typing import Any, Self

from uopc_array._array.handle import Handle, View
from uopc_array._array.lenses import PartLens
from uopc_array._array.namespace import call, call_as
from uopc_array._array.nodes import as_node
from uopc_array._array.numbers import integer, integers, known
from uopc_array._array.tracing import refuse_exit
from uopc_core import Ops, as_dtype, is_bool, is_complex
from uopc_core.errors import AxisError, DTypeError, ShapeError, shortened
from uopc_core.numerics import elementwise

__all__ = ["Methods"]

Axis = int | tuple[int, ...] | None


def _one_or_many(args: tuple[Any, ...]) -> Any:
    """``x.f(2, 3)`` and ``x.f((2, 3))`` mean the same."""
    return args[0] if len(args) == 1 else args


class Methods(Handle):
    """The `ndarray` methods of `Array`."""

    __slots__ = ()

    # --- dtype and parts ---

    def astype(self, dtype: Any, *, copy: bool = True, device: Any = None) -> Self:
        """This array converted to `dtype`; see `xp.astype`."""
        return call("astype", self, dtype, copy=copy, device=device)

    @property
    def real(self) -> Self:
        """The real parts, a view."""
        node = self._frame()
        return self._view(node, elementwise.real(node), PartLens(Ops.REAL))

    @real.setter
    def real(self, value: Any) -> None:
        self._named("real")[...] = value

    @property
    def imag(self) -> Self:
        """The imaginary parts: of complex arrays a view, else zeros."""
        node = self._frame()
        if not is_complex(node.dtype):
            return self._same_kind(elementwise.imag(node))
        return self._view(node, elementwise.imag(node), PartLens(Ops.IMAG))

    @imag.setter
    def imag(self, value: Any) -> None:
        if not is_complex(self._uop.dtype):
            raise DTypeError(f"imag: an array of {self._uop.dtype.name} has no imaginary part to assign to")
        self._named("imag")[...] = value

    def _named(self, name: str) -> Any:
        return getattr(self, name)

    def conj(self) -> Self:
        """The complex conjugates; see `xp.conj`."""
        node = elementwise.conj(self._uop)
        return self._from_uop(node) if is_complex(node.dtype) else self._same_kind(node)

    def conjugate(self) -> Self:
        """The complex conjugates; see `xp.conj`."""
        return self.conj()

    # --- shape ---

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """The same elements in another shape; one extent may be -1.

        They are read and put in rows, or with order "F" in columns; "A" is "F" where NumPy's array would lie so.
        """
        if not isinstance(order, str) or order not in ("C", "F", "A"):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f'reshape: expected order "C", "F" or "A", got {order!r}')
        if order == "F" or (order == "A" and self._read_order("A") != self._read_order("C")):
            return self.transpose().reshape(*_reversed(_one_or_many(shape)), copy=copy).transpose()
        return call("reshape", self, _one_or_many(shape), copy=copy)

    def _read_order(self, order: str) -> tuple[int, ...]:
        """The axes from the slowest to the fastest when the elements are read in one row."""
        axes = tuple(range(self._uop.ndim))
        if order == "F":
            return axes[::-1]
        if order == "C" or not isinstance(self._alias, View):
            return axes
        layout = self._layout()
        if layout.flags.c_contiguous or layout.flags.f_contiguous:
            return axes if layout.flags.c_contiguous else axes[::-1]
        return axes if order == "A" else tuple(sorted(axes, key=lambda i: -abs(layout.strides[i])))

    def transpose(self, *axes: Any) -> Self:
        """The axes in another order, reversed if none is given."""
        given: Any = _one_or_many(axes) if axes else None
        order = range(self._uop.ndim)[::-1] if given is None else known("transpose", "axes", given)
        return call_as("transpose", "permute_dims", self, order)

    def swapaxes(self, axis1: int, axis2: int, /) -> Self:
        """Two axes exchanged."""
        return call("swapaxes", self, axis1, axis2)

    def ravel(self, order: str = "C") -> Self:
        """The elements in one row: a view where they lie in that order, else an array of its own."""
        lined_up = self._lined_up("ravel", order)
        return lined_up.reshape(-1) if lined_up._layout().flags.c_contiguous else lined_up.flatten()

    def flatten(self, order: str = "C") -> Self:
        """The elements in one row, in an array of its own."""
        return self._array_from_uop(self._lined_up("flatten", order).reshape(-1)._uop)  # no view

    def _lined_up(self, name: str, order: str) -> Self:
        """This array with its axes in the order in which the elements are read."""
        if not isinstance(order, str) or order not in ("C", "F", "A", "K"):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f'{name}: expected order "C", "F", "A" or "K", got {order!r}')
        axes = self._read_order(order)
        return self if axes == tuple(range(len(axes))) else self.transpose(axes)

    @property
    def flat(self) -> Self:
        """The elements in one row, in the order of their indices; what is written there is written here."""
        row = self.reshape(-1)
        return self._in_a_row() if isinstance(self._alias, View) and row._alias is None else row

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[...] = value  # pyright: ignore[reportIndexIssue]  # item assignment is added below

    def squeeze(self, axis: Axis = None) -> Self:
        """Without the axes of extent 1, or those of `axis`."""
        if axis is None:
            axis = tuple([i for i, n in enumerate(self._uop.shape) if n == 1])
        return call("squeeze", self, axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The elements on a diagonal of two axes, as the last axis."""
        return call("diagonal", self, offset, axis1, axis2)

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """Elements repeated, of the flattened array if `axis` is None; see `xp.repeat`."""
        return call("repeat", self if axis is not None else self.reshape(-1), repeats, axis=0 if axis is None else axis)

    # --- sums ---

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Sum of a diagonal."""
        return call("trace", self, offset, axis1, axis2)

    # --- searching, sorting ---

    def take(self, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Self:
        """Elements by index along an axis; one out of bounds raises, or with a mode is wrapped or clipped into them."""
        source, along = (self.reshape(-1), 0) if axis is None else (self, integer("take", "axis", axis))
        if not -source._uop.ndim <= along < source._uop.ndim:
            raise AxisError(f"take: axis {along} is out of bounds for an array of {source._uop.ndim} axes")
        places = self._places("take", call_as("take", "asarray", indices), source._uop.shape[along], mode)
        return call("take", source, places, axis=along)

    def dot(self, other: Any) -> Self:
        """NumPy's dot: the last axis with the last but one (or the only one) of `other`; a product where one is 0-d."""
        return call("dot", self, other)

    def argsort(self, axis: int | None = -1, kind: str | None = None, *, stable: bool = True) -> Self:
        """The order that sorts an axis, or the flattened array if it is None, a stable one; see `xp.argsort`."""
        row = self.reshape(-1) if axis is None or not self._uop.shape else self
        return call("argsort", row, axis=-1 if axis is None else axis, stable=stable)

    # --- assignment ---

    def sort(self, axis: int = -1, kind: str | None = None, *, stable: bool = True) -> None:
        """Sort this array in place."""
        try:
            self._update(lambda node: as_node(call("sort", self._from_uop(node), axis=axis, stable=stable)))
        except Exception as error:
            raise shortened(error, "sort") from None

    def fill(self, value: Any) -> None:
        """Assign `value` to every element."""
        try:
            self[...] = value  # pyright: ignore[reportIndexIssue]  # item assignment is added below
        except Exception as error:
            raise shortened(error, "fill") from None

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Assign to elements by their index in the flattened array; values that are too few are repeated."""
        try:
            self._put(indices, call("asarray", values).reshape(-1), mode)
        except Exception as error:
            raise shortened(error, "put") from None

    def _put(self, indices: Any, given: Any, mode: str) -> None:
        places = self._places("put", call("asarray", indices).reshape(-1), self._node.size, mode)
        if given.size and places.size != given.size:
            given = call("take", given, call("remainder", call("arange", places.size), given.size))
        if given.size:
            self._refuse_number("put")
            self.flat[places] = given  # pyright: ignore[reportIndexIssue]

    def _places(self, name: str, indices: Any, n: int, mode: str) -> Any:
        """Indices into `n` places; those out of bounds as `mode` says."""
        if not isinstance(mode, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f'{name}: expected a mode of "raise", "wrap" or "clip", got {mode!r:.60}')
        if mode == "wrap":
            return call("remainder", indices, n)
        if mode == "clip":
            return call("clip", indices, 0, n - 1)
        if mode != "raise":
            raise ValueError(f'{name}: expected a mode of "raise", "wrap" or "clip", got {mode!r}')
        return indices

    def tobytes(self, order: str = "C") -> bytes:
        """The elements as bytes, in rows or, with order "F", in columns."""
        refuse_exit("tobytes", self._uop, "use the functions of uopc_array on the array itself")
        return self._memory("tobytes").array.tobytes("F" if order == "F" else "C")

    def view(self, dtype: Any = None) -> Self:
        """The same bits as another dtype of the same size."""
        if dtype is None:
            return self._same_kind(self._uop)
        wanted = as_dtype(dtype, "view")
        node = self._uop
        if wanted.itemsize != node.dtype.itemsize:
            raise ShapeError(f"view: expected a dtype of the size of {node.dtype.name}, got {wanted.name}")
        return self._same_kind(node.cast(wanted) if is_bool(node.dtype) or is_bool(wanted) else node.bitcast(wanted))


def _reversed(shape: Any) -> tuple[int, ...]:
    return integers("reshape", "shape", shape)[::-1]
