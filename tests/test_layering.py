"""Imports point downward only: the order is the list below, and every import is walked, those inside functions too."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# uopc_core from the bottom up. Modules of one row may import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "collector",
        "containers",
        "costs",
        "dtype",
        "endings",
        "errors",
        "forks",
        "lazy",
        "limits",
        "once",
        "plain_trees",
        "recent",
        "records",
        "settings",
    ),
    ("ir",),
    ("interpret",),  # below rewrite, which folds constants with it
    ("rewrite",),
    ("transform",),
    ("schedule",),
    ("loop",),
    ("codegen",),
    ("runtime",),
    ("extern",),
    ("numerics",),
    ("frontend",),
    ("tensor", "tensor_dtypes", "tensor_handle", "nn"),
)
HEIGHT = {name: height for height, row in enumerate(LAYERS) for name in row}
# Folders of uopc_array from the bottom up; what is on its top floor is public and stands above them all.
FACE = ("_array", "_functions", "_transforms", "_interop")
FLOOR = {name: floor for floor, name in enumerate(FACE)}
PUBLIC = {
    "containers",
    "errors",
    "frontend",
    "lazy",
    "numerics",
    "records",
}  # modules of the core that the face may name
LAZY = "uopc_core.lazy"  # the one module that imports by a computed name
DEPENDENCIES = {"numpy", "cffi", "_cffi_backend", "array_api_compat", "optree", "opt_einsum"}


@dataclass(frozen=True)
class Import:
    """One imported name: `target` is the dotted path of the module, or of what is taken from it."""

    importer: str
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: {self.target}"


def module_name(path: Path, root: Path) -> str:
    """Dotted name of a file; a package's own file keeps its `__init__`, so that relative imports resolve alike."""
    return ".".join(path.relative_to(root).with_suffix("").parts)


def _import_from(importer: str, node: ast.ImportFrom) -> Iterator[Import]:
    package = importer.split(".")[: -node.level] if node.level else []
    base = ".".join([*package, *([node.module] if node.module else [])])
    for alias in node.names:
        yield Import(importer, node.lineno, f"{base}.{alias.name}")


def _dynamic_import(importer: str, node: ast.Call) -> Iterator[Import]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in {"import_module", "__import__", "LazyModule"} and importer != LAZY:
        match node.args:
            case [ast.Constant(value=str(target)), *_]:
                yield Import(importer, node.lineno, target)
            case _:
                yield Import(importer, node.lineno, "an import by a computed name")


def dotted_path(node: ast.expr) -> str:
    """`a.b.c` of an attribute chain on a name, else an empty string."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            base = dotted_path(value)
            return f"{base}.{attr}" if base else ""
        case _:
            return ""


def imports_of(source: str, importer: str) -> Iterator[Import]:
    """Every name taken from another module, by an import statement, a dynamic import or `uopc_core.x.y`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (Import(importer, node.lineno, alias.name) for alias in names)
            case ast.ImportFrom():
                yield from _import_from(importer, node)
            case ast.Call():
                yield from _dynamic_import(importer, node)
            case ast.Attribute() if dotted_path(node).startswith("uopc_core."):
                yield Import(importer, node.lineno, dotted_path(node))
            case _:
                pass


def fault(found: Import) -> str:
    """Why this import is not allowed; empty if it is."""
    package, *inside = found.importer.split(".")
    target, *names = found.target.split(".")
    if target in DEPENDENCIES or target in sys.stdlib_module_names:
        return ""
    if target == "uopc_array":
        return _fault_in_the_face(inside, names) if package == "uopc_array" else "uopc_core stands below uopc_array"
    if target != "uopc_core":
        return "from neither the standard library nor a runtime dependency"
    if package == "uopc_array":
        return "not a public name of uopc_core" if names and names[0] in HEIGHT.keys() - PUBLIC else ""
    if inside == ["__init__"]:
        return ""
    if not names or names[0] not in HEIGHT:
        return "the top of uopc_core imports this module; name the module that defines it"
    return "points upward" if HEIGHT[names[0]] > HEIGHT[inside[0]] else ""


def _fault_in_the_face(inside: list[str], names: list[str]) -> str:
    importer, target = (FLOOR.get(path[0], len(FACE)) if path else len(FACE) for path in (inside, names))
    return "points upward" if target > importer else ""


def faults(source: str, importer: str) -> list[str]:
    return [f"{found} ({why})" for found in imports_of(source, importer) if (why := fault(found))]


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def test_every_module_of_the_core_stands_in_one_layer() -> None:
    names = [name for row in LAYERS for name in row]
    found = {path.relative_to(ROOT / "uopc_core").parts[0].removesuffix(".py") for path in modules("uopc_core")}
    assert len(names) == len(set(names))
    assert found - {"__init__"} <= set(names)


@pytest.mark.parametrize("package", ["uopc_core", "uopc_array"])
def test_imports_point_downward(package: str) -> None:
    found = [line for path in modules(package) for line in faults(path.read_text(), module_name(path, ROOT))]
    assert not found, "\n".join(found)


