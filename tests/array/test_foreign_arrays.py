"""Arrays of other libraries, and objects that NumPy takes for arrays: taken over, or refused by name."""

import sys
from collections import UserList, deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from uopc_core.errors import GradientError, TraceError

VALUES = np.asarray([1.0, 2.0, 4.0])


def _fake(module: str, name: str, **fields: Any) -> type:
    """A class that array_api_compat takes for the array class of a library."""

    class Array:
        requires_grad = False
        device = "gpu:0"
        where = (1, 0)
        dtype_error: str | None = None

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.where

        def __dlpack__(self, **kwargs: Any) -> Any:
            if self.dtype_error is not None:
                raise BufferError(self.dtype_error)
            return VALUES.copy().__dlpack__(**kwargs)

    made = type(name, (Array,), fields)
    made.__module__ = module
    return made


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """An array of a library that looks like one of these, whichever are installed here."""

    def make(module: str, name: str, **fields: Any) -> Any:
        fake, cls = ModuleType(module), _fake(module, name, **fields)
        setattr(fake, name, cls)
        monkeypatch.setitem(sys.modules, module, fake)
        return cls()

    return make


USES: dict[str, Callable[[Any], Any]] = {
    "asarray": xp.asarray,
    "sin": xp.sin,
    "x + y": lambda other: xp.ones(3) + other,
    "y - x": lambda other: other - xp.ones(3),
    "x @ y": lambda other: xp.ones(3) @ other,
    "x == y": lambda other: xp.ones(3) == other,
    "divmod": lambda other: divmod(xp.ones(3), other)[0],
    "x += y": lambda other: xp.ones(3).__iadd__(other),
    "where": lambda other: xp.where(True, other, xp.zeros(3)),
}


@pytest.mark.parametrize("use", USES)
def test_memory_of_the_cpu_is_taken_over(library: Callable[..., Any], use: str) -> None:
    np.testing.assert_array_equal(USES[use](library("torch", "Tensor")), USES[use](VALUES))


def test_memory_is_shared_on_demand() -> None:
    class Lender:
        values = VALUES.copy()

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __dlpack__(self, **kwargs: Any) -> Any:
            return self.values.__dlpack__(**kwargs)

        def __array_namespace__(self) -> Any:
            return np

    lender = Lender()
    shared, copied = xp.asarray(lender, copy=False), xp.asarray(lender)
    lender.values[0] = 9
    assert (float(shared[0]), float(copied[0])) == (9.0, 1.0)


ELSEWHERE = {
    "torch": ("torch", "Tensor", r"x\.detach\(\)\.cpu\(\)"),
    "cupy": ("cupy", "ndarray", r"x\.get\(\)"),
    "ndonnx": ("ndonnx", "Array", r"x\.unwrap_numpy\(\)"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ELSEWHERE)
def test_memory_of_another_device_is_refused_with_what_to_write(
    library: Callable[..., Any], name: str, use: str
) -> None:
    module, cls, remedy = ELSEWHERE[name]
    with pytest.raises(TypeError, match=rf"an array of {name} cannot .* another device, gpu:0; pass {remedy}"):
        USES[use](library(module, cls, where=(2, 0)))


def test_a_library_that_nobody_knows_is_named_after_its_module(library: Callable[..., Any]) -> None:
    array = library("newlib.arrays", "Array", where=(2, 0), __array_namespace__=lambda self: None)
    with pytest.raises(TypeError, match="asarray: an array of newlib cannot be taken over: it lies on another device"):
        xp.asarray(array)


def test_what_the_library_says_is_in_the_message(library: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="sin: an array of torch cannot be taken over: no bfloat16; pass "):
        xp.sin(library("torch", "Tensor", dtype_error="no bfloat16"))


def test_a_tensor_that_another_library_differentiates_is_refused(library: Callable[..., Any]) -> None:
    with pytest.raises(GradientError, match=r"add: a tensor of torch that requires a gradient .* x\.detach\(\)"):
        xp.ones(3) + library("torch", "Tensor", requires_grad=True)


def test_an_array_that_jax_traces_is_refused(library: Callable[..., Any]) -> None:
    tracer = library("jax", "Array")
    core = ModuleType("jax.core")
    core.Tracer = type(tracer)  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules["jax"].core = core  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TraceError, match="multiply: an array that jax is tracing"):
        xp.ones(3) * tracer


# ---------------------------------------------------------------------------------------- what NumPy takes for an array


class Convertible:
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return VALUES.astype(dtype or VALUES.dtype)


OBJECTS: dict[str, Any] = {
    "__array__": Convertible(),
    "UserList": UserList([1, 2, 4]),
    "deque": deque([1, 2, 4]),
    "range": range(3),
    "memoryview": memoryview(bytes([1, 2, 4])),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_that_numpy_takes_for_an_array_is_taken_here(name: str, use: str) -> None:
    ours = USES[use](OBJECTS[name])
    np.testing.assert_array_equal(ours, USES[use](np.asarray(OBJECTS[name])))
    assert isinstance(ours, xp.Array)


class KnowsBetter:
    __array_ufunc__ = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise AssertionError("it was asked for its values")

    def __radd__(self, other: Any) -> str:
        return "added by me"


def test_who_knows_numpys_ufuncs_is_asked_first() -> None:
    assert xp.ones(3) + KnowsBetter() == "added by me"


@pytest.mark.parametrize("other", ["abc", b"abc", None, {1, 2}, object()], ids=lambda value: type(value).__name__)
def test_what_is_no_array_is_left_to_python(other: Any) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        xp.ones(3) + other
    assert (xp.ones(3) == other) is False


# ------------------------------------------------------------------------------------------------ the libraries at hand


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.arange(3.0)
    for out in (tensor + xp.ones(3), xp.ones(3) + tensor, xp.add(tensor, xp.ones(3))):
        np.testing.assert_array_equal(out, [1, 2, 3])
    for other in (torch.ones(3, dtype=torch.bfloat16), torch.ones(3, device="meta"), torch.ones(3).to_sparse()):
        with pytest.raises(TypeError, match="asarray: an array of torch cannot be taken over"):
            xp.asarray(other)
    with pytest.raises(GradientError, match="requires a gradient"):
        xp.sum(torch.ones(3, requires_grad=True))


def test_arrays_of_dask() -> None:
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    lazy = da.arange(6, chunks=3)
    np.testing.assert_array_equal(xp.asarray(lazy), np.arange(6))  # as numpy.asarray has it
    for use in (lambda: xp.ones(6) + lazy, lambda: lazy + xp.ones(6)):
        with pytest.raises(TypeError, match=r"dask .* pass x\.compute\(\), or have dask take both"):
            use()
