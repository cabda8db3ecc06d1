"""What a process holds: objects of the packages that live, entries of their tables, memory that is in use."""

import gc
import os
from collections import Counter
from pathlib import Path

from uopc_array._array import programs
from uopc_core import clear_plans
from uopc_core.ir import uop
from uopc_core.runtime import cache, execute
from uopc_core.schedule import plan

__all__ = ["live", "resident_bytes"]

_PACKAGES = ("uopc_core", "uopc_array")


def live() -> Counter[str]:
    """How many objects of each class of the packages there are, and entries of the tables that a process keeps.

    What tables keep for use again is let go of first: how much of it there is, up to their limits, depends on when they
    were last tidied up.
    """
    uop._recent_consts.clear()
    clear_plans()
    execute._records.clear()
    programs._programs.clear()
    gc.collect()
    counts = Counter(type(x).__name__ for x in gc.get_objects() if type(x).__module__.startswith(_PACKAGES))
    tables = {"nodes": uop._table, "plans": plan._plans, "records": execute._records, "kernels": cache._functions}
    counts.update({f"entries of the table of {name}": len(table) for name, table in tables.items()})
    return counts


def resident_bytes() -> int:
    """Memory of this process that lies in the machine's, its own part and that of files."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
