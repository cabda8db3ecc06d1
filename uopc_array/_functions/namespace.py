"""The described functions of the main namespace; `namespace.pyi`, made by `stubs`, is what tools see of it."""

from uopc_array._functions.methods import functions_in

globals().update(functions_in(""))
__all__ = list(functions_in(""))  # pyright: ignore[reportUnsupportedDunderAll]
