"""Every name of the namespace, and every method, has a case in the finite-difference tables, or is named here as one
that has no derivative, which is checked too.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, WrapperDescriptorType
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.extern import test_fft_derivatives as of_fft
from tests.extern import test_linalg_derivatives as of_linalg
from tests.support import derivative_tables as tables
from tests.support.derivatives import Function
from uopc_array._array.at_once import _IN_MEMORY
from uopc_array._array.extension import IN_C
from uopc_array._array.operators import DIRECT
from uopc_array._functions.ufunc import BinaryUfunc, UnaryUfunc, ufunc
from uopc_array._functions.vector_ufunc import VectorUfunc
from uopc_core.frontend import bounds

X = np.asarray([[0.7, -1.3, 2.1], [0.31, 1.7, -0.45]])
INTEGERS = np.asarray([3, 1, 2])

# functions of an array that pass no derivative: integers, truth values, steps, what looks at the shape alone
NO_DERIVATIVE: dict[str, Function] = {
    **{name: (lambda x, name=name: getattr(xp, name)(x)) for name in (
        "all any argmax argmin argsort ceil count_nonzero empty_like floor isfinite isinf isnan isneginf isposinf "
        "logical_not ones_like rint round around sign signbit trunc zeros_like"
    ).split()},
    **{name: (lambda x, name=name: getattr(xp, name)(x, 0.5)) for name in (
        "equal floor_divide greater greater_equal isclose isin less less_equal logical_and logical_or logical_xor "
        "not_equal"
    ).split()},
    "argpartition": lambda x: xp.argpartition(x, 1),
    "nonzero": lambda x: xp.nonzero(x)[0],
    "searchsorted": lambda x: xp.searchsorted(xp.sort(x[0]), x),
    "matrix_rank": xp.linalg.matrix_rank,
}  # fmt: skip
# functions of integers and bool alone, which cannot be asked for a derivative
OF_INTEGERS = set(
    "bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor invert "
    "left_shift right_shift".split()
)
# what comes back is a Python object
PYTHON_RESULTS: dict[str, Callable[[xp.Array], Any]] = {
    "allclose": lambda x: xp.allclose(x, x),
    "array_equal": lambda x: xp.array_equal(x, x),
    "array_equiv": lambda x: xp.array_equiv(x, x),
    "can_cast": lambda x: xp.can_cast(x, xp.float64),
    "finfo": lambda x: xp.finfo(x).bits,
    "iinfo": lambda x: xp.iinfo(xp.astype(x, xp.int64)).bits,
    "iscomplexobj": lambda x: xp.iscomplexobj(x),
    "isrealobj": lambda x: xp.isrealobj(x),
    "isdtype": lambda x: xp.isdtype(x.dtype, "real floating"),
    "ndim": lambda x: xp.ndim(x),
    "result_type": lambda x: xp.result_type(x).itemsize,
    "shape": lambda x: xp.shape(x)[0],
    "size": lambda x: xp.size(x),
    "broadcast_shapes": lambda x: xp.broadcast_shapes(x.shape)[0],
}
# made of shapes and Python numbers, or of what another library holds
NOT_OF_ARRAYS = set(
    "arange empty eye fftfreq from_dlpack identity ones rfftfreq tri zeros "
    "einsum_path context explain log_host_calls show_config __array_namespace_info__".split()
)
TRANSFORMS = set("checkpoint grad hessian jacfwd jacrev jit jvp stop_gradient value_and_grad vjp vmap".split())


def cases() -> Iterable[tuple[Function, tuple[Any, ...]]]:
    for table in (tables.REAL, tables.COMPLEX, tables.NUMPY_NAMES, tables.METHODS, of_linalg.BOTH):
        yield from table.values()
    for f, x in of_fft.CASES.values():
        yield f, (x,)


@contextmanager
def operators_in_python() -> Iterator[None]:
    """Have operators on nodes go through the methods of Python, which the extension spares them."""
    if IN_C is None:
        yield
        return
    try:
        IN_C.connect_records({name: (op, "") for name, (op, _) in DIRECT.items()}, vars(bounds), _IN_MEMORY)
        yield
    finally:
        IN_C.connect_records(DIRECT, vars(bounds), _IN_MEMORY)


@pytest.fixture(scope="module")
def called() -> tuple[set[Any], set[CodeType]]:
    """The functions that the tables name, and the code of those that a case calls itself."""
    functions = {f for f, _ in cases()}
    codes: set[CodeType] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        caller = frame.f_back
        if event == "call" and caller is not None and "tests" in caller.f_code.co_filename:
            codes.add(frame.f_code)
            if isinstance(frame.f_locals.get("self"), ufunc):
                functions.add(frame.f_locals["self"])

    before = sys.getprofile()
    with operators_in_python():
        for f, arrays in cases():
            operands = [xp.asarray(a) for a in arrays]
            sys.setprofile(watch)
            try:
                f(*operands)
            finally:
                sys.setprofile(before)
    return functions, codes


NAMESPACES = {"": xp, "linalg.": xp.linalg, "fft.": xp.fft}
EVERY = {
    f"{prefix}{name}": getattr(space, name)
    for prefix, space in NAMESPACES.items()
    for name in space.__all__
    if inspect.isfunction(getattr(space, name))
    or isinstance(getattr(space, name), UnaryUfunc | BinaryUfunc | VectorUfunc)
}
OF_NUMPY = {"lstsq", "polyfit"}  # computed on the values, and refused under a derivative
OTHERS = {*OF_NUMPY, *NO_DERIVATIVE, *OF_INTEGERS, *PYTHON_RESULTS, *NOT_OF_ARRAYS, *TRANSFORMS}


def shared(code: CodeType) -> bool:
    """Whether several functions were made by one factory, so that their code does not tell which was called."""
    return len({id(f) for f in EVERY.values() if inspect.isfunction(f) and inspect.unwrap(f).__code__ is code}) > 1


@pytest.mark.parametrize("name", EVERY)
def test_a_function_is_in_a_table_or_has_no_derivative(name: str, called: tuple[set[Any], set[CodeType]]) -> None:
    f = EVERY[name]
    functions, codes = called
    listed = name.split(".")[-1] in OTHERS
    found = f in functions
    if inspect.isfunction(f):
        code = inspect.unwrap(f).__code__
        found = found or (code in codes and not shared(code))
    assert listed or found, f"{name}: no case, and not listed without derivative"


# methods without derivative, as the functions of their names above
PLAIN_METHODS = set(
    "byteswap dump dumps getfield setfield setflags tofile "
    "all any argmax argmin argpartition argsort nonzero round searchsorted tobytes to_numpy view item tolist "
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __floordiv__ __rfloordiv__ __ifloordiv__ __invert__ "
    "__and__ __or__ __xor__ __lshift__ __rshift__ __rand__ __ror__ __rxor__ __rlshift__ __rrshift__ "
    "__iand__ __ior__ __ixor__ __ilshift__ __irshift__".split()
)
OPERATORS = [
    *(f"__{side}{name}__" for name in "add sub mul truediv mod pow matmul".split() for side in ("", "r", "i")),
    *"__neg__ __pos__ __abs__ __divmod__ __rdivmod__ __getitem__ __setitem__ __iter__".split(),
]
METHODS = [
    *OPERATORS,
    *(name for name in dir(xp.Array) if not name.startswith("_") and name not in PLAIN_METHODS),
]
NO_ARRAYS = {"shape", "dtype", "ndim", "size", "itemsize", "nbytes", "device", "strides", "flags", "base"}


@pytest.mark.parametrize("name", [name for name in METHODS if name not in NO_ARRAYS])
def test_a_method_is_in_a_table(name: str, called: tuple[set[Any], set[CodeType]]) -> None:
    found = [vars(cls)[name] for cls in xp.Array.__mro__ if name in vars(cls)]
    member = next(x for x in found if not isinstance(x, WrapperDescriptorType))  # operators in C call those of Python
    function: Any = member.fget if isinstance(member, property) else member
    assert function.__code__ in called[1], f"{name}: no case"


@pytest.mark.parametrize("name", NO_DERIVATIVE)
def test_what_has_no_derivative_passes_zeros(name: str) -> None:
    def total(x: xp.Array) -> xp.Array:
        return xp.sum(xp.astype(NO_DERIVATIVE[name](x), xp.float64))

    if name == "empty_like":  # its values are anything
        assert NO_DERIVATIVE[name](xp.asarray(X)).shape == X.shape
        return
    np.testing.assert_array_equal(np.asarray(xp.grad(total)(xp.asarray(X))), np.zeros_like(X))
    np.testing.assert_array_equal(np.asarray(xp.jvp(total, (xp.asarray(X),), (xp.asarray(X),))[1]), 0.0)


@pytest.mark.parametrize("name", PYTHON_RESULTS)
def test_a_python_number_made_of_an_array_passes_nothing(name: str) -> None:
    got = xp.grad(lambda x: xp.sum(x) * 0.0 + PYTHON_RESULTS[name](x))(xp.asarray(X))
    np.testing.assert_array_equal(np.asarray(got), np.zeros_like(X))


@pytest.mark.parametrize("name", sorted(OF_INTEGERS & set(xp.__all__)))
def test_a_function_of_integers_refuses_what_could_be_differentiated(name: str) -> None:
    f = getattr(xp, name)
    with pytest.raises(TypeError, match="expected"):
        xp.grad(lambda x: xp.sum(f(*[x] * f.nin)))(xp.asarray(X))
    with pytest.raises(TypeError, match="must be floating to differentiate by it"):
        xp.grad(lambda x: xp.sum(x))(xp.asarray(INTEGERS))
