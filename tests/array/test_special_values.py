"""Special values of the standard, as data: where NumPy has another result, and where the two executors might differ."""

import math

import numpy as np
import pytest

import uopc_array as xp
from tests.array.reference import check, equal
from uopc_core import context
from uopc_core.runtime.toolchain import find_toolchain

ULPS = 4
ANGLES = {"pi": np.pi, "pi/2": np.pi / 2, "pi/4": np.pi / 4, "3pi/4": 3 * np.pi / 4}


def table(text: str) -> list[tuple[str, list[float]]]:
    """Rows of a function and its numbers."""
    rows = [line.split() for line in text.strip().splitlines()]
    return [(name, [ANGLES[n] if n in ANGLES else float(n) for n in numbers]) for name, *numbers in rows]


# x1, x2, result
REAL = """
floor_divide   inf                  2   inf
floor_divide   inf                 -2  -inf
floor_divide  -inf                  2  -inf
floor_divide  -inf                 -2   inf
floor_divide     2                inf     0
floor_divide     2               -inf    -0
floor_divide    -2                inf    -0
floor_divide    -2               -inf     0
floor_divide   inf                inf   nan
floor_divide     0                  0   nan
floor_divide     1                  0   inf
floor_divide     1                 -0  -inf
floor_divide    -1                  0  -inf
floor_divide     0                  3     0
floor_divide    -0                  3    -0
floor_divide     0                 -3    -0
floor_divide   nan                  1   nan
remainder        0                  2     0
remainder       -0                  2     0
remainder        0                 -2    -0
remainder       -4                  2     0
remainder        4                 -2    -0
remainder        1                inf     1
remainder        1               -inf  -inf
remainder       -1                inf   inf
remainder       -1               -inf    -1
remainder      inf                  1   nan
remainder        1                  0   nan
remainder      5.5                  2   1.5
remainder     -5.5                  2   0.5
pow            nan                  0     1
pow              1                nan     1
pow            nan                  1   nan
pow              2                inf   inf
pow            0.5                inf     0
pow            0.5               -inf   inf
pow             -1                inf     1
pow            inf                  2   inf
pow            inf                 -1     0
pow           -inf                  3  -inf
pow           -inf                  2   inf
pow           -inf                 -3    -0
pow              0                  2     0
pow              0                 -1   inf
pow             -0                  3    -0
pow             -0                 -3  -inf
pow             -0                  2     0
pow             -8 0.3333333333333333   nan
"""


@pytest.mark.parametrize(("name", "numbers"), table(REAL))
def test_a_pair_of_special_values(name: str, numbers: list[float]) -> None:
    x, y, wanted = numbers
    check(getattr(xp, name)(xp.asarray([x]), xp.asarray([y])), [wanted])


# real and imaginary part of the argument, and of the result
COMPLEX = """
abs      inf   nan     inf       0
abs      nan  -inf     inf       0
abs        3     4       5       0
abs      nan     0     nan       0
exp        0     0       1       0
exp      inf     0     inf       0
exp     -inf     1       0       0
exp      nan     0     nan       0
expm1      0     0       0       0
expm1     -0     0       0       0
expm1    inf     0     inf       0
expm1   -inf   inf      -1       0
expm1   -inf   nan      -1       0
expm1    inf   inf     inf     nan
expm1    inf   nan     inf     nan
expm1    nan     0     nan       0
expm1    nan     1     nan     nan
expm1      1   inf     nan     nan
expm1   -inf     2      -1       0
log       -0     0    -inf      pi
log        0     0    -inf       0
log        1   inf     inf    pi/2
log     -inf     1     inf      pi
log      inf     1     inf       0
log     -inf   inf     inf   3pi/4
log      inf   nan     inf     nan
log      nan   inf     inf     nan
log1p     -1     0    -inf       0
log1p    inf   inf     inf    pi/4
log1p    nan   inf     inf     nan
sqrt       0     0       0       0
sqrt       5   inf     inf     inf
sqrt    -inf     1       0     inf
sqrt     inf     1     inf       0
sqrt     inf   nan     inf     nan
sqrt     nan     1     nan     nan
sinh       0     0       0       0
sinh       0   inf       0     nan
sinh     inf     0     inf       0
sinh     nan     0     nan       0
cosh       0     0       1       0
cosh     inf     0     inf       0
cosh     nan     1     nan     nan
tanh       0     0       0       0
tanh     inf     2       1       0
tanh     inf   inf       1       0
tanh     inf   nan       1       0
tanh     nan     0     nan       0
tanh     nan     1     nan     nan
tanh       1   inf     nan     nan
tanh    -inf     2      -1       0
asinh      0     0       0       0
asinh      1   inf     inf    pi/2
asinh    inf     1     inf       0
asinh    nan     0     nan       0
acosh      0     0       0    pi/2
acosh   -inf     1     inf      pi
acosh    inf   nan     inf     nan
atanh      0     0       0       0
atanh      1     0     inf       0
atanh    inf     1       0    pi/2
atanh    nan   inf       0    pi/2
acos       0     0    pi/2      -0
acos    -inf     1      pi    -inf
acos     inf   inf    pi/4    -inf
sign       0    -0       0       0
sign       3     4     0.6     0.8
sign     nan     1     nan     nan
round    2.5  -0.5       2      -0
round    inf   nan     inf     nan
"""


@pytest.mark.parametrize(("name", "numbers"), table(COMPLEX))
def test_a_complex_special_value(name: str, numbers: list[float]) -> None:
    a, b, real, imag = numbers
    assert equal(getattr(xp, name)(xp.asarray([complex(a, b)])), np.asarray([complex(real, imag)]), ULPS)


COMMUTE = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "acos",
    "asin",
    "atan",
]


@pytest.mark.parametrize("name", COMMUTE)
def test_complex_functions_commute_with_conjugation(name: str) -> None:
    parts = [0.0, -0.0, 0.5, -2.0, 30.0, np.inf, -np.inf]
    z = np.asarray([complex(a, b) for a in parts for b in parts])
    x = xp.asarray(z)
    out, conjugate = getattr(xp, name)(x), getattr(xp, name)(xp.conj(x))
    assert equal(xp.real(out), np.asarray(xp.real(conjugate)), ULPS)
    known = np.isfinite(np.asarray(xp.imag(out)))
    assert equal(np.asarray(xp.imag(out))[known], -np.asarray(xp.imag(conjugate))[known], ULPS)


def test_the_sign_bit_of_nan_is_seen() -> None:
    check(xp.signbit(xp.asarray([float("nan"), -float("nan")])), [False, True])


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_signbit_of_both_nans(tier):
    if tier == "compile" and find_toolchain() is None:
        pytest.skip("no C compiler")
    with context(tier=tier):
        for sign in (1.0, -1.0):
            nan = math.copysign(math.nan, sign)
            assert bool(xp.signbit(xp.asarray(nan))) == (sign < 0)
            assert bool(xp.signbit(xp.full((2, 3), nan))[1, 2]) == (sign < 0)
