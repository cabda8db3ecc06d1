"""The tables of docs/accuracy.md are complete, and what they promise holds of a part of the operands."""

import pytest

from benchmarks.accuracy import DTYPES, EXECUTORS, FUNCTIONS, bounds_on_page, measure
from benchmarks.slopes import BINARY, UNARY
from uopc_core.ir.op import COMPLEX_FUNCTIONS, MATH_FUNCTIONS, Ops
from uopc_core.runtime.toolchain import find_toolchain

POINTS = 60
OTHER_LIBRARY = 1.0  # units by which another C library may be worse than the one that was measured
NOT_PUBLIC = {Ops.ERF, Ops.ERFC}


def test_the_page_has_every_function() -> None:
    for kind in DTYPES:
        assert list(bounds_on_page(kind)) == [name for name, f in FUNCTIONS.items() if getattr(f, kind)]
    assert list(bounds_on_page("slopes")) == [*UNARY, *BINARY]
    operations = {op.name.lower() for op in (MATH_FUNCTIONS | COMPLEX_FUNCTIONS) - NOT_PUBLIC}
    assert operations <= {*FUNCTIONS, "recip"}


def test_what_the_page_says_in_words() -> None:
    """Values within 4 units, derivatives within 1e-12."""
    assert all(bound <= 4 for kind in DTYPES for row in bounds_on_page(kind).values() for bound in row)
    assert all(error < 1e-12 for row in bounds_on_page("slopes").values() for error in row)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_within_the_bounds_of_the_page(name: str) -> None:
    executors = [e for e in EXECUTORS if e != "compiled" or find_toolchain() is not None]
    for kind, dtypes in DTYPES.items():
        if not getattr(FUNCTIONS[name], kind):
            continue
        bounds = bounds_on_page(kind)[name]
        for k, dtype in enumerate(dtypes):
            for executor, (error, _) in measure(name, dtype, executors, POINTS).items():
                bound = bounds[len(EXECUTORS) * k + list(EXECUTORS).index(executor)]
                assert error <= bound + OTHER_LIBRARY, (dtype, executor)
