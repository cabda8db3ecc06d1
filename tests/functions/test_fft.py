"""The `fft` extension against NumPy: dtypes, lengths, axes, norms, errors, laziness, jit and both executors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import uopc_array as xp
from tests.support.reference import ALL, COMPLEX, FLOATS, check, values
from uopc_core import context
from uopc_core.errors import AxisError, DTypeError, ShapeError

fft, reference = xp.fft, np.fft
NORMS: list[Any] = ["backward", "ortho", "forward"]
OF_COMPLEX = ["fft", "ifft", "irfft", "hfft"]
OF_REAL = ["rfft", "ihfft"]
ONE_AXIS = OF_COMPLEX + OF_REAL
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn"]
LAST_TWO = ["fft2", "ifft2", "rfft2", "irfft2"]


def near(ours: xp.Array, wanted: Any) -> None:
    want = np.asarray(wanted)
    single = want.dtype in (np.float32, np.complex64)
    check(ours, want, atol=(2e-5 if single else 1e-13) * max(1.0, float(np.abs(want).max()) if want.size else 0.0))


def given(name: str, dtype: str, shape: tuple[int, ...]) -> Any:
    return values(dtype, shape) if not (name in ("rfft", "ihfft", "rfftn") and dtype in COMPLEX) else None


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ONE_AXIS)
def test_along_one_axis_agrees_with_numpy(name: str, norm: Any, dtype: str) -> None:
    ours, numpys = getattr(fft, name), getattr(reference, name)
    for shape in ((1,), (2,), (7,), (8,), (3, 4), (2, 3, 5), (0, 3), (3, 0, 2)):
        x = given(name, dtype, shape)
        if x is None or (name in ("irfft", "hfft") and shape == (1,)):
            continue
        near(ours(xp.asarray(x), norm=norm), numpys(x, norm=norm))
        for n in (1, 3, 4, 11):
            near(ours(xp.asarray(x), n=n, norm=norm), numpys(x, n=n, norm=norm))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_any_axis_agrees_with_numpy(name: str, axis: int) -> None:
    x = values("float64" if name in OF_REAL else "complex128", (2, 4, 3))
    ours, numpys = getattr(fft, name), getattr(reference, name)
    near(ours(xp.asarray(x), axis=axis), numpys(x, axis=axis))
    near(ours(xp.asarray(x), axis=axis, n=5), numpys(x, axis=axis, n=5))
    near(ours(xp.asarray(x)[:, ::2, ::-1], axis=axis, n=4), numpys(x[:, ::2, ::-1], axis=axis, n=4))


AXES: dict[str, dict[str, Any]] = {
    "all": {},
    "last two": {"axes": (-2, -1)},
    "in another order": {"axes": (2, 0)},
    "one": {"axes": (1,)},
    "lengths": {"s": (3, 2, 5), "axes": (0, 1, 2)},
    "lengths of some": {"s": (5, 2), "axes": (1, -1)},
    "a length that stays": {"s": (-1, 4), "axes": (0, 1)},
}


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("arguments", AXES.values(), ids=AXES.keys())
@pytest.mark.parametrize("name", SEVERAL)
def test_along_several_axes_agrees_with_numpy(name: str, arguments: dict[str, Any], norm: Any, dtype: str) -> None:
    x = given(name, dtype, (2, 3, 4))
    if x is not None:
        near(
            getattr(fft, name)(xp.asarray(x), norm=norm, **arguments),
            getattr(reference, name)(x, norm=norm, **arguments),
        )


def test_lengths_alone_belong_to_the_last_axes() -> None:
    x = values("complex128", (2, 3, 4))
    near(fft.fftn(xp.asarray(x), s=(2, 5)), reference.fftn(x, s=(2, 5), axes=(1, 2)))


def test_no_axes_change_the_dtype_at_most() -> None:
    x = values("float32", (2, 3))
    check(fft.fftn(xp.asarray(x), axes=()), x.astype("complex64"))
    check(fft.ifftn(xp.asarray(2.0)), np.asarray(2.0 + 0j))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64"])
@pytest.mark.parametrize("name", ONE_AXIS + SEVERAL)
def test_integers_compute_in_float64(name: str, dtype: str) -> None:
    x = values(dtype, (3, 4))
    near(getattr(fft, name)(xp.asarray(x)), getattr(reference, name)(x.astype("float64")))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_inverses(n: int, norm: Any) -> None:
    z, x = values("complex128", (3, n)), values("float64", (3, n))
    near(fft.ifft(fft.fft(xp.asarray(z), norm=norm), norm=norm), z)
    near(fft.irfft(fft.rfft(xp.asarray(x), norm=norm), n=n, norm=norm), x)
    near(fft.hfft(fft.ihfft(xp.asarray(x), norm=norm), n=n, norm=norm), x)
    near(fft.ifftn(fft.fftn(xp.asarray(z), norm=norm), norm=norm), z)
    near(fft.irfftn(fft.rfftn(xp.asarray(x), norm=norm), s=(3, n), axes=(0, 1), norm=norm), x)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_agree_with_numpy(name: str, n: int) -> None:
    check(getattr(fft, name)(n), getattr(reference, name)(n))
    check(getattr(fft, name)(n, d=0.1), getattr(reference, name)(n, d=0.1))
    wanted = getattr(reference, name)(n, d=0.25).astype("float32")
    check(getattr(fft, name)(n, d=0.25, dtype=xp.float32, device="cpu"), wanted)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("shape", [(1,), (4,), (5,), (0, 3), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts_agree_with_numpy(name: str, shape: tuple[int, ...], dtype: str) -> None:
    x = values(dtype, shape)
    for axes in (None, 0, -1, (0, -1) if len(shape) > 1 else (0,), ()):
        check(getattr(fft, name)(xp.asarray(x), axes=axes), getattr(reference, name)(x, axes=axes))
    check(getattr(fft, name)(xp.asarray(1)), np.asarray(1))


LINE, GRID = xp.ones(3), xp.ones((2, 3))
ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    **{f"{name} of nothing": (lambda name=name: getattr(fft, name)(xp.zeros(0)), ShapeError,
                              rf"{name}: expected one element or more") for name in ONE_AXIS},
    **{f"{name} to no length": (lambda name=name: getattr(fft, name)(LINE, n=0), ShapeError,
                                rf"{name}: expected one element or more .* got n=0") for name in ONE_AXIS},
    **{f"{name} to half a length": (lambda name=name: getattr(fft, name)(LINE, n=2.5), TypeError,
                                    rf"{name}: expected an integer for n, got 2.5") for name in ONE_AXIS},
    **{f"{name} along no axis": (lambda name=name: getattr(fft, name)(LINE, axis=1), AxisError,
                                 rf"{name}: axis 1 is out of bounds for an array of 1 axes") for name in ONE_AXIS},
    **{f"{name} with an unknown norm": (lambda name=name: getattr(fft, name)(LINE, norm="n"), ValueError,
                                        rf'{name}: expected norm "backward", "ortho" or "forward", got \'n\'')
       for name in ONE_AXIS + SEVERAL},
    **{f"{name} of complex": (lambda name=name: getattr(fft, name)(LINE * 1j), DTypeError,
                              rf"{name}: expected a real dtype, got complex128; take real\(x\) first")
       for name in ("rfft", "ihfft", "rfftn")},
    **{f"{name} along an axis twice": (lambda name=name: getattr(fft, name)(GRID, axes=(0, -2)), AxisError,
                                       rf"{name}: every axis may be named once") for name in [*SEVERAL, "fftshift"]},
    **{f"{name} with too many lengths": (lambda name=name: getattr(fft, name)(GRID, s=(2, 2, 2)), ShapeError,
                                         rf"{name}: expected one length per axis, got s=\(2, 2, 2\) for axes \(0, 1\)")
       for name in SEVERAL},
    **{f"{name} of no axes": (lambda name=name: getattr(fft, name)(GRID, axes=()), ShapeError,
                              rf"{name}: expected one axis or more") for name in ("rfftn", "irfftn")},
    "fftfreq of integers": (lambda: fft.fftfreq(3, dtype=xp.int32), DTypeError,
                            "fftfreq: expected a real floating dtype, got int32"),
    "rfftfreq elsewhere": (lambda: fft.rfftfreq(3, device="gpu"), ValueError, 'rfftfreq: expected device "cpu"'),
    "fftfreq of no samples": (lambda: fft.fftfreq(0), ZeroDivisionError, "fftfreq: expected n of 1 or more, got n=0"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


X = values("float64", (3, 4))
EVERY: dict[str, Callable[[xp.Array], xp.Array]] = {
    **{name: getattr(fft, name) for name in [*ONE_AXIS, *SEVERAL, *LAST_TWO, "fftshift", "ifftshift"]},
    "fftfreq": lambda x: x * fft.fftfreq(4),
    "rfftfreq": lambda x: x[:, :3] * fft.rfftfreq(4),
}


def test_the_table_has_every_function() -> None:
    assert set(EVERY) == set(fft.__all__)


@pytest.mark.parametrize("f", EVERY.values(), ids=EVERY.keys())
def test_executors_and_jit_agree(f: Callable[[xp.Array], xp.Array]) -> None:
    def around(t: xp.Array) -> xp.Array:
        return f(t * 2) + 1

    with context(tier="interpret"):
        wanted = np.asarray(around(xp.asarray(X)))
    with context(tier="compile"):
        near(around(xp.asarray(X)), wanted)
        near(xp.jit(around)(xp.asarray(X)), wanted)


def test_nothing_is_computed_before_it_is_looked_at() -> None:
    """An index out of bounds below a transform is noticed when the transform is looked at."""
    lazy = fft.fft(xp.take(LINE, xp.asarray([0, 1]) * 7))
    assert lazy.shape == (2,)
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        np.asarray(lazy)


@pytest.mark.parametrize("name", "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn".split())
def test_no_norm_is_the_default(name: str) -> None:
    x = np.random.default_rng(3).standard_normal((4, 6))
    function = getattr(fft, name)
    assert np.array_equal(np.asarray(function(xp.asarray(x), norm=None)), np.asarray(function(xp.asarray(x))))
