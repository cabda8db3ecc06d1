"""What Python and other libraries ask of an array: copies, pickling, exchange with NumPy and DLPack, the namespace."""

import copy
import pickle

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
        assert view.ctypes.data == x._uop.arg.pointer
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
    assert shared.ctypes.data == x._uop.arg.pointer
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
