"""What a handle knows that shares the elements of another: the steps from there, and which change it has seen."""

from __future__ import annotations

from typing import Any

from uopc_array._array.lenses import Lens, MoveLens, shortened_chain
from uopc_core import Ops, UOp
from uopc_core.frontend.cells import Root

__all__ = ["View"]

Base = Any  # a handle, no view itself


class View:
    """What a view knows.

    Attributes:
        base: the handle whose elements these are, no view itself.
        shape: of the base when the view was made, from which the steps lead; the base may have another by now.
        lenses: the steps from there.
        root: the count of changes of `base`.
        version: the count that the node of the view belongs to, read before that; None where the node is not to be
            used. A view that follows its base gets another alias, so that node and count change together.
        is_writable: whether the base may be changed through it.
        memory: the known value of the base that the known value of the view is a part of (see `at_once`), else None.
    """

    __slots__ = ("base", "is_writable", "lenses", "memory", "root", "shape", "version")
    is_claim = False
    is_view = True

    def __init__(
        self,
        base: Base,
        shape: tuple[int, ...],
        lenses: tuple[Lens, ...],
        root: Root,
        version: int | None,
        is_writable: bool,
    ) -> None:
        self.base = base
        self.shape = shape
        self.lenses = lenses
        self.root = root
        self.version = version
        self.is_writable = is_writable
        self.memory: Any = None

    def at(self, version: int | None) -> View:
        """The same view, of which the node belongs to another count of changes."""
        return View(self.base, self.shape, self.lenses, self.root, version, self.is_writable)

    def over(self, base: Base, root: Root) -> View:
        """The same view of the present value of another handle."""
        return View(base, self.shape, self.lenses, root, root.version, self.is_writable)

    def root_alone(self) -> Root:
        """The alias of an array that stands for the view where nobody knows of its base."""
        root = Root()
        root.is_writable = self.is_writable
        return root

    def is_stale(self) -> bool:
        return self.version != self.root.version

    @property
    def is_shared(self) -> bool:
        """Whether several threads write to the memory of the base."""
        return self.root.is_shared

    def is_scattered(self) -> bool:
        """Whether no strides describe the view, so that only the graph can write through it."""
        return not all([lens.has_strides for lens in self.lenses])

    def steps(self) -> tuple[Lens, ...]:
        """The steps from the base as it is now."""
        if self.base._node.shape == self.shape:
            return self.lenses
        return (MoveLens(Ops.RESHAPE, self.shape), *self.lenses)

    def on_node(self, base: UOp) -> UOp:
        """The view of this node of the base."""
        if base.shape != self.shape:
            base = base.reshape(self.shape)
        for lens in self.lenses:
            base = lens.on_node(base)
        return base

    def shorten(self, n_most: int) -> None:
        """Make few steps of the steps from the base, so that neither they nor the nodes of views of views pile up."""
        self.lenses = shortened_chain(self.lenses, self.shape, self.base._node.dtype, n_most)
