"""Rules that keep every bit: identities of arithmetic, constants, conversions. `simplify` applies them all.

What IEEE 754 defines stays: no x * 0 -> 0 for floats (inf * 0 is nan), no x + 0 -> x (-0.0 + 0.0 is 0.0), no
reassociation. Complex multiplication by 1 is not an identity either (the product with the zero imaginary part may be
nan or change a sign).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from uopc_core.dtype import DType, dtypes, is_bool, is_complex, is_float, is_integer
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.composite import const_of, ones_like, unbroadcast, zeros_like
from uopc_core.ir.op import BINARY, ELEMENTWISE, UNARY, Ops
from uopc_core.ir.uop import UOp
from uopc_core.rewrite.engine import Rewriter
from uopc_core.rewrite.movement import MOVEMENT_RULES, REDUCTION_RULES
from uopc_core.rewrite.pattern import Rule, constant, node, variable

__all__ = ["ALGEBRA_RULES", "CAST_RULES", "FOLDING_RULES", "RULES", "SELECTION_RULES", "SIMPLIFIER", "simplify"]

x, y, z, w = variable("x"), variable("y"), variable("z"), variable("w")
c = constant("c")

# ---------------------------------------------------------------------------------------------------------- arithmetic


def is_real(dtype: DType) -> bool:
    return not is_complex(dtype)


def is_discrete(dtype: DType) -> bool:
    return is_integer(dtype) or is_bool(dtype)


def _truth(out: UOp, value: bool) -> UOp:
    return UOp.const(value, dtypes.bool, out.shape)


def _is_zero(c: UOp) -> bool:
    return const_of(c) == 0


def _has_all_bits(c: UOp) -> bool:
    value = const_of(c)
    if is_bool(c.dtype):
        return value is True
    return value == (-1 if c.dtype.kind == "i" else 2 ** (8 * c.dtype.itemsize) - 1)


def _has_exact_reciprocal(c: UOp) -> bool:
    """A power of two with a normal reciprocal: then x / c and x * (1 / c) are roundings of one real number."""
    value = const_of(c)
    if not isinstance(value, float) or not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return False
    lowest = -126 if c.dtype is dtypes.float32 else -1022
    return lowest <= -math.frexp(value)[1] + 1 < -lowest


def _times_reciprocal(x: UOp, c: UOp) -> UOp:
    value = const_of(c)
    assert isinstance(value, float), c
    return x * (1.0 / value)


ALGEBRA_RULES: tuple[Rule, ...] = (
    Rule("add-zero", x + 0, lambda x: x, where=is_integer),  # -0.0 + 0.0 is 0.0
    Rule("add-minus-zero", x + -0.0, lambda x: x, where=is_float),
    Rule("sub-zero", x - 0, lambda x: x),  # complex too: both parts lose +0.0
    Rule("sub-from-zero", 0 - x, lambda x: -x, where=is_integer),  # 0.0 - 0.0 is 0.0, its negative is not
    Rule("sub-itself", x - x, zeros_like, where=is_integer),  # inf - inf is nan
    Rule("neg-neg", node(Ops.NEG, -x), lambda x: x),
    Rule("mul-one", x * 1, lambda x: x, where=is_real),
    Rule("mul-zero", x * 0, zeros_like, where=is_integer),  # inf * 0 is nan
    Rule("mul-minus-one", x * -1, lambda x: -x, where=is_integer),
    Rule("div-power-of-two", x / c, _times_reciprocal, where=is_float, when=_has_exact_reciprocal),
    Rule("floordiv-one", x // 1, lambda x: x, where=is_integer),
    Rule("floormod-one", x % 1, zeros_like, where=is_integer),
    Rule("pow-zero", x**0, ones_like, where=is_real),  # of nan too
    Rule("pow-one", x**1, lambda x: x, where=is_real),
    Rule("pow-two", x**2, lambda x: x * x, where=is_real),  # as POW itself has it
    Rule("pow-three", x**3, lambda x: x * x * x, where=is_real),
    Rule("pow-minus-one", x**-1, lambda x: x.recip(), where=is_float),
    Rule("max-itself", node(Ops.MAX, x, x), lambda x: x),
    Rule("min-itself", node(Ops.MIN, x, x), lambda x: x),
    Rule("conj-conj", node(Ops.CONJ, node(Ops.CONJ, x)), lambda x: x),
    Rule("real-complex", node(Ops.REAL, node(Ops.COMPLEX, x, y)), lambda x: x),
    Rule("imag-complex", node(Ops.IMAG, node(Ops.COMPLEX, x, y)), lambda y: y),
    Rule("real-conj", node(Ops.REAL, node(Ops.CONJ, x)), lambda x: x.unary(Ops.REAL)),
    Rule("complex-real-imag", node(Ops.COMPLEX, node(Ops.REAL, x), node(Ops.IMAG, x)), lambda x: x),
)

# ---------------------------------------------------------------------------------------------- bits, order, selection


SELECTION_RULES: tuple[Rule, ...] = (
    Rule("not-not", ~(~x), lambda x: x),
    Rule("and-itself", x & x, lambda x: x),
    Rule("or-itself", x | x, lambda x: x),
    Rule("xor-itself", x ^ x, zeros_like),
    Rule("and-zero", x & c, lambda x: zeros_like(x), when=_is_zero),
    Rule("or-zero", x | c, lambda x: x, when=_is_zero),
    Rule("xor-zero", x ^ c, lambda x: x, when=_is_zero),
    Rule("and-all-bits", x & c, lambda x: x, when=_has_all_bits),
    Rule("or-all-bits", x | c, lambda c: c, when=_has_all_bits),
    Rule("xor-all-bits", x ^ c, lambda x: ~x, when=_has_all_bits),
    Rule("shl-zero", x << 0, lambda x: x),
    Rule("shr-zero", x >> 0, lambda x: x),
    Rule("less-itself", node(Ops.CMPLT, x, x), lambda out: _truth(out, False)),  # nan is not less than itself either
    Rule("less-equal-itself", node(Ops.CMPLE, x, x), lambda out: _truth(out, True), where=is_discrete),
    Rule("equal-itself", node(Ops.CMPEQ, x, x), lambda out: _truth(out, True), where=is_discrete),
    Rule("not-equal-itself", node(Ops.CMPNE, x, x), lambda out: _truth(out, False), where=is_discrete),
    Rule("where-constant", node(Ops.WHERE, c, x, y), lambda c, x, y: x if const_of(c) else y),
    Rule("where-same", node(Ops.WHERE, z, x, x), lambda x: x),
    Rule("where-not", node(Ops.WHERE, ~z, x, y), lambda z, x, y: z.where(y, x)),
    Rule("where-where-then", node(Ops.WHERE, z, node(Ops.WHERE, z, x, w), y), lambda z, x, y: z.where(x, y)),
    Rule("where-where-else", node(Ops.WHERE, z, x, node(Ops.WHERE, z, w, y)), lambda z, x, y: z.where(x, y)),
)

# --------------------------------------------------------------------------------------------------------- conversions

_MANTISSA_BITS = {dtypes.float32: 24, dtypes.float64: 53, dtypes.complex64: 24, dtypes.complex128: 53}


def _whole_bits(dtype: DType) -> tuple[int, int]:
    """Bits of the largest negative and the largest positive integer of a discrete dtype."""
    if is_bool(dtype):
        return 0, 1
    bits = 8 * dtype.itemsize
    return (bits - 1, bits - 1) if dtype.kind == "i" else (0, bits)


def _is_lossless(source: DType, target: DType) -> bool:
    """Whether every value of `source` is a value of `target`."""
    if source is target:
        return True
    if is_bool(target):
        return False
    if is_discrete(source):
        if target in _MANTISSA_BITS:
            return max(_whole_bits(source)) <= _MANTISSA_BITS[target]
        return all(a <= b for a, b in zip(_whole_bits(source), _whole_bits(target), strict=True))
    if is_discrete(target) or (is_complex(source) and not is_complex(target)):
        return False
    return _MANTISSA_BITS[source] <= _MANTISSA_BITS[target]


def _middle_is_needless(x: UOp, out: UOp) -> bool:
    """Whether the value arrives unchanged in the middle dtype, and leaves it as it would leave its own.

    What does not fit an integer dtype converts as its own dtype says (integers wrap, floats do not), so then the kind
    must not change.
    """
    source, middle, target = x.dtype, out.src[0].dtype, out.dtype
    if not _is_lossless(source, middle) or (is_complex(middle) and not is_complex(target)):
        return False
    if not is_integer(target) or _is_lossless(source, target):
        return True
    return is_integer(source) and is_integer(middle)


def _cast(x: UOp, out: UOp) -> UOp:
    return x.cast(out.dtype)


def _cast_examples(leaf: Callable[..., UOp]) -> list[UOp]:
    chains = (
        (dtypes.float32, dtypes.float64, dtypes.float32),
        (dtypes.bool, dtypes.int32, dtypes.float64),
        (dtypes.int8, dtypes.float32, dtypes.int8),
        (dtypes.int16, dtypes.int64, dtypes.uint8),
        (dtypes.uint8, dtypes.int16, dtypes.float32),
        (dtypes.float32, dtypes.complex64, dtypes.complex128),
    )
    return [leaf((6,), first).cast(second).cast(third) for first, second, third in chains]


def _bitcast_examples(leaf: Callable[..., UOp]) -> list[UOp]:
    chains = ((dtypes.float32, dtypes.uint32, dtypes.int32), (dtypes.int64, dtypes.float64, dtypes.int64))
    return [leaf((6,), first).bitcast(second).bitcast(third) for first, second, third in chains]


def _same_dtype_examples(op: Ops) -> Callable[[Callable[..., UOp]], list[UOp]]:
    return lambda leaf: [UOp.new(op, (leaf((6,), dtype),), None, dtype) for dtype in (dtypes.float32, dtypes.int8)]


CAST_RULES: tuple[Rule, ...] = (
    Rule(
        "cast-same",
        node(Ops.CAST, x),
        lambda x: x,
        when=lambda x, out: x.dtype is out.dtype,
        examples=_same_dtype_examples(Ops.CAST),
    ),
    Rule("cast-cast", node(Ops.CAST, node(Ops.CAST, x)), _cast, when=_middle_is_needless, examples=_cast_examples),
    Rule(
        "bitcast-same",
        node(Ops.BITCAST, x),
        lambda x: x,
        when=lambda x, out: x.dtype is out.dtype,
        examples=_same_dtype_examples(Ops.BITCAST),
    ),
    Rule(
        "bitcast-bitcast",
        node(Ops.BITCAST, node(Ops.BITCAST, x)),
        lambda x, out: x.bitcast(out.dtype),
        examples=_bitcast_examples,
    ),
)

# ------------------------------------------------------------------------------------------------------------- folding


def _fold(out: UOp) -> UOp:
    """An elementwise node of constants, evaluated."""
    scalars = tuple([unbroadcast(s) for s in out.src])
    (result,) = evaluate([out.over(scalars)])
    return UOp.const(result.item(), out.dtype, out.shape)


def _n_sources(op: Ops) -> int:
    return 1 if op in UNARY else 2 if op in BINARY else 3


FOLDING_RULES: tuple[Rule, ...] = tuple(
    [
        Rule(f"fold-{op.name.lower()}", node(op, *[constant(f"c{i}") for i in range(_n_sources(op))]), _fold)
        for op in sorted(ELEMENTWISE)
    ]
)

RULES: tuple[Rule, ...] = (
    *FOLDING_RULES,
    *ALGEBRA_RULES,
    *SELECTION_RULES,
    *CAST_RULES,
    *MOVEMENT_RULES,
    *REDUCTION_RULES,
)
SIMPLIFIER = Rewriter(RULES)


def simplify(roots: Sequence[UOp]) -> list[UOp]:
    """`roots` with the same values, from fewer and cheaper nodes."""
    return SIMPLIFIER.rewrite(roots)
