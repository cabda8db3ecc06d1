"""What this machine offers to the runtime, in words."""

from __future__ import annotations

from uopc_core.runtime.cache import stats
from uopc_core.runtime.folder import cache_folder
from uopc_core.runtime.toolchain import find_toolchain, refusal
from uopc_core.settings import current

__all__ = ["toolchain_summary"]


def toolchain_summary() -> dict[str, str]:
    """The compiler and its flags (or that there is none), the cache of kernels, threads and tier."""
    toolchain = find_toolchain()
    if toolchain is None:
        why = refusal()
        compiler = "none: everything runs on NumPy; install a C compiler, or name one with CC"
        compiler += f" (the first that was tried was refused: {why})" if why else ""
        rest: dict[str, str] = {}
    else:
        compiler = f"{' '.join(toolchain.command)} ({toolchain.version})"
        rest = {
            "flags": " ".join(toolchain.flags),
            "vector math library": "libmvec" if toolchain.has_libmvec else "none",
            "kernels": f"{cache_folder()} ({stats()})",
        }
    return {"C compiler": compiler, **rest, "threads": str(current().num_threads), "tier": current().tier}
