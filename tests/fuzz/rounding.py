"""How far rounding may take a result: NumPy's own run, repeated with an error put into every operation that has one.

What the documentation promises to be exact (`+ - * /`, sqrt, comparisons, conversions, integers, movement) gets no
error, so a program of such operations must give NumPy's bits. The rest gets errors of a few units in the last place,
sums in proportion to the sum of magnitudes, and the spread of the results is what two right programs may differ by.
Integers and truth values that change from run to run hang on rounding and judge nothing.
Method: Monte Carlo arithmetic, as in Parker (1997).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.program import Program

__all__ = ["noisy_namespace", "to_noisy", "with_functions"]

Values = np.ndarray[Any, Any]
UNITS = 8.0  # errors put in, in units in the last place: 4 are allowed to us, NumPy has its own

EXACT = frozenset(
    (
        "add subtract multiply divide sqrt floor_divide remainder fmod divmod negative positive absolute fabs square "
        "reciprocal maximum minimum fmax fmin clip rint floor ceil trunc sign copysign nextafter spacing signbit "
        "heaviside conjugate isfinite isnan isinf ldexp"
    ).split()
)
EXACT_COMPLEX = frozenset("add subtract negative positive conjugate isfinite isnan isinf".split())
PRODUCTS = frozenset("matmul vecdot matvec vecmat".split())
# Functions whose rounding is that of operands moved by a few units of the largest: they stay inside NumPy's own code.
PERTURBED: frozenset[Callable[..., Any]] = frozenset(
    (
        *(
            np.dot,
            np.vdot,
            np.inner,
            np.outer,
            np.einsum,
            np.tensordot,
            np.kron,
            np.convolve,
            np.correlate,
            np.cross,
            np.trace,
        ),
        *(
            np.cumsum,
            np.cumprod,
            np.cumulative_sum,
            np.cumulative_prod,
            np.trapezoid,
            np.gradient,
            np.median,
            np.percentile,
        ),
        *(
            np.quantile,
            np.average,
            np.var,
            np.std,
            np.mean,
            np.nansum,
            np.nanmean,
            np.nanstd,
            np.nanvar,
            np.interp,
            np.cov,
        ),
        *(np.linalg.solve, np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.norm, np.linalg.vector_norm),
        *(np.linalg.matrix_norm, np.linalg.slogdet, np.linalg.eigvalsh, np.linalg.matrix_power, np.linalg.multi_dot),
        *(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft),
    )
)

_generator = np.random.default_rng(0)


def _unit(dtype: np.dtype[Any]) -> float:
    return UNITS * float(np.finfo(dtype).eps)


def _shaken(x: Values, size: Any) -> Values:
    """`x` with an error of up to `size` in each element, real and imaginary parts each their own."""
    draw = _generator.uniform
    error = size * draw(-1, 1, x.shape)
    if x.dtype.kind == "c":
        error = error + 1j * (size * draw(-1, 1, x.shape))
    return np.where(np.isfinite(x), x + error, x).astype(x.dtype)


def _magnitude(x: Any) -> Any:
    return np.abs(x) if np.asarray(x).dtype.kind in "fciu" else x


def _size_of_error(ufunc: np.ufunc, method: str, inputs: list[Any], keywords: dict[str, Any], result: Values) -> Any:
    """The largest error of one operation, None where it has none."""
    if result.dtype.kind not in "fc":
        return None
    unit, name = _unit(result.dtype), ufunc.__name__
    own = unit * np.abs(result) + 4 * float(np.finfo(result.dtype).smallest_subnormal)
    if method in ("reduce", "accumulate", "reduceat"):
        if name == "add":
            return unit * getattr(np.add, method)(_magnitude(inputs[0]), *inputs[1:], **keywords) + own
        return own * np.sqrt(max(np.size(inputs[0]), 1)) if name == "multiply" else None
    if name in PRODUCTS:
        return unit * ufunc(*[_magnitude(x) for x in inputs], **keywords) + own
    if name.startswith("logaddexp"):
        return own + unit * np.maximum(*[np.abs(x) for x in inputs[:2]])
    is_complex = any(np.asarray(x).dtype.kind == "c" for x in (*inputs, result))
    return None if name in (EXACT_COMPLEX if is_complex else EXACT) else own


def _bare(x: Any) -> Any:
    if isinstance(x, Noisy):
        return x.view(np.ndarray)
    if isinstance(x, (list, tuple)):
        return type(x)([_bare(part) for part in x])
    return x


def _moved(x: Any) -> Any:
    """An operand in place of which a function that is not looked into may have seen another."""
    x = _bare(x)
    if isinstance(x, (list, tuple)):
        return type(x)([_moved(part) for part in x])
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not x.size:
        return x
    finite = np.abs(x[np.isfinite(x)])
    return _shaken(x, _unit(x.dtype) * float(finite.max())) if finite.size else x


def to_noisy(x: Any) -> Any:
    """Results of NumPy as arrays whose operations have errors; tuples part by part."""
    if isinstance(x, np.ndarray):
        return x.view(Noisy)
    return tuple([to_noisy(part) for part in x]) if type(x) is tuple else x


def _shake_own(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.inexact)) and x.dtype.kind in "fc":
        return _shaken(np.asarray(x), _unit(x.dtype) * np.abs(x))
    return tuple([_shake_own(part) for part in x]) if type(x) is tuple else x


class Noisy(np.ndarray):
    """An array whose operations have errors as large as rounding may be."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **keywords: Any) -> Any:
        plain = [_bare(x) for x in inputs]
        keywords = {name: _bare(x) for name, x in keywords.items()}
        if out is not None:
            keywords["out"] = _bare(out)
        if method == "at":
            return getattr(ufunc, method)(*plain, **keywords)
        with np.errstate(all="ignore"):
            result = getattr(ufunc, method)(*plain, **keywords)
            if isinstance(result, tuple):
                return to_noisy(result)
            keywords.pop("out", None)
            size = _size_of_error(ufunc, method, plain, keywords, np.asarray(result))
            if size is not None:
                size = np.nan_to_num(size, nan=0.0, posinf=0.0)
                result = _shaken(np.asarray(result), size)
        if out is not None:
            out[0][...] = result
            return out[0]
        return to_noisy(np.asarray(result))[()]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in PERTURBED:
            return to_noisy(super().__array_function__(func, [Noisy], args, kwargs))
        with np.errstate(all="ignore"):
            return to_noisy(_shake_own(func(*[_moved(x) for x in args], **{k: _bare(v) for k, v in kwargs.items()})))

    def cumsum(self, *args: Any, **kwargs: Any) -> Any:
        return np.cumsum(self, *args, **kwargs)

    def cumprod(self, *args: Any, **kwargs: Any) -> Any:
        return np.cumprod(self, *args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return np.trace(self, *args, **kwargs)

    def dot(self, other: Any) -> Any:
        return np.dot(self, other)


class _Namespace:
    """NumPy, for arrays and scalars alike: what is no array yet becomes one that errs."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._module, name)
        if name in ("linalg", "fft"):
            return _Namespace(attribute)
        if not callable(attribute) or isinstance(attribute, type):
            return attribute

        def call(*args: Any, **kwargs: Any) -> Any:
            if name in OF_PYTHON and all(type(x) in (bool, int, float, complex) for x in args):
                return OF_PYTHON[name](*args)  # a number of Python's, whose dtype gives way to that of an array
            only_numbers = not any(isinstance(x, (np.ndarray, list, tuple)) for x in args)
            numbers = (np.number, float, complex) if only_numbers else (np.ndarray, np.inexact)
            lifted = [np.asarray(x).view(Noisy) if isinstance(x, numbers) else x for x in args]
            result = attribute(*lifted, **kwargs)
            return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else to_noisy(result)

        return call


FUNCTIONS = {ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.MatMult: "matmul"}


OF_PYTHON = {"multiply": operator.mul, "divide": operator.truediv, "power": operator.pow}


class _Operators(ast.NodeTransformer):
    """`x * y` as `xp.multiply(x, y)`: of two scalars, NumPy's own operator would be beyond reach."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = FUNCTIONS.get(type(node.op))
        if name is None:
            return node
        function = ast.Attribute(ast.Name("xp", ast.Load()), name, ast.Load())
        return ast.Call(function, [node.left, node.right], [])


def with_functions(program: Program) -> Program:
    """The program with functions in place of the operators that round."""
    body = [ast.unparse(ast.fix_missing_locations(_Operators().visit(ast.parse(text)))) for text in program.body]
    return Program(program.inputs, tuple(body))


def noisy_namespace(seed: int) -> Any:
    """NumPy with errors drawn from `seed`."""
    global _generator
    _generator = np.random.default_rng(seed)
    return _Namespace(np)
