"""Prices and greeks of European call options: the price is written down once, the greeks are its derivatives.

Every figure is compared with the closed formulas of Black & Scholes (1973), written with `math.erf`.
"""

from math import erf, exp, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

import uopc_array as xp
from uopc_array import grad, jit, value_and_grad

# Gauss-Legendre on [0, 1]; 40 points integrate the bell curve up to 6 standard deviations to the last digits.
NODES, WEIGHTS = (xp.asarray(rule) / 2 for rule in np.polynomial.legendre.leggauss(40))
NODES = NODES + 0.5


class Greeks(NamedTuple):
    price: Any
    delta: Any  # d price / d spot
    gamma: Any  # d2 price / d spot2
    vega: Any  # d price / d volatility
    theta: Any  # -d price / d time left
    rho: Any  # d price / d rate


def normal_cdf(x):
    """Probability that a standard normal variable is below x: 1/2 + the integral of its density from 0 to x."""
    density = xp.exp(-0.5 * (x[:, None] * NODES) ** 2) / sqrt(2 * pi)
    return 0.5 + x * xp.sum(density * WEIGHTS, axis=-1)


def call_price(spot, strike, rate, volatility, years):
    """Black & Scholes (1973), equation 13; every argument has shape (n_options,)."""
    spread = volatility * xp.sqrt(years)
    d1 = xp.log(spot / strike) / spread + (rate / volatility + volatility / 2) * xp.sqrt(years)
    return spot * normal_cdf(d1) - strike * xp.exp(-rate * years) * normal_cdf(d1 - spread)


def total_price(*market):
    """Options do not influence each other, so the gradient of the sum holds the derivative of each."""
    return xp.sum(call_price(*market))


def total_delta(*market):
    return xp.sum(grad(total_price)(*market))


@jit
def greeks(*market) -> Greeks:
    _, (delta, rho, vega, decay) = value_and_grad(total_price, argnums=(0, 2, 3, 4))(*market)
    return Greeks(call_price(*market), delta, grad(total_delta)(*market), vega, -decay, rho)


def closed_form(spot: float, strike: float, rate: float, volatility: float, years: float) -> Greeks:
    """The textbook's formulas for one option, in plain Python."""
    spread = volatility * sqrt(years)
    d1 = (log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread
    below_d1, below_d2 = ((1 + erf(d / sqrt(2))) / 2 for d in (d1, d2))
    density = exp(-d1 * d1 / 2) / sqrt(2 * pi)
    discounted = strike * exp(-rate * years)
    return Greeks(
        price=spot * below_d1 - discounted * below_d2,
        delta=below_d1,
        gamma=density / (spot * spread),
        vega=spot * density * sqrt(years),
        theta=-spot * density * volatility / (2 * sqrt(years)) - rate * discounted * below_d2,
        rho=years * discounted * below_d2,
    )


def main() -> float:
    """Print the table; returns the largest difference from the closed form."""
    spots = np.linspace(80.0, 120.0, 9)
    market = [spots, *(np.full_like(spots, value) for value in (100.0, 0.03, 0.2, 0.75))]
    found = np.stack([np.asarray(column) for column in greeks(*map(xp.asarray, market))], axis=-1)
    expected = np.asarray([closed_form(*map(float, option)) for option in zip(*market, strict=True)])
    print("    spot" + "".join(f"{name:>12}" for name in Greeks._fields))
    for spot, row in zip(spots, found, strict=True):
        print(f"{spot:8.2f}" + "".join(f"{value:12.6f}" for value in row))
    difference = float(np.abs(found - expected).max())
    print(f"largest difference from the closed form: {difference:.1e}")
    return difference


if __name__ == "__main__":
    main()
