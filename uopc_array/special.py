"""Functions that NumPy lacks, under the names of `scipy.special`; `special.pyi`, made of descriptions, lists them."""

from uopc_array._functions.methods import functions_in as _functions_in

globals().update(_functions_in("special"))
__all__ = list(_functions_in("special"))  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    return sorted(__all__)
