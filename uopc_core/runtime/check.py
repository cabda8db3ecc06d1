"""Compare compiled kernels with the interpreter, one by one, on the values they meet (`UOPC_VERIFY=1`).

Kernels of exact operations must agree bit for bit. Where functions of the mathematical library or sums take part, the
allowed difference is found by perturbing the interpreter: every such result is moved by the error it may have (4 ulp,
or n * eps * sum(|x|)), and what comes out in the end shows how far a right answer may be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from uopc_core.dtype import is_complex, is_inexact, real_dtype
from uopc_core.errors import VerifyError
from uopc_core.ir.op import MATH_FUNCTIONS, Ops
from uopc_core.ir.text import to_uir
from uopc_core.ir.uop import UOp, toposort
from uopc_core.runtime.interpreted import evaluate_kernel
from uopc_core.schedule.kernel import Kernel

__all__ = ["check_kernel", "check_same"]

Array = np.ndarray[Any, Any]

MATH_ULPS = 4
_SLACK = 4.0  # errors of several operations may add up where the perturbations tried did not
_PATTERNS = 3
_NEAR_ULPS = 32  # closer than this, equality of computed numbers is chance


def check_kernel(kernel: Kernel, values: Sequence[Any], results: Sequence[Array], source: str) -> None:
    """Assert that `results`, from compiled code, are what the interpreter gives for `values`.

    Raises:
        VerifyError: they differ by more than the operations allow; the message holds the kernel and its C.
    """
    expected = evaluate_kernel(kernel, values)
    allowed = _allowed(kernel, values, expected)
    for i, (got, want, slack) in enumerate(zip(results, expected, allowed, strict=True)):
        _compare(got, want, slack, f"output {i} of\n{to_uir(kernel.outputs)}\n{source}")


def check_same(got: Array, want: Array, what: str) -> None:
    """Assert equality bit for bit, any nan being equal to any other."""
    _compare(got, want, None, what)


def _compare(got: Array, want: Array, slack: Array | None, what: str) -> None:
    same = (got == want) | ((got != got) & (want != want))
    if slack is None:
        same &= _sign_of_zero(got) == _sign_of_zero(want)
    else:
        with np.errstate(all="ignore"):
            same |= np.isinf(slack)
            if got.dtype.kind != "b":
                same |= np.abs(got - want) <= slack
    if not same.all():
        where = tuple(int(i) for i in np.argwhere(~same)[0])
        raise VerifyError(
            f"compiled code and interpreter differ at {where} ({int((~same).sum())} of {same.size} elements): "
            f"compiled {got[where]!r}, interpreted {want[where]!r}, in {what}"
        )


def _sign_of_zero(x: Array) -> Any:
    if x.dtype.kind == "f":
        return np.signbit(x) & (x == 0)
    return False


def _allowed(kernel: Kernel, values: Sequence[Any], expected: Sequence[Array]) -> list[Array | None]:
    """How far each output may be off; None where it must agree bit for bit."""
    inexact = _inexact_nodes(kernel)
    if not inexact:
        # the largest of 0.0 and -0.0 is the one that the order of comparisons leaves
        extreme = any(
            node.op is Ops.REDUCE and _combines(node) in (Ops.MAX, Ops.MIN) for node in toposort(kernel.outputs)
        )
        return [np.zeros(()) if extreme else None] * len(expected)
    allowed: list[Any] = [
        _ulps(want) if out in inexact else np.zeros(()) for out, want in zip(kernel.outputs, expected, strict=True)
    ]
    with np.errstate(all="ignore"):
        for pattern in range(_PATTERNS):
            moved = evaluate_kernel(_perturbed(kernel, pattern), values)
            for i, (a, b) in enumerate(zip(moved, expected, strict=True)):
                if b.dtype.kind in "fc":
                    change = np.where((a == b) | ((a != a) & (b != b)), 0, np.abs(a - b) * _SLACK)
                    allowed[i] = np.fmax(allowed[i], np.where(np.isnan(change), np.inf, change))
                else:
                    allowed[i] = np.where(a != b, np.inf, allowed[i])
    return allowed


def _ulps(value: Array) -> Array:
    if value.dtype.kind not in "fc":
        return np.zeros(())
    with np.errstate(all="ignore"):
        return 2 * MATH_ULPS * np.spacing(np.abs(value))


def _is_inexact(node: UOp) -> bool:
    if node.dtype.kind not in "fc":
        return False
    if node.op in MATH_FUNCTIONS or (
        is_complex(node.src[0].dtype if node.src else node.dtype) and node.op in _COMPLEX_INEXACT
    ):
        return True
    return node.op in (Ops.REDUCE, Ops.SCAN, Ops.SCATTER) and _combines(node) in (Ops.ADD, Ops.MUL)


_COMPLEX_INEXACT = frozenset({Ops.MUL, Ops.DIV, Ops.RECIP, Ops.SQRT, Ops.ABS, Ops.POW})


def _combines(node: UOp) -> Any:
    if node.op is Ops.REDUCE:
        return node.arg[0]
    return Ops.ADD if node.arg == "add" else Ops.MUL if node.arg == "mul" else node.arg


def _inexact_nodes(kernel: Kernel) -> set[UOp]:
    """The nodes that depend on an operation with an error of its own."""
    tainted: set[UOp] = set()
    for node in toposort(kernel.outputs):
        if _is_inexact(node) or any(s in tainted for s in node.src):
            tainted.add(node)
    return tainted


def _perturbed(kernel: Kernel, pattern: int) -> Kernel:
    """The kernel with every inexact result moved by the error it may have, up or down by `pattern`."""
    made: dict[UOp, UOp] = {}
    tainted = _inexact_nodes(kernel)
    for number, node in enumerate(toposort(kernel.outputs)):
        sources = tuple([made[s] for s in node.src])
        same = sources == node.src
        new = (
            node
            if same
            else UOp.new(node.op, sources, node.arg, node.dtype if node.op in (Ops.CAST, Ops.BITCAST) else None)
        )
        if node.op in (Ops.CMPEQ, Ops.CMPNE) and not tainted.isdisjoint(node.src):
            near = _are_near(*sources)
            new = near if node.op is Ops.CMPEQ else near.unary(Ops.NOT)
        if _is_inexact(node):
            sign = (1, -1)[hash((number * 2654435761 + pattern * 40503) >> 3) & 1] if pattern else 1
            new = new + _in_parts(_error_of(new, sources) * (sign * 1.0), new, pattern)
        made[node] = new
    return Kernel(tuple([made[out] for out in kernel.outputs]), kernel.n_params)


def _are_near(x: UOp, y: UOp) -> UOp:
    """Whether two computed numbers might have been equal."""
    if not is_inexact(x.dtype):
        return x.eq(y)
    eps = float(np.finfo(real_dtype(x.dtype)).eps)
    return x.eq(y) | (_magnitude(x - y) <= (_magnitude(x) + _magnitude(y)) * (_NEAR_ULPS * eps))


def _error_of(node: UOp, sources: tuple[UOp, ...]) -> UOp:
    """The error that `node` may have, or each part of it: that of the whole, since the terms of a part may cancel."""
    eps = float(np.finfo(real_dtype(node.dtype)).eps)
    if node.op is Ops.REDUCE and node.arg[0] is Ops.ADD:
        return _magnitude(sources[0]).reduce(Ops.ADD, node.arg[1]) * (_roundings(node, sources) * eps)
    if node.op is Ops.SCAN and node.arg is Ops.ADD:
        return _magnitude(sources[0]).scan(Ops.ADD) * (_roundings(node, sources) * eps)
    return _magnitude(node) * (_roundings(node, sources) * eps)


def _in_parts(error: UOp, node: UOp, pattern: int) -> UOp:
    """The error as a number of the dtype of `node`; the parts of a complex one go the same way and opposite ones."""
    return error.binary(Ops.COMPLEX, -error if pattern % 2 else error) if is_complex(node.dtype) else error


def _roundings(node: UOp, sources: tuple[UOp, ...]) -> int:
    """How many roundings, in units of the last place, may stand between `node` and its value."""
    if node.op is Ops.REDUCE:
        return max(1, prod(sources[0].shape) // max(1, node.size))
    return node.shape[-1] if node.op is Ops.SCAN else MATH_ULPS


def _magnitude(x: UOp) -> UOp:
    return x.unary(Ops.ABS)
