"""The same bits in every process, whatever its cache, hashes and threads are, and how often it computed before."""

import hashlib
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.reliability.trial import value_of

N = 30_000


def data(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "sum": lambda: xp.sum(xp.asarray(data(N))),
    "sum along each axis": lambda: [xp.sum(xp.asarray(data(170, 190)) ** 2, axis=k) for k in range(2)],
    "float32 mean and variance": lambda: [
        f(xp.asarray(data(300, 100).astype("f4")), axis=0) for f in (xp.mean, xp.var)
    ],
    "functions": lambda: [
        f(xp.asarray(np.abs(data(N)))) for f in (xp.sin, xp.exp, xp.log1p, xp.tanh, xp.arctan, xp.sqrt)
    ],
    "powers": lambda: xp.asarray(np.abs(data(N))) ** xp.asarray(data(N)),
    "complex": lambda: xp.prod(xp.asarray(data(200) + 1j * data(200)) / 1.1) + xp.sum(xp.exp(1j * data(N))),
    "softmax": lambda: softmax(xp.asarray(data(120, 250))),
    "product of matrices": lambda: xp.tanh(xp.asarray(data(90, 110)) @ xp.asarray(data(110, 70))),
    "thin product": lambda: xp.einsum("ij,jk,k->i", xp.asarray(data(500, 3)), xp.asarray(data(3, 9)), data(9)),
    "cumulative": lambda: xp.cumulative_sum(xp.asarray(data(N))),
    "gather and scatter": lambda: scattered(xp.asarray(data(N))),
    "sort": lambda: xp.argsort(xp.asarray(np.round(data(N), 1)), stable=True),
    "gradient": lambda: xp.grad(lambda x: xp.sum(softmax(x) * xp.sin(x)))(xp.asarray(data(60, 70))),
    "second derivative": lambda: xp.grad(lambda x: xp.sum(xp.grad(lambda t: xp.sum(xp.exp(t * t)))(x)))(xp.ones(300)),
    "jit": lambda: [compiled(xp.asarray(data(N)), k) for k in range(4)],
    "linear algebra": lambda: xp.linalg.solve(xp.asarray(data(60, 60)), xp.asarray(data(60, 4))),
    "Fourier": lambda: xp.fft.fft(xp.asarray(data(3000))),
    "random numbers": lambda: np.random.default_rng(3).normal(size=9) + xp.random.default_rng(3).normal(size=9),
    "trained": lambda: train(40),
}


def softmax(x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def scattered(x: Any) -> Any:
    x = x * 1.5
    places = np.arange(N) * 7 % 1000
    np.add.at(x, places, 0.1)
    return xp.take(x, xp.asarray(places))


@xp.jit
def compiled(x: Any, k: Any) -> Any:
    return xp.sum(xp.cos(x) * k) + x[::3]


def train(n_steps: int) -> Any:
    w, x = xp.asarray(data(20, 5) * 0.1), xp.asarray(data(200, 20))
    loss = xp.value_and_grad(lambda w: xp.mean((xp.tanh(x @ w) - 0.3) ** 2))
    for _ in range(n_steps):
        value, slope = loss(w)
        w = w - 0.5 * slope
    return [w, value]


def digest(result: Any) -> str:
    parts = result if isinstance(result, list) else [result]
    return hashlib.sha256(b"".join(np.asarray(part).tobytes() for part in parts)).hexdigest()[:16]


def digests(order: int, n_times: int) -> dict[str, list[str]]:
    """What each program gives, each time, in an order of chance."""
    names = sorted(PROGRAMS) * n_times
    random.Random(order).shuffle(names)
    found: dict[str, list[str]] = {name: [] for name in PROGRAMS}
    for name in names:
        found[name].append(digest(PROGRAMS[name]()))
    return found


def digests_of_threads(n_threads: int) -> dict[str, list[str]]:
    with ThreadPoolExecutor(n_threads) as pool:
        several = list(pool.map(lambda order: digests(order, 1), range(2 * n_threads)))
    return {name: [found[name][0] for found in several] for name in PROGRAMS}


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """What a process with one thread gives when it has nothing but NumPy and loops compiled by itself."""
    return {name: found[0] for name, found in value_of(digests, 0, 1, env={"UOPC_NUM_THREADS": "1"}).items()}


def differing(reference: dict[str, str], found: dict[str, list[str]]) -> dict[str, set[str]]:
    return {name: set(values) for name, values in found.items() if set(values) != {reference[name]}}


def test_a_process_gives_the_same_bits_each_time(tries, reference):
    n = 5 if tries.is_full else 2
    assert differing(reference, value_of(digests, 1, n, seconds=200)) == {}
    tries.add(n * len(PROGRAMS))


@pytest.mark.reliability
def test_processes_give_the_same_bits(tmp_path, tries, reference):
    """With hash seeds, numbers of threads, orders and caches of their own, or a cache that others have filled."""
    (tmp_path / "cache").mkdir(mode=0o700)
    for number in tries(short=2, full=12):
        environment = {"PYTHONHASHSEED": str(number), "UOPC_NUM_THREADS": str((1, 2, 3, 8)[number % 4])}
        if number % 4:
            environment["UOPC_CACHE_DIR"] = str(tmp_path / "cache")
        assert differing(reference, value_of(digests, number, 2, env=environment, seconds=200)) == {}


@pytest.mark.reliability
@pytest.mark.parametrize("n_threads", [2, 8])
def test_threads_give_the_same_bits(tries, reference, n_threads):
    assert differing(reference, value_of(digests_of_threads, n_threads, seconds=300)) == {}
    tries.add(2 * n_threads * len(PROGRAMS))


@pytest.mark.reliability
@pytest.mark.needs_compiler
@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_whoever_computes_gives_the_same_bits(tries, reference, tier):
    assert differing(reference, value_of(digests, 2, 2, env={"UOPC_TIER": tier}, seconds=300)) == {}
    tries.add(2 * len(PROGRAMS))
