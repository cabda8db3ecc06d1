"""`.uir`: a graph as text, one line a node, and back to the same object. The form is described in docs/uir.md.

%0: f32[1] = reshape(1.0)
%1: f32[3] = expand(%0)
%2: f32[3] = buffer("b0")
%3: f32[3] = mul(%1, %2)

Regions stand before the nodes that call them, each as lines of its own.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import struct
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from uopc_core.dtype import DTYPE_OF_SHORT_NAME, SHORT_NAMES, DType, is_complex, is_inexact
from uopc_core.errors import DTypeError, ParseError, ShapeError
from uopc_core.ir.arguments import FIELDS, MAX_AXES, field_values, is_shape
from uopc_core.ir.calls import close, instance
from uopc_core.ir.number_text import number_text
from uopc_core.ir.op import Ops
from uopc_core.ir.region import Region
from uopc_core.ir.uop import TYPED_BY_DTYPE, UOp, walk

__all__ = ["from_uir", "literal_text", "to_uir"]

_SHAPED_BY_TYPE = frozenset({Ops.RESHAPE, Ops.EXPAND, Ops.RANDOM})
_OP_OF_NAME = {op.name.lower(): op for op in Ops}
_WORDS: dict[str, Any] = {"True": True, "False": False, "None": None}

# the buffers that were printed without a name of their own, so that the text can be read back while they live
_names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
_printed: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_numbers = itertools.count()

# ------------------------------------------------------------------------------------------------------------- writing


def to_uir(roots: UOp | Sequence[UOp], buffers: Mapping[str, Any] | None = None) -> str:
    """The graph below `roots` as text, sources first.

    Args:
        roots: one node, which is then the last line, or several, which the last line returns.
        buffers: memory by the names that it is to have; other buffers are named b0, b1, ... in this process.
    Example:
        >>> print(to_uir(UOp.const(2.0, np.dtype("float32"), (3,)) * 3.0))
        %0: f32[1] = reshape(2.0)
        %1: f32[3] = expand(%0)
        %2: f32[1] = reshape(3.0)
        %3: f32[3] = expand(%2)
        %4: f32[3] = mul(%1, %3)
    """
    nodes = list(roots) if not isinstance(roots, UOp) else [roots]
    names = {id(memory): name for name, memory in (buffers or {}).items()}
    regions = {region: f"r{i}" for i, region in enumerate(_regions_below(nodes))}
    lines: list[str] = []
    for region, name in regions.items():
        body = _lines(instance(region)[1], True, names, regions)
        lines += [f"region {name}", *[f"    {line}" for line in body]]
    return "\n".join([*lines, *_lines(nodes, not isinstance(roots, UOp), names, regions)])


def _lines(nodes: Sequence[UOp], several: bool, names: dict[int, str], regions: Mapping[Region, str]) -> list[str]:
    """A line for each node, and one for what is returned, where that is not the last node alone."""
    kept = set(nodes)
    lines: list[str] = []
    refs: dict[UOp, str] = {}
    for node in walk(nodes):
        if node.op is Ops.CONST and node not in kept:
            continue
        refs[node] = f"%{len(refs)}"
        lines.append(f"{refs[node]}: {_type_text(node)} = {_call_text(node, refs, names, regions)}")
    if several:
        lines.append(f"return {', '.join([refs[node] for node in nodes])}")
    return lines


def _regions_below(nodes: Sequence[UOp]) -> list[Region]:
    """All that are called below `nodes` and in these regions, those that are called before those that call."""
    found = dict.fromkeys(_called(walk(nodes)))
    waiting = [*found]
    while waiting:
        called = [r for r in _called(walk(instance(waiting.pop())[1])) if r not in found]
        found |= dict.fromkeys(called)
        waiting += called
    return sorted(found, key=lambda region: region.height)


def _called(nodes: Sequence[UOp]) -> list[Region]:
    return [node.arg[0] for node in nodes if node.op is Ops.CALL]


def _type_text(node: UOp) -> str:
    return f"{SHORT_NAMES[node.dtype]}{list(node.shape)}"


def _call_text(node: UOp, refs: dict[UOp, str], names: dict[int, str], regions: Mapping[Region, str]) -> str:
    if node.op is Ops.CONST:
        items = [literal_text(node.arg)]
    elif node.op is Ops.BUFFER:
        items = [json.dumps(names.get(id(node.realized)) or _name_of(node.realized))]
    else:
        items = [refs[s] if s.op is not Ops.CONST else _operand_text(s, node.dtype) for s in node.src]
        items += [
            f"{name}={regions[value] if isinstance(value, Region) else literal_text(value)}"
            for name, value in _fields_of(node)
        ]
    return f"{node.op.name.lower()}({', '.join(items)})"


def _operand_text(const: UOp, line_dtype: DType) -> str:
    text = literal_text(const.arg)
    return text if const.dtype is line_dtype else f"{text}:{SHORT_NAMES[const.dtype]}"


def _fields_of(node: UOp) -> list[tuple[str, Any]]:
    names = [field.name for field in FIELDS.get(node.op, ())]
    return list(zip(names, field_values(node.op, node.arg), strict=False))


def _name_of(memory: Any) -> str:
    name = _names.get(memory)
    if name is None:
        name = _names[memory] = f"b{next(_numbers)}"
        _printed[name] = memory
    return name


def literal_text(value: Any) -> str:
    """An argument as text; of numbers, equal where their bits are."""
    match value:
        case Ops():
            return value.name.lower()
        case None:
            return "None"
        case bool() | int() | float() | complex():
            return number_text(value)
        case str():
            return json.dumps(value)
        case tuple():
            items: list[str] = [literal_text(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        case np.dtype():
            return SHORT_NAMES[value]  # pyright: ignore[reportUnknownArgumentType]
        case _:
            raise TypeError(f"to_uir: no text for the argument {value!r} of type {type(value).__name__}")


# ------------------------------------------------------------------------------------------------------------- reading


def from_uir(text: str, buffers: Mapping[str, Any] | None = None) -> Any:
    """The node that the last line of `text` defines, or the list of those that it returns.

    Args:
        buffers: memory by the names in the text; without it, those that this process printed and that still live.
    Raises:
        ParseError: with the line, and what was expected in it.
    Example:
        >>> from_uir("%0: i64[3] = iota()").shape
        (3,)
    """
    nodes: dict[str, UOp] = {}
    regions: dict[str, Region] = {}
    inside: tuple[str, dict[str, UOp]] | None = None  # the region whose lines come, and its nodes
    result: UOp | list[UOp] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        reader = _LineReader(number, line, nodes if inside is None else inside[1], buffers or {}, regions)
        if reader.at_end():
            continue
        if inside is not None:
            if reader.peek().text == "return":
                regions[inside[0]] = reader.read_end_of_region()
                inside = None
            else:
                reader.read_definition()
            continue
        if isinstance(result, list):
            reader.fail("the end of the text after return")
        if reader.peek().text == "region":
            inside = reader.read_region(), {}
            continue
        result = reader.read_return() if reader.peek().text == "return" else reader.read_definition()
    if inside is not None:
        raise ParseError(f"from_uir: expected return ... at the end of region {inside[0]}, got the end of the text")
    if result is None:
        raise ParseError("from_uir: expected lines such as '%0: i64[3] = iota()', got none")
    return result


_TOKEN = re.compile(
    r"""\s*(?:(?P<ref>%\d+)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|inf\b|nan\b))"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<mark>[\[\](),:=])|(?P<end>\#.*|$))""",
    re.ASCII,
)
_MAX_DIGITS = 20  # of an integer of 64 bits
_MAX_NESTING = 16  # of tuples; arguments have three


