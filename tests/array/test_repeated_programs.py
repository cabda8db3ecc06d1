"""Programs that repeat give the bits that they give where no structure is recognised, on other values and numbers."""

import random
from collections.abc import Callable

import numpy as np
import pytest

import uopc_array as xp
from uopc_core.runtime import execute

N = 40
Step = Callable[[xp.Array, xp.Array, float], xp.Array]


def written(x: xp.Array, y: xp.Array, number: float) -> xp.Array:
    x = x + 0.0
    x[1:-1] = number * y[:-2] + y[2:]
    return x


STEPS: dict[str, Step] = {
    "sum": lambda x, y, number: x + y,
    "number": lambda x, y, number: number * x - y,
    "slices": lambda x, y, number: xp.concat([x[1:], y[:1]]),
    "strided": lambda x, y, number: x + y[::2, :].sum(),
    "row": lambda x, y, number: x - xp.mean(y, axis=0),
    "turned": lambda x, y, number: x.T * y,
    "product": lambda x, y, number: x @ y / N,
    "function": lambda x, y, number: xp.tanh(x) + xp.exp(-(y**2)),
    "chosen": lambda x, y, number: xp.where(x > number, x, y),
    "written": written,
    "slope": lambda x, y, number: xp.grad(lambda z: xp.sum(xp.sin(z * number) * y))(x),
    "picked": lambda x, y, number: x[xp.arange(N)[::-1]],
}


def outcomes(names: list[str], numbers: list[float], n_held: int) -> list[bytes]:
    """The bytes of all that is asked for, of a program that runs once with each number."""
    out: list[bytes] = []
    rng = np.random.default_rng(len(names))
    for number in numbers:
        values = [xp.asarray(rng.normal(size=(N, N))) for _ in range(2)]
        for i, name in enumerate(names):
            values.append(STEPS[name](values[-1], values[-2 - i % 2], number))
        held = values[len(values) - 1 - n_held :]
        del values
        total = xp.sum(held[-1] * number)
        out += [np.asarray(total).tobytes(), *[np.asarray(x).tobytes() for x in held]]
    return out


@pytest.mark.parametrize("seed", range(12))
def test_a_program_that_repeats_gives_the_bits_of_one_that_is_new_each_time(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    names = rng.sample(sorted(STEPS), rng.randrange(2, 5))
    numbers = [0.3, 17.5, -2.25, 0.3, 0.5, 1.0, 0.7]  # two are literals, which other structures have
    n_held = rng.randrange(3)
    known: list[bool] = []
    recognise = execute.recognise

    def noted(roots: list[xp.Array]) -> object:
        found = recognise(roots)  # pyright: ignore[reportArgumentType]
        known.append(found is not None)
        return found

    with xp.context(at_once=0, tier="compile"):
        monkeypatch.setattr(execute, "recognise", noted)
        result = outcomes(names, numbers, n_held)
        assert any(known) or "slope" in names
        monkeypatch.setattr(execute, "recognise", lambda roots: None)  # pyright: ignore[reportUnknownLambdaType]
        assert outcomes(names, numbers, n_held) == result
