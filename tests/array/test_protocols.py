"""What Python and other libraries ask of an array: copies, pickling, exchange with NumPy and DLPack, the namespace."""

import copy
import gc
import io
import itertools
import json
import math
import pickle
import sys
import weakref
from typing import Any, cast

import array_api_compat
import numpy as np
import pytest

import uopc_array as xp


def test_numpy_gets_a_fresh_writable_copy():
    x = xp.asarray([1.0, 2.0])
    values = np.asarray(x)
    values[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.array(x, copy=True).flags.writeable


def test_without_a_copy_numpy_gets_a_read_only_view():
    x = xp.asarray([1.0, 2.0])
    for view in (x.to_numpy(copy=False), np.asarray(x, copy=False)):
        assert not view.flags.writeable
        assert view.ctypes.data == x._uop.realized.pointer
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True
    assert x.to_numpy().flags.writeable
    with pytest.raises(ValueError, match="without a copy"):
        x.__array__(np.float32, copy=False)


def test_a_view_keeps_its_values_when_the_array_changes():
    x = xp.asarray([1.0, 2.0])
    view = x.to_numpy(copy=False)
    x[0] = 5.0
    x += 1
    assert view.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_dlpack_both_ways(dtype):
    x = xp.asarray([[1, 0], [1, 1]], dtype=dtype)
    there = np.from_dlpack(x)
    assert there.dtype == dtype
    np.testing.assert_array_equal(there, np.asarray(x))
    back = xp.from_dlpack(there)
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(back), np.asarray(x))
    assert x.__dlpack_device__() == (1, 0)


def test_dlpack_shares_read_only_and_copies_when_asked_or_must():
    x = xp.asarray([1.0, 2.0])
    shared = np.from_dlpack(x)
    assert not shared.flags.writeable
    assert shared.ctypes.data == x._uop.realized.pointer
    assert np.from_dlpack(x, copy=True).flags.writeable
    x.__dlpack__()
    x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)
    x.__dlpack__(copy=False)  # an older consumer that insists gets the memory
    with pytest.raises(BufferError, match="dl_device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)


def test_read_only_memory_is_taken_over_dlpack():
    values = np.linspace(0.0, 1.0, 5)
    values.flags.writeable = False
    assert float(xp.sum(xp.from_dlpack(values))) == 2.5


def test_pickle_and_copies():
    x = xp.asarray([1.0, 2.0], dtype=xp.float32) + 1.0
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(other) is type(x)
        assert other.dtype == x.dtype
        assert other.tolist() == [2.0, 3.0]
        other[0] = 0.0
    assert x.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_namespace_is_the_package(version):
    assert xp.ones(1).__array_namespace__(api_version=version) is xp


def test_unknown_version_of_the_standard_is_refused():
    with pytest.raises(ValueError, match="1999"):
        xp.ones(1).__array_namespace__(api_version="1999.12")


def test_array_api_compat_knows_the_array():
    x = xp.ones(3)
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x) is xp
    assert array_api_compat.size(x) == 3  # pyright: ignore[reportArgumentType, reportCallIssue] (x was narrowed above)
    assert array_api_compat.device(x) == "cpu"
    assert not array_api_compat.is_lazy_array(x)
    assert array_api_compat.is_writeable_array(x)


def test_devices():
    x = xp.ones(2)
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="cpu"):
        x.to_device("gpu")
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)


def test_numpy_asks_before_iterating():
    assert not np.iterable(xp.asarray(1.0))
    assert np.iterable(xp.ones(2))


def test_text_of_a_traced_array_is_its_type():
    seen = []
    xp.jit(lambda x: (seen.extend([repr(x), str(x), f"{x}"]), x)[1])(xp.ones((2, 3)))
    assert seen == ["Array(shape=(2, 3), dtype=float64, traced)"] * 3


