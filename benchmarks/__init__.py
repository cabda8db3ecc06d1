"""Speed beside NumPy, JAX, Numba, numexpr and PyTorch, in one run: `python -m benchmarks`; see README.md here."""
