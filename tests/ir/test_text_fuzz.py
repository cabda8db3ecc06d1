"""Any text: it parses, and then to a graph that is whole, or it is a ParseError."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_core.extern  # noqa: F401  # registers its functions
from tests.support.graph_samples import SAMPLES
from tests.support.leaf_values import environment
from uopc_core.dtype import SHORT_NAMES, dtypes
from uopc_core.errors import GradientError, IndexBoundsError, ParseError
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.extern import EXTERNS
from uopc_core.ir.infer import INFER
from uopc_core.ir.op import Ops
from uopc_core.ir.text import from_uir, to_uir
from uopc_core.ir.uop import UOp, walk
from uopc_core.ir.verify import verify

N_TEXTS = 4000
MAX_ELEMENTS = 100_000  # of all nodes of a graph that is run
OF_VALUES = (IndexBoundsError, np.linalg.LinAlgError, GradientError)  # errors that depend on values

MATRIX, REAL = UOp.param(0, (3, 3), dtypes.float64), UOp.param(1, (2, 6), dtypes.float64)
PLANE = UOp.param(2, (2, 4), dtypes.complex128)
_PARAMS: dict[str, tuple[tuple[UOp, ...], tuple[Any, ...]]] = {
    "fft": ((PLANE,), ("ortho",)),
    "ifft": ((PLANE,), ("forward",)),
    "rfft": ((REAL,), ("backward",)),
    "irfft": ((PLANE,), ("backward", 7)),
    "sort": ((REAL,), (True, False)),
    "argsort": ((REAL,), (False, True)),
    "searchsorted": ((UOp.param(3, (5,), dtypes.float64), REAL), ("right",)),
    "svd": ((REAL,), (True,)),
    "svdvals": ((REAL,), ()),
    "qr": ((REAL,), ("complete",)),
    "pinv": ((REAL, UOp.param(4, (), dtypes.float64)), ()),
    "solve": ((MATRIX, MATRIX), ()),
    "matmul": ((MATRIX, MATRIX), ("left",)),
    "cofactor_tangent": ((MATRIX, MATRIX), ()),
    "undefined_tangent": ((REAL,), ("qr: no derivative", (2, 3), dtypes.float32)),
}


def _texts() -> list[str]:
    """Texts to start from: every op, every function of a library, and some at once."""
    externs = {
        name: UOp.new(Ops.EXTERN, src, (name, params, 0))
        for name in EXTERNS
        for src, params in [_PARAMS.get(name, ((MATRIX,), ()))]
    }
    nodes = [*SAMPLES.values(), *externs.values()]
    return [*[to_uir(node) for node in nodes], *[to_uir(nodes[i : i + 5]) for i in range(0, len(nodes), 40)]]


TEXTS = _texts()
_WORDS = [
    *[op.name.lower() for op in Ops],
    *SHORT_NAMES.values(),
    *[json.dumps(name) for name in EXTERNS],
    *("True", "False", "None", "nan", "-inf", "nan(1)", "complex(1.0, 2.0)", "return", "index", "kind", "axes", "n"),
    *('"\\q"', '"\x01"', '"\\ud800"', '"set"', '"backward"', '"buffer"', '"left"', '"reduced"'),
]
_NUMBERS = ("0", "-1", "1", "2", "1.5", "1.0", "1e999", "4", "300", str(2**31), str(2**63), str(2**64), "9" * 5000)
_NUMBERS += ("٣", "²", "1_000", "0x10", "nan(٣)", "1e", "-", "--1", "00")
_TOKEN = re.compile(r"\w+|[^\w\s]|\s+")


def _other_character(text: str, draw: random.Random) -> str:
    place = draw.randrange(len(text) + 1)
    new = draw.choice(["", chr(draw.randrange(128)), chr(draw.choice([0x2028, 0xD800, 0x660, 0x1F600])), "(" * 3000])
    return text[:place] + new + text[place + draw.randrange(2) :]


def _other_token(text: str, draw: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    tokens[draw.randrange(len(tokens))] = draw.choice([draw.choice(_WORDS), draw.choice(_NUMBERS), *"[](),:=%", ""])
    return "".join(tokens)


def _other_number(text: str, draw: random.Random) -> str:
    places = list(re.finditer(r"-?\d+(\.\d+)?", text))
    if not places:
        return text
    found = draw.choice(places)
    return text[: found.start()] + draw.choice(_NUMBERS) + text[found.end() :]


def _swapped_tokens(text: str, draw: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    i, j = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def _cut_or_repeated(text: str, draw: random.Random) -> str:
    a, b = sorted(draw.randrange(len(text) + 1) for _ in range(2))
    return text[:a] + text[b:] if draw.random() < 0.5 else text[:b] + text[a:]


def _lines_of_another(text: str, draw: random.Random) -> str:
    lines, others = text.splitlines(), draw.choice(TEXTS).splitlines()
    lines[draw.randrange(len(lines)) :] = others[draw.randrange(len(others)) :]
    return "\n".join(lines)


_MUTATIONS: list[Callable[[str, random.Random], str]] = [
    _other_character,
    _other_token,
    _other_number,
    _other_number,
    _swapped_tokens,
    _cut_or_repeated,
    _lines_of_another,
]


def mutated(seed: int) -> str:
    """A text of the samples with one to three changes."""
    draw = random.Random(seed)
    text = draw.choice(TEXTS)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        text = draw.choice(_MUTATIONS)(text or "%0", draw)
    return text


def _parsed(text: str) -> list[UOp] | None:
    try:
        parsed = from_uir(text)
    except ParseError:
        return None
    return parsed if isinstance(parsed, list) else [parsed]


@pytest.mark.parametrize("part", range(4))
def test_any_text_is_a_whole_graph_or_a_parse_error(part: int):
    n_parsed = n_run = 0
    for seed in range(part, N_TEXTS, 4):
        text = mutated(seed)
        roots = _parsed(text)
        if not roots:
            continue
        n_parsed += 1
        verify(roots)
        again = from_uir(to_uir(roots))
        assert all(a is b for a, b in zip(again, roots, strict=True)), text
        n_run += _runs(roots, text)
    assert n_parsed > N_TEXTS // 100
    assert n_run > N_TEXTS // 200


def _runs(roots: list[UOp], text: str) -> bool:
    """Whether the graph was small enough to be run; what is accepted is never refused then for its form."""
    nodes = walk(roots)
    if sum(node.size for node in nodes) > MAX_ELEMENTS:
        return False
    try:
        values = evaluate(roots, environment(roots))
    except OF_VALUES:
        return True
    for node, value in zip(roots, values, strict=True):
        assert (value.shape, value.dtype) == (node.shape, node.dtype), text
    return True


def test_every_registered_function_is_among_the_texts():
    assert all(any("extern(" in text and f'name="{name}"' in text for text in TEXTS) for name in EXTERNS)
    assert set(INFER) >= {Ops.EXTERN}


NOT_UIR = {
    "a control character": '%0: f64[] = neg("\x01")',
    "an escape that there is not": r'%0: f64[] = buffer("\q")',
    "a number of 5000 digits": f"%0: i64[] = const({'9' * 5000})",
    "an extent of 5000 digits": f'%0: f64[{"9" * 5000}] = param(index=0, kind="buffer")',
    "a nan of 5000 digits": f"%0: f64[] = const(nan({'9' * 5000}))",
    "bits that are no nan": "%0: f64[] = const(nan(0))",
    "a complex number among reals": "%0: f64[] = neg(complex(1.0, 2.0))",
    "3000 parentheses": f"%0: f64[] = permute(1.0, axes={'(' * 3000}",
    "a fraction among integers": "%0: i64[] = neg(1.5)",
    "nan among integers": "%0: i64[] = neg(nan)",
    "too large a float": "%0: f32[] = neg(1e300)",
    "an integer beyond every float": f"%0: f64[] = neg({'9' * 400})",
    "more elements than memory has addresses": '%0: f64[4294967296, 4294967296] = param(index=0, kind="buffer")',
    "more axes than an array has": f'%0: f64[{", ".join("1" * 65)}] = param(index=0, kind="buffer")',
    "a floating axis": '%0: f64[2, 3] = param(index=0, kind="buffer")\n%1: f64[3, 2] = permute(%0, axes=(1.0, 0.0))',
    "a bool for an axis": '%0: f64[2] = param(index=0, kind="buffer")\n%1: f64[2] = flip(%0, axes=(False,))',
    "a floating count": '%0: f64[2] = param(index=0, kind="buffer")\n%1: f64[] = reduce(%0, op=add, n=1.0)',
    "a negative parameter": '%0: f64[2] = param(index=-1, kind="buffer")',
    "a parameter of a name": '%0: f64[2] = param(index="x", kind="buffer")',
    "a kind there is not": '%0: f64[2] = param(index=0, kind="register")',
    "an index of nothing": "%0: f64[] = index()",
    "a scatter of nothing": '%0: f64[] = scatter(mode="set")',
    "a range of two axes": "%0: i64[2, 3] = iota()",
    "an unknown norm": '%0: c128[4] = param(index=0, kind="buffer")\n'
    '%1: c128[4] = extern(%0, name="fft", params=("unitary",), output=0)',
    "no norm": '%0: c128[4] = param(index=0, kind="buffer")\n%1: c128[4] = extern(%0, name="fft", params=(), output=0)',
    "params that are no tuple": '%0: f64[4] = param(index=0, kind="buffer")\n'
    '%1: f64[4] = extern(%0, name="sort", params=True, output=0)',
    "an output there is not": '%0: f64[3, 3] = param(index=0, kind="buffer")\n'
    '%1: f64[3, 3] = extern(%0, name="inv", params=(), output=1)',
    "the last output, from the end": '%0: f64[3, 3] = param(index=0, kind="buffer")\n'
    '%1: f64[3, 3] = extern(%0, name="inv", params=(), output=-1)',
    "two sources for one": '%0: f64[3, 3] = param(index=0, kind="buffer")\n'
    '%1: f64[3, 3] = extern(%0, %0, name="inv", params=(), output=0)',
    "a function there is not": '%0: f64[3] = extern(name="system", params=(), output=0)',
    "a name that is a tuple": "%0: f64[3] = extern(name=(), params=(), output=0)",
    "a variable that is no number": "%0: f64[] = const(1.0)\n%1: f64[] = variable(%0, number=1.5)",
    "a variable without a number": "%0: f64[] = const(1.0)\n%1: f64[] = variable(%0)",
}


@pytest.mark.parametrize("text", NOT_UIR.values(), ids=NOT_UIR.keys())
def test_what_is_not_uir_is_a_parse_error_with_its_line(text: str):
    with pytest.raises(ParseError, match=rf"line {len(text.splitlines())}: expected .+, got "):
        from_uir(text)


def test_digits_of_other_scripts_are_none():
    with pytest.raises(ParseError, match="line 1: expected a token"):
        from_uir("%٣: i64[3] = iota()")
