"""`jit`: what is traced again and what is not, Python numbers as inputs, nesting, and code that needs values."""

import functools
import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import uopc_array as xp
from uopc_array import grad, jit
from uopc_array._transforms.jit import MAX_TRACES
from uopc_core.errors import TraceError


def counted(f):
    """`f`, jitted, and the list that grows with every trace."""
    calls = []

    @functools.wraps(f)
    def traced(*args, **kwargs):
        calls.append(1)
        return f(*args, **kwargs)

    return jit(traced), calls


def test_one_trace_per_shape_and_dtype():
    f, calls = counted(lambda x: xp.sum(x * 2))
    for _ in range(3):
        assert float(f(xp.ones(3))) == 6.0
    assert len(calls) == 1
    f(xp.ones(4))
    f(xp.ones(3, dtype=xp.float32))
    assert len(calls) == 3


def test_python_numbers_are_inputs():
    f, calls = counted(lambda x, s: xp.sum(x * s))
    x = xp.asarray([1.0, 2.0, 3.0])
    assert [float(f(x, 0.5 + 0.25 * i)) for i in range(20)] == [6.0 * (0.5 + 0.25 * i) for i in range(20)]
    assert len(calls) == 1
    assert float(f(x, 2)) == 12.0
    assert len(calls) == 2
    assert float(f(x, np.float64(2))) == 12.0
    assert complex(f(x, 1j)) == 6j


def test_traced_numbers_behave_as_numbers():
    assert float(jit(lambda n: n / 4)(1)) == 0.25
    assert float(jit(lambda n, x: x**n)(3, xp.asarray(2.0))) == 8.0

    @jit
    def total(n):
        m = n
        m += 1
        return n * 10 + m

    assert int(total(1)) == 12


def test_other_values_are_part_of_the_structure():
    f, calls = counted(lambda x, mode, flag=False, *, n=None: (x + 1 if mode == "up" else x - 1) * (2 if flag else 1))
    x = xp.asarray(1.0)
    assert float(f(x, "up")) == 2.0
    assert float(f(x, "down")) == 0.0
    assert float(f(x, "up", True)) == 4.0
    assert float(f(x, "up", flag=True, n=None)) == 4.0
    assert len(calls) == 4
    f(x, "up")
    assert len(calls) == 4


def test_static_arguments_by_number_and_name():
    @functools.partial(jit, static_argnums=1, static_argnames="times")
    def f(x, axis, *, times=1):
        y = xp.sum(x, axis=axis)
        for _ in range(times):
            y = y * 2
        return y

    assert f(xp.ones((2, 3)), 0, times=2).tolist() == [8.0, 8.0, 8.0]
    assert f(xp.ones((2, 3)), 1).tolist() == [6.0, 6.0]

    @jit(static_argnums=(0,))
    def g(n):
        return xp.zeros(n)

    assert g(3).shape == (3,)
    with pytest.raises(TypeError, match="hashable"):
        g([3])


def test_containers_in_and_out():
    f = jit(lambda d, pair: {"sum": d["x"] + pair[0], "rest": [pair[1], None, 5, "text"]})
    out = f({"x": xp.ones(2)}, (1.0, xp.zeros(1)))
    assert out["sum"].tolist() == [2.0, 2.0]
    assert out["rest"][0].tolist() == [0.0]
    assert out["rest"][1:] == [None, 5, "text"]


def test_numpy_arrays_are_inputs():
    f, calls = counted(lambda x: x + 1)
    assert f(np.zeros(2)).tolist() == [1.0, 1.0]
    assert f(np.ones(2)).tolist() == [2.0, 2.0]
    assert len(calls) == 1


def test_an_input_may_be_an_output_and_outputs_may_be_constant():
    x = xp.asarray([1.0, 2.0])
    same, other, constant, number = jit(lambda x, s: (x, x, xp.zeros(2), s))(x, 3)
    assert same.tolist() == other.tolist() == [1.0, 2.0]
    assert constant.tolist() == [0.0, 0.0]
    assert int(number) == 3
    assert same is x
    same[0] = 9.0
    assert x.tolist() == [9.0, 2.0]


def test_arrays_around_the_function_are_inputs():
    scale = xp.asarray([1.0, 2.0])
    f, calls = counted(lambda x: x * scale)
    assert f(xp.ones(2)).tolist() == [1.0, 2.0]
    scale[0] = 100.0
    assert f(xp.ones(2)).tolist() == [100.0, 2.0]
    scale = xp.asarray([5.0, 6.0])
    assert f(xp.ones(2)).tolist() == [5.0, 6.0]
    assert len(calls) == 1


def test_structures_that_differ_in_a_number_only_do_not_mix():
    x, c = xp.asarray([1.0, 2.0]), xp.asarray([3.0, 4.0])
    results = [f(x).tolist() for f in (jit(lambda t: t * 2 + 1), jit(lambda t: t * 3 + 1), jit(lambda t: t * c + 1))]
    assert results == [[3.0, 5.0], [4.0, 7.0], [4.0, 9.0]]


