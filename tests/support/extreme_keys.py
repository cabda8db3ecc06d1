"""Keys at the limits: slices of any bounds and steps, integers and index arrays near and past both ends, masks.

Each key is drawn as a recipe, from which `build` makes what NumPy or ours takes, so that both see the same.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st

__all__ = ["KEYS", "build"]

BOUNDS = (None, 0, 1, -1, 2, 5, -7, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 2**64, -(10**30))
STEPS = (None, 1, -1, 2, -3, 2**31, 2**63 - 1, -(2**63) + 1)
PLACES = (0, 1, -1, 2, -3, 3, -4, 2**31, 2**63 - 1, -(2**63))
INDEX_DTYPES = ("int8", "int64", "uint64", "uint8")

_slices = st.tuples(st.just("slice"), st.sampled_from(BOUNDS), st.sampled_from(BOUNDS), st.sampled_from(STEPS))
_integers = st.tuples(st.just("integer"), st.sampled_from((*PLACES, 2**64, -(2**70))))
_arrays = st.tuples(
    st.just("array"),
    st.sampled_from(INDEX_DTYPES),
    st.sampled_from(((), (0,), (2,), (2, 1), (1, 0))),
    st.lists(st.sampled_from(PLACES), min_size=2, max_size=2),
)
_masks = st.tuples(st.just("mask"), st.sampled_from(((), (3,), (4,), (3, 4), (0,), (3, 0))), st.integers(0, 99))
_others = st.sampled_from([("none",), ("ellipsis",)])
_inside = st.tuples(st.just("array"), st.just("int64"), st.just((2,)), st.lists(st.sampled_from((0, -1, 2)), min_size=2,
                                                                             max_size=2))  # fmt: skip
KEYS = st.lists(st.one_of(_slices, _slices, _integers, _arrays, _inside, _masks, _others), min_size=0, max_size=4)


def build(ns: Any, recipe: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The key for the namespace `ns`; an array where the other one has an array."""
    return tuple([_item(ns, *part) for part in recipe])


def _item(ns: Any, kind: str, *rest: Any) -> Any:
    if kind == "slice":
        return slice(*rest)
    if kind == "integer":
        return rest[0]
    if kind == "array":
        dtype, shape, places = rest
        limits = np.iinfo(dtype)
        held = [min(max(place, limits.min), limits.max) for place in places[: int(np.prod(shape))]]
        return ns.asarray(np.asarray(held, dtype).reshape(shape))
    if kind == "mask":
        shape, seed = rest
        return ns.asarray(np.random.default_rng(seed).integers(0, 2, shape).astype(bool))
    return None if kind == "none" else Ellipsis
