"""All subjects together; and the methods of arrays that are functions, given to the class here.

The functions stand above the class, and need it.
"""

from __future__ import annotations

from uopc_array._array.described_methods import DescribedMethods
from uopc_array._functions import (
    binary,
    cumulative,
    differences,
    moments,
    nan_reductions,
    numbers,
    quantiles,
    reductions,
    searching,
    unary,
)
from uopc_array._functions.public import METHODS, functions_in

__all__ = ["SUBJECTS", "functions_in"]

# all that describe functions
SUBJECTS = (
    binary,
    cumulative,
    differences,
    moments,
    nan_reductions,
    numbers,
    quantiles,
    reductions,
    searching,
    unary,
)

for _name, _method in METHODS.items():
    setattr(DescribedMethods, _name, _method)
