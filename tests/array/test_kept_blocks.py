"""Memory that the extension keeps for the arrays of NumPy: a program that goes on to another size has that of the one
before given back in its favour.
"""

import os
import subprocess
import sys

import pytest

from uopc_array._array.extension import IN_C

PROGRAM = """
import resource
import numpy as np
import uopc_array as xp

def taken(n):
    x, y = xp.asarray(np.linspace(0.0, 1.0, n)), xp.asarray(np.linspace(1.0, 2.0, n))
    pages = []
    for _ in range(30):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        (xp.sin(x) * xp.exp(y)).to_numpy(copy=False)
        pages.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return min(pages[-10:]) * resource.getpagesize() / (8 * n)

for n in (56_000, 100_000, 150_000, 178_000, 250_000):
    print(taken(n))
"""


@pytest.mark.skipif(IN_C is None, reason="the extension has not been built")
def test_blocks_of_a_size_that_is_used_no_more_make_room_for_those_in_use() -> None:
    as_users = {name: value for name, value in os.environ.items() if name not in ("UOPC_AT_ONCE", "UOPC_VERIFY")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True, env=as_users
    )
    fresh = [float(line) for line in done.stdout.split()]  # arrays made of new pages, by size
    assert len(fresh) == 5
    assert max(fresh) < 0.5, fresh
