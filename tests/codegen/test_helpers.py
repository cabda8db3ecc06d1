"""The headers of helper functions: C by themselves, and C in every copy that a kernel may have of them."""

import re
import subprocess

import pytest

from tests.support.kernels import needs_compiler
from uopc_core.codegen import helpers
from uopc_core.codegen.c_columns import need_append_columns
from uopc_core.codegen.c_math import (
    COMPLEX_MATH,
    REAL_MATH,
    need_block_function,
    need_scalar_function,
    render_complex_math,
)
from uopc_core.codegen.c_ops import C_OPS
from uopc_core.codegen.c_products import need_product, need_tiled_product
from uopc_core.codegen.c_reduce import (
    has_order_of_zeros,
    lanes_of,
    need_append,
    need_extreme,
    need_extreme_of_row,
    need_flush,
    need_fold,
    need_gather,
    need_lane_order,
    need_push_row,
    need_row,
    need_rows,
    need_running_sum,
    need_total,
    need_total_row,
    need_united,
)
from uopc_core.codegen.c_sort_loop import need_argsort
from uopc_core.codegen.c_types import TYPEDEFS
from uopc_core.codegen.helpers import HEADERS, definitions, helper
from uopc_core.dtype import DTYPES, dtypes, is_bool, is_complex, is_float, is_inexact, is_unsigned
from uopc_core.ir.op import BINARY, BITWISE, Ops
from uopc_core.loop.loop_ir import Acc
from uopc_core.runtime.toolchain import find_toolchain

STRICT = ("-Wall", "-Wextra", "-Werror", "-x", "c", "-c", "-o", "/dev/null", "-")
UNUSED = ("-Wno-unused-function", "-Wno-unused-const-variable")
MEANINGS = {
    **{f"{n} bits": {"INT": f"int{n}_t", "UINT": f"uint{n}_t", "T": f"int{n}_t"} for n in (8, 16, 32, 64)},
    "double": {},
    "float": {"FLOAT": "float", "COMPLEX": "float _Complex", "PART": "float", "WIDE": "double", "T": "float"},
    "complex": {"T": "double _Complex"},
}
REAL_OPS = {Ops.FLOORDIV, Ops.FLOORMOD, Ops.NEXTAFTER}
FEW, MANY = lanes_of(17), lanes_of(1 << 20)


def compile_strictly(text, *options):
    """What the compiler says of `text`, as it compiles kernels but with its warnings."""
    toolchain = find_toolchain()
    assert toolchain is not None
    flags = [flag for flag in toolchain.flags if flag not in ("-w", "-shared", "-nostdlib") and flag[:4] != "-Wl,"]
    command = [*toolchain.command, *flags, f"-I{HEADERS[0].parent}", *STRICT, *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120).stderr


@needs_compiler
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
@pytest.mark.parametrize("of", MEANINGS)
def test_the_headers_are_c_by_themselves(of, header):
    definitions_of_types = [f"-D{name}={text}" for name, text in MEANINGS[of].items()]
    assert compile_strictly(header.read_text(), *definitions_of_types) == ""


@needs_compiler
def test_a_fault_in_a_header_is_seen():
    text = HEADERS[0].read_text()
    assert "floordiv" in compile_strictly(text.replace("return b ? a / b : 0;", "int unused; return b ? a / b : 0;"))


# ------------------------------------------------------------------------------------------------------------- copies


class Prelude(dict):
    """What has been needed; of one name there is one text, but for what is declared where it is not defined."""

    def need(self, name, text):
        known = self.setdefault(name, text)
        assert known == text or text.endswith(");"), (known, text)


def elementwise(need, dtype):
    for op, render in C_OPS.items():
        if op in (Ops.CAST, Ops.BITCAST):
            for out in DTYPES:
                if op is Ops.CAST or (out.itemsize == dtype.itemsize and not is_bool(out)):
                    render(need, ("a",), dtype, out)
        elif not (is_bool(dtype) or (op in REAL_OPS and is_complex(dtype)) or (op in BITWISE and is_inexact(dtype))):
            if not (op is Ops.POW and is_float(dtype)) and (op is not Ops.NEXTAFTER or is_float(dtype)):
                render(need, ("a", "b", "c")[: 2 if op in BINARY else 1 if op is not Ops.WHERE else 3], dtype, dtype)


