"""What holds of results on extreme values where NumPy's are not the ones wanted, or not alone; used by test_extremes.

A judge takes the operands and what came out, as NumPy arrays or the exception, and asserts what must hold. Functions of
complex numbers are compared with extended precision, decompositions put together again, the rest with the definition.
"""

from collections.abc import Callable
from fractions import Fraction
from math import copysign, floor, inf, nan
from typing import Any

import numpy as np

from tests.support.reference import equal

__all__ = ["COMPLEX_UNARY", "JUDGES", "Judge"]

Values = np.ndarray[Any, Any]
Judge = Callable[[list[Values], Any], None]


def _is_finite(*arrays: Values) -> bool:
    return all(bool(np.isfinite(x).all()) for x in arrays)


def _assert_near(got: Any, want: Any, atol: Any) -> None:
    """Within `atol`, a number or one for each element; nan and infinities where they are wanted."""
    assert got.shape == want.shape, (got.shape, want.shape)
    with np.errstate(all="ignore"):
        same = (got == want) | ((got != got) & (want != want))
        near = same | (np.abs(got - want) <= atol)
    assert near.all(), f"got\n{got!r}\nwanted\n{want!r}"


# ------------------------------------------------------------------------------------- numbers: from their definitions


def refused(operands: list[Values], got: Any) -> None:
    assert isinstance(got, TypeError), got


def _of_pairs(function: Callable[[Any, Any], Any], ulps: float) -> Judge:
    """Each element is that of `function` of Python's numbers."""

    def judge(operands: list[Values], got: Any) -> None:
        x, y = operands
        want = np.asarray([function(a, b) for a, b in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)])
        assert got[0].dtype == x.dtype
        assert equal(got[0], want.astype(x.dtype).reshape(x.shape), ulps), f"{x!r}\n{y!r}\n{got[0]!r}\n{want!r}"

    return judge


def floor_quotient(x: float, y: float) -> float:
    """The largest integer not above the quotient, under the sign of the quotient if it is 0."""
    if x != x or y != y or (x == 0 and y == 0) or (abs(x) == inf and abs(y) == inf):
        return nan
    sign = copysign(1.0, x) * copysign(1.0, y)
    if x == 0 or abs(y) == inf:
        return copysign(0.0, sign)
    if y == 0 or abs(x) == inf:
        return copysign(inf, sign)
    whole = floor(Fraction(x) / Fraction(y))
    try:
        return copysign(float(whole), sign)
    except OverflowError:
        return copysign(inf, sign)


def _wrapped_power(operands: list[Values], got: Any) -> None:
    """The power modulo ``2**bits``; to negative exponents rounded towards zero, and 0 of 0."""
    limits = np.iinfo(operands[0].dtype)

    def power(x: int, y: int) -> int:
        if y < 0:
            return x**-y if abs(x) == 1 and y > -4 else (x if abs(x) == 1 and y % 2 else int(abs(x) == 1))
        return (pow(x, y, 1 << limits.bits) - int(limits.min)) % (1 << limits.bits) + int(limits.min)

    pairs = zip(operands[0].ravel().tolist(), operands[1].ravel().tolist(), strict=True)
    assert got[0].dtype == operands[0].dtype
    assert got[0].ravel().tolist() == [power(x, y) for x, y in pairs]


# -------------------------------------------------------------------------------- complex numbers: extended precision


def _complex(real: Any, imag: Any) -> Any:
    out: Any = np.empty(real.shape, np.clongdouble)
    out.real, out.imag = real, imag
    return out


def _expm1(z: Any) -> Any:
    real = np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(z.imag / 2) ** 2
    sine = np.sin(z.imag)
    return _complex(real, np.where(sine == 0, sine, np.exp(z.real) * sine))


def _log1p(z: Any) -> Any:
    real = np.log1p(2 * z.real + z.real**2 + z.imag**2) / 2
    return _complex(real, np.arctan2(z.imag, 1 + z.real))


def _sign(z: Any) -> Any:
    return np.where(z == 0, 0, z / np.where(z == 0, 1, np.abs(z)))


