"""Derivatives of the Fourier transforms: against central differences, forward against reverse, second order."""

from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.derivatives import (
    Function,
    check_batching,
    check_first_order,
    check_forward_against_reverse,
    check_second_order,
)

X = np.asarray([[0.7, -1.3, 2.1, 0.4], [0.31, 1.7, -0.45, -0.9]])
Z = X + 1j * np.asarray([[1.9, 0.6, -0.8, 0.2], [-1.5, 0.23, 2.7, 1.1]])
NORMS: list[Any] = ["backward", "ortho", "forward"]
OF_REAL, OF_COMPLEX = ["rfft", "ihfft"], ["fft", "ifft", "irfft", "hfft"]


def of_cube(f: Function) -> Function:
    """`f` of the cube, so that the second derivative is not zero."""
    return lambda x: f(x * x * x)


CASES: dict[str, tuple[Function, Any]] = {}
for norm in NORMS:
    for name in OF_REAL + OF_COMPLEX:
        for n in (None, 1, 3, 5, 6):
            f: Any = getattr(xp.fft, name)
            CASES[f"{name} {norm} {n}"] = (
                lambda x, f=f, n=n, norm=norm: f(x, n=n, norm=norm),
                X if name in OF_REAL else Z,
            )
for name in ("fftn", "ifftn", "irfftn", "rfftn", "fft2", "ifft2", "irfft2", "rfft2"):
    f = getattr(xp.fft, name)
    x: Any = X if name.startswith("rfft") else Z
    CASES[name] = (f, x)
    CASES[f"{name} other lengths"] = (lambda x, f=f: f(x, s=(3, 3), axes=(1, 0), norm="ortho"), x)
for name in ("fft", "ifft", "irfft", "hfft"):
    CASES[f"{name} of real"] = (lambda x, name=name: getattr(xp.fft, name)(x, axis=0), X)
CASES |= {name: (getattr(xp.fft, name), X) for name in ("fftshift", "ifftshift")}


@pytest.mark.parametrize(("f", "x"), CASES.values(), ids=CASES.keys())
def test_a_derivative_agrees_with_central_differences(f: Function, x: Any) -> None:
    check_first_order(f, x)


@pytest.mark.parametrize(("f", "x"), CASES.values(), ids=CASES.keys())
def test_forward_and_reverse_agree(f: Function, x: Any) -> None:
    check_forward_against_reverse(of_cube(f), x)


SECOND = {name: case for name, case in CASES.items() if case[1] is X and not name.endswith((" 1", " 5", " 6"))}


@pytest.mark.parametrize(("f", "x"), SECOND.values(), ids=SECOND.keys())
def test_a_second_derivative_agrees_with_central_differences(f: Function, x: Any) -> None:
    check_second_order(of_cube(f), x)


@pytest.mark.parametrize(("f", "x"), SECOND.values(), ids=SECOND.keys())
def test_a_batched_function_agrees_with_a_loop(f: Function, x: Any) -> None:
    check_batching(f, x)


@pytest.mark.parametrize("name", OF_COMPLEX)
@pytest.mark.parametrize("single", ["float32", "complex64"])
def test_gradients_keep_single_precision(name: str, single: str) -> None:
    got = xp.grad(lambda x: xp.sum(xp.abs(getattr(xp.fft, name)(x)) ** 2))(xp.asarray(Z.real.astype(single)))
    assert got.dtype == np.dtype(single)
