"""The operations of the graph and their groups.

Every table keyed by `Ops` (type rules, derivatives, interpreter, C text) is checked against `TENSOR_OPS` by a test.
"""

from enum import IntEnum, auto

__all__ = [
    "ALONG_AXES",
    "BINARY",
    "BITWISE",
    "CALLS",
    "COMPARISONS",
    "COMPLEX_FUNCTIONS",
    "ELEMENTWISE",
    "FOR_DERIVATIVES",
    "IDENTITIES",
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
    "VIEW_OPS",
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
    # identities: the value of their source
    MATERIALIZE = auto()  # stored, whatever the planner thinks of it
    DETACH = auto()  # without a derivative
    VARIABLE = auto()  # arg: a number; what a derivative is taken by, told apart from its source and other variables
    # functions of a host library
    EXTERN = auto()  # arg: (name, params, output number)
    # sub-graphs
    CALL = auto()  # arg: (region, output number); see `region.py`


# Every op is in exactly one of these. Sets are spelled out, so that none depends on the order above.
LEAVES = frozenset({Ops.CONST, Ops.BUFFER, Ops.PARAM, Ops.IOTA, Ops.RANDOM})
# of the mathematical library, for real and complex numbers
COMPLEX_FUNCTIONS = frozenset(
    {
        *(Ops.SQRT, Ops.EXP, Ops.EXP2, Ops.EXPM1, Ops.LOG, Ops.LOG2, Ops.LOG10, Ops.LOG1P),
        *(Ops.SIN, Ops.COS, Ops.TAN, Ops.ASIN, Ops.ACOS, Ops.ATAN),
        *(Ops.SINH, Ops.COSH, Ops.TANH, Ops.ASINH, Ops.ACOSH, Ops.ATANH),
    }
)
UNARY = COMPLEX_FUNCTIONS | {
    *(Ops.NEG, Ops.RECIP, Ops.ERF, Ops.ERFC, Ops.FLOOR, Ops.CEIL, Ops.TRUNC, Ops.RINT, Ops.ABS, Ops.SIGN),
    *(Ops.NOT, Ops.CAST, Ops.BITCAST, Ops.REAL, Ops.IMAG, Ops.CONJ),
}
COMPARISONS = frozenset({Ops.CMPLT, Ops.CMPLE, Ops.CMPEQ, Ops.CMPNE})
BITWISE = frozenset({Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR})
BINARY = frozenset(
    {
        *(Ops.ADD, Ops.SUB, Ops.MUL, Ops.DIV, Ops.FLOORDIV, Ops.FLOORMOD, Ops.MAX, Ops.MIN),
        *(Ops.POW, Ops.ATAN2, Ops.HYPOT, Ops.COPYSIGN, Ops.NEXTAFTER, Ops.LOGADDEXP),
        *(*COMPARISONS, *BITWISE, Ops.COMPLEX),
    }
)
TERNARY = frozenset({Ops.WHERE})
ELEMENTWISE = UNARY | BINARY | TERNARY
MOVEMENT = frozenset({Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.SHRINK, Ops.PAD, Ops.FLIP, Ops.CONCAT})
ALONG_AXES = frozenset({Ops.REDUCE, Ops.SCAN, Ops.INDEX, Ops.SCATTER})
IDENTITIES = frozenset({Ops.MATERIALIZE, Ops.DETACH, Ops.VARIABLE})
# of several outputs, a node each, that are computed together: equal but for the last part of the arg
CALLS = frozenset({Ops.EXTERN, Ops.CALL})
TENSOR_OPS = frozenset(Ops)

# movement of which every element is one of the source's
VIEW_OPS = MOVEMENT - {Ops.PAD, Ops.CONCAT}
# identities that mean something to a derivative only: in a plan there are none
FOR_DERIVATIVES = frozenset({Ops.DETACH, Ops.VARIABLE})

# Functions of the mathematical library: real or complex floating in, the same out, within 4 ulp of the true value.
MATH_FUNCTIONS = (COMPLEX_FUNCTIONS - {Ops.SQRT}) | {Ops.ERF, Ops.ERFC, Ops.POW, Ops.ATAN2, Ops.HYPOT, Ops.LOGADDEXP}

REDUCIBLE = frozenset({Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN, Ops.AND, Ops.OR})
SCANNABLE = frozenset({Ops.ADD, Ops.MUL, Ops.MAX, Ops.MIN})
SUM_BLOCK = 128  # elements of a cumulative sum that are added one after the other
SCATTER_MODES = ("set", "add", "mul", "max", "min")
