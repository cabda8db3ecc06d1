"""How far rounding may take a result: NumPy's own run, repeated with an error put into every operation that has one.

What the documentation promises to be exact (`+ - * /`, sqrt, comparisons, conversions, integers, movement) gets no
error, so a program of such operations must give NumPy's bits. The rest gets errors of a few units in the last place,
sums in proportion to the sum of magnitudes, and the spread of the results is what two right programs may differ by.
Integers and truth values that change from run to run hang on rounding and judge nothing. So does the sign of a nan.
Method: Monte Carlo arithmetic, as in Parker (1997).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tests.fuzz.program import Program

__all__ = ["SLACK", "noisy_namespace", "to_noisy", "with_functions"]

Values = np.ndarray[Any, Any]
UNITS = 8.0  # errors put in, in units in the last place: 4 are allowed to us, NumPy has its own
SLACK = 4.0  # a difference may be this many times the spread that was seen

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
            np.trapezoid,
            np.gradient,
            np.median,
            np.percentile,
        ),
        *(
            np.quantile,
            np.average,
            np.nansum,
            np.nanmean,
            np.nanstd,
            np.nanvar,
            np.interp,
            np.cov,
        ),
        *(np.linalg.solve, np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.norm, np.linalg.vector_norm),
        *(np.linalg.matrix_norm, np.linalg.slogdet, np.linalg.eigvalsh, np.linalg.matrix_power, np.linalg.multi_dot),
        *(np.linalg.svd, np.linalg.svdvals, np.linalg.qr, np.linalg.eigh, np.linalg.eigvals, np.linalg.pinv),
        *(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft),
        *(np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn),
    )
)

# Those of them that convert whole numbers; products of matrices do not.
FLOATING = {f for f in PERTURBED if f.__module__ in ("numpy.linalg", "numpy.fft")}
FLOATING -= {np.linalg.matrix_power, np.linalg.multi_dot}

_generator = np.random.default_rng(0)


def _unit(dtype: np.dtype[Any]) -> float:
    return UNITS * float(np.finfo(dtype).eps)


def _shaken(x: Values, size: Any) -> Values:
    """`x` with an error of up to `size` in each element, real and imaginary parts each their own.

    Elements err each by itself, or all alike, as those do that are equal: of many of these, sorted, the ones in the
    middle would hardly move else.
    """
    if x.dtype.kind == "c":
        out = np.empty(x.shape, x.dtype)
        out.real, out.imag = _shaken(x.real, size), _shaken(x.imag, size)
        return out
    errors = _generator.uniform(-1, 1, x.shape if _generator.random() < 0.5 else ())
    return np.where(np.isfinite(x), x + size * errors, x).astype(x.dtype)


def _of_any_sign(x: Any) -> Any:
    """`x` with a sign drawn for each nan: which one it has is left open."""
    if not isinstance(x, (np.ndarray, np.inexact)) or x.dtype.kind not in "fc" or not np.isnan(x).any():
        return x
    x = np.array(x)
    for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
        part[...] = np.where(np.isnan(part), np.copysign(np.nan, _generator.uniform(-1, 1, part.shape)), part)
    return x


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
            magnitudes = getattr(np.add, method)(_magnitude(inputs[0]), *inputs[1:], **keywords)
            return unit * magnitudes + own + _one_by_one(inputs[0], method, keywords, magnitudes)
        return own * np.sqrt(max(np.size(inputs[0]), 1)) if name == "multiply" else None
    if name in PRODUCTS:
        return unit * ufunc(*[_magnitude(x) for x in inputs], **keywords) + own
    if name.startswith("logaddexp"):
        return own + unit * np.maximum(*[np.abs(x) for x in inputs[:2]])
    is_complex = any(np.asarray(x).dtype.kind == "c" for x in (*inputs, result))
    return None if name in (EXACT_COMPLEX if is_complex else EXACT) else own


def _depends_on_order(ufunc: np.ufunc, method: str, x: Any, keywords: dict[str, Any]) -> Any:
    """Where a product may leave the range on the way and come back, or not, as its factors are ordered."""
    if ufunc is not np.multiply or method not in ("reduce", "accumulate") or np.asarray(x).dtype.kind not in "fc":
        return False
    size = np.abs(np.asarray(x))
    above = getattr(ufunc, method)(np.maximum(size, 1), **keywords)
    below = getattr(ufunc, method)(np.where(size > 0, np.minimum(size, 1), 1), **keywords)
    return ~np.isfinite(above) | (below < np.finfo(size.dtype).tiny)


def _one_by_one(x: Any, method: str, keywords: dict[str, Any], magnitudes: Values) -> Any:
    """What NumPy's additions one after the other add to the error at most, as they do for numbers alike: half a unit
    each, of a sum that is at most that of the magnitudes. Along the fastest axis `reduce` adds in pairs.
    """
    x, axis = np.asarray(x), keywords.get("axis", 0)
    given = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = {a % x.ndim for a in given if x.ndim}
    if method == "reduce":
        axes.discard(min(range(x.ndim), key=lambda a: (x.shape[a] == 1, abs(x.strides[a])), default=-1))
    count = np.prod([x.shape[a] for a in axes], dtype=float)
    return float(np.finfo(magnitudes.dtype).eps) / 2 / SLACK * count * magnitudes


def _error_of_einsum(spec: str, *operands: Any) -> Any:
    """The same of a sum of products, of all letters that the result does not have."""
    terms, out = spec.split("->")
    extents: dict[str, int] = {}
    for term, x in zip(terms.split(","), operands, strict=True):
        extents |= dict(zip(term, x.shape, strict=True))
    count = np.prod([n for letter, n in extents.items() if letter not in out], dtype=float)
    magnitudes = np.einsum(spec, *[np.abs(x) for x in operands])
    return float(np.finfo(magnitudes.dtype).eps) / 2 / SLACK * count * magnitudes


def _bare(x: Any) -> Any:
    if isinstance(x, Noisy):
        return x.view(np.ndarray)
    return _of_parts(x, _bare) if isinstance(x, (list, tuple)) else x


def _moved(x: Any) -> Any:
    """An operand in place of which a function that is not looked into may have seen another."""
    x = _bare(x)
    if isinstance(x, (list, tuple)):
        return _of_parts(x, _moved)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not x.size:
        return x
    finite = np.abs(x[np.isfinite(x)])
    return _shaken(x, _unit(x.dtype) * float(finite.max())) if finite.size else x


def _floating(x: Any) -> Any:
    """Whole numbers as such functions convert them, which then err."""
    return x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype.kind in "iub" else x


def to_noisy(x: Any) -> Any:
    """Results of NumPy as arrays whose operations have errors; tuples part by part."""
    if isinstance(x, np.ndarray):
        return x.view(Noisy)
    return _of_parts(x, to_noisy) if isinstance(x, tuple) else x


def _shake_own(x: Any) -> Any:
    if isinstance(x, (np.ndarray, np.inexact)) and x.dtype.kind in "fc":
        return _shaken(np.asarray(x), _unit(x.dtype) * np.abs(x))
    return _of_parts(x, _shake_own) if isinstance(x, tuple) else x


def _of_parts(x: Any, function: Callable[[Any], Any]) -> Any:
    """A list or a tuple, one with names among them, of the results for its parts."""
    parts = [function(part) for part in x]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


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
                return to_noisy(_of_parts(result, _of_any_sign))
            keywords.pop("out", None)
            size = _size_of_error(ufunc, method, plain, keywords, np.asarray(result))
            if size is not None:
                size = np.nan_to_num(size, nan=0.0, posinf=0.0)
                result = _shaken(np.asarray(result), size)
                result[_depends_on_order(ufunc, method, plain[0], keywords)] = np.nan
            result = _of_any_sign(result)
        if out is not None:
            out[0][...] = result
            return out[0]
        return to_noisy(np.asarray(result))[()]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in PERTURBED:
            return to_noisy(super().__array_function__(func, [Noisy], args, kwargs))
        with np.errstate(all="ignore"):
            kwargs = {k: _bare(v) for k, v in kwargs.items()}
            result = _shake_own(func(*[_moved(_floating(x) if func in FLOATING else x) for x in args], **kwargs))
            if func is np.einsum and result.dtype.kind in "fc":
                result = _shaken(np.asarray(result), _error_of_einsum(*map(_bare, args)))
            return to_noisy(result)

    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        return np.add.accumulate(self.ravel() if axis is None else self, axis or 0, dtype, out)

    def cumprod(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        return np.multiply.accumulate(self.ravel() if axis is None else self, axis or 0, dtype, out)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return np.trace(self, *args, **kwargs)

    def dot(self, other: Any) -> Any:
        return np.dot(self, other)


class _Namespace:
    """NumPy, for arrays and scalars alike: what is no array yet becomes one that errs."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def in_place(self, name: str, x: Any, y: Any) -> Any:
        """An array changes, a number is bound anew."""
        return IN_PLACE[name](x, y) if isinstance(x, np.ndarray) else getattr(self, name)(x, y)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._module, name)
        if isinstance(attribute, ModuleType):
            return _Namespace(attribute)
        if not callable(attribute) or isinstance(attribute, type):
            return attribute

        def call(*args: Any, **kwargs: Any) -> Any:
            if name in OF_PYTHON and all(type(x) in NUMBERS for x in args):
                return _shaken_number(OF_PYTHON[name](*args))
            kinds = _kinds_that_err(attribute, args)
            lifted = [np.asarray(x).view(Noisy) if isinstance(x, kinds) else x for x in args]
            result = attribute(*lifted, **kwargs)
            return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else to_noisy(result)

        return call


