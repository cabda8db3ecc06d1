"""The graph: nodes, their type rules, compositions of them, their text form and its verifier."""

from uopc_core.ir.alike import compare_in_c
from uopc_core.ir.extern import EXTERNS, Extern, TensorType, register_extern
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import HIDDEN, TRACED, TRACKED, Scalar, UOp, fresh_number, walk

__all__ = [
    "EXTERNS",
    "HIDDEN",
    "TRACED",
    "TRACKED",
    "Extern",
    "Ops",
    "Region",
    "Scalar",
    "TensorType",
    "UOp",
    "compare_in_c",
    "fresh_number",
    "register_extern",
    "walk",
]
