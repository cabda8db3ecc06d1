"""Calls of functions of a host library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uopc_core.ir.extern import EXTERNS

__all__ = ["call_extern"]

Array = np.ndarray[Any, Any]


def call_extern(name: str, params: Any, operands: Sequence[Array]) -> tuple[Array, ...]:
    """All outputs of the function `name`, each an array of its own: no operand handed back, nor a part of one."""
    outputs: list[Array] = []
    for out in map(np.asarray, EXTERNS[name].evaluate(params, *operands)):
        is_own = out.base is None
        for x in operands:
            is_own = is_own and x is not out
        for x in outputs:
            is_own = is_own and x is not out
        outputs.append(out if is_own else out.copy())
    return tuple(outputs)
