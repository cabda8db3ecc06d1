"""The one part that is compiled at installation: operators, nodes and calls in C, which are done in Python without it.

Everything else stands in pyproject.toml. Where there is no C compiler, or no headers of Python or NumPy, the package is
installed without this.
"""

from pathlib import Path

from setuptools import Extension, setup


def _extensions() -> list[Extension]:
    try:
        import numpy as np  # noqa: PLC0415  # a dependency of the build, which installing without isolation may lack
    except ImportError:
        return []
    sources = Path("uopc_array/_array/in_c")
    return [
        Extension(
            "uopc_array._array.at_once_c",
            [str(sources / "module.c")],
            depends=[str(path) for path in sorted(sources.glob("*.h"))],
            include_dirs=[np.get_include()],
            optional=True,
        )
    ]


setup(ext_modules=_extensions())
