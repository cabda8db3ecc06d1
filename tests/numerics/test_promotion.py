"""The two settings of promotion against what NumPy does, and against what PyTorch documents."""

import itertools
from typing import Any

import numpy as np
import pytest

from uopc_array._array.promotion import NUMPY
from uopc_core import DTYPES, DType, dtypes
from uopc_core.tensor_dtypes import PYTORCH

SCALARS: dict[str, Any] = {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j}


@pytest.mark.parametrize(("x", "y"), [*itertools.product(DTYPES, DTYPES)], ids=str)
def test_arrays_of_numpys_rules_are_numpys(x: DType, y: DType) -> None:
    assert NUMPY.together[x, y] == np.result_type(x, y)


@pytest.mark.parametrize(("kind", "x"), [*itertools.product(SCALARS, DTYPES)], ids=str)
def test_scalars_of_numpys_rules_are_numpys(kind: str, x: DType) -> None:
    assert NUMPY.beside[kind][x] == np.result_type(x, SCALARS[kind])


@pytest.mark.parametrize(("x", "y"), [*itertools.product(DTYPES, DTYPES)], ids=str)
def test_the_higher_category_wins_in_pytorchs_rules(x: DType, y: DType) -> None:
    categories = ["b", "iu", "f", "c"]
    rank = [next(i for i, kinds in enumerate(categories) if dtype.kind in kinds) for dtype in (x, y)]
    found = PYTORCH.together.get((x, y))
    if found is None:
        assert {x, y} <= {dtypes.uint64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64}
        return
    assert found is PYTORCH.together[y, x]
    assert found.kind in categories[max(rank)]
    if rank[0] != rank[1] and min(rank) < 2:
        assert found is (x, y)[rank.index(max(rank))]  # integers and bool widen nothing


@pytest.mark.parametrize(("kind", "x"), [*itertools.product(SCALARS, DTYPES)], ids=str)
def test_a_scalar_of_pytorchs_rules_lifts_to_32_bits(kind: str, x: DType) -> None:
    found = PYTORCH.beside[kind][x]
    lifted = {"i": dtypes.int32, "u": dtypes.int32, "f": dtypes.float32}
    if found is not x:
        assert found is (
            (dtypes.complex128 if x is dtypes.float64 else dtypes.complex64) if kind == "c" else lifted[kind]
        )