class _Token(NamedTuple):
    kind: str
    text: str


class _LineReader:
    """Recursive descent over the tokens of one line."""

    def __init__(
        self,
        number: int,
        line: str,
        nodes: dict[str, UOp],
        buffers: Mapping[str, Any],
        regions: Mapping[str, Region],
    ) -> None:
        self.number = number
        self.line = line
        self.nodes = nodes
        self.buffers = buffers
        self.regions = regions
        self.position = 0
        self.nesting = 0
        self.tokens = self._tokens()

    def _tokens(self) -> list[_Token]:
        tokens: list[_Token] = []
        start = 0
        while True:
            found = _TOKEN.match(self.line, start)
            if found is None:
                self.fail("a token", self.line[start:].strip())
            kind = found.lastgroup or "end"
            tokens.append(_Token(kind, found.group(kind)))
            if kind == "end":
                return tokens
            start = found.end()

    def fail(self, expected: str, got: str | None = None) -> NoReturn:
        got = got if got is not None else self.peek().text or "the end of the line"
        raise ParseError(f"line {self.number}: expected {expected}, got {got}\n    {self.line.strip()}")

    def peek(self) -> _Token:
        return self.tokens[self.position]

    def at_end(self) -> bool:
        return self.peek().kind == "end"

    def accept(self, mark: str) -> bool:
        if self.peek().text != mark or self.peek().kind == "string":
            return False
        self.position += 1
        return True

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            self.fail(repr(mark))

    def take(self, kind: str, expected: str) -> str:
        token = self.peek()
        if token.kind != kind:
            self.fail(expected)
        self.position += 1
        return token.text

    def read_return(self) -> list[UOp]:
        self.position += 1
        roots: list[UOp] = []
        while not self.at_end():
            roots.append(self.read_ref())
            if not self.accept(","):
                break
        if not self.at_end():
            self.fail("',' or the end of the line")
        return roots

    def read_region(self) -> str:
        """The name of the region whose lines come next."""
        self.position += 1
        name = self.take("word", "the name of a region")
        if name in self.regions or name in (*_WORDS, *DTYPE_OF_SHORT_NAME, *_OP_OF_NAME):
            self.fail("a name not defined before", name)
        if not self.at_end():
            self.fail("the end of the line")
        return name

    def read_end_of_region(self) -> Region:
        """The region that ends with this line."""
        roots = self.read_return()
        order = walk(roots)
        params = sorted([node for node in order if node.op is Ops.PARAM], key=lambda node: node.arg[0])
        closed = close(roots, params, scalars=True)
        if closed.region is None or closed.arguments != tuple([node.arg[0] for node in params]):
            self.fail("a region of parameters alone, numbered from 0 in the order in which they are met")
        if closed.results != tuple(range(len(roots))):
            self.fail("results that are computed of parameters, each another node")
        return closed.region

    def read_ref(self) -> UOp:
        name = self.take("ref", "a node such as %0")
        if name not in self.nodes:
            self.fail("a node defined above", name)
        return self.nodes[name]

    def read_definition(self) -> UOp:
        name = self.take("ref", "a definition such as %0: f64[3] = ...")
        if name in self.nodes:
            self.fail("a name not defined before", name)
        self.expect(":")
        dtype, shape = self.read_dtype(), self.read_shape()
        self.expect("=")
        op = self.read_op()
        operands, fields = self.read_arguments(dtype)
        if not self.at_end():
            self.fail("the end of the line")
        try:
            node = self.build(op, operands, fields, dtype, shape)
        except (ShapeError, DTypeError) as error:  # from the type rule
            self.fail("a well-formed node", f"the error: {error}")
        if node.shape != shape or node.dtype is not dtype:
            self.fail(f"a node of the declared type {SHORT_NAMES[dtype]}{list(shape)}", _type_text(node))
        self.nodes[name] = node
        return node

    def read_dtype(self) -> DType:
        name = self.take("word", "a dtype")
        if name not in DTYPE_OF_SHORT_NAME:
            self.fail(f"a dtype of {' '.join(DTYPE_OF_SHORT_NAME)}", name)
        return DTYPE_OF_SHORT_NAME[name]

    def read_shape(self) -> tuple[int, ...]:
        self.expect("[")
        shape: list[int] = []
        while not self.accept("]"):
            shape.append(self.read_natural("an extent"))
            if not self.accept(",") and self.peek().text != "]":
                self.fail("',' or ']'")
        if not is_shape(tuple(shape)):
            self.fail(f"a shape of {MAX_AXES} axes and 2**63 - 1 elements at most", str(shape))
        return tuple(shape)

    def read_natural(self, what: str) -> int:
        token = self.take("number", what)
        if not token.isdigit() or len(token) > _MAX_DIGITS:
            self.fail(what, token)
        return int(token)

    def read_op(self) -> Ops:
        name = self.take("word", "an operation")
        if name not in _OP_OF_NAME:
            self.fail("an operation", name)
        return _OP_OF_NAME[name]

    def read_arguments(self, dtype: DType) -> tuple[list[Any], dict[str, Any]]:
        """Operands (nodes and, for a leaf, what it is written with) and fields."""
        operands: list[Any] = []
        fields: dict[str, Any] = {}
        self.expect("(")
        while not self.accept(")"):
            if self.peek().kind == "ref":
                operands.append(self.read_ref())
            elif self.peek().kind == "word" and self.tokens[self.position + 1].text == "=":
                name = self.take("word", "the name of a field")
                self.expect("=")
                fields[name] = self.read_literal()
            else:
                operands.append(self.read_constant(dtype))
            if not self.accept(",") and self.peek().text != ")":
                self.fail("',' or ')'")
        return operands, fields

    def read_constant(self, dtype: DType) -> Any:
        """A number as an operand, or the string that names a buffer."""
        value = self.read_literal()
        if isinstance(value, str):
            return value
        if not isinstance(value, (bool, int, float, complex)) or isinstance(value, Ops):
            self.fail("a node, a number or the name of a buffer", repr(value))
        if self.accept(":"):
            dtype = self.read_dtype()
        if not _is_number_of(value, dtype):
            self.fail(f"a number of dtype {SHORT_NAMES[dtype]}", repr(value))
        return UOp.const(value, dtype)

    def read_literal(self) -> Any:
        token = self.peek()
        self.position += 1
        match token.kind:
            case "string":
                return self.read_string(token.text)
            case "number":
                return self.read_number(token.text)
            case "word":
                return self.read_word(token.text)
            case "mark" if token.text == "(":
                return tuple(self.read_items())
            case _:
                self.position -= 1
                self.fail("a number, a string, a tuple or a name")

    def read_string(self, text: str) -> str:
        try:
            return json.loads(text)
        except ValueError as error:  # a control character, or an escape that there is not
            self.fail("a string as JSON writes it", f"{text} ({error})")

    def read_number(self, text: str) -> int | float:
        if text.removeprefix("-").isdigit():
            if len(text) > _MAX_DIGITS or not -(2**63) <= int(text) < 2**64:
                self.fail("an integer of 64 bits", text)
            return int(text)
        if text == "nan" and self.accept("("):
            bits = self.read_natural("the 64 bits of a nan")
            self.expect(")")
            value = struct.unpack("<d", struct.pack("<Q", bits))[0] if bits < 2**64 else 0.0
            if value == value:
                self.fail("the 64 bits of a nan", str(bits))
            return value
        return float(text)

    def read_word(self, word: str) -> Any:
        if word == "complex" and self.accept("("):
            parts = self.read_items()
            if len(parts) != 2 or not all(isinstance(part, float) for part in parts):
                self.fail("complex(real, imaginary) with two floats", f"complex{tuple(parts)}")
            return complex(*parts)
        for table in (_WORDS, DTYPE_OF_SHORT_NAME, _OP_OF_NAME, self.regions):
            if word in table:
                return table[word]
        self.fail("True, False, None, inf, nan, a dtype, an operation or a region", word)

    def read_items(self) -> list[Any]:
        """What stands between parentheses, the opening one read already."""
        items: list[Any] = []
        self.nesting += 1
        if self.nesting > _MAX_NESTING:
            self.fail(f"tuples in at most {_MAX_NESTING} tuples")
        while not self.accept(")"):
            items.append(self.read_literal())
            if not self.accept(",") and self.peek().text != ")":
                self.fail("',' or ')'")
        self.nesting -= 1
        return items

    def build(self, op: Ops, operands: list[Any], fields: dict[str, Any], dtype: DType, shape: tuple[int, ...]) -> UOp:
        wanted = FIELDS.get(op, ())
        names = [field.name for field in wanted]
        if set(fields) != set(names):
            self.fail(f"the fields {', '.join(names) or 'none'} of {op.name.lower()}", ", ".join(fields) or "none")
        for field in wanted:
            if not field.accepts(fields[field.name]):
                self.fail(f"for {field.name} {field.wanted}", repr(fields[field.name]))
        if op is Ops.BUFFER:
            return UOp.buffer(self.find_buffer(operands))
        if any(isinstance(x, str) for x in operands):
            self.fail("nodes and numbers as operands", "a string")
        if op is Ops.CONST:
            if len(operands) != 1 or operands[0].op is not Ops.CONST:
                self.fail("one number in const(...)", f"{len(operands)} operands")
            return operands[0]
        values = [fields[name] for name in names]
        if op is Ops.IOTA and len(shape) != 1:
            self.fail("one axis of iota()", f"shape {list(shape)}")
        return UOp.new(op, tuple(operands), _argument(op, values, shape), dtype if op in TYPED_BY_DTYPE else None)

    def find_buffer(self, operands: list[Any]) -> Any:
        if len(operands) != 1 or not isinstance(operands[0], str):
            self.fail('one name in buffer("...")', f"{len(operands)} operands")
        name = operands[0]
        memory = self.buffers.get(name)
        if memory is None:
            memory = _printed.get(name)
        if memory is None:
            self.fail(f"a buffer named {name!r} in buffers=, or one that was printed and still lives", "neither")
        return memory


def _argument(op: Ops, values: list[Any], shape: tuple[int, ...]) -> Any:
    if op in _SHAPED_BY_TYPE:
        return shape
    if op is Ops.IOTA:
        return shape[0]
    if op is Ops.PARAM:
        return (values[0], shape, values[1])
    if len(values) > 1:
        return tuple(values)
    return values[0] if values else None


def _is_number_of(value: Any, dtype: DType) -> bool:
    """Whether `dtype` holds `value`, to rounding where it is floating."""
    if isinstance(value, complex):
        return is_complex(dtype) and _is_number_of(value.real, dtype) and _is_number_of(value.imag, dtype)
    if is_inexact(dtype):
        return not math.isfinite(value) or abs(value) <= float(np.finfo(dtype).max)
    if dtype.kind == "b":
        return value in (0, 1)
    return float(value).is_integer() and int(np.iinfo(dtype).min) <= value <= int(np.iinfo(dtype).max)
