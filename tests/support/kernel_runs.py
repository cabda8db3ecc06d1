"""Run a graph as one compiled kernel, and compare it with the interpreter.

All memory that a kernel sees lies between pages that nobody may touch: one element too far kills the process.
"""

import ctypes
import mmap
from itertools import pairwise

import numpy as np

from uopc_core.codegen.c_source import CSource, render
from uopc_core.dtype import is_complex, is_float, is_unsigned
from uopc_core.interpret.numpy_interp import evaluate
from uopc_core.ir.op import Ops
from uopc_core.ir.uop import UOp, walk
from uopc_core.runtime.cache import compile_many
from uopc_core.runtime.toolchain import find_toolchain
from uopc_core.schedule.kernel import Kernel, KernelCall

__all__ = ["bits", "call_of", "check", "execute", "guarded", "param", "render_one", "run", "ulps"]

_PROT_NONE = 0
_mprotect = ctypes.CDLL(None).mprotect
_mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class _Scalar(ctypes.Union):
    _fields_ = (("i", ctypes.c_int64), ("u", ctypes.c_uint64), ("f", ctypes.c_double), ("c", ctypes.c_double * 2))


_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


def param(index, array):
    array = np.asarray(array)
    return UOp.param(index, array.shape, array.dtype)


def call_of(outputs):
    """A call whose slots are: the outputs, then 100 + the number of a PARAM."""
    outputs = tuple(outputs)
    numbers = [node.arg[0] for node in walk(outputs) if node.op is Ops.PARAM]
    n = max(numbers, default=-1) + 1
    kernel = Kernel(outputs, n)
    return KernelCall(kernel, tuple(range(100, 100 + n)), tuple(range(len(outputs))))


def has_libmvec():
    toolchain = find_toolchain()
    assert toolchain is not None, "these tests need a C compiler"
    return toolchain.has_libmvec


def render_one(outputs) -> CSource:
    call = call_of(outputs)
    return render((call,), set(call.outputs), has_libmvec())


def _scalars(source, values):
    array = (_Scalar * max(1, len(source.scalars)))()
    for slot, number in zip(array, source.scalars, strict=False):
        value = np.asarray(values[number])
        if is_complex(value.dtype):
            slot.c[0], slot.c[1] = value.item().real, value.item().imag
        elif is_float(value.dtype):
            slot.f = value.item()
        elif is_unsigned(value.dtype):
            slot.u = value.item()
        else:
            slot.i = int(value.item())
    return array


def guarded(array, at_end):
    """A copy of `array` that ends, or else begins, where a page without access does."""
    page, body = mmap.PAGESIZE, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, body + 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    for guard in (address, address + page + body):
        assert _mprotect(guard, page, _PROT_NONE) == 0
    copy = np.ndarray(array.shape, array.dtype, pages, page + (body - array.nbytes if at_end else 0))
    copy[...] = array
    return copy


def execute(source, memory, values=(), pieces=1):
    """Call compiled `source` on `memory` (slot -> array), its loop cut into `pieces`; the status words, or None.

    Scalar number i is values[i].

    It runs twice, with pages without access after its memory and before it, and gives the same both times.
    """
    (function,) = compile_many([(source.text, source.entry)])
    results = []
    for at_end in (True, False):
        copies = {id(array): guarded(array, at_end) for array in memory.values()}
        placed = {slot: copies[id(array)] for slot, array in memory.items()}
        status = _call(function, source, placed, values, pieces, at_end)
        if status is not None:
            return status
        results.append([placed[slot] for slot in source.outputs])
    assert list(map(bits, results[0])) == list(map(bits, results[1])), source.text
    for slot, result in zip(source.outputs, results[0], strict=True):
        memory[slot][...] = result
    return None


def _call(function, source, memory, values, pieces, at_end):
    run_kernel = _PROTOTYPE(function.address)
    pointers = (ctypes.c_void_p * max(1, len(source.outputs + source.inputs)))(
        *[memory[slot].ctypes.data for slot in source.outputs + source.inputs]
    )
    dims = (ctypes.c_int64 * max(1, len(source.dims)))(*source.dims)
    scalars = _scalars(source, values)
    status = (ctypes.c_int64 * 4)()
    scratch = guarded(np.zeros(source.scratch_bytes + source.parts_bytes, np.uint8), at_end)
    bounds = [source.extent * k // pieces for k in range(pieces + 1)]
    for begin, end in pairwise(bounds):
        if begin < end and run_kernel(pointers, dims, scalars, begin, end, scratch.ctypes.data, status):
            return list(status)
    if source.parts_bytes:
        run_kernel(pointers, dims, scalars, source.extent, source.extent, scratch.ctypes.data, status)
    return None


def run(outputs, values=(), pieces=1):
    """The values of `outputs` as one kernel; PARAM i is values[i]."""
    source = render_one(outputs)
    memory = {100 + i: np.array(value, order="C") for i, value in enumerate(values)}
    for slot, out in enumerate(outputs):
        memory[slot] = np.full(out.shape, 77 if out.dtype.kind != "b" else True, out.dtype)
    status = execute(source, memory, dict(enumerate(values, 100)), pieces)
    if status is not None:
        raise IndexError(f"index {status[1]} is out of bounds for axis {status[2]} with size {status[3]}")
    return [memory[slot] for slot in range(len(outputs))]


def bits(array):
    """The bytes of an array, every nan made equal."""
    array = np.array(array, order="C")
    if array.dtype.kind == "c":
        return bits(array.reshape(-1).view(f"f{array.dtype.itemsize // 2}"))
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


def ulps(got, want):
    """The largest difference in units of the last place of `want`; infinite if a nan or inf stands on one side only."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype.kind == "c":
        return max(ulps(np.real(got), np.real(want)), ulps(np.imag(got), np.imag(want)))
    if got.size == 0:
        return 0.0
    with np.errstate(all="ignore"):
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        far = np.abs(got.astype(np.longdouble) - want) / np.spacing(np.abs(want))
        return float(np.max(np.where(same, 0, np.where(np.isfinite(far), far, np.inf))))


def check(outputs, values=(), max_ulps=0, pieces=1, atol=None):
    """Assert that the kernel gives what the interpreter gives."""
    outputs = list(outputs)
    params = {node.arg[0]: node for node in walk(outputs) if node.op is Ops.PARAM}
    env = {node: values[i] for i, node in params.items()}
    for got, want in zip(run(outputs, values, pieces), evaluate(outputs, env), strict=True):
        if atol is not None:
            np.testing.assert_allclose(got, want, rtol=0, atol=atol)
        elif max_ulps:
            assert ulps(got, want) <= max_ulps, _difference(outputs, got, want)
        else:
            assert bits(got) == bits(want), _difference(outputs, got, want)


def _difference(outputs, got, want):
    wrong = np.argwhere(~((got == want) | ((got != got) & (want != want))))
    where = tuple(wrong[0]) if len(wrong) else ()
    shown = f"at {where} of {want.shape}: got {got[where]!r}, want {want[where]!r}"
    return f"{len(wrong)} elements differ, first {shown}\n{render_one(outputs).text}"
