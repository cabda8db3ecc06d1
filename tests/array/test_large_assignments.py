"""Assignments of what is still to be computed to boxes of large arrays: the short way does what the long one does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_array._array import items

N = 260  # rows and columns: half of them are many enough to be written in the graph
KEYS: dict[str, Any] = {
    "inner rows": slice(1, -1),
    "all": slice(None),
    "inner": (slice(1, -1), slice(1, -1)),
    "columns": (slice(None), slice(10, None)),
    "more than there are": (slice(0, 2 * N), slice(-2 * N, None, 1)),
    "half": slice(0, N // 2),
    "less than half": slice(0, N // 2 - 1),
    "an ellipsis": (..., slice(1, None)),
    "steps": (slice(None), slice(None, None, 2)),
    "backwards": slice(None, None, -1),
    "little": (slice(0, 2), slice(0, 2)),
    "a list": [*range(N - 1)],
}


def computed(x: xp.Array) -> xp.Array:
    x.to_numpy(copy=False)
    return x


def lent(x: xp.Array) -> xp.Array:
    LENT.append(x.to_numpy(copy=False))
    return x


LENT: list[Any] = []
TARGETS: dict[str, Callable[[xp.Array], xp.Array]] = {
    "memory": lambda x: x,
    "lent memory": lent,
    "pending": lambda x: x * 2.5,
    "computed": lambda x: computed(x * 2.5),
    "a view": lambda x: x[:],
    "turned": lambda x: x.T,
    "float32": lambda x: computed(x.astype(xp.float32)),
    "integers": lambda x: computed((x * 10).astype(xp.int64)),
    "another shape": lambda x: computed(xp.concat([x, x[:1]])),
}
VALUES: dict[str, Callable[[xp.Array, Any], Any]] = {  # of the array, and of an array like what is assigned to
    "pending": lambda x, like: like * 0.3 + 1.5,
    "what reads the array": lambda x, like: like * 0.3 + x[0, 0],
    "a row": lambda x, like: like[:1] * 0.3,
    "an axis more": lambda x, like: (like * 0.3)[None],
    "a number": lambda x, like: 0.25,
    "full": lambda x, like: xp.full(like.shape, 0.25),
    "a view": lambda x, like: like[:],
    "held": lambda x, like: LENT.append(like * 0.7) or LENT[-1],
    "float32": lambda x, like: like.astype(xp.float32) * 2,
    "complex": lambda x, like: like * 1j,
    "computed": lambda x, like: computed(like * 0.3),
    "another shape": lambda x, like: xp.concat([like, like]) * 2.0,
}


def outcome(target_name: str, value_name: str, key: Any) -> list[Any]:
    LENT.clear()
    x = xp.asarray(np.random.default_rng(1).normal(size=(N, N)))
    target = TARGETS[target_name](x)
    view = target[2:]
    shape = np.empty(target.shape)[key].shape
    like = xp.asarray(np.random.default_rng(2).normal(size=shape))
    told: list[Any] = []
    for _ in range(2):
        try:
            target[key] = VALUES[value_name](x, like)
        except Exception as error:
            told.append((type(error), str(error)))
        like = like + 1.0
    return [*told, *[np.asarray(a).tobytes() for a in (target, x, view, *LENT)]]


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_written_to_a_box_is_what_the_long_way_writes(
    monkeypatch: pytest.MonkeyPatch, target: str, key: Any
) -> None:
    n_short = 0
    short = items.assigned_box

    def counted(*given: Any) -> bool:
        nonlocal n_short
        is_done = short(*given)
        n_short += is_done
        return is_done

    for value in VALUES:
        monkeypatch.setattr(items, "assigned_box", counted)
        result = outcome(target, value, key)
        monkeypatch.setattr(items, "assigned_box", lambda *given: False)
        assert result == outcome(target, value, key), value
    is_box = key in (KEYS["inner rows"], KEYS["all"], KEYS["inner"], KEYS["columns"], KEYS["half"])
    assert n_short or not (is_box and target in ("memory", "lent memory", "pending", "computed"))


def test_a_read_only_array_is_not_written_to_the_short_way() -> None:
    x = xp.asarray(np.ones((N, N)))
    y = xp.asarray(np.ones((N, N)))
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        x[1:] = y[1:] * 2.0
    assert float(xp.sum(x)) == N * N
