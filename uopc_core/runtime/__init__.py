"""Plans to numbers: toolchain, cache of compiled kernels, memory, the C runner, and the executors."""
