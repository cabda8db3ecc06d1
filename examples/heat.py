"""The heat equation on a square plate, by slices, exactly as one writes it in NumPy, and compared with NumPy.

u_t = u_xx + u_yy by explicit Euler; the edge keeps its temperature. The same function runs on arrays of both libraries.
"""

import time
from typing import Any

import numpy as np

import uopc_array as xp

N_CELLS = 500
N_STEPS = 100
DIFFUSION = 0.2  # dt / dx**2; stable below 1/4


def step(u: Any) -> None:
    """One step of time, in place."""
    inner = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = inner + DIFFUSION * (around - 4 * inner)


def simulate(u: Any, n_steps: int) -> np.ndarray:
    for _ in range(n_steps):
        step(u)
    return np.asarray(u)


def initial_plate(n_cells: int) -> np.ndarray:
    """Cold, with one hot edge and a hot spot."""
    plate = np.zeros((n_cells, n_cells))
    plate[0] = 100.0
    third, half = n_cells // 3, n_cells // 2
    plate[third:half, third:half] = 500.0
    return plate


def timed(u: Any, n_steps: int) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    return simulate(u, n_steps), time.perf_counter() - start


def main(n_cells: int = N_CELLS, n_steps: int = N_STEPS) -> float:
    """Run both; returns the largest difference: 0, as the same operations in the same order give the same bits."""
    plate = initial_plate(n_cells)
    expected, time_numpy = timed(plate.copy(), n_steps)
    simulate(xp.asarray(plate), 2)  # compiles the kernel
    found, time_ours = timed(xp.asarray(plate), n_steps)
    difference = float(np.abs(found - expected).max())
    print(f"{n_steps} steps on {n_cells} x {n_cells} cells, mean temperature {found.mean():.4f}")
    print(f"numpy {time_numpy:.3f} s, uopc_array {time_ours:.3f} s")
    print(f"largest difference: {difference}")
    return difference


if __name__ == "__main__":
    main()
