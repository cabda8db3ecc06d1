"""Which NumPy the tests run with: what they compare with is not the same in all that the package works with."""

import numpy as np

__all__ = ["NUMPY"]

NUMPY = tuple([int(part) for part in np.__version__.split(".")[:2]])
