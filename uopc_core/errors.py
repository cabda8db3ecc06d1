"""The exceptions of both packages; each subclasses what NumPy raises for the same mistake."""

from typing import TypeVar

import numpy as np

__all__ = [
    "AxisError",
    "CompileError",
    "DTypeError",
    "DTypeValueError",
    "GradientError",
    "IndexBoundsError",
    "IndexDTypeError",
    "IndexShapeError",
    "IntegerError",
    "MatrixError",
    "ParseError",
    "SettingsError",
    "ShapeError",
    "SorterBoundsError",
    "SorterShapeError",
    "TraceError",
    "VerifyError",
    "ZeroStepError",
    "shortened",
]

E = TypeVar("E", bound=BaseException)


class ShapeError(ValueError):
    """Shapes that do not fit the operation."""


class DTypeError(TypeError):
    """A dtype that the operation does not take."""


class DTypeValueError(DTypeError, ValueError):
    """A dtype that a function knows nothing of, where NumPy raises ValueError."""


class MatrixError(ShapeError, np.linalg.LinAlgError):
    """An array that holds no matrices, or none of the shape that a function of linear algebra wants."""


class AxisError(np.exceptions.AxisError):
    """An axis that is out of range or named twice."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class IndexBoundsError(IndexError):
    """An index outside its axis, found when the graph was built or when the kernel ran."""


class IndexDTypeError(DTypeError, IndexError):
    """Indices that are no integers."""


class IndexShapeError(ShapeError, IndexError):
    """Indices whose shapes do not fit together."""


class SorterBoundsError(IndexBoundsError, ValueError):
    """A place outside the vector that a sorter sorts."""


class SorterShapeError(ShapeError, TypeError):
    """A sorter that is no vector."""


class IntegerError(TypeError, ValueError):
    """A number that is no integer, where NumPy raises ValueError."""


class ZeroStepError(ValueError, ZeroDivisionError):
    """A range whose numbers are 0 apart."""


class TraceError(TypeError):
    """A value was asked for while `jit` was tracing, when there are no values yet."""


class GradientError(TypeError):
    """Something that cannot be differentiated was asked for its derivative."""


class SettingsError(ValueError):
    """An unknown setting, or a value that the setting does not take."""


class CompileError(RuntimeError):
    """The C compiler refused a kernel."""


class ParseError(ValueError):
    """Text that is not `.uir`."""


class VerifyError(AssertionError):
    """A graph, plan or loop nest that breaks an invariant of its form."""


def shortened(error: E) -> E:
    """`error` without the frames between where it was raised and where this is called: the user reads his own lines.

    A function of the face says ``except Exception as error: raise shortened(error)``, which costs nothing otherwise.
    """
    return error.with_traceback(None)
