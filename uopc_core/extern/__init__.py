"""Functions of host libraries as nodes of the graph, with their rules beside them; importing this registers them."""

from uopc_core.extern import fft, linalg, product, sorting

__all__ = ["fft", "linalg", "product", "sorting"]