NUMBERS = (bool, int, float, complex)  # of Python, whose dtype gives way to that of an array


def _kinds_that_err(function: Any, args: tuple[Any, ...]) -> tuple[type, ...]:
    """Which arguments become arrays that err: numbers of Python's only where there is nothing that their dtype would
    outweigh, and whole ones only where they are no axis, shape or count.
    """
    is_ufunc = isinstance(function, np.ufunc)
    if any(isinstance(x, np.ndarray) or (isinstance(x, (list, tuple)) and not is_ufunc) for x in args):
        return (np.ndarray, np.inexact)
    if any(isinstance(x, np.generic) for x in args):
        return (np.number, np.bool, list)
    return (*NUMBERS, list) if is_ufunc else (float, complex)


def _shaken_number(x: Any) -> Any:
    """A number of Python's with an error as one of an array has it: compiled, it is the value of an operation too."""
    if type(x) not in (float, complex):
        return x
    return type(x)(_shaken(np.asarray(x), _unit(np.dtype(type(x))) * np.abs(x))[()])


FUNCTIONS = {ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.MatMult: "matmul"}
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "multiply": operator.imul,
    "divide": operator.itruediv,
    "power": operator.ipow,
    "matmul": operator.imatmul,
}

OF_PYTHON: dict[str, Callable[..., Any]] = {
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "absolute": abs,
}


class _Operators(ast.NodeTransformer):
    """`x * y` as `xp.multiply(x, y)`, `x *= y`, `abs(x)` and `np.exp(x)` likewise: of two scalars, NumPy's own operator
    would be beyond reach.
    """

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = FUNCTIONS.get(type(node.op))
        return node if name is None else ast.Call(_function(name), [node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        name = FUNCTIONS.get(type(node.op))
        if name is None:
            return node
        old = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], ast.Call(_function("in_place"), [ast.Constant(name), old, node.value], []))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Name("abs"):
                return ast.Call(_function("absolute"), node.args, [])
            case ast.Attribute(ast.Name("np"), name):
                return ast.Call(_function(name), node.args, node.keywords)
        return node


def _function(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("xp", ast.Load()), name, ast.Load())


def with_functions(program: Program) -> Program:
    """The program with functions in place of the operators that round."""
    body = [ast.unparse(ast.fix_missing_locations(_Operators().visit(ast.parse(text)))) for text in program.body]
    return Program(program.inputs, tuple(body))


def noisy_namespace(seed: int) -> Any:
    """NumPy with errors drawn from `seed`."""
    global _generator
    _generator = np.random.default_rng(seed)
    return _Namespace(np)
