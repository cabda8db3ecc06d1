"""Graphs of whole-array operations: built, differentiated, planned, compiled and run; the names of all layers.

The planner, the compiler, the derivatives and `Tensor` are loaded when one of their names is first looked at.
"""

from typing import TYPE_CHECKING, Any

from uopc_core import errors
from uopc_core.costs import (
    ALONE_WORK,
    ALWAYS_AT_ONCE,
    AT_ONCE,
    CALLS_AT_ONCE,
    LIBRARY_WORK,
    LOCKED_WORK,
    SHARED_CONTEXT_WORK,
    SPARED,
    SPARED_BY_PART,
    UNCHAINED,
)
from uopc_core.dtype import (
    DTYPES,
    DType,
    as_dtype,
    converted,
    dtypes,
    is_bool,
    is_complex,
    is_float,
    is_inexact,
    is_integer,
    is_unsigned,
    name_of,
    real_dtype,
)
from uopc_core.extern.fft import OPPOSITE_NORM
from uopc_core.extern.product import loop_of_products, multiply_by_library
from uopc_core.extern.sorting import argsort_last_axis, searchsorted_vector, sort_last_axis
from uopc_core.forks import in_forked_child
from uopc_core.interpret.numpy_interp import NumPyProgram
from uopc_core.interpret.numpy_ops import choose_in_c
from uopc_core.ir import (
    EXTERNS,
    HIDDEN,
    TRACED,
    TRACKED,
    Extern,
    Ops,
    Region,
    Scalar,
    TensorType,
    UOp,
    compare_in_c,
    composite,
    fresh_number,
    register_extern,
    walk,
)
from uopc_core.lazy import compute_with, load_name
from uopc_core.recent import Recent
from uopc_core.runtime.buffer import Buffer
from uopc_core.runtime.execute import program_now, realize_all, value_now
from uopc_core.runtime.executors import (
    EXECUTORS,
    Executor,
    PreparedPlan,
    register_executor,
    unregister_executor,
    warm_up,
)
from uopc_core.runtime.pending import note_release
from uopc_core.schedule.library_work import is_for_library
from uopc_core.settings import SETTINGS, context, current

if TYPE_CHECKING:
    from uopc_core.ir.text import from_uir, to_uir
    from uopc_core.runtime.executable import Executable
    from uopc_core.runtime.explain import explain, explain_nodes
    from uopc_core.runtime.summary import toolchain_summary
    from uopc_core.schedule.plan import clear_plans, make_plan, plan_stats
    from uopc_core.tensor import Tensor
    from uopc_core.transform.checkpoint import checkpoint
    from uopc_core.transform.gradient import gradient, pull_back
    from uopc_core.transform.jvp import jvp
    from uopc_core.transform.repeated import repeated
    from uopc_core.transform.vmap import batch

__all__ = [
    "ALONE_WORK",
    "ALWAYS_AT_ONCE",
    "AT_ONCE",
    "CALLS_AT_ONCE",
    "DTYPES",
    "EXECUTORS",
    "EXTERNS",
    "HIDDEN",
    "LIBRARY_WORK",
    "LOCKED_WORK",
    "OPPOSITE_NORM",
    "SETTINGS",
    "SHARED_CONTEXT_WORK",
    "SPARED",
    "SPARED_BY_PART",
    "TRACED",
    "TRACKED",
    "UNCHAINED",
    "Buffer",
    "DType",
    "Executable",
    "Executor",
    "Extern",
    "NumPyProgram",
    "Ops",
    "PreparedPlan",
    "Recent",
    "Region",
    "Scalar",
    "Tensor",
    "TensorType",
    "UOp",
    "argsort_last_axis",
    "as_dtype",
    "batch",
    "checkpoint",
    "choose_in_c",
    "clear_plans",
    "compare_in_c",
    "composite",
    "context",
    "converted",
    "current",
    "dtypes",
    "errors",
    "explain",
    "explain_nodes",
    "fresh_number",
    "from_uir",
    "gradient",
    "in_forked_child",
    "is_bool",
    "is_complex",
    "is_float",
    "is_for_library",
    "is_inexact",
    "is_integer",
    "is_unsigned",
    "jvp",
    "loop_of_products",
    "make_plan",
    "multiply_by_library",
    "name_of",
    "note_release",
    "plan_stats",
    "program_now",
    "pull_back",
    "real_dtype",
    "realize_all",
    "register_executor",
    "register_extern",
    "repeated",
    "searchsorted_vector",
    "sort_last_axis",
    "to_uir",
    "toolchain_summary",
    "unregister_executor",
    "value_now",
    "walk",
    "warm_up",
]

_LATE = {
    "from_uir": "uopc_core.ir.text",
    "to_uir": "uopc_core.ir.text",
    "explain": "uopc_core.runtime.explain",
    "explain_nodes": "uopc_core.runtime.explain",
    "Executable": "uopc_core.runtime.executable",
    "toolchain_summary": "uopc_core.runtime.summary",
    "clear_plans": "uopc_core.schedule.plan",
    "make_plan": "uopc_core.schedule.plan",
    "plan_stats": "uopc_core.schedule.plan",
    "Tensor": "uopc_core.tensor",
    "gradient": "uopc_core.transform.gradient",
    "pull_back": "uopc_core.transform.gradient",
    "jvp": "uopc_core.transform.jvp",
    "batch": "uopc_core.transform.vmap",
    "repeated": "uopc_core.transform.repeated",
    "checkpoint": "uopc_core.transform.checkpoint",
}
compute_with(
    *[_LATE[name] for name in ("Executable", "gradient", "pull_back", "jvp", "batch", "checkpoint", "repeated")]
)


def __getattr__(name: str) -> Any:
    value = globals()[name] = load_name(__name__, _LATE, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
