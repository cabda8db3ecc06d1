"""Kernels of every kind, nested as deep as they come: a strict compiler has nothing to say of names and values."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.codegen.test_helpers import UNUSED, compile_strictly
from tests.support.kernels import needs_compiler
from uopc_core import context
from uopc_core.codegen.c_source import CSource
from uopc_core.runtime.rendered import render_plan
from uopc_core.schedule.plan import make_plan

KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "elements": lambda x, y: xp.where(x > y, x * y, -y),
    "functions": lambda x, y: xp.tanh(x) + xp.exp(y),
    "products summed": lambda x, y: xp.sum(x * y, axis=-1),
    "products summed in front": lambda x, y: xp.sum(x * y, axis=0),
    "all summed": lambda x, y: xp.sum(x * y),
    "several": lambda x, y: (xp.sum(x * y, axis=-1), xp.max(x + y, axis=-1), xp.sum(x, axis=-1)),
    "extremes": lambda x, y: xp.max(x - y, axis=-1),
    "places": lambda x, y: xp.argmax(x, axis=-1),
    "softmax": lambda x, y: xp.exp(x - xp.max(x, axis=-1, keepdims=True)) / xp.sum(xp.exp(y), axis=-1, keepdims=True),
    "turned": lambda x, y: xp.permute_dims(x, range(x.ndim)[::-1]) * 2.0,
    "turned and summed": lambda x, y: xp.sum(xp.permute_dims(x * y, range(x.ndim)[::-1]), axis=-1),
    "moments": lambda x, y: xp.var(x * y, axis=-1),
    "running sums": lambda x, y: xp.cumulative_sum(xp.reshape(x, (-1,)) * 2.0),
    "picked": lambda x, y: xp.take(x, xp.asarray([1, 0, 1]), axis=0) * 2.0,
    "whether any": lambda x, y: xp.any(x > y, axis=-1),
}


def sources(make: Callable[[Any, Any], Any], x: Any, y: Any) -> list[str]:
    with context(at_once=0):
        made = make(x, y)
        plan, _ = make_plan([z._uop for z in (made if isinstance(made, tuple) else (made,))])
    return [step.text for step in render_plan(plan) if isinstance(step, CSource)]


@needs_compiler
@pytest.mark.parametrize("kind", KINDS)
def test_names_and_values_of_a_kernel_are_clear(kind: str) -> None:
    found: set[str] = set()
    for n_axes, n in itertools.product(range(1, 6), (20, 300)):
        shape = (*(3, 4, 5, 2)[: n_axes - 1], n)
        for dtype in ("float32", "float64"):
            with context(at_once=0):
                x, y = xp.asarray(np.ones(shape, dtype)), xp.asarray(np.ones(shape[-1:], dtype))
            found |= {*sources(KINDS[kind], x, xp.broadcast_to(y, shape)), *sources(KINDS[kind], x, x * 0.5)}
    assert found
    for text in found:
        assert compile_strictly(text, *UNUSED, "-Wno-unused-parameter", "-Wno-unused-variable", "-Wshadow") == "", text


@needs_compiler
@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("n", [1, 7, 20, 128, 300])
def test_products_are_summed_in_nests_of_any_depth(n: int, tier: str) -> None:
    draw = np.random.default_rng(n)
    for n_axes in range(1, 6):
        shape = (*(3, 4, 5, 2)[: n_axes - 1], n)
        x, y = draw.standard_normal(shape), draw.standard_normal((*shape[1:-1], n))
        with context(tier=tier):
            found = np.asarray(xp.sum(xp.asarray(x) * xp.asarray(y), axis=-1))
        np.testing.assert_allclose(found, (x * y).sum(-1), rtol=1e-12, atol=1e-12)
