"""The process of a trial: takes its limits, gives up the rights of root, runs the program, sends what it returns."""

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
from typing import Any

__all__ = ["main"]

_SET_SIGNAL_OF_PARENTS_DEATH, _SET_SECURE_BITS, _NO_ROOT = 1, 28, 1  # of prctl(2)
_CAPABILITIES_3 = 0x20080522  # of capset(2)


def _be_anyone() -> None:
    """End with the process of the tests; let the permissions of files hold for root too, here and in its children."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_SET_SIGNAL_OF_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)
    if os.geteuid() == 0 and hasattr(libc, "capset"):
        libc.prctl(_SET_SECURE_BITS, _NO_ROOT, 0, 0, 0)
        libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())


def main(order: dict[str, Any]) -> None:
    _be_anyone()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
    for name, bound in order["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (bound, bound))
    if order["path"] is not None:
        value = _run_text(order["path"], order["args"])
    else:
        function = getattr(importlib.import_module(order["module"]), order["function"])
        value = function(*order["args"])
    with os.fdopen(order["pipe"], "w") as pipe:
        json.dump(value, pipe)


def _run_text(path: str, args: list[Any]) -> Any:
    """Run a file as the main program; it finds its arguments in `args`, and its value is what it calls `value`."""
    names = vars(sys.modules["__main__"])
    names["args"] = args
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), names)
    return names.get("value")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
