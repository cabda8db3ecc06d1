"""What a function can reach besides its arguments, and what is in the objects among these: its state.

A walk goes from a function through its closure, the globals that its code names, the functions and methods that it can
call, and through lists, dicts and the attributes of objects. It finds the arrays, which are inputs of a trace, the
boxes that may be bound anew, and the key: all that a trace depends on. Code is read once for each function.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import os
import struct
import sys
import sysconfig
from collections.abc import Collection, Hashable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from uopc_array._array.array import Array
from uopc_array._array.tracing import depends
from uopc_array._transforms.boxes import (
    AttributesBox,
    Box,
    CellBox,
    ClassBox,
    DictBox,
    IgnoredBox,
    ListBox,
    NamesBox,
    SlotsBox,
)
from uopc_array._transforms.transformed import TracedFunction
from uopc_core import UOp
from uopc_core.records import record

__all__ = ["Reached", "Surroundings", "Walk", "array_key", "holds_traced", "is_object", "value_key"]

_ATOMS = (str, bytes, bool, int, float, complex, type(None), type(Ellipsis), np.generic, np.dtype)
SMALL = 64  # elements of an array that is looked at by value
_PLAIN = frozenset({str, bool, int, bytes, type(None)})  # a value of these types is told apart by ==
_TYPES = {"i": int, "u": int, "f": float, "c": complex}  # of traced Python numbers, by the kind of their dtype
_FOREIGN = frozenset(sys.stdlib_module_names) - {"__main__", "test"} | {"numpy", "scipy", "uopc_array", "uopc_core"}
_CALLABLES = (FunctionType, MethodType, functools.partial, TracedFunction, staticmethod, classmethod, property)
_SITES = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})
_GENERATORS = frozenset({"Generator", "RandomState", "Random"})  # of random numbers, in NumPy and in Python
_INNER = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__qualname__"})
_COLLECTIONS = (list, tuple, dict, set, frozenset)
_NO_OBJECTS = (type, ModuleType, BuiltinFunctionType, enum.Enum, BaseException, np.ndarray, *_ATOMS)


@record
class _Code:
    """The names in a function's code and in the functions inside it."""

    names: tuple[str, ...]
    attributes: frozenset[str]


@functools.lru_cache(8192)
def _read_code(code: CodeType) -> _Code:
    names: dict[str, None] = {}
    attributes: set[str] = set()
    waiting = [code]
    while waiting:
        current = waiting.pop()
        waiting += [item for item in current.co_consts if isinstance(item, CodeType)]
        for instruction in dis.get_instructions(current):
            if instruction.opname.endswith(("_GLOBAL", "_NAME")):
                names[instruction.argval] = None
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "IMPORT_FROM", "DELETE_ATTR"):
                attributes.add(instruction.argval)
    return _Code(tuple(names), frozenset(attributes))


def _is_foreign(module: object) -> bool:
    """Whether this is the name of a module whose own variables are none of the user's program."""
    return isinstance(module, str) and module.partition(".")[0] in _FOREIGN


@functools.lru_cache(4096)
def _is_installed(package: str) -> bool:
    """Whether a package lies where installers put packages."""
    path = getattr(sys.modules.get(package), "__file__", None)
    return path is not None and os.path.abspath(path).startswith(_SITES)


@functools.lru_cache(4096)
def _is_object_class(cls: type) -> bool:
    return not issubclass(cls, _NO_OBJECTS) and not _is_foreign(cls.__module__)


def is_object(value: object) -> bool:
    """Whether `value` is of a class of the user's program: its attributes are looked at."""
    return _is_object_class(cast("type[Any]", type(value))) and not isinstance(
        value, (list, tuple, dict, set, frozenset)
    )


def array_key(x: Any) -> tuple[Hashable, ...]:
    """What of an array, of ours or of NumPy, a trace depends on."""
    if isinstance(x, Array):
        if x._weak:
            return (_TYPES[x._uop.dtype.kind],)
        return (None if x._is_number else x._uop.shape, x._uop.dtype)
    number = isinstance(x, np.generic)
    values = cast("np.ndarray[Any, Any]", x)
    return (("scalar", values.dtype),) if number else (values.shape, values.dtype)


