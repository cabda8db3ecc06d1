"""Graph to numbers on NumPy."""

from uopc_core.interpret.numpy_interp import NUMPY_OPS, NumPyProgram, evaluate, lower_to_numpy
from uopc_core.interpret.numpy_ops import choose_in_c

__all__ = ["NUMPY_OPS", "NumPyProgram", "choose_in_c", "evaluate", "lower_to_numpy"]