_OWN = {"expm1": _expm1, "log1p": _log1p, "sign": _sign}
COMPLEX_UNARY = "abs acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p sign sin sinh sqrt tan tanh".split()


def _assert_rounded(got: Any, truth: Any, ulps: Any) -> None:
    """Within so many units in the last place of the larger part of the true value, in the precision of `got`."""
    with np.errstate(all="ignore"):
        want = truth.astype(got.dtype)
        size = np.minimum(np.maximum(np.abs(want.real), np.abs(want.imag)), np.finfo(got.dtype).max)
        for part, wanted in ((got.real, want.real), (got.imag, want.imag)):
            _assert_near(part, wanted, ulps * np.spacing(size))


def _near_truth(name: str, ulps: float) -> Judge:
    function = _OWN.get(name) or getattr(np, name)

    def judge(operands: list[Values], got: Any) -> None:
        (x,), (out,) = operands, got
        assert out.dtype == (x.real.dtype if name == "abs" else x.dtype)
        finite = np.isfinite(x)
        with np.errstate(all="ignore"):
            _assert_rounded(out[finite], function(x[finite].astype(np.clongdouble)), ulps)

    return judge


def _sinc(operands: list[Values], got: Any) -> None:
    """Of real numbers: 0 at whole ones, however large, where NumPy has what the rounding of ``pi * x`` leaves."""
    (x,), (out,) = operands, got
    with np.errstate(all="ignore"):
        wide = x.astype(np.longdouble)
        whole = np.rint(wide)
        sine = np.sin(np.longdouble(np.pi) * (wide - whole)) * np.where(whole % 2 == 0, 1, -1)
        want = np.where(x == 0, 1, sine / wide / np.longdouble(np.pi)).astype(x.dtype)
    assert out.dtype == x.dtype
    assert equal(out, want, 8), f"{x!r}\n{out!r}\n{want!r}"


def _numpys(function: Callable[..., Any]) -> Judge:
    """NumPy's bits."""

    def judge(operands: list[Values], got: Any) -> None:
        with np.errstate(all="ignore"):
            want = function(*operands)
        assert got[0].dtype == want.dtype
        assert equal(got[0], want), f"{operands!r}\n{got[0]!r}\n{want!r}"

    return judge


def _quotient(operands: list[Values], got: Any) -> None:
    """NumPy's with more digits and a wider range."""
    x, y = (operand.astype(np.clongdouble) for operand in operands)
    with np.errstate(all="ignore"):
        want = (x / y).astype(operands[0].dtype)
    assert got[0].dtype == want.dtype
    assert equal(got[0], want, 1), f"{operands!r}\n{got[0]!r}\n{want!r}"


def _product(operands: list[Values], got: Any) -> None:
    """Where none of the four products of parts overflows: the true product. Else what real arithmetic makes of it,
    unless the processor rounds once.
    """
    x, y = (operand.astype(np.clongdouble) for operand in operands)
    with np.errstate(all="ignore"):
        parts = [a * b for a in (x.real, x.imag) for b in (y.real, y.imag)]
        inside = np.all([np.abs(part) < np.finfo(got[0].dtype).max / 4 for part in parts], axis=0)
        _assert_rounded(got[0][inside], (x * y)[inside], 4)
        outside = ~inside & ~np.isfinite(operands[0] * operands[1])
    assert got[0].dtype == operands[0].dtype
    assert not np.isfinite(got[0][outside]).any()


def _power(operands: list[Values], got: Any) -> None:
    """As exact as the reference, which loses the digits that the logarithm times the exponent has before its point."""
    assert got[0].dtype == operands[0].dtype
    x, y = (operand.astype(np.clongdouble) for operand in operands)
    with np.errstate(all="ignore"):
        exponent = np.where(x == 0, 0, y * np.log(np.where(x == 0, 1, x)))
        largest = 0.98 * np.log(np.finfo(got[0].dtype).max)
        inside = np.isfinite(x) & np.isfinite(y) & (x != 0) & (np.abs(exponent) < largest)
        _assert_rounded(got[0][inside], np.exp(exponent)[inside], 8)