def value_key(value: Any) -> Hashable:
    """A key that is equal for values that no program can tell apart: of one type, and of the same bits.

    Raises:
        TypeError: it is not hashable.
    """
    kind = cast("type[Any]", type(value))
    if kind is float:
        return kind, struct.pack("d", value)
    if kind is complex:
        return kind, struct.pack("dd", value.real, value.imag)
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, tuple):
        return kind, tuple([value_key(item) for item in cast("tuple[Any, ...]", value)])
    if isinstance(value, frozenset):
        return kind, frozenset([value_key(item) for item in cast("frozenset[Any]", value)])
    hash(value)
    return kind, value


@record(eq=False)
class _Identity:
    """A key for what is not hashable."""

    value: object


class Walk:
    """What has been found so far.

    Attributes:
        key: all that a trace depends on.
        handles: the arrays, each once: the inputs.
        numbers: of the arrays among them, by their identity.
        by_value: whether small arrays are part of the key with their values, instead of inputs.
        ignored: lists and dicts not to look into, by their identity.
        boxes: the places that may be bound anew, each with what it holds.
        seen: the number of each object that was met, by its identity.
        kept: these objects, but for those of an earlier walk.
        arrays: arrays of NumPy, and those that are looked at by value, each with the bytes that it had.
        generators: of random numbers.
        classes: of the objects that were met.
        is_tree: whether no list, dict, object or function was met twice.
    """

    def __init__(
        self, before: Walk | None = None, key: list[Any] | None = None, handles: list[Any] | None = None
    ) -> None:
        self.key: list[Any] = [] if key is None else key
        self.handles: list[Any] = [] if handles is None else handles
        self.numbers: dict[int, int] = {}
        self.ignored: dict[int, Any] = {}
        self.by_value = before.by_value if before else False
        self.is_tree = True
        self._home = before._home if before else ""  # the package of the function that is looked into
        self.boxes: list[tuple[Box, dict[Hashable, Any]]] = []
        self.arrays: list[tuple[Any, bytes]] = []
        self.generators: list[Any] = []
        self.classes: dict[type, None] = {}
        self.attributes: set[str] = set()
        self._spaces: dict[int, tuple[Any, set[str]]] = {}
        self.seen: dict[int, int] = {}
        self._before = before
        self.kept: list[Any] = []  # what `_seen` names by its identity

    def number_of(self, value: object) -> int | None:
        """The number under which an object was met first."""
        found = self._before.seen.get(id(value)) if self._before else None
        return self.seen.get(id(value)) if found is None else found

    def object_at(self, number: int) -> Any:
        """The object that was met under this number."""
        older = len(self._before.kept) if self._before else 0
        return self._before.kept[number] if self._before and number < older else self.kept[number - older]

    def is_current(self) -> bool:
        """Whether all is as it was."""
        for box, before in self.boxes:
            if not box.is_same(before):
                return False
        return all([_bytes_of(array) == copy for array, copy in self.arrays])

    def visit(self, value: Any) -> None:
        """Look at `value` and at all that it leads to."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if type(item) is Array:
                self.add_array(item)
            elif type(item) in _PLAIN:
                self.key.append((type(item), item))
            else:
                waiting += reversed(list(self._look(item)))

    def look_into_namespaces(self) -> None:
        """Look at what the code met so far may name of the modules and classes met so far."""
        found = True
        while found:
            found = False
            for space, names in list(self._spaces.values()):
                contents = cast("dict[str, Any]", vars(space))
                wanted = sorted((self.attributes | _dunders(space)) & contents.keys() - names - _INNER)
                new = [name for name in wanted if _is_looked_at(contents[name])]
                names.update(new)
                found = found or bool(new)
                if new:
                    box = ClassBox(space, new) if isinstance(space, type) else NamesBox(contents, new)
                    for item in self._open(box):
                        self.visit(item)

    def _look(self, value: Any) -> Iterator[Any]:
        """Note `value`; what it leads to."""
        if isinstance(value, _ATOMS):
            self.key.append(value_key(value))
            return
        if isinstance(value, Array):
            self.add_array(value)
            return
        if isinstance(value, ModuleType):
            if not self._is_foreign(value.__name__):
                self._spaces.setdefault(id(value), (value, set()))
            return
        number = self.number_of(value)
        if number is not None:
            self.is_tree = False
            self.key.append(number)
            return
        self.seen[id(value)] = len(self.kept) + (len(self._before.kept) if self._before else 0)
        self.kept.append(value)
        yield from self._enter(value)

    def _enter(self, value: Any) -> Iterator[Any]:
        if isinstance(value, np.ndarray):
            array = cast("np.ndarray[Any, Any]", value)
            copy = array.tobytes()
            self.arrays.append((array, copy))
            self.key.append((array.shape, array.dtype, copy))
        elif isinstance(value, tuple):
            items = cast("tuple[Any, ...]", value)
            self.key.append((type(items), len(items)))
            yield from items
        elif id(value) in self.ignored:
            self.key.append(type(value))
            self.boxes.append((IgnoredBox(), {}))
        elif isinstance(value, list):
            self.key.append((type(cast("object", value)), len(cast("list[Any]", value))))
            yield from self._open(ListBox(cast("list[Any]", value)))
        elif isinstance(value, dict):
            items = cast("dict[Any, Any]", value)
            self.key.append((type(items), tuple([_hashable(key) for key in items])))
            yield from self._open(DictBox(items))
        elif isinstance(value, type):
            self.key.append(value)
            self._add_class(value)
        elif isinstance(value, _CALLABLES):
            yield from self._enter_callable(value)
        elif is_object(value):
            yield from self._enter_object(value)
        else:
            self._add_other(value)

    def add_array(self, value: Any) -> None:
        """Make an array an input; the key says what kind it is, or that it is one of them again."""
        if self.by_value and value.size <= SMALL:
            copy = _bytes_of(value)
            self.arrays.append((value, copy))
            self.key += (*array_key(value), copy)
            return
        number = self.numbers.get(id(value))
        if number is None and self._before is not None:
            number = self._before.numbers.get(id(value))
        if number is not None:
            self.key.append(number)
            return
        self.numbers[id(value)] = len(self.handles)
        self.handles.append(value)
        self.key += array_key(value)

    def _add_other(self, value: Any) -> None:
        """Something whose inside is not looked at."""
        owner = getattr(value, "__self__", value)  # a method of a generator is a name for it
        if type(owner).__name__ in _GENERATORS and _is_foreign(type(owner).__module__):
            self.generators.append(owner)
        self.key.append(_hashable(value))
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            self.visit(wrapped)

    def _open(self, box: Box) -> Iterator[Any]:
        contents = box.read()
        if isinstance(box, CellBox) and isinstance(contents.get(""), ModuleType):
            return iter(contents.values())  # a name of a module is not looked at again
        self.boxes.append((box, contents))
        return iter(contents.values())

    def _enter_object(self, value: Any) -> Iterator[Any]:
        cls = cast("type[Any]", type(value))
        self._add_class(cls)
        attributes = getattr(value, "__dict__", None)
        items: list[Any] = []
        names: list[Hashable] = []
        if isinstance(attributes, dict):
            names += cast("dict[str, Any]", attributes)
            items += self._open(AttributesBox(cast("dict[Any, Any]", attributes)))
        slots = _slots_of(cls)
        if slots:
            box = SlotsBox(value, slots)
            names += box.read()
            items += self._open(box)
        self.key.append((cls, tuple(names)))
        yield from items

    def _add_class(self, cls: type) -> None:
        for base in cls.__mro__:
            if not self._is_foreign(base.__module__):
                self.classes[base] = None
                self._spaces.setdefault(id(base), (base, set()))

    def _enter_callable(self, value: Any) -> Iterator[Any]:
        if isinstance(value, TracedFunction):
            self.key.append(value.options)
            yield value.function
        elif isinstance(value, FunctionType):
            yield from self._enter_function(value)
        elif isinstance(value, MethodType):
            self.key.append(MethodType)
            yield value.__func__
            yield value.__self__
        elif isinstance(value, functools.partial):
            part = cast("functools.partial[Any]", value)
            self.key.append((functools.partial, len(part.args), tuple(part.keywords)))
            yield from (part.func, *part.args, *part.keywords.values())
        elif isinstance(value, property):
            self.key.append(property)
            yield from [f for f in (value.fget, value.fset) if f is not None]
        else:
            self.key.append(type(value))
            yield value.__func__

    def _is_foreign(self, module: object) -> bool:
        """Whether a module's own variables are none of the program's: it is installed, the function is elsewhere."""
        if not isinstance(module, str) or _is_foreign(module):
            return isinstance(module, str)
        package = module.partition(".")[0]
        self._home = self._home or package
        return package != self._home and _is_installed(package)

    def _enter_function(self, f: FunctionType) -> Iterator[Any]:
        code = f.__code__
        self.key.append(code)
        for cell in f.__closure__ or ():
            yield from self._open(CellBox(cell))
        yield from f.__defaults__ or ()
        yield from (f.__kwdefaults__ or {}).values()
        if not self._is_foreign(f.__globals__.get("__name__")):
            found = _read_code(code)
            self.attributes |= found.attributes
            names = [name for name in found.names if name in f.__globals__ or not hasattr(builtins, name)]
            modules = [name for name in names if isinstance(f.__globals__.get(name), ModuleType)]
            yield from [f.__globals__[name] for name in modules]
            names = [name for name in names if name not in modules]
            if names:
                box = NamesBox(f.__globals__, names)
                self.key.append(tuple(box.read()))
                yield from self._open(box)


class Reached(Walk):
    """The arrays that something leads to; nothing is noted of their values."""

    def add_array(self, value: Any) -> None:
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.handles)
            self.handles.append(value)

    def _enter(self, value: Any) -> Iterator[Any]:
        return iter(()) if isinstance(value, np.ndarray) else super()._enter(value)


def _bytes_of(array: Any) -> bytes:
    return array._memory("jit").array.tobytes() if isinstance(array, Array) else array.tobytes()


def _hashable(value: Any) -> Hashable:
    try:
        return value_key(value)
    except TypeError:
        return _Identity(value)


def _dunders(space: Any) -> set[str]:
    """The methods that Python calls without naming them."""
    return {name for name in vars(space) if name.startswith("__")} if isinstance(space, type) else set()


def _is_looked_at(value: Any) -> bool:
    """Whether an attribute of a class or a module may hold state or lead to it."""
    if isinstance(value, _ATOMS) or isinstance(value, (Array, np.ndarray, list, dict, tuple, type, ModuleType)):
        return True
    return isinstance(value, _CALLABLES) or is_object(value)


@functools.lru_cache(4096)
def _slots_of(cls: type) -> list[str]:
    """The names of the attributes that objects of the class hold in slots."""
    names: list[str] = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__")]


class Surroundings:
    """The places that a function can bind anew; none for functions of this package."""

    def __init__(self, f: Any) -> None:
        self._function = f
        self._walk: Walk | None = None
        self._is_ours = isinstance(f, FunctionType) and _is_foreign(f.__globals__.get("__name__"))

    def boxes(self) -> list[tuple[Box, dict[Hashable, Any]]]:
        """The places with what they hold now."""
        if self._is_ours:
            return []
        walk = self._walk
        if walk is None or not walk.is_current():
            walk = Walk()
            walk.visit(self._function)
            walk.look_into_namespaces()
            self._walk = walk
        return walk.boxes


def holds_traced(box: Box, params: Collection[UOp]) -> bool:
    """Whether an array in the box depends on an input of a trace."""
    walk = Walk()
    for item in box.read().values():
        walk.visit(item)
    return any(depends(handle._uop, params) for handle in walk.handles)