ALL = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL += ["float32", "float64", "complex64", "complex128"]
LAYOUTS = {
    "0-d": lambda x: x[0, 0],
    "empty": lambda x: x[:0],
    "contiguous": lambda x: x,
    "strided": lambda x: x[::2, ::-3],
    "transposed": lambda x: x.T,
    "broadcast": lambda x: x.__array_namespace__().broadcast_to(x, (2, 4, 6)),
}


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)], ids=str)
@pytest.mark.parametrize("copied", [None, True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dlpack_of_every_layout_and_dtype(layout, copied, version):
    for dtype in ALL:
        values = np.arange(24).reshape(4, 6).astype(dtype)
        there = LAYOUTS[layout](xp.asarray(values))
        capsule = there.__dlpack__(max_version=version, copy=copied, dl_device=(1, 0))
        assert ("dltensor_versioned" in repr(capsule)) == (version is not None and version >= (1, 0))
        back = np.from_dlpack(there, copy=copied)
        np.testing.assert_array_equal(back, np.asarray(there), strict=True)
        taken = xp.from_dlpack(np.asarray(LAYOUTS[layout](values)), device="cpu")
        assert taken.dtype == dtype
        np.testing.assert_array_equal(np.asarray(taken), np.asarray(there))


def test_memory_taken_over_dlpack_is_shared_or_copied_as_asked():
    memory = np.arange(4.0)
    shared, copied = xp.from_dlpack(memory, copy=False), xp.from_dlpack(memory, copy=True)
    memory[0] = 9.0
    assert (float(shared[0]), float(copied[0])) == (9.0, 0.0)
    with pytest.raises(BufferError, match=r"from_dlpack: memory of shape \(2,\) with strides \(16,\)"):
        xp.from_dlpack(memory[::2], copy=False)
    assert xp.from_dlpack(memory[::2]).tolist() == [9.0, 2.0]


def test_read_only_memory_is_copied_before_it_is_written_to():
    memory = np.arange(4.0)
    memory.flags.writeable = False
    x = xp.from_dlpack(memory, copy=False)
    view = x[1:]
    x[0] = 9.0
    view[0] = 8.0
    assert memory.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert x.tolist() == [9.0, 8.0, 2.0, 3.0]


class OldProducer:
    """Speaks DLPack as before version 1.0: no keywords but `stream`."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("copied", [None, True, False])
def test_an_older_producer_is_understood(copied):
    values = np.arange(3.0)
    x = xp.from_dlpack(OldProducer(values), copy=copied)
    values[0] = 5.0
    assert x.tolist() == [5.0 if copied is False else 0.0, 1.0, 2.0]


def test_memory_lives_as_long_as_whoever_shares_it():
    x = xp.arange(1000) * 2
    there = np.from_dlpack(x)
    del x
    gc.collect()
    for _ in range(8):
        np.asarray(xp.arange(1000) * 3)
    np.testing.assert_array_equal(there, np.arange(1000) * 2)
    memory = np.arange(1000)
    owner = weakref.ref(memory)
    shared = xp.from_dlpack(memory, copy=False)
    del memory
    gc.collect()
    assert owner() is not None
    assert int(shared[5]) == 5
    del shared
    gc.collect()
    assert owner() is None


def test_a_capsule_that_nobody_takes_lets_go_of_the_memory():
    x = xp.arange(3.0)
    for version in (None, (1, 0)):
        x.__dlpack__(max_version=version)
    gc.collect()
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_there_is_no_memory_to_exchange_inside_jit():
    with pytest.raises(TypeError, match="needs a value"):
        xp.jit(lambda x: x.__dlpack__())(xp.ones(3))


def test_memory_is_looked_at_by_way_of_numpy():
    memory: Any = xp.asarray([1.5, 2.5]).to_numpy(copy=False)
    view = memoryview(memory)
    assert view.readonly
    assert view.tolist() == [1.5, 2.5]
    with pytest.raises(TypeError):
        memoryview(cast("Any", xp.asarray([1.5, 2.5])))


@pytest.mark.parametrize(
    "function",
    [math.sqrt, math.exp, math.lgamma, math.floor, math.ceil, math.trunc, math.isnan, math.degrees, round, abs],
    ids=lambda f: f.__name__,
)
def test_functions_of_python_take_an_array_of_no_axes(function):
    got = function(xp.asarray(2.5))
    assert type(got) is type(function(2.5)) or function is abs
    assert got == function(2.5)


def test_an_integer_array_of_no_axes_is_an_index():
    three = xp.asarray(3)
    assert list(range(three)) == [0, 1, 2]
    assert [1, 2, 3, 4][:three] == [1, 2, 3]
    assert "ab" * three == "ababab"
    assert hex(three) == "0x3"
    assert math.comb(three, 2) == math.factorial(three) / 2
    shape: tuple[Any, ...] = (2, three)
    assert np.zeros(6).reshape(shape).shape == xp.zeros(shape).shape == (2, 3)
    assert np.arange(6)[three] == 3
    assert np.arange(6)[: xp.asarray(2)].tolist() == [0, 1]


def test_an_array_of_ours_selects_from_one_of_numpy():
    places, mask = xp.asarray([2, 0]), xp.asarray([True, False, True])
    x = np.arange(3.0)
    assert x[places].tolist() == [2.0, 0.0]
    assert x[mask].tolist() == [0.0, 2.0]
    x[mask] = xp.asarray([7.0, 8.0])
    assert x.tolist() == [7.0, 1.0, 8.0]


def test_functions_of_python_iterate():
    x = xp.asarray([1.5, 2.5, -3.5])
    assert [float(f(x)) for f in (sum, min, max, math.fsum, math.prod)] == [0.5, -3.5, 2.5, 0.5, -13.125]
    assert [float(v) for v in sorted(x)] == [float(v) for v in reversed([2.5, 1.5, -3.5])]
    assert [float(v) for v in reversed(x)] == [-3.5, 2.5, 1.5]
    assert (any(x), all(x)) == (True, True)
    a, b, c = x
    assert float(a + b + c) == 0.5
    assert [float(v) for v in itertools.accumulate(x)] == [1.5, 4.0, 0.5]
    assert bytes(xp.asarray([1, 2], dtype=xp.uint8).tobytes()) == b"\x01\x02"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: json.dumps(x), TypeError, "not JSON serializable"),
        (lambda x: hash(x), TypeError, "unhashable"),
        (lambda x: {x: 1}, TypeError, "unhashable"),
        (lambda x: math.sqrt(x), TypeError, "one element"),
        (lambda x: round(x, 1), TypeError, "one element"),
        (lambda x: [1, 2][x], TypeError, "index"),
        (lambda x: int(xp.asarray(np.nan)), ValueError, "NaN"),
        (lambda x: int(xp.asarray(np.inf)), OverflowError, "infinity"),
        (lambda x: float(xp.asarray(1j)), TypeError, "complex"),
        (lambda x: xp.from_dlpack([1.0]), AttributeError, "__dlpack__"),
    ],
)
def test_what_an_array_cannot_be_is_an_error_of_python(call, error, text):
    with pytest.raises(error, match=text):
        call(xp.ones(3))


def test_formats_of_text():
    assert f"{xp.asarray(2.5):8.3f}|{xp.asarray(3):d}|{xp.asarray(1 + 2j):.1f}" == "   2.500|3|1.0+2.0j"
    assert "%.1f %d %s" % (xp.asarray(2.5), xp.asarray(3), xp.asarray(True)) == "2.5 3 True"  # noqa: UP031
    assert f"{xp.asarray([1.5, 2.0])}" == "[1.5 2. ]"


def test_numpy_testing_compares():
    x, n = xp.asarray([1.0, np.nan]), np.asarray([1.0, np.nan])
    for assertion in (np.testing.assert_allclose, np.testing.assert_array_equal, np.testing.assert_equal):
        assertion(x, n)
        assertion(n, x)
        with pytest.raises(AssertionError):
            assertion(x, n + 1)
    assert xp.asarray([1.0, 2.0]) == pytest.approx(np.asarray([1.0, 2.0]))
    assert float(xp.asarray(2.5)) == pytest.approx(xp.asarray(2.5))


def test_files_of_numpy_take_an_array():
    file = io.BytesIO()
    np.save(file, xp.asarray([[1, 2], [3, 4]]))
    file.seek(0)
    assert np.load(file).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_kind_of_array_is_pickled_and_copied(protocol):
    matrix = xp.asarray([[1, 2], [3, 4]])
    for x in (xp.asarray(1j), matrix.T, matrix[::-1], matrix > 2, xp.zeros((0, 3)), xp.broadcast_to(matrix, (2, 2, 2))):
        for other in (pickle.loads(pickle.dumps(x, protocol)), copy.copy(x), copy.deepcopy([x])[0]):
            np.testing.assert_array_equal(np.asarray(other), np.asarray(x), strict=True)


@pytest.mark.parametrize(
    ("make", "n_bytes"),
    [
        (lambda x: x, 8_000),
        (lambda x: x[1:], 7_992),
        (lambda x: x.reshape(10, 100).T, 8_000),
        (lambda x: x * 2, 8_000),
        (lambda x: xp.sum(x * 2), 8_000),
        (lambda x: xp.sum(x * x + x[1:2]), 8_000),
        (lambda x: xp.sum(x) + xp.sum(xp.asarray(np.ones(500))), 12_000),
        (lambda x: x[:, None] + x, 8_000_000),
        (lambda x: x > 0, 8_000),
        (lambda x: x[0], 8),
        (lambda x: xp.zeros(100, dtype=xp.int8), 100),
    ],
)
def test_the_size_of_an_object_is_that_of_what_it_holds(make, n_bytes):
    x = make(xp.asarray(np.arange(1000.0)))
    overhead = sys.getsizeof(x) - n_bytes
    assert 0 < overhead <= 200
    x._memory("a test")
    assert sys.getsizeof(x) - x.nbytes == overhead
    assert x.nbytes == np.asarray(x).nbytes