WRONG = {
    "upward": ("uopc_core.ir.uop", "from uopc_core.rewrite.engine import rewrite"),
    "upward, relative": ("uopc_core.ir.uop", "from ..rewrite import engine"),
    "upward, relative, from a package": ("uopc_core.ir.__init__", "from ..nn import Linear"),
    "inside a function": ("uopc_core.loop.rangeify", "def f():\n    import uopc_core.codegen.c_source"),
    "under TYPE_CHECKING": ("uopc_core.dtype", "if TYPE_CHECKING:\n    from uopc_core.ir import UOp"),
    "dynamic": ("uopc_core.ir.uop", "importlib.import_module('uopc_core.runtime')"),
    "lazy": ("uopc_core.ir.uop", "auto = LazyModule('uopc_core.runtime.auto')"),
    "lazy, computed": ("uopc_core.ir.uop", "auto = LazyModule(name)"),
    "dynamic, computed": ("uopc_core.ir.uop", "importlib.import_module(name)"),
    "from the top of the core": ("uopc_core.ir.uop", "from uopc_core import gradient"),
    "the core from the face": ("uopc_core.nn", "import uopc_array"),
    "the face past the top": ("uopc_array.random", "from uopc_core.ir import UOp"),
    "the face past the top, by module": ("uopc_array.random", "from uopc_core import schedule"),
    "the face past the top, by attribute": ("uopc_array.random", "import uopc_core\nuopc_core.ir.uop.UOp"),
    "upward in the face": ("uopc_array._array.handle", "from uopc_array._functions.reductions import sum"),
    "upward in the face, to its top": ("uopc_array._transforms.jit", "from uopc_array.linalg import qr"),
    "upward in the face, to all of it": ("uopc_array._array.handle", "import uopc_array"),
    "upward in the face, relative": ("uopc_array._array.handle", "from .._interop.ufunc import route"),
    "an undeclared dependency": ("uopc_array.random", "import scipy.linalg"),
}


@pytest.mark.parametrize(("importer", "source"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_import_is_found(importer: str, source: str) -> None:
    assert faults(source, importer)


RIGHT = {
    "downward": ("uopc_core.rewrite.engine", "from uopc_core.ir import UOp"),
    "downward, relative": ("uopc_core.rewrite.engine", "from ..ir.uop import UOp"),
    "lazy": ("uopc_array._functions.einsum", "optree = LazyModule('optree')"),
    "same layer": ("uopc_core.ir.uop", "from .op import Ops"),
    "top of the core": ("uopc_core.__init__", "from uopc_core.transform import gradient"),
    "the face from the top": (
        "uopc_array.random",
        "from uopc_core import UOp, gradient\nimport uopc_core\nuopc_core.jvp",
    ),
    "the face from itself": ("uopc_array.random", "from . import linalg\nfrom uopc_array.linalg import qr"),
    "downward in the face": ("uopc_array._interop.ufunc", "from uopc_array._array.array import Array"),
    "the errors from the face": ("uopc_array.random", "from uopc_core.errors import ShapeError"),
    "libraries": ("uopc_core.dtype", "import numpy as np\nfrom collections.abc import Iterator\nimport cffi"),
}


@pytest.mark.parametrize(("importer", "source"), RIGHT.values(), ids=RIGHT.keys())
def test_a_right_import_is_let_through(importer: str, source: str) -> None:
    assert faults(source, importer) == []


# Where the face reaches something by a name that is a string: modules, and whose names they are.
BY_NAME = {
    "_array/array.py": "x.flags['WRITEABLE']: the names of the flags",
    "_functions/shapes.py": "NumPy's function of the same name, for its error",
    "_functions/stubs.py": "NumPy's modules, for their classes",
    "_functions/ufunc.py": "facts and methods of NumPy's ufunc",
    "_interop/numpy_names.py": "NumPy's names that the namespace has no version of",
    "_interop/numpy_objects.py": "NumPy's objects that are indexed",
    "_interop/ufunc.py": "the method of a ufunc, which NEP 13 gives by its name",
    "_transforms/traces.py": "Python's module `random`, where the program has loaded it",
    "_interop/generators.py": "NumPy's generators and their methods",
}


def calls_by_name(source: str) -> list[int]:
    """Lines that reach something by a string: `getattr` without a default, `vars(x)[name]`, `TABLE["name"](...)`."""
    lines: list[int] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[_, _]):
                lines.append(node.lineno)
            case ast.Call(func=ast.Subscript(slice=ast.Constant(value=str()))):
                lines.append(node.lineno)
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars" | "globals")), ctx=ast.Load()):
                lines.append(node.lineno)
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=index) if dotted_path(index) != "__name__":
                lines.append(node.lineno)
            case _:
                pass
    return lines


def test_no_function_is_reached_by_its_name_as_a_string() -> None:
    face = ROOT / "uopc_array"
    found = {path.relative_to(face).as_posix() for path in modules("uopc_array") if calls_by_name(path.read_text())}
    assert found == BY_NAME.keys()
    for source in (
        'getattr(package, "sum")(x)',
        'PROTOCOLS["ufunc"](x)',
        'vars(xp)["sum"]',
        'sys.modules["numpy"].sum',
    ):
        assert calls_by_name(source)
    assert not calls_by_name('getattr(x, "ndim", 1)\nsys.modules[__name__]\nTABLE[op](x)')


def test_the_top_floor_of_the_face_has_public_names_only() -> None:
    floor = [*(ROOT / "uopc_array").glob("*.py"), *(ROOT / "uopc_array" / "lib").glob("*.py")]
    found = {
        node.name
        for path in floor
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert found == {"__getattr__", "__dir__"}


def test_the_tests_mirror_the_folders() -> None:
    core = {path.name for path in (ROOT / "uopc_core").iterdir() if path.is_dir()} - {"__pycache__"}
    programs = {"fuzz", "reliability"}  # with helpers of their own
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert folders <= core | {name.removeprefix("_") for name in FACE} | programs | {"support"}
    files = [path for path in (ROOT / "tests").glob("**/*.py") if path.relative_to(ROOT).parts[1] not in programs]
    known = {"__init__.py", "conftest.py"}
    apart = {path.name for path in files if path.parent.name != "support"} - known
    assert all(name.startswith("test_") for name in apart), apart
    assert not [path for path in files if path.parent.name == "support" and path.name.startswith("test_")]
