"""The methods that NumPy's `ndarray` has beyond the standard: each calls the function of its name with the array."""

from __future__ import annotations

from typing import Any, Self

from uopc_array._array.assignment import assign
from uopc_array._array.at_once import assigned_at_once
from uopc_array._array.handle import Handle
from uopc_array._array.lenses import BitsLens, MoveLens, PartLens
from uopc_array._array.tracing import refuse_exit
from uopc_array._array.view import View
from uopc_core import Ops, as_dtype, composite, is_bool, is_complex, name_of
from uopc_core.errors import DTypeError, ShapeError, shortened

__all__ = ["Methods"]

Axis = int | tuple[int, ...] | None
_REAL, _IMAG = PartLens(Ops.REAL), PartLens(Ops.IMAG)


class Methods(Handle):
    """The `ndarray` methods of `Array`."""

    __slots__ = ()

    # --- parts ---

    @property
    def real(self) -> Self:
        """The real parts, a view."""
        return self._seen(self._frame(), _REAL)

    @real.setter
    def real(self, value: Any) -> None:
        _assign_all(self.real, value, "assignment")

    @property
    def imag(self) -> Self:
        """The imaginary parts: of complex arrays a view, else zeros."""
        node = self._frame()
        if not is_complex(node.dtype):
            return self._same_kind(composite.imag(node))
        return self._seen(node, _IMAG)

    @imag.setter
    def imag(self, value: Any) -> None:
        if not is_complex(self._uop.dtype):
            raise DTypeError(f"imag: an array of {name_of(self._uop.dtype)} has no imaginary part to assign to")
        _assign_all(self.imag, value, "assignment")

    def conj(self) -> Self:
        """The complex conjugates; see `xp.conj`."""
        node = composite.conj(self._uop)
        return self._from_uop(node) if is_complex(node.dtype) else self._same_kind(node)

    def conjugate(self) -> Self:
        """The complex conjugates; see `xp.conj`."""
        return self.conj()

    # --- rows ---

    @property
    def flat(self) -> Self:
        """The elements in one row, in the order of their indices; what is written there is written here."""
        row = MoveLens(Ops.RESHAPE, (self._node.size,))
        keeps_memory = not isinstance(self._alias, View) or self._keeps_memory(row)
        return self._seen(self._frame(), row) if keeps_memory else self._in_a_row()

    @flat.setter
    def flat(self, value: Any) -> None:
        _assign_all(self.flat, value, "assignment")

    # --- assignment ---

    def fill(self, value: Any) -> None:
        """Assign `value` to every element."""
        _assign_all(self, value, "fill")

    def tobytes(self, order: str = "C") -> bytes:
        """The elements as bytes, in rows or, with order "F", in columns."""
        refuse_exit("tobytes", self._uop, "use the functions of uopc_array on the array itself")
        return self._memory("tobytes").array.tobytes("F" if order == "F" else "C")

    def view(self, dtype: Any = None) -> Self:
        """A view of the elements, or of their bits as another dtype of the same size; bool and what is seen as bool is
        converted instead, into an array of its own.

        Raises:
            ShapeError: a dtype of another size.
        """
        node = self._frame()
        wanted = node.dtype if dtype is None else as_dtype(dtype, "view")
        if wanted.itemsize != node.dtype.itemsize:
            raise ShapeError(f"view: expected a dtype of the size of {name_of(node.dtype)}, got {name_of(wanted)}")
        if wanted is not node.dtype and (is_bool(node.dtype) or is_bool(wanted)):
            return self._same_kind(self._uop.cast(wanted))
        return self._seen(node, BitsLens(wanted))


def _assign_all(x: Handle, value: Any, name: str) -> None:
    """Assign `value` to every element of `x`, with errors that begin with `name`."""
    if x._value is not None and assigned_at_once(x, ..., value):
        return
    try:
        assign(x, ..., value)
    except Exception as error:
        raise shortened(error, name) from error.__cause__
