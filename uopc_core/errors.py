"""The exceptions of both packages; each subclasses what NumPy raises for the same mistake."""

import os
import re

import numpy as np

__all__ = [
    "AxisError",
    "ChoiceBoundsError",
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

# whose frames tell the user nothing: of both packages, and of NumPy
_OURS = (
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "uopc_"),
    os.path.dirname(os.path.abspath(np.__file__)) + os.sep,
)
_NAME = re.compile(r"[A-Za-z_][\w.]*(?=: |\(\) )")
_TRANSFORMS = frozenset({"checkpoint", "grad", "hessian", "jacfwd", "jacrev", "jvp", "value_and_grad", "vjp", "vmap"})


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

    def __str__(self) -> str:
        return str(self.args[0])


class IndexBoundsError(IndexError):
    """An index outside its axis, found when the graph was built or when the kernel ran."""


class IndexDTypeError(DTypeError, IndexError):
    """Indices that are no integers."""


class IndexShapeError(ShapeError, IndexError):
    """Indices whose shapes do not fit together."""


class SorterBoundsError(IndexBoundsError, ValueError):
    """A place outside the vector that a sorter sorts."""


class ChoiceBoundsError(IndexBoundsError, ValueError):
    """The number of none of the arrays to choose from."""


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


def shortened(error: Exception, name: str | None = None) -> Exception:
    """`error` without the frames between where it was raised and where this is called: the user reads his own lines.

    Where a function of the user's took part (which `vmap` or `piecewise` was given, or ``__array__`` of a class), all
    frames and the message stay. A function of the face says ``except Exception as error: raise shortened(error)``,
    which costs nothing otherwise.

    Args:
        name: what the user called, where the message may name a function that this one calls.
    """
    trace = error.__traceback__
    if trace is not None and _is_of_user(error):
        return error.with_traceback(trace.tb_next)
    return (error if name is None else _named(error, name)).with_traceback(None)


def _is_of_user(error: Exception) -> bool:
    """Whether it passed through code of anybody else."""
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            return True
        trace = trace.tb_next
    return False


def _named(error: Exception, name: str) -> Exception:
    """`error` with a message that begins with `name`, in place of the function that it names itself."""
    if isinstance(error, np.exceptions.AxisError) and not isinstance(error, AxisError):
        return AxisError(f"{name}: {error}")
    if len(error.args) == 1 and isinstance(error.args[0], str):
        text = error.args[0]
        found = _NAME.match(text)
        if name in _TRANSFORMS and found is not None and text[: found.end()] not in _TRANSFORMS:
            return error  # names the function that has no derivative, which is what the user wants to know
        error.args = (f"{name}: {text}" if found is None else name + text[found.end() :],)
    return error
