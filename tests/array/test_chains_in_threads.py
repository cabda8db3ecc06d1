"""Statements that are recorded from their second time on, run by many threads at once: every result has the bits that
one thread gets, whoever was told first that a line is for the graph.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from uopc_array._array.extension import IN_C
from uopc_core import AT_ONCE

ROOT = Path(__file__).resolve().parents[2]
THREADS, ROUNDS = 6, 12

PROGRAM = f"""
import random, sys, threading
import numpy as np
import uopc_array as xp

sys.setswitchinterval(1e-6)
OPERATORS = ["+", "-", "*", "<", "=="]
N = 20_000

def expression(draw, depth):
    if depth == 0:
        return draw.choice(["a", "b", "row", "2.5", "a[::-1]"])
    left, right = expression(draw, depth - 1), expression(draw, draw.randrange(depth))
    return f"(({{left}} {{draw.choice(OPERATORS)}} {{right}}) + a)"

def statement(seed):
    draw, space = random.Random(seed), {{}}
    text = expression(draw, draw.randint(2, 5))
    lines = f"def f(a, b, row):\\n    x = {{text}}\\n    x = x * 0.5 - b\\n    return x"
    exec(compile(lines, f"<statement {{seed}}>", "exec"), space)
    return space["f"]

def arrays():
    r = np.random.default_rng(0)
    return [xp.asarray(r.random((4, N // 4))), xp.asarray(r.random((4, N // 4))), xp.asarray(r.random(N // 4))]

statements = [statement(seed) for seed in range({ROUNDS})]
with xp.context(at_once=0):
    wanted = [np.asarray(f(*arrays())).tobytes() for f in statements]
shared = arrays()  # become nodes while others compute with them
wrong = []
barrier = threading.Barrier({THREADS})

def work(number):
    own = arrays()
    for i, f in enumerate(statements):
        barrier.wait()  # all meet the line before it is known, and when it becomes so
        for operands in (own, shared, own, shared):
            try:
                if np.asarray(f(*operands)).tobytes() != wanted[i]:
                    wrong.append((number, i))
            except Exception as error:
                wrong.append((number, i, repr(error)))

threads = [threading.Thread(target=work, args=(number,)) for number in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong
recorded = sum(f(*arrays())._value is None for f in statements)
assert recorded > {ROUNDS} // 2, recorded
print("done")
"""


@pytest.mark.skipif(IN_C is None, reason="without the extension no line is remembered")
def test_lines_that_become_graphs_under_threads_keep_their_bits() -> None:
    environment = {**os.environ, "UOPC_TIER": "auto", "UOPC_AT_ONCE": str(AT_ONCE)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]
