"""Fourier transforms, and factorizations by what is unique about them: values, products of the factors, magnitudes."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Drawer, Node, Production, Refused

__all__ = ["PRODUCTIONS"]

NORMS = ("", "", ", norm='ortho'", ", norm='forward'")
LARGEST_MATRIX = 40


def _finite(d: Drawer, kinds: str, ndim: tuple[int, int]) -> Node:
    return d.operand(kinds, ndim, where=lambda x: x.value.size > 0 and bool(np.isfinite(x.value).all()))


def _transform(d: Drawer) -> Node:
    """To a spectrum or back."""
    x = _finite(d, "fc", (1, 3))
    axis, norm = d.axis(x), d.choice(*NORMS)
    n = d.choice("", "", f", n={d.choice(1, 2, x.shape[axis] // 2 + 1, x.shape[axis] + 3)}")
    names = ("fft", "ifft") if x.kind == "c" else ("fft", "ifft", "rfft", "rfft", "ihfft")
    return d.apply(f"xp.fft.{d.choice(*names)}({{0}}{n}, axis={axis}{norm})", x)


def _whole_transform(d: Drawer) -> Node:
    x = _finite(d, "fc", (1, 3))
    names = ("fftn", "ifftn") if x.kind == "c" else ("fftn", "rfftn", "ifftn")
    return d.apply(f"xp.fft.{d.choice(*names)}({{0}}{d.choice(*NORMS)})", x)


def _real_of_spectrum(d: Drawer) -> Node:
    """A real result of a spectrum: filtered and back, its power, its real part."""
    x = _finite(d, "f", (1, 3))
    axis, norm = d.axis(x), d.choice(*NORMS)
    n, m = x.shape[axis], d.choice(0.5, 2, -1)
    forms = [
        f"xp.fft.irfft(xp.fft.rfft({{0}}, axis={axis}{norm}) * {m}, n={n}, axis={axis}{norm})",
        f"xp.fft.ifft(xp.fft.fft({{0}}, axis={axis}{norm}) * {m}, axis={axis}{norm}).real",
        f"(xp.abs(xp.fft.rfft({{0}}, axis={axis}{norm})) ** 2)",
        f"xp.fft.fft({{0}}, axis={axis}{norm}).imag",
        f"xp.fft.hfft({{0}}, axis={axis}{norm})",
    ]
    return d.apply(d.choice(*forms), x)


def _shifted(d: Drawer) -> Node:
    x = d.operand(ndim=(1, 3))
    return d.apply(f"xp.fft.{d.choice('fftshift', 'ifftshift')}({{0}}{d.choice('', f', axes={d.axis(x)}')})", x)


def _matrix(d: Drawer, kinds: str) -> Node:
    x = _finite(d, kinds, (2, 2))
    if max(x.shape) > LARGEST_MATRIX:
        raise Refused
    return x


def _of_rectangle(d: Drawer) -> Node:
    x = _matrix(d, "f" if d.options.smooth else "fc")
    forms = (
        "xp.linalg.svdvals({0})",
        "(lambda f: (f.U * f.S) @ f.Vh)(xp.linalg.svd({0}, full_matrices=False))",
        "xp.abs(xp.linalg.svd({0}, full_matrices=False).U)",
        "(lambda f: f.Q @ f.R)(xp.linalg.qr({0}))",
        "xp.abs(xp.linalg.qr({0}).R)",
        "(lambda f: f.Q @ xp.conj(f.Q).T)(xp.linalg.qr({0}))",
        "xp.linalg.pinv({0})",
        f"xp.linalg.matrix_norm({{0}}, ord={d.choice(1, 2, -2, repr('fro'), repr('nuc'), 'np.inf')})",
    )
    return d.apply(d.choice(*forms), x)


def _of_square(d: Drawer) -> Node:
    a = _matrix(d, "f" if d.options.smooth else "fc")
    n = min(a.shape)
    x = d.apply(f"{{0}}[:{n}, :{n}]", a)
    forms = (
        "xp.linalg.eigvalsh({0} + xp.conj({0}).T)",
        "(lambda f: (f.eigenvectors * f.eigenvalues) @ xp.conj(f.eigenvectors).T)"
        "(xp.linalg.eigh({0} + xp.conj({0}).T))",
        "(lambda f: (f.eigenvectors * xp.tanh(f.eigenvalues)) @ xp.conj(f.eigenvectors).T)"
        "(xp.linalg.eigh({0} + xp.conj({0}).T))",
        "xp.abs(xp.linalg.eigh({0} + xp.conj({0}).T).eigenvectors)",
        "xp.sort(xp.abs(xp.linalg.eigvals({0})))",
        "xp.linalg.slogdet({0}).logabsdet",
        "xp.linalg.matrix_power({0}, 3)",
    )
    return d.apply(d.choice(*forms), x)


PRODUCTIONS = (
    Production("fft", 0.5, _transform),
    Production("fft", 0.15, _whole_transform),
    Production("fft", 0.35, _real_of_spectrum, smooth=True),
    Production("fft", 0.15, _shifted, smooth=True),
    Production("factors", 0.4, _of_rectangle, smooth=True),
    Production("factors", 0.4, _of_square, smooth=True),
)
