"""Text of a graph: parsed back it is the same object, and wrong text is refused with its line."""

import gc

import numpy as np
import pytest

from tests.support.graph_samples import SAMPLES
from uopc_core.dtype import dtypes
from uopc_core.errors import ParseError
from uopc_core.ir.arguments import FIELDS
from uopc_core.ir.op import Ops
from uopc_core.ir.text import from_uir, to_uir
from uopc_core.ir.uop import UOp, walk
from uopc_core.runtime.buffer import Buffer


def _buffer(n: int = 3) -> Buffer:
    return Buffer.from_numpy(np.arange(float(n)))


@pytest.mark.parametrize("name", SAMPLES)
def test_text_parses_back_to_the_same_object(name: str):
    root = SAMPLES[name]
    assert from_uir(to_uir(root)) is root


def test_the_samples_cover_every_op():
    seen = {x.op for x in walk(SAMPLES.values())}
    assert seen == set(Ops) - {Ops.BUFFER}


def test_all_samples_together_parse_back():
    roots = list(SAMPLES.values())
    back = from_uir(to_uir(roots))
    assert len(back) == len(roots)
    assert all(a is b for a, b in zip(back, roots, strict=True))


def test_fields_are_stated_for_every_op_whose_argument_is_more_than_its_type():
    told_by_type = {Ops.CONST, Ops.BUFFER, Ops.IOTA, Ops.RANDOM, Ops.RESHAPE, Ops.EXPAND}
    with_argument = {x.op for x in walk(SAMPLES.values()) if x.arg is not None}
    assert with_argument - told_by_type == set(FIELDS)


def test_a_gradient_is_five_lines():
    y = UOp.buffer(_buffer())
    ones = UOp.const(1.0, dtypes.float64, (3,))
    text = to_uir(ones * y + ones, {"y": y.arg})
    assert text.splitlines() == [
        "%0: f64[1] = reshape(1.0)",
        "%1: f64[3] = expand(%0)",
        '%2: f64[3] = buffer("y")',
        "%3: f64[3] = mul(%1, %2)",
        "%4: f64[3] = add(%3, %1)",
    ]


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (UOp.param(0, (2, 3), dtypes.float32), '%0: f32[2, 3] = param(index=0, kind="buffer")'),
        (UOp.new(Ops.IOTA, (), 5, dtypes.int32), "%0: i32[5] = iota()"),
        (UOp.const(complex(-0.0, float("nan")), dtypes.complex64), "%0: c64[] = const(complex(-0.0, nan))"),
        (UOp.const(-float("nan"), dtypes.float64), "%0: f64[] = const(-nan)"),
        (UOp.const(float("-inf"), dtypes.float64).cast("float32"), "%0: f32[] = cast(-inf:f64)"),
    ],
)
def test_line_form(node: UOp, text: str):
    assert to_uir(node) == text


def test_several_roots_are_returned_in_order():
    x = UOp.param(0, (2,), dtypes.float32)
    text = to_uir([x * 2, x])
    assert text.splitlines()[-1] == "return %3, %0"
    assert from_uir(text) == [x * 2, x]


def test_buffers_are_bound_again_by_name():
    first, second = _buffer(), _buffer()
    text = to_uir(UOp.buffer(first) + 1.0, {"weights": first})
    assert from_uir(text, {"weights": second}) is UOp.buffer(second) + 1.0


def test_a_buffer_that_still_lives_is_found_without_being_named():
    root = UOp.buffer(_buffer()) * UOp.buffer(_buffer())
    assert from_uir(to_uir(root)) is root
    assert to_uir(root) == to_uir(root)


def test_printing_does_not_keep_a_buffer_alive():
    text = to_uir(UOp.buffer(_buffer()))
    gc.collect()
    with pytest.raises(ParseError, match=r"expected a buffer named 'b\d+'"):
        from_uir(text)


def test_a_buffer_of_another_type_is_refused():
    text = to_uir(UOp.buffer(_buffer()), {"x": None})
    name = text.split('"')[1]
    with pytest.raises(ParseError, match=r"declared type f64\[3\], got f64\[4\]"):
        from_uir(text, {name: _buffer(4)})


def test_comments_and_blank_lines_are_skipped():
    assert from_uir("# three numbers\n\n  %0: i64[3] = iota()  # from 0\n") is UOp.new(Ops.IOTA, (), 3, dtypes.int64)


def test_an_argument_without_text_is_refused():
    root = UOp.new(Ops.PARAM, (), (frozenset[int](), (3, 3), "buffer"), dtypes.float64)
    with pytest.raises(TypeError, match="no text for the argument frozenset"):
        to_uir(root)


WRONG = {
    "undefined node": ("%0: f32[3] = neg(%1)", "line 1: expected a node defined above, got %1"),
    "defined twice": (
        "%0: i64[3] = iota()\n%0: i64[3] = iota()",
        "line 2: expected a name not defined before, got %0",
    ),
    "dtype": ("%0: f33[3] = iota()", "line 1: expected a dtype of bool i8 .* got f33"),
    "op": ("%0: i64[3] = iotas()", "line 1: expected an operation, got iotas"),
    "extent": ("%0: i64[-3] = iota()", "line 1: expected an extent, got -3"),
    "declared type": (
        "%0: i64[3] = iota()\n\n%1: i64[4] = neg(%0)",
        r"line 3: expected a node of the declared type i64\[4\], got i64\[3\]",
    ),
    "type rule": ("%0: i64[3] = iota()\n%1: i64[3] = exp(%0)", "line 2: .* EXP: expected real or complex floating"),
    "no token": ("%0: i64[3] = iota() $", r"line 1: expected a token, got \$"),
    "end of line": ("%0: i64[3] = iota(", "line 1: expected a number, .* got the end of the line"),
    "missing field": ("%0: i64[3] = reduce(3, n=1)", "line 1: expected the fields op, n of reduce, got n"),
    "unknown field": ("%0: i64[3] = iota(n=3)", "line 1: expected the fields none of iota, got n"),
    "bits of a nan": ("%0: f64[] = const(nan(-1))", "line 1: expected the 64 bits of a nan, got -1"),
    "overflow": ("%0: i8[] = const(300)", "line 1: expected a number of dtype i8, got 300"),
    "wrong argument": ("%0: f64[] = permute(1.0, axes=3)", "line 1: expected for axes a tuple of axes, got 3"),
    "string operand": ('%0: f64[] = neg("x")', "line 1: expected nodes and numbers as operands, got a string"),
    "buffer without a name": ("%0: f64[] = buffer(1.0)", r"line 1: expected one name in buffer"),
    "word": ("%0: f64[] = neg(infinity)", "line 1: expected True, False, None"),
    "complex": ("%0: c64[] = const(complex(1.0))", "line 1: expected complex"),
    "after return": ("%0: i64[3] = iota()\nreturn %0\n%1: i64[3] = iota()", "line 3: expected the end of the text"),
    "rubbish at the end": ("%0: i64[3] = iota() iota", "line 1: expected the end of the line, got iota"),
    "nothing": ("\n# nothing\n", "expected lines such as"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_text_is_refused_with_its_line(text: str, message: str):
    with pytest.raises(ParseError, match=message):
        from_uir(text)


def test_the_message_quotes_the_line():
    with pytest.raises(ParseError, match=r"\n    %1: i64\[4\] = neg\(%0\)$"):
        from_uir("%0: i64[3] = iota()\n%1: i64[4] = neg(%0)")


def test_a_long_chain_is_written_and_read():
    x = UOp.param(0, (2,), dtypes.float32)
    for _ in range(20_000):
        x = -x
    assert from_uir(to_uir(x)) is x
