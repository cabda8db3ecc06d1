"""Every op with a derivative, as records that the finite difference tests run: the op, a graph with it, the domain of
each operand, chosen away from kinks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uopc_core.dtype import dtypes
from uopc_core.extern.sorting import sort_last_axis
from uopc_core.ir import UOp
from uopc_core.ir.calls import close
from uopc_core.ir.composite import adjoint, call_extern, concat, identity, matmul, slice_axes, stack, unsqueeze
from uopc_core.ir.op import COMPARISONS, COMPLEX_FUNCTIONS, SCATTER_MODES, Ops
from uopc_core.runtime.buffer import Buffer

__all__ = ["RECORDS", "Domain", "Record", "integers", "scatter"]

Array = np.ndarray[Any, Any]
Builder = Callable[..., UOp | list[UOp]]


@dataclass(frozen=True)
class Domain:
    """A shape and an interval; with `plane` the imaginary part is of the interval, too."""

    shape: tuple[int, ...] = (2, 3)
    low: float = -2.0
    high: float = 2.0
    plane: bool = False

    def draw(self, rng: np.random.Generator) -> Array:
        """Numbers of the interval, no two closer than a third of the mean distance."""
        n = int(np.prod(self.shape))

        def numbers() -> Array:
            cells = (rng.permutation(n) + rng.uniform(0.3, 0.7, n)) / max(n, 1)
            return (self.low + (self.high - self.low) * cells).reshape(self.shape)

        return numbers() + 1j * numbers() if self.plane else numbers()


@dataclass(frozen=True)
class Record:
    op: Ops
    build: Builder
    domains: Sequence[Domain]
    name: str = ""
    order: int = 2

    def __str__(self) -> str:
        return f"{self.op.name}-{self.name}" if self.name else self.op.name

    def values(self) -> list[Array]:
        rng = np.random.default_rng(3)
        return [domain.draw(rng) for domain in self.domains]


def integers(*values: Any, dtype: Any = np.int64) -> UOp:
    """A leaf that holds `values`: one list a row, or plain numbers."""
    return UOp.buffer(Buffer.from_numpy(np.array(values, dtype)))


def scatter(mode: str, base: UOp, value: UOp, *indices: UOp) -> UOp:
    return UOp.new(Ops.SCATTER, (base, value, *indices), mode)


WIDE = Domain()
POSITIVE = Domain(low=0.3, high=2.5)
UNIT = Domain(low=-0.85, high=0.85)
BEYOND_ONE = Domain(low=1.2, high=3.0)
PLANE = Domain(low=0.2, high=0.8, plane=True)
WIDE_PLANE = Domain(plane=True)

_REAL_UNARY: dict[Ops, Domain] = {
    Ops.RECIP: POSITIVE,
    Ops.SQRT: POSITIVE,
    **dict.fromkeys((Ops.LOG, Ops.LOG2, Ops.LOG10), POSITIVE),
    Ops.LOG1P: UNIT,
    **dict.fromkeys((Ops.TAN, Ops.ASIN, Ops.ACOS, Ops.ATANH), UNIT),
    Ops.ACOSH: BEYOND_ONE,
    **dict.fromkeys(
        (Ops.NEG, Ops.EXP, Ops.EXP2, Ops.EXPM1, Ops.SIN, Ops.COS, Ops.ATAN, Ops.SINH, Ops.COSH, Ops.TANH), WIDE
    ),
    **dict.fromkeys((Ops.ASINH, Ops.ERF, Ops.ERFC, Ops.ABS), WIDE),
    **dict.fromkeys((Ops.FLOOR, Ops.CEIL, Ops.TRUNC, Ops.RINT, Ops.SIGN), WIDE),
}
_COMPLEX_UNARY = sorted({*COMPLEX_FUNCTIONS, Ops.NEG, Ops.RECIP, Ops.ABS, Ops.REAL, Ops.IMAG, Ops.CONJ})
_REAL_BINARY: dict[Ops, tuple[Domain, Domain]] = {
    **dict.fromkeys((Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.MIN), (WIDE, WIDE)),
    **dict.fromkeys((Ops.LOGADDEXP, Ops.HYPOT, Ops.ATAN2, Ops.COPYSIGN, Ops.NEXTAFTER, Ops.COMPLEX), (WIDE, WIDE)),
    Ops.DIV: (WIDE, POSITIVE),
    Ops.POW: (POSITIVE, WIDE),
    **dict.fromkeys((Ops.FLOORDIV, Ops.FLOORMOD), (Domain(low=2.2, high=2.9), Domain(low=1.0, high=1.05))),
}
_COMPLEX_BINARY = (Ops.ADD, Ops.SUB, Ops.MUL, Ops.DIV, Ops.POW)


def _unary(op: Ops) -> Builder:
    return lambda x: x.unary(op)


def _binary(op: Ops) -> Builder:
    return lambda x, y: x.binary(op, y)


def _steps(op: Ops, dtype: Any) -> Builder:
    """A function of floats through integers or truth values, which has slope 0 away from its steps."""
    if op is Ops.NOT:
        return lambda x: (~x.cast(dtype)).cast(dtypes.float64) + x
    return lambda x, y: x.cast(dtype).binary(op, y.cast(dtype)).cast(dtypes.float64) + x


ELEMENTWISE_RECORDS = [
    *[Record(op, _unary(op), [domain], "real") for op, domain in _REAL_UNARY.items()],
    *[Record(op, _unary(op), [PLANE], "complex") for op in _COMPLEX_UNARY],
    Record(Ops.RINT, _unary(Ops.RINT), [PLANE], "complex"),
    *[Record(op, _binary(op), domains, "real") for op, domains in _REAL_BINARY.items()],
    *[Record(op, _binary(op), [PLANE, PLANE], "complex") for op in _COMPLEX_BINARY],
    *[Record(op, _steps(op, dtypes.float64), [WIDE, WIDE]) for op in sorted(COMPARISONS)],
    *[Record(op, _steps(op, dtypes.int64), [WIDE, WIDE]) for op in (Ops.AND, Ops.OR, Ops.XOR)],
    *[Record(op, _steps(op, dtypes.uint8), [POSITIVE, POSITIVE]) for op in (Ops.SHL, Ops.SHR)],
    Record(Ops.NOT, _steps(Ops.NOT, dtypes.int64), [WIDE]),
    Record(Ops.WHERE, lambda x, y: (x < y).where(x * y, y), [WIDE, WIDE]),
    Record(Ops.WHERE, lambda x: (x > 0).where(x.unary(Ops.SQRT), 0.0), [WIDE], "undefined branch"),
    Record(Ops.CAST, lambda x: x.cast(dtypes.complex128).unary(Ops.EXP), [WIDE], "to complex"),
    Record(Ops.POW, lambda x: x**3, [WIDE], "cube"),
    Record(Ops.POW, lambda x: x**-2.0, [POSITIVE], "inverse square"),
    Record(Ops.POW, lambda x, y: x**y, [PLANE, WIDE_PLANE], "complex exponent"),
]

MOVEMENT_RECORDS = [
    Record(Ops.RESHAPE, lambda x: x.reshape((3, 2)) * x.reshape((3, 2)), [WIDE]),
    Record(Ops.EXPAND, lambda x: x.expand((4, 2, 3)).scan(Ops.MUL), [Domain((1, 2, 3))]),
    Record(Ops.EXPAND, lambda x: x.expand((2, 3, 4)).scan(Ops.MUL), [Domain((2, 1, 1))], "two axes"),
    Record(Ops.PERMUTE, lambda x: x.permute((1, 2, 0)).scan(Ops.MUL), [Domain((2, 3, 2))], "not its own inverse"),
    Record(Ops.SHRINK, lambda x: x.shrink(((1, 2), (0, 2))).unary(Ops.SIN), [WIDE]),
    Record(Ops.PAD, lambda x: x.pad(((1, 0), (2, 1))).unary(Ops.SIN), [WIDE]),
    Record(Ops.FLIP, lambda x: x.flip((0, 1)) * x, [WIDE]),
    Record(Ops.CONCAT, lambda x, y: concat([x, y, x], 1).scan(Ops.MUL), [WIDE, Domain((2, 1))]),
    Record(Ops.SHRINK, lambda x: slice_axes(x, [slice(None, None, -2)]) ** 2, [Domain((7,))], "negative step"),
    Record(Ops.CONCAT, lambda x, y: stack([x, y * x], 1), [WIDE, WIDE], "stack"),
]

ALONG_AXES_RECORDS = [
    *[
        Record(Ops.REDUCE, lambda x, op=op: x.reduce(op, 2), [Domain((3, 2, 3))], f"{op.name} real")
        for op in (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN)
    ],
    Record(Ops.REDUCE, lambda x: x.reduce(Ops.MUL, 1), [WIDE_PLANE], "MUL complex"),
    Record(Ops.REDUCE, lambda x: x.reduce(Ops.ADD, 1), [WIDE_PLANE], "ADD complex"),
    Record(Ops.REDUCE, lambda x: (x * x).reduce(Ops.ADD, 1).unary(Ops.SQRT), [WIDE], "norm"),
    Record(Ops.REDUCE, matmul, [Domain((2, 4)), Domain((4, 3))], "matmul"),
    Record(Ops.REDUCE, lambda x: x.reduce(Ops.MUL, 1), [Domain((2, 0))], "MUL empty"),
    *[
        Record(Ops.SCAN, lambda x, op=op: x.scan(op), [Domain((2, 5))], f"{op.name} real")
        for op in (Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN)
    ],
    *[
        Record(Ops.SCAN, lambda x, op=op: x.scan(op), [Domain((2, n))], f"{op.name} of {n}")
        for op in (Ops.ADD, Ops.MUL, Ops.MAX)
        for n in (0, 1)
    ],
    Record(Ops.SCAN, lambda x: x.scan(Ops.MUL), [Domain((2, 4), plane=True)], "MUL complex"),
    Record(Ops.INDEX, lambda x: x.index(integers(2, 0, -1, 2)) ** 3, [Domain((3, 2))], "twice the same"),
    Record(Ops.INDEX, lambda x: x.index(integers(1, 0), integers(2, -1)) ** 3, [WIDE], "two indices"),
    Record(Ops.INDEX, lambda x: x.index(integers([0, 1], [1, 1])) ** 3, [WIDE], "index of two axes"),
    *[
        Record(
            Ops.SCATTER,
            lambda x, y, mode=mode: scatter(mode, x, y, integers(2, 0, -1, 2)),
            [Domain((3, 2), 0.5, 2.0), Domain((4, 2), 0.5, 2.0)],
            mode,
        )
        for mode in SCATTER_MODES
    ],
    Record(
        Ops.SCATTER,
        lambda x, y: scatter("set", x, y, integers(0, 1, 0), integers(2, 0, -1)) ** 2,
        [WIDE, Domain((3,))],
        "set by two indices",
    ),
    Record(
        Ops.SCATTER,
        lambda x, y: scatter("mul", x, y, integers(0, 0, 1)),
        [Domain((2,), plane=True), Domain((3,), plane=True)],
        "mul complex",
    ),
    Record(Ops.MATERIALIZE, lambda x: (x * x).materialize() * x, [WIDE]),
    Record(Ops.VARIABLE, lambda x: (x * x).variable(7) * x, [WIDE]),
    Record(Ops.DETACH, lambda x: x + (x * 0).detach(), [WIDE]),
]

# ------------------------------------------------------------------------------------------------ host functions

SQUARE = Domain((2, 3, 3))
TALL = Domain((4, 3))
BROAD = Domain((3, 4))
SQUARE_PLANE = Domain((3, 3), plane=True)


def _call(name: str, *params: Any, output: int = 0) -> Builder:
    return lambda *sources: call_extern(name, *sources, params=params, output=output)


def _outputs(name: str, n: int, *params: Any) -> Builder:
    return lambda *sources: [call_extern(name, *sources, params=params, output=k) for k in range(n)]


def _positive_definite(x: UOp) -> UOp:
    return matmul(x, adjoint(x)) + identity(x.shape, x.dtype)


def _symmetric(x: UOp) -> UOp:
    return x + adjoint(x)


def _spectral_exponential(x: UOp) -> UOp:
    """Of Hermitian matrices: it does not depend on the phases of the eigenvectors."""
    values, vectors = [call_extern("eigh", _symmetric(x), output=k) for k in range(2)]
    weights = unsqueeze(values.unary(Ops.EXP).cast(x.dtype), values.ndim - 1).expand(vectors.shape)
    return matmul(vectors * weights, adjoint(vectors))


def _polar_factor(x: UOp) -> UOp:
    """``U @ V^H``: it does not depend on the phases of the singular vectors."""
    u, _, vh = [call_extern("svd", x, params=(False,), output=k) for k in range(3)]
    return matmul(u, vh)


def _eigenvector_ratios(x: UOp) -> UOp:
    """Of a general matrix: it does not depend on length and phase of the eigenvectors."""
    vectors = call_extern("eig", x, output=1)
    n = x.shape[-1]
    return vectors / vectors.shrink([(0, 1), (0, n)]).expand(vectors.shape)


def _pinv(x: UOp) -> UOp:
    return call_extern("pinv", x, UOp.const(1e-12, dtypes.float64, x.shape[:-2]))


EXTERN_RECORDS = [
    Record(Ops.EXTERN, _call("solve"), [SQUARE, Domain((2, 3, 2))], "solve"),
    Record(Ops.EXTERN, _call("solve"), [SQUARE_PLANE, Domain((3, 2), plane=True)], "solve complex"),
    Record(
        Ops.EXTERN,
        lambda b: call_extern("solve", identity((3, 3), b.dtype) * 2.0, b),
        [Domain((3, 2))],
        "solve in b",
    ),
    Record(Ops.EXTERN, _call("inv"), [SQUARE], "inv"),
    Record(Ops.EXTERN, _call("det"), [SQUARE], "det"),
    Record(Ops.EXTERN, _call("det"), [SQUARE_PLANE], "det complex"),
    Record(Ops.EXTERN, _outputs("slogdet", 2), [SQUARE], "slogdet"),
    Record(Ops.EXTERN, _outputs("slogdet", 2), [SQUARE_PLANE], "slogdet complex"),
    Record(Ops.EXTERN, lambda x: call_extern("cholesky", _positive_definite(x)), [SQUARE], "cholesky"),
    Record(Ops.EXTERN, lambda x: call_extern("cholesky", _positive_definite(x)), [SQUARE_PLANE], "cholesky complex"),
    Record(Ops.EXTERN, lambda x: _outputs("eigh", 2)(_symmetric(x)), [SQUARE], "eigh"),
    Record(Ops.EXTERN, _spectral_exponential, [SQUARE_PLANE], "eigh complex"),
    Record(Ops.EXTERN, lambda x: call_extern("eigvalsh", _symmetric(x)), [SQUARE], "eigvalsh"),
    Record(Ops.EXTERN, _call("eigvals"), [Domain((3, 3))], "eigvals"),
    Record(Ops.EXTERN, _eigenvector_ratios, [Domain((3, 3))], "eig"),
    Record(Ops.EXTERN, _outputs("svd", 3, False), [TALL], "svd tall"),
    Record(Ops.EXTERN, _outputs("svd", 3, False), [BROAD], "svd wide"),
    Record(Ops.EXTERN, _outputs("svd", 3, True), [SQUARE], "svd square"),
    Record(Ops.EXTERN, _polar_factor, [SQUARE_PLANE], "svd complex"),
    Record(Ops.EXTERN, _call("svdvals"), [TALL], "svdvals"),
    Record(Ops.EXTERN, _outputs("qr", 2, "reduced"), [TALL], "qr tall"),
    Record(Ops.EXTERN, _outputs("qr", 2, "reduced"), [BROAD], "qr wide"),
    Record(Ops.EXTERN, _outputs("qr", 2, "complete"), [SQUARE], "qr square"),
    Record(Ops.EXTERN, _outputs("qr", 2, "reduced"), [SQUARE_PLANE], "qr complex"),
    Record(Ops.EXTERN, _pinv, [TALL], "pinv tall"),
    Record(Ops.EXTERN, _pinv, [BROAD], "pinv wide"),
    Record(Ops.EXTERN, _call("fft", "backward"), [Domain((2, 5), plane=True)], "fft"),
    Record(Ops.EXTERN, _call("ifft", "ortho"), [Domain((2, 4), plane=True)], "ifft"),
    Record(Ops.EXTERN, _call("rfft", "forward"), [Domain((2, 5))], "rfft odd"),
    Record(Ops.EXTERN, _call("rfft", "backward"), [Domain((2, 6))], "rfft even"),
    Record(Ops.EXTERN, _call("irfft", "backward", 6), [Domain((2, 4), plane=True)], "irfft even"),
    Record(Ops.EXTERN, _call("irfft", "ortho", 5), [Domain((2, 3), plane=True)], "irfft odd"),
    Record(Ops.EXTERN, lambda x: sort_last_axis(x, True, True) ** 2, [Domain((3, 5))], "sort"),
]


def _called(build: Builder, n_inputs: int | None = None) -> Callable[..., list[UOp]]:
    """`build` as a call of a region; of the first `n_inputs` operands, the others being arguments all the same."""

    def call(*operands: UOp) -> list[UOp]:
        made = build(*operands)
        inputs = operands[:n_inputs]
        return close(made if isinstance(made, list) else [made], inputs).over(inputs.__getitem__)

    return call


def _two_results(x: UOp, y: UOp) -> list[UOp]:
    ratio = (x > 0).where((x * y).unary(Ops.SQRT), y)
    return [ratio * x, (ratio * y).reduce(Ops.ADD, 1)]


CALL_RECORDS = [
    Record(Ops.CALL, _called(lambda x, y: x.unary(Ops.SIN) * y), [WIDE, POSITIVE], "product"),
    Record(Ops.CALL, _called(lambda x, y: x.unary(Ops.SIN) * y, 1), [WIDE, POSITIVE], "with an operand around it"),
    Record(Ops.CALL, _called(_two_results), [WIDE, POSITIVE], "two results and a selection"),
    Record(Ops.CALL, _called(_called(_two_results)), [WIDE, POSITIVE], "a call alone in a call"),
    Record(Ops.CALL, _called(lambda x: _called(_call("inv"))(x)[0] * x), [SQUARE], "calls"),
    Record(Ops.CALL, _called(lambda z: z.unary(Ops.EXP) * z.unary(Ops.CONJ)), [PLANE], "complex"),
]

RECORDS = [*ELEMENTWISE_RECORDS, *MOVEMENT_RECORDS, *ALONG_AXES_RECORDS, *EXTERN_RECORDS, *CALL_RECORDS]
