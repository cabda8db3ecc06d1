"""What a checker of types says of programs that use the package: this file is checked, and run."""

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np

import uopc_array as xp


def scaled(x: xp.Array, factor: float = 2.0) -> xp.Array:
    return x * factor


def test_transforms_keep_the_signature() -> None:
    x = xp.ones(3)
    assert_type(xp.jit(scaled)(x, factor=3.0), xp.Array)
    assert_type(xp.vmap(scaled, in_axes=(0, None))(x, 3.0), xp.Array)
    total: Callable[[xp.Array], xp.Array] = lambda x: xp.sum(x * x)  # noqa: E731 (a type for its parameter)
    assert_type(xp.value_and_grad(total)(x), tuple[xp.Array, Any])
    assert_type(xp.jvp(total, (x,), (x,)), tuple[xp.Array, xp.Array])
    assert_type(xp.stop_gradient(x), xp.Array)
    assert_type(xp.checkpoint(scaled)(x, factor=3.0), xp.Array)
    assert_type(xp.jit(scaled, inline=False)(x, factor=3.0), xp.Array)

    @xp.jit
    def plain(x: xp.Array) -> xp.Array:
        return x

    @xp.jit(static_argnums=1)
    def with_options(x: xp.Array, n: int) -> xp.Array:
        return x * n

    assert_type(plain(x), xp.Array)
    assert_type(with_options(x, 2), xp.Array)


def test_a_call_that_does_not_fit_is_found() -> None:
    calls: list[Callable[[], Any]] = [
        lambda: xp.jit(scaled)(xp.ones(3), wrong=1),  # pyright: ignore[reportCallIssue]
        lambda: xp.checkpoint(scaled)(xp.ones(3), wrong=1),  # pyright: ignore[reportCallIssue]
        lambda: xp.sum(object()),  # pyright: ignore[reportArgumentType]
        lambda: xp.reshape(xp.ones(3)),  # pyright: ignore[reportCallIssue]
    ]
    for call in calls:
        try:
            call()
        except (TypeError, ValueError):
            continue
        raise AssertionError(call)


def test_what_is_like_an_array_is_accepted() -> None:
    assert float(xp.sum([1.0, 2.0])) == 3.0
    assert float(xp.sum((1, [2, 3])[1])) == 5.0
    assert float(xp.sum(np.ones(3))) == 3.0
    assert float(xp.sum(np.float32(3))) == 3.0
    assert float(xp.sum([xp.ones(()), 1.0])) == 2.0
    assert xp.stack([xp.ones(3), np.ones(3)]).shape == (2, 3)