def _product_of_all(operands: list[Values], got: Any) -> None:
    (x,), (out,) = operands, got
    assert out.dtype == x.dtype
    if _is_finite(x):
        truth = np.prod(x.astype(np.clongdouble))
        size = np.prod(np.abs(x.astype(np.clongdouble)))
        _assert_near(np.asarray(out), np.asarray(truth), 8 * (x.size + 1) * np.finfo(x.dtype).eps * size)


# ------------------------------------------------------------------------------- matrices: put together again, or NumPy


def _matrix_judge(name: str, holds: Callable[..., None]) -> Judge:
    """`holds` of finite matrices and their tolerance, unless NumPy has an error for them too. What else comes out of
    others is open, but an error is one of linear algebra.
    """

    def judge(operands: list[Values], got: Any) -> None:
        floating = [x if x.dtype.kind in "fc" else x.astype(np.float64) for x in operands]
        if isinstance(got, Exception):
            assert isinstance(got, np.linalg.LinAlgError), repr(got)
            assert not _is_finite(*floating) or _fails(name, floating), repr(got)
        elif _is_finite(*floating):
            x = floating[0]
            holds(64 * max(*x.shape, 1) * float(np.finfo(x.dtype).eps) * max(_size(x), 1e-30), *floating, *got)

    return judge


def _size(x: Values) -> float:
    return float(np.abs(x).max(initial=0))


def _fails(name: str, operands: list[Values]) -> bool:
    x, *rest = operands
    try:
        getattr(np.linalg, name)(_MADE[name](x) if name in _MADE else x, *rest)
    except np.linalg.LinAlgError:
        return True
    return False


# the matrices that the functions are called with, where they are not those drawn
_MADE: dict[str, Callable[[Values], Values]] = {
    "solve": lambda x: x @ x.mT,
    "cholesky": lambda x: x @ x.mT + np.eye(x.shape[-2], dtype=x.dtype),
}


def _assert_orthonormal(q: Values) -> None:
    n = q.shape[-1]
    one = np.broadcast_to(np.eye(n), (*q.shape[:-2], n, n))
    _assert_near(q.conj().mT @ q, one, 64 * (n + 1) * np.finfo(q.dtype).eps)


def _hermitian(x: Values) -> Values:
    """What is read of a Hermitian matrix: its lower triangle."""
    return np.tril(x) + np.tril(x, -1).conj().mT


def _holds_svd(tol: float, x: Values, u: Values, s: Values, vh: Values) -> None:
    k = s.shape[-1]
    _assert_near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, tol)
    _assert_orthonormal(u)
    _assert_orthonormal(vh.mT)
    assert (s >= 0).all()
    assert (np.diff(s) <= 0).all()


def _holds_qr(tol: float, x: Values, q: Values, r: Values) -> None:
    _assert_near(q @ r, x, tol)
    _assert_orthonormal(q)
    assert (np.tril(r, -1) == 0).all()


def _holds_eigh(tol: float, x: Values, w: Values, v: Values) -> None:
    _assert_near(_hermitian(x) @ v, v * w[..., None, :], tol)
    _assert_orthonormal(v)
    assert (np.diff(w) >= 0).all()


def _holds_eig(tol: float, x: Values, w: Values, v: Values) -> None:
    _assert_near(x @ v, v * w[..., None, :], tol)
    _assert_near(np.linalg.vector_norm(v, axis=-2), np.ones(w.shape), 1e-5)


def _holds_eigvals(tol: float, x: Values, w: Values) -> None:
    """The sums of their powers are the traces of the powers, however the matrix is conditioned."""
    power = x
    for k in range(1, x.shape[-1] + 1):
        bound = tol * k * max(x.shape[-1] * _size(x), 1) ** k
        _assert_near((w**k).sum(-1), np.linalg.trace(power).astype(w.dtype), bound)
        power = power @ x


def _bound_of_det(tol: float, x: Values) -> Any:
    """Hadamard's: the product of the lengths of the rows, one of them replaced by an error."""
    return tol * np.maximum(np.linalg.vector_norm(x, axis=-1), _size(x)).prod(-1) / max(_size(x), 1e-30)


