"""Small programs written for NumPy give what they give there with only the import changed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.programs import PROGRAMS


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            assert_same(x, y)
        return
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, xp.Array)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    if isinstance(theirs, str):
        assert ours == theirs
        return
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("at_once", [None, 0], ids=["as set", "as graphs"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_runs_with_the_import_changed(program: Callable[[Any], Any], at_once: int | None) -> None:
    with xp.context(**({} if at_once is None else {"at_once": at_once})):
        assert_same(program(xp), program(np))
