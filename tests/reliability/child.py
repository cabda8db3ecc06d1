"""The process of a trial: takes its limits, runs the program, sends what it returns."""

import importlib
import json
import os
import resource
import sys
from typing import Any

__all__ = ["main"]


def main(order: dict[str, Any]) -> None:
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
