"""Functions of host libraries as nodes of the graph, with their rules beside them. Importing this registers them all."""

from uopc_core.extern import fft, linalg, product, sorting

__all__ = ["fft", "linalg", "product", "sorting"]
