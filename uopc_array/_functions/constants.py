"""The constants of the standard: Python floats, and None for a new axis."""

import math
from typing import Final

__all__ = ["e", "inf", "nan", "newaxis", "pi"]

e: Final = math.e
inf: Final = math.inf
nan: Final = math.nan
newaxis: Final = None
pi: Final = math.pi
