"""All subjects together; and the methods of arrays that are functions, given to the class here.

The functions stand above the class, and need it.
"""

from __future__ import annotations

from uopc_array._array.described_methods import DescribedMethods
from uopc_array._functions import (
    axes,
    binary,
    creation,
    cumulative,
    data_types,
    decompositions,
    diagonals,
    differences,
    einsum,
    equality,
    fourier,
    frequencies,
    indexing,
    inspection,
    joining,
    matrices,
    memory,
    moments,
    nan_reductions,
    norms,
    numbers,
    padding,
    products,
    quantiles,
    ranges,
    reductions,
    repetition,
    searching,
    sets,
    shapes,
    solving,
    sorting,
    special,
    splitting,
    unary,
    vector_ufunc,
    writing,
)
from uopc_array._functions.public import METHODS, functions_in

__all__ = ["SUBJECTS", "functions_in"]

# all that describe functions
SUBJECTS = (
    axes,
    binary,
    creation,
    cumulative,
    data_types,
    decompositions,
    diagonals,
    differences,
    einsum,
    equality,
    fourier,
    frequencies,
    indexing,
    inspection,
    joining,
    matrices,
    memory,
    moments,
    nan_reductions,
    norms,
    numbers,
    padding,
    products,
    quantiles,
    ranges,
    reductions,
    repetition,
    searching,
    sets,
    shapes,
    solving,
    sorting,
    special,
    splitting,
    unary,
    vector_ufunc,
    writing,
)

for _name, _method in METHODS.items():
    setattr(DescribedMethods, _name, _method)