def test_jit_inside_of_jit():
    inner, calls = counted(lambda t, k: t * k + 1)
    outer = jit(lambda a, b: inner(a, b) + inner(a, 2.0) + jit(lambda q: q * a)(b))
    assert outer(xp.asarray([1.0, 2.0]), 3.0).tolist() == [10.0, 18.0]
    assert outer(xp.asarray([1.0, 1.0]), 1.0).tolist() == [6.0, 6.0]
    inner(xp.ones(2), 1.0)
    assert len(calls) == 1


def test_a_kept_trace_is_reused_under_grad():
    f, calls = counted(lambda x: xp.sum(x**3))
    f(xp.ones(2))
    assert grad(f)(xp.asarray([1.0, 2.0])).tolist() == [3.0, 12.0]
    assert jit(grad(f))(xp.asarray([1.0, 2.0])).tolist() == [3.0, 12.0]
    assert len(calls) == 1


def test_a_variable_around_a_jitted_function_is_differentiated():
    w = xp.asarray([2.0, 3.0])
    x = xp.asarray([1.0, 10.0])
    assert grad(lambda w: xp.sum(jit(lambda t: t * w)(x)))(w).tolist() == [1.0, 10.0]
    inner = jit(lambda t, w: t * w)
    assert grad(lambda w: xp.sum(inner(x, w)))(w).tolist() == [1.0, 10.0]


def test_traced_integer_exponent_has_the_right_derivative_at_zero():
    f = jit(lambda x, k: x**k)
    z = xp.asarray(0.0)
    assert [float(grad(lambda x, k=k: f(x, k))(z)) for k in (0, 1, 3)] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: x if x[0] > 0 else -x, "bool needs a value"),
        (lambda x: float(x[0]), "float needs a value"),
        (lambda x: x[int(x[0])], "int needs a value"),
        (lambda x: x[x > 0], "indexing with a bool mask"),
        (lambda x: np.asarray(x), "conversion to a NumPy array"),
        (lambda x: x.tolist(), "tolist needs a value"),
        (lambda x: [1, 2, 3][x[0].astype(int)], "index needs a value"),
        (lambda x: xp.nonzero(x), "needs a value"),
    ],
    ids=["if", "float", "int", "mask", "asarray", "tolist", "index", "nonzero"],
)
def test_code_that_needs_values_is_told_where_and_what_to_do(f, text):
    with pytest.raises(TraceError, match=text) as caught:
        jit(f)(xp.asarray([1.0, 2.0]))  # pyright: ignore[reportArgumentType] (f has no type, so no overload is chosen)
    assert __file__ in str(caught.value)
    assert "static" in str(caught.value) or "xp.where" in str(caught.value)


def test_error_names_the_line():
    def f(x):
        y = x + 1
        return y if y > 0 else x

    number = inspect.getsourcelines(f)[1] + 2
    with pytest.raises(TraceError, match=f"line {number}: return y if y > 0 else x"):
        jit(f)(1.0)


def test_a_failed_trace_is_not_kept():
    broken = [True]

    @jit
    def f(x):
        if broken[0]:
            raise ValueError("not yet")
        return x + 1

    with pytest.raises(ValueError, match="not yet"):
        f(xp.ones(1))
    broken[0] = False
    assert f(xp.ones(1)).tolist() == [2.0]


def test_traces_are_bounded():
    f = jit(lambda x, tag: x)
    for n in range(MAX_TRACES + 20):
        f(xp.ones(1), f"tag {n}")
    assert len(f._traces) <= MAX_TRACES


def test_threads_share_a_jitted_function():
    f = jit(lambda x: xp.sum(x * x))
    sizes = [1, 2, 3, 4] * 8
    with ThreadPoolExecutor(8) as executor:
        results = list(executor.map(lambda n: float(f(xp.ones(n))), sizes))
    assert results == [float(n) for n in sizes]


def test_it_looks_like_the_function():
    @jit
    def area(radius):
        """Of a disc."""
        return radius * radius * 3.0

    assert getattr(area, "__name__", None) == "area"
    assert area.__doc__ == "Of a disc."
    assert "area" in repr(area)


def test_methods():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @jit
        def apply(self, x):
            return x * self.scale

    assert Model(2.0).apply(xp.ones(2)).tolist() == [2.0, 2.0]
    assert Model(3.0).apply(xp.ones(2)).tolist() == [3.0, 3.0]


def test_the_same_numbers_as_without():
    def f(x):
        return xp.sum(xp.sinh(xp.sin(x) + 16.0))

    x = xp.asarray(np.linspace(-7.0, 7.0, 1000))
    assert abs(float(jit(f)(x)) / float(f(x)) - 1) < 1e-14
    square = jit(lambda a, b: a * a - b * b)
    v = np.linspace(0.1, 3.1, 1001)
    assert not np.any(np.asarray(square(v, v.copy())))
