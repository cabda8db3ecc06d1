"""Functions that give sequences give them however often they are called, of one array too: the first calls of known
values go the longer way, the next run a program, those after them what the program has become.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array.at_once import LARGEST
from uopc_core import context

TIMES = 5

SEQUENCES: dict[str, Callable[[Any, Any], Any]] = {
    "meshgrid of one": lambda ns, x: ns.meshgrid(x),
    "meshgrid of a number": lambda ns, x: ns.meshgrid(x[0]),
    "meshgrid of two, not dense": lambda ns, x: ns.meshgrid(x, x, sparse=True, indexing="ij"),
    "broadcast_arrays of one": lambda ns, x: ns.broadcast_arrays(x),
    "broadcast_arrays of two": lambda ns, x: ns.broadcast_arrays(x, x[:1]),
    "split into one": lambda ns, x: ns.split(x, 1),
    "split into two": lambda ns, x: ns.split(x, 2),
    "array_split into three": lambda ns, x: ns.array_split(x, 3),
    "unstack of one": lambda ns, x: ns.unstack(x[None]),
    "unstack of four": lambda ns, x: ns.unstack(x),
    "hsplit into one": lambda ns, x: ns.hsplit(x, 1),
    "nonzero of one axis": lambda ns, x: ns.nonzero(x),
    "atleast_1d of one": lambda ns, x: ns.atleast_1d(x),
    "atleast_1d of two": lambda ns, x: ns.atleast_1d(x, x[0]),
    "gradient along one axis": lambda ns, x: ns.gradient(x),
    "gradient along two": lambda ns, x: ns.gradient(x.reshape(2, 2)),
    "modf": lambda ns, x: ns.modf(x),
    "divmod": lambda ns, x: ns.divmod(x, 2.0),
    "slogdet": lambda ns, x: ns.linalg.slogdet(x.reshape(2, 2)),
    "ix_ of one": lambda ns, x: ns.ix_(x > 0),
}


def form_of(x: Any) -> Any:
    """Sequences with what is in them: shape, dtype and elements."""
    if isinstance(x, (tuple, list)):
        return [form_of(item) for item in x]
    return np.asarray(x).shape, np.asarray(x).dtype, np.asarray(x).tolist()


@pytest.mark.parametrize("at_once", [0, LARGEST])
@pytest.mark.parametrize("f", SEQUENCES.values(), ids=SEQUENCES)
def test_each_call_gives_the_sequence_that_numpy_gives(f: Callable[[Any, Any], Any], at_once: int) -> None:
    values = np.array([1.0, 0.0, 3.5, -2.0])
    wanted = f(np, values)
    with context(at_once=at_once):
        for _ in range(TIMES):
            result = f(xp, xp.asarray(values))
            assert isinstance(result, (tuple, list)) is isinstance(wanted, (tuple, list))
            assert form_of(result) == form_of(wanted)
