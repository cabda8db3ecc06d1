"""The methods of arrays that are functions with a description; the stub, made by `_functions/stubs.py`, lists them."""

from uopc_array._array.handle import Handle

__all__ = ["DescribedMethods"]


class DescribedMethods(Handle):
    """What `_functions/methods.py` puts here."""

    __slots__ = ()
