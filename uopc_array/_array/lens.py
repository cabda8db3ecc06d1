"""What a step from a base to a view is; `lenses` has the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from uopc_core import UOp

__all__ = ["Lens"]


class Lens:
    """One step from a base to a view.

    Attributes:
        is_writable: whether NumPy lets the base be changed through it.
        has_strides: whether strides describe what it gives of an array with strides.
    """

    __slots__ = ()
    is_writable: bool = True
    has_strides: bool = True

    @property
    def may_copy(self) -> bool:
        """Whether it depends on the strides if there is a view, so that NumPy gives a copy of some arrays."""
        return False

    def on_node(self, x: UOp) -> UOp:
        """The view of this node."""
        raise NotImplementedError

    def on_array(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The view of this array, sharing its memory."""
        raise NotImplementedError
