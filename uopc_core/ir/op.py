"""The operations of the graph and their groups.

Every table keyed by `Ops` (type rules, derivatives, interpreter, C text) is checked against `TENSOR_OPS` by a test.
"""

from enum import IntEnum, auto

__all__ = [
    "BINARY",
    "BITWISE",
    "COMPARISONS",
    "COMPLEX_FUNCTIONS",
    "ELEMENTWISE",
    "LEAVES",
    "MATH_FUNCTIONS",
    "MOVEMENT",
    "REDUCIBLE",
    "SCANNABLE",
    "SCATTER_MODES",
    "SUM_BLOCK",
    "TENSOR_OPS",
    "TERNARY",
    "UNARY",
    "Ops",
]


class Ops(IntEnum):
    """One member per operation. An IntEnum, because members are hashed for every node that is made."""

    # leaves
    CONST = auto()  # arg: Python scalar; shape ()
    BUFFER = auto()  # real memory: `UOp.realized`, which is the arg only of one that was never another op
    PARAM = auto()  # arg: (index, shape, "buffer" | "scalar"): numbered input of a trace or kernel
    IOTA = auto()  # arg: n; the integers 0 .. n-1
    RANDOM = auto()  # src: (key,) uint64; arg: shape; the Squares generator at each flat index
    # elementwise, one operand
    NEG = auto()
    RECIP = auto()
    SQRT = auto()
    EXP = auto()
    EXP2 = auto()
    EXPM1 = auto()
    LOG = auto()
    LOG2 = auto()
    LOG10 = auto()
    LOG1P = auto()
    SIN = auto()
    COS = auto()
    TAN = auto()
    ASIN = auto()
    ACOS = auto()
    ATAN = auto()
    SINH = auto()
    COSH = auto()
    TANH = auto()
    ASINH = auto()
    ACOSH = auto()
    ATANH = auto()
    ERF = auto()
    ERFC = auto()
    FLOOR = auto()
    CEIL = auto()
    TRUNC = auto()
    RINT = auto()
    ABS = auto()
    SIGN = auto()  # real only
    NOT = auto()  # bitwise on integers, logical on bool
    CAST = auto()  # value conversion, as ndarray.astype
    BITCAST = auto()  # same bits, other dtype of the same size
    REAL = auto()
    IMAG = auto()
    CONJ = auto()
    # elementwise, two operands
    ADD = auto()
    SUB = auto()
    MUL = auto()
    DIV = auto()
    FLOORDIV = auto()
    FLOORMOD = auto()
    MAX = auto()  # nan where an operand is nan
    MIN = auto()
    POW = auto()
    ATAN2 = auto()
    HYPOT = auto()
    COPYSIGN = auto()
    NEXTAFTER = auto()
    LOGADDEXP = auto()
    CMPLT = auto()
    CMPLE = auto()
    CMPEQ = auto()
    CMPNE = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    SHL = auto()
    SHR = auto()
    COMPLEX = auto()  # real part, imaginary part
    # elementwise, three operands
    WHERE = auto()
    # movement
    RESHAPE = auto()
    EXPAND = auto()
    PERMUTE = auto()
    SHRINK = auto()
    PAD = auto()
    FLIP = auto()
    CONCAT = auto()
    # along axes
    REDUCE = auto()  # arg: (op, n): the n trailing axes, dropped
    SCAN = auto()  # arg: op; inclusive, last axis
    INDEX = auto()  # src: (x, i0, ...): gather on the leading axes
    SCATTER = auto()  # src: (base, value, i0, ...); arg: mode
    # structure
    STAGE = auto()  # arg: "materialize" | "detach" | ("variable", id)
    EXTERN = auto()  # arg: (name, params, output number)


LEAVES = frozenset({Ops.CONST, Ops.BUFFER, Ops.PARAM, Ops.IOTA, Ops.RANDOM})
UNARY = frozenset(op for op in Ops if Ops.NEG <= op <= Ops.CONJ)
BINARY = frozenset(op for op in Ops if Ops.ADD <= op <= Ops.COMPLEX)
TERNARY = frozenset({Ops.WHERE})
ELEMENTWISE = UNARY | BINARY | TERNARY
COMPARISONS = frozenset({Ops.CMPLT, Ops.CMPLE, Ops.CMPEQ, Ops.CMPNE})
BITWISE = frozenset({Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR})
MOVEMENT = frozenset(op for op in Ops if Ops.RESHAPE <= op <= Ops.CONCAT)
TENSOR_OPS = frozenset(Ops)

# Functions of the mathematical library: real or complex floating in, the same out, within 4 ulp of the true value.
COMPLEX_FUNCTIONS = frozenset(op for op in Ops if Ops.SQRT <= op <= Ops.ATANH)
MATH_FUNCTIONS = (COMPLEX_FUNCTIONS - {Ops.SQRT}) | {Ops.ERF, Ops.ERFC, Ops.POW, Ops.ATAN2, Ops.HYPOT, Ops.LOGADDEXP}

REDUCIBLE = frozenset({Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN, Ops.AND, Ops.OR})
SCANNABLE = frozenset({Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN})
SUM_BLOCK = 128  # elements of a cumulative sum that are added one after the other
SCATTER_MODES = ("set", "add", "mul", "max", "min")