def functions(need, dtype, vector):
    for op in REAL_MATH if is_float(dtype) else ():
        need_block_function(need, op, dtype, vector)
        need_scalar_function(need, op, dtype, vector)
    for op in COMPLEX_MATH if is_complex(dtype) else ():
        render_complex_math(need, op, dtype, "x")


def reductions(need, dtype):
    ops = [Ops.AND, Ops.OR] if not is_inexact(dtype) else []
    ops += [Ops.MAX, Ops.MIN] if not is_complex(dtype) else []
    for op in [Ops.ADD, Ops.MUL, *ops]:
        acc = Acc("acc", op, dtype)
        for lanes in (1, FEW, MANY):
            for define in (need_gather, need_fold, need_flush, need_append):
                define(need, acc, lanes)
            need_lane_order(need, lanes)
            if has_order_of_zeros(acc):
                need_extreme(need, acc, lanes), need_extreme_of_row(need, acc)
            for columns in (4, 32):
                need_append_columns(need, acc, lanes, columns)
        need_total(need, acc)
        need_united(need, acc)
        for tile in (4, 16, 256):
            need_push_row(need, acc, tile), need_total_row(need, acc, tile)
        if is_inexact(dtype):
            need_row(need, acc), need_rows(need, acc, 256)
    if is_unsigned(dtype) and dtype.itemsize >= 4:
        helper(need, "turn_UINTxACROSS", UINT=dtype, ACROSS=16)
        helper(need, "stream_UINTxACROSS", UINT=dtype, ACROSS=16)
    helper(need, "STREAMED")
    if is_inexact(dtype):
        need_product(need, dtype)
    if is_float(dtype):
        need_tiled_product(need, dtype)
    need_running_sum(need, dtype)
    helper(need, "ahead_T", T=dtype, AHEAD_BYTES=1024)


def everything(vector):
    prelude = Prelude()
    for dtype in DTYPES:
        elementwise(prelude.need, dtype)
        functions(prelude.need, dtype, vector)
        reductions(prelude.need, dtype)
        if dtype.kind in "iuf" and dtype.itemsize >= 4:
            need_argsort(prelude.need, dtype)
    for name in (
        "MIN",
        "floordiv_index",
        "floormod_index",
        "within",
        "fail",
        "squares64",
        "first_of_64",
        "first_of_256",
    ):
        helper(prelude.need, name)
    return prelude


@needs_compiler
@pytest.mark.parametrize("vector", [False, True])
def test_every_copy_is_c(vector):
    toolchain = find_toolchain()
    if vector and (toolchain is None or not toolchain.has_libmvec):
        pytest.skip("functions that the compiler has no vectors of")
    text = "\n".join([*TYPEDEFS.values(), *everything(vector).values(), ""])
    assert compile_strictly(text, *UNUSED) == ""


def test_no_capitals_are_left_in_a_copy():
    heads = "".join([header.read_text().partition("- definitions */")[0] for header in HEADERS])
    capitals = set(re.findall(r"^#define (\w+)", heads, re.MULTILINE))
    text = re.sub(r"/\*.*?\*/", "", "\n".join(everything(True).values()), flags=re.DOTALL)
    assert capitals & set(re.findall(r"\w+", text)) == set()


def test_every_definition_is_used():
    used: set[str] = set()

    class Recorded(dict):
        def __getitem__(self, name):
            used.add(name)
            return super().__getitem__(name)

    known = Recorded(definitions())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(helpers, "definitions", lambda: known)
        everything(True)
    assert set(known) - used == set()


@pytest.mark.parametrize("lanes", [1, FEW, MANY])
def test_lanes_are_ordered_by_their_bits_reversed(lanes):
    prelude = Prelude()
    name = need_lane_order(prelude.need, lanes)
    numbers = [int(n) for n in re.findall(r"\d+", prelude[name].partition("{")[2])]
    bits = lanes.bit_length() - 1
    assert numbers == [int(f"{k:0{bits}b}"[::-1], 2) if bits else 0 for k in range(lanes)]


def test_a_kernel_has_only_what_it_calls():
    prelude = Prelude()
    C_OPS[Ops.FLOORDIV](prelude.need, ("a", "b"), dtypes.float32, dtypes.float32)
    assert list(prelude) == ["fmodf", "floordiv_f32"]
    assert prelude["fmodf"] == "float fmodf(float, float);"