def _holds_det(tol: float, x: Values, out: Values) -> None:
    _assert_near(out, np.linalg.det(x), _bound_of_det(tol, x))


def _holds_slogdet(tol: float, x: Values, sign: Values, log: Values) -> None:
    _assert_near(sign * np.exp(log), np.linalg.det(x), _bound_of_det(tol, x))


def _holds_inv(tol: float, x: Values, out: Values) -> None:
    if _is_finite(out):
        _assert_near(x @ out, np.broadcast_to(np.eye(x.shape[-1]), x.shape), tol * max(_size(out), 1))


def _holds_solve(tol: float, x: Values, y: Values, out: Values) -> None:
    if _is_finite(out):
        _assert_near(_MADE["solve"](x) @ out, y, tol * max(_size(x), 1) * max(_size(out), 1))


def _holds_pinv(tol: float, x: Values, out: Values) -> None:
    _assert_near(x @ out @ x, x, tol * max(_size(x), 1) * max(_size(out), 1))


def _holds_cholesky(tol: float, x: Values, lower: Values) -> None:
    _assert_near(lower @ lower.conj().mT, _MADE["cholesky"](x), tol * max(_size(x), 1) * x.shape[-1])
    assert (np.triu(lower, 1) == 0).all()


def _like_numpy(name: str) -> Callable[..., None]:
    def holds(tol: float, x: Values, out: Values) -> None:
        if name == "matrix_rank" and 0 in x.shape[-2:]:
            _assert_near(out, np.zeros(x.shape[:-2], np.int64), 0)  # NumPy has it from 2.4 on
            return
        _assert_near(out, np.asarray(getattr(np.linalg, name)(x)), 0 if name == "matrix_rank" else tol * (x.size + 1))

    return holds


# -------------------------------------------------------------------------------------------------------------- Fourier


def _fourier(name: str) -> Judge:
    """NumPy's, nan and infinities included, or an error where NumPy has one."""

    def judge(operands: list[Values], got: Any) -> None:
        (x,) = operands
        try:
            with np.errstate(all="ignore"):
                want: Any = np.asarray(getattr(np.fft, name)(x))
        except (ValueError, IndexError):
            assert isinstance(got, ValueError | IndexError), repr(got)
            return
        assert not isinstance(got, Exception), repr(got)
        assert got[0].dtype == want.dtype
        size = float(np.abs(np.where(np.isfinite(x), x, 0)).astype(np.float64).sum())
        for part, wanted in ((got[0].real, want.real), (got[0].imag, want.imag)):
            _assert_near(part, wanted, 16 * np.finfo(want.dtype).eps * size if want.dtype.kind in "fc" else 0)

    return judge


_HOLDS: dict[str, Callable[..., None]] = {
    "svd": _holds_svd,
    "qr": _holds_qr,
    "eigh": _holds_eigh,
    "eig": _holds_eig,
    "eigvals": _holds_eigvals,
    "det": _holds_det,
    "slogdet": _holds_slogdet,
    "inv": _holds_inv,
    "solve": _holds_solve,
    "pinv": _holds_pinv,
    "cholesky": _holds_cholesky,
    **{name: _like_numpy(name) for name in "svdvals eigvalsh matrix_norm vector_norm matrix_rank".split()},
}

JUDGES: dict[str, Judge] = {
    "complex add": _numpys(np.add),
    "complex subtract": _numpys(np.subtract),
    "complex multiply": _product,
    "complex divide": _quotient,
    "complex pow": _power,
    "complex prod": _product_of_all,
    "complex floor_divide": refused,
    "complex sort": _numpys(np.sort),
    **{f"complex {name}": _near_truth(name, 8) for name in COMPLEX_UNARY},
    "float floor_divide": _of_pairs(floor_quotient, 1),
    "integer pow": _wrapped_power,
    "sinc": _sinc,
    **{f"linalg.{name}": _matrix_judge(name, holds) for name, holds in _HOLDS.items()},
    **{f"fft.{name}": _fourier(name) for name in "fft ifftn rfft irfft hfft fftshift".split()},
}
