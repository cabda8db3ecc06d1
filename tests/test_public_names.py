"""What is public: the files of the top floor, the names that `dir` gives, and the module that each says it is from."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uopc_array as xp

FACE = Path(xp.__file__).parent
FLOORS = {"_array", "_functions", "_interop", "_transforms"}
SUBMODULES = {"fft", "lib", "linalg", "random", "special", "testing"}
SPECIAL = {"__array_api_version__", "__array_namespace_info__", "__version__"}
# what is handed on as it is
OTHERS = {
    "context": "uopc_core.settings",
    **dict.fromkeys("bool complex64 complex128 float32 float64".split(), "numpy"),
}
OTHERS |= {f"{kind}{bits}": "numpy" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def test_the_top_floor_is_public() -> None:
    found = {path.name.partition(".")[0] for path in FACE.iterdir()} - {"__pycache__"}
    assert found == {"__init__", "py", *FLOORS, *SUBMODULES}


def test_the_namespace_lists_public_names_only() -> None:
    assert {name for name in dir(xp) if name.startswith("_")} == SPECIAL
    assert {name for name in vars(xp) if not name.startswith("_")} <= set(dir(xp))
    assert set(xp.__all__) <= set(dir(xp))
    ours = {name for name in dir(xp) if not hasattr(np, name)} - SPECIAL
    transforms = "checkpoint grad hessian jacfwd jacrev jit jvp stop_gradient value_and_grad vjp vmap"
    assert ours == {"Array", "context", "explain", "log_host_calls", "special", *transforms.split()}


@pytest.mark.parametrize("name", sorted(SUBMODULES))
def test_a_submodule_lists_public_names_only(name: str) -> None:
    module: Any = import_module(f"uopc_array.{name}")
    assert not [found for found in dir(module) if found.startswith("_")]
    assert {found for found in module.__all__ if not hasattr(module, found)} == set()


@pytest.mark.parametrize("name", ["jit", "sum"])
def test_no_function_is_a_module(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module(f"uopc_array.{name}")


def test_each_name_says_where_it_is_found() -> None:
    """Messages, help and pickles name a module that the user can import."""
    for space in (xp, xp.linalg, xp.fft, xp.special, import_module("uopc_array.random")):
        for name in space.__all__:
            module = getattr(getattr(space, name), "__module__", None)
            if isinstance(module, str):
                assert module == (OTHERS.get(name) or space.__name__), name


def test_a_ufunc_is_known_by_its_class() -> None:
    assert isinstance(xp.add, xp.ufunc)
    assert isinstance(xp.matmul, xp.ufunc)
    assert not isinstance(xp.sum, xp.ufunc)
    assert not isinstance(np.add, xp.ufunc)
    with pytest.raises(TypeError, match="ufunc: expected no call of the class"):
        xp.ufunc("add")  # type: ignore[call-arg]
