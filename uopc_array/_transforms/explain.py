"""What is going on underneath: the C of what an array still has to compute, and what this installation can do."""

from __future__ import annotations

import platform
import sys
from typing import Any

import numpy as np

import uopc_core
from uopc_array._array.extension import IN_C
from uopc_array._functions.arguments import node_of

__all__ = ["explain", "show_config"]


def explain(*arrays: Any) -> str:
    """The graph, the kernels and the C of whatever `arrays` still have to compute. Nothing is computed.

    Args:
        arrays: one or more; those whose values are in memory have nothing to show.
    Returns:
        text, also where there is no compiler to give the C to.
    Example:
        >>> import uopc_array as xp
        >>> x = xp.ones(1_000_000) + 1
        >>> print(xp.explain(x).splitlines()[0])
        # graph
    """
    return uopc_core.explain_nodes([node_of("explain", x) for x in arrays])


def show_config() -> None:
    """Print the versions, whether the operators on small arrays have been compiled, the compiler with its flags, the
    cache of kernels and the number of threads.
    """
    print(f"Python {platform.python_version()} on {sys.platform} {platform.machine()}, NumPy {np.__version__}")
    print(f"operators on small arrays: {'in Python' if IN_C is None else 'in C'}")
    for name, value in uopc_core.toolchain_summary().items():
        print(f"{name}: {value}")
