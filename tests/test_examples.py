"""The examples run and keep what they promise."""

from pathlib import Path

import pytest

from examples import black_scholes, digits, heat


def test_greeks_by_differentiation_equal_the_closed_formulas() -> None:
    assert black_scholes.main() < 1e-11


def test_the_heat_equation_has_the_bits_of_numpy() -> None:
    assert heat.main(n_cells=50, n_steps=20) == 0


def test_one_gradient_of_the_digits_equals_central_differences() -> None:
    by_grad, by_differences = digits.check_gradient(digits.load()[0])
    assert by_grad == pytest.approx(by_differences, rel=1e-6, abs=1e-9)


def test_the_digits_are_read_right_96_times_in_a_hundred(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "losses.png"
    assert min(digits.main(40, plot)) >= 0.96
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "void" in capsys.readouterr().out  # the C of the first layer
