"""The bench of tests/reliability: what it says of programs that hang, crash, leave something behind, or end well."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.reliability.report import Row, render
from tests.reliability.trial import processes_of, run_trial, started, value_of


def add(x: int, y: int) -> dict[str, int]:
    return {"sum": x + y}


def hang() -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()
    if os.fork() == 0:
        wait_in_a_child()
    time.sleep(600)


def wait_in_a_child() -> None:
    time.sleep(600)


def leave_a_process() -> int:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], process_group=0)
    return os.getpid()


def test_a_function_gives_its_value_and_a_text_what_it_calls_value():
    assert value_of(add, 2, 3) == {"sum": 5}
    outcome = run_trial("value = args[0] * 2\nprint('seen')", "ab").check()
    assert (outcome.value, outcome.stdout) == ("abab", "seen\n")


def test_a_failure_shows_its_traceback():
    outcome = run_trial("x = 1\nx.missing")
    assert outcome.returncode == 1
    with pytest.raises(AssertionError, match=r"(?s)line 2, in <module>\n    x\.missing.*AttributeError"):
        outcome.check()


def test_a_crash_is_told_by_its_signal():
    outcome = run_trial("import os; os.kill(os.getpid(), 11)")
    assert outcome.signal is signal.SIGSEGV
    assert "Fatal Python error" in outcome.stderr


def test_a_program_that_hangs_is_ended_and_says_where_it_was_its_children_too():
    outcome = run_trial(hang, seconds=3)
    assert outcome.timed_out
    assert "in hang" in outcome.stderr
    assert "in wait_in_a_child" in outcome.stderr
    assert outcome.left_behind == ()


def test_what_is_left_behind_is_named_and_killed():
    outcome = run_trial(leave_a_process).check()
    (name,) = outcome.left_behind
    assert "time.sleep(600)" in name
    assert processes_of(outcome.value) == []


def test_limits_hold_from_the_first_line_and_folders_are_of_ones_own_and_removed():
    text = """
    import os, resource
    value = [resource.getrlimit(resource.RLIMIT_NOFILE)[0], oct(os.stat(os.environ["UOPC_CACHE_DIR"]).st_mode & 0o777)]
    value += [os.environ[name] for name in ("UOPC_CACHE_DIR", "HOME", "TMPDIR")]
    """
    limit, mode, *folders = value_of(text, limits={"NOFILE": 50})
    assert (limit, mode) == (50, "0o700")
    assert len(set(folders)) == 3
    assert not any(Path(folder).exists() for folder in folders)


def test_a_child_can_be_met_in_the_middle_of_its_work():
    with started("import time; print('ready', flush=True); time.sleep(600)") as child:
        child.wait_for("ready")
        os.killpg(child.pid, signal.SIGINT)
        outcome = child.wait()
    assert "KeyboardInterrupt" in outcome.stderr
    assert not outcome.timed_out


def test_results_are_a_table_of_sentences():
    rows = {
        ("tests/reliability/test_forks.py", 9, "test_children_compute"): Row(kinds=2, tries=1000, survived=1000),
        ("tests/reliability/test_disks.py", 4, "test_a_full_disk"): Row(kinds=1, tries=5, survived=4),
        ("tests/reliability/test_disks.py", 8, "test_a_slow_disk"): Row(skipped={"there is none"}),
    }
    assert (
        render(rows)
        == """### Disks

| trial | kinds | tries | survived |
|---|--:|--:|--:|
| A full disk | 1 | 5 | **4** |
| A slow disk | 0 | 0 | skipped: there is none |

### Forks

| trial | kinds | tries | survived |
|---|--:|--:|--:|
| Children compute | 2 | 1,000 | 1,000 |
"""
    )
