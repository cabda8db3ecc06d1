"""Memory that kernels may not touch: the pages about their operands, which every test of this folder runs between."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.kernel_runs import guarded

_TOUCH = """
import ctypes, resource, numpy as np
from tests.support.kernel_runs import guarded
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
x = guarded(np.arange(3.0), {at_end})
ctypes.string_at(x.ctypes.data, 24)
ctypes.string_at(x.ctypes.data + {offset}, 8)
"""


@pytest.mark.parametrize(("at_end", "offset"), [(True, 24), (False, -8)])
def test_an_element_beside_guarded_memory_cannot_be_read(at_end: bool, offset: int) -> None:
    code = _TOUCH.format(at_end=at_end, offset=offset)
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGBUS)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (4096,), (700, 3)])
def test_guarded_memory_holds_what_it_is_made_of(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for at_end in (True, False):
        np.testing.assert_array_equal(guarded(x, at_end), x)
