"""Graph to numbers on NumPy."""

from uopc_core.interpret.numpy_interp import NUMPY_OPS, NumPyProgram, evaluate, lower_to_numpy

__all__ = ["NUMPY_OPS", "NumPyProgram", "evaluate", "lower_to_numpy"]
