"""Run a program in a child process of its own: a text or a function, arguments -> Outcome.

Invariant: nothing of a trial outlives it. Its processes are one session, which is killed as a whole, compilers with
groups of their own included, and its folders (kernel cache, home, temporary files) are removed.

    outcome = run_trial("import uopc_array as xp; print(float(xp.sum(xp.ones(3))))", limits={"FSIZE": 8192})
    assert outcome.check().stdout == "3.0\\n"

    def count_up(n: int) -> int: ...
    assert value_of(count_up, 7, env={"UOPC_TIER": "compile"}) == 7

    with started(count_up, 7) as child:
        os.killpg(child.pid, signal.SIGINT)
        outcome = child.wait()
"""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

__all__ = ["ROOT", "Child", "Outcome", "processes_of", "run_trial", "started", "value_of"]

ROOT = Path(__file__).parents[2]
_GRACE_S = 10  # for the tracebacks of a child that has reached its limit
_DYING_S = 1  # for what was killed to be gone
_POLL_S = 0.01


@dataclass(frozen=True)
class Outcome:
    """How a trial ended.

    Attributes:
        program: a name or a text, for messages.
        returncode: of the process; negative: the signal that ended it.
        value: what the function returned, or what the text called `value`; None if it did not come to its end.
        timed_out: the time limit ended it; the tracebacks of all threads are in `stderr`.
        left_behind: command lines of processes that the child started and that were alive after its end.
    """

    program: str
    stdout: str
    stderr: str
    returncode: int
    value: Any
    timed_out: bool
    left_behind: tuple[str, ...]

    @property
    def signal(self) -> signal.Signals | None:
        return signal.Signals(-self.returncode) if self.returncode < 0 else None

    def check(self) -> "Outcome":
        """This outcome, if the program came to its end without an error."""
        assert self.returncode == 0, str(self)
        assert not self.timed_out, str(self)
        return self

    def __str__(self) -> str:
        how = "reached its time limit" if self.timed_out else str(self.signal or f"ended with {self.returncode}")
        parts = (self.program, how, f"stdout:\n{self.stdout[-4000:]}", f"stderr:\n{self.stderr[-16000:]}")
        return "\n".join((*parts, *(f"left behind: {name}" for name in self.left_behind)))


class Child:
    """A trial that runs."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", result: IO[bytes], seconds: float) -> None:
        self.pid = process.pid  # of the process, of its group and of its session
        self._name = name
        self._process = process
        self._end = time.monotonic() + seconds
        assert process.stdout is not None
        assert process.stderr is not None
        self._out, self._err, self._result = (_Drain(pipe) for pipe in (process.stdout, process.stderr, result))

    def wait_for(self, text: str, within_s: float = math.inf) -> bool:
        """Until the child has printed `text`, or has ended without it; the test fails at the end of the time.

        Args:
            within_s: how long to wait at most.
        Returns:
            False where that was over first.
        """
        enough = time.monotonic() + within_s
        while text not in self._out.text() and self.is_running():
            if time.monotonic() > self._end:
                self.wait().check()
            if time.monotonic() > enough:
                return False
            time.sleep(_POLL_S)
        return True

    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> Outcome:
        """Its end, or the end of its time."""
        timed_out = False
        try:
            self._process.wait(max(0, self._end - time.monotonic()))
        except subprocess.TimeoutExpired:
            timed_out = True
            self._show_tracebacks()
        left_behind = self._left_behind()
        self.kill()
        out, err, result = (drain.finish() for drain in (self._out, self._err, self._result))
        value = json.loads(result) if result and self._process.returncode == 0 else None
        return Outcome(self._name, out, err, self._process.returncode, value, timed_out, left_behind)

    def kill(self) -> None:
        """End it and all that it has started."""
        while pids := {self.pid, *processes_of(self.pid)} if self._process.poll() is None else processes_of(self.pid):
            for pid in pids:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
            time.sleep(_POLL_S)

    def _left_behind(self) -> tuple[str, ...]:
        patience_end = time.monotonic() + _DYING_S
        while (pids := processes_of(self.pid)) and time.monotonic() < patience_end:
            time.sleep(_POLL_S)
        return tuple(map(_command_line, pids))

    def _show_tracebacks(self) -> None:
        """Have each Python among its processes tell where its threads are, by faulthandler, and end.

        One after the other: they share the pipe, into which faulthandler writes a few letters at a time.
        """
        patience_end = time.monotonic() + _GRACE_S
        for pid in processes_of(self.pid) or [self.pid]:
            with suppress(OSError):
                os.kill(pid, signal.SIGABRT)
            while pid in processes_of(self.pid) and time.monotonic() < patience_end:
                time.sleep(_POLL_S)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)


class _Drain:
    """Reads a pipe to its end, so that whoever writes into it never waits."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while part := os.read(pipe.fileno(), 1 << 16):
                self._parts.append(part)

    def text(self) -> str:
        return b"".join(self._parts).decode(errors="replace")

    def finish(self) -> str:
        self._thread.join(_GRACE_S)
        return self.text()


@contextmanager
def started(
    program: str | Callable[..., Any],
    *args: Any,
    env: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    seconds: float = 60,
    flags: Sequence[str] = (),
    under: Sequence[str] = (),
) -> Iterator[Child]:
    """A child that runs `program`; it is killed at the end of the block.

    Args:
        program: a text, or a function that a module of tests has at its top. The text finds `args` under that name.
        args: what JSON can carry.
        env: added to this environment, from which all settings of the package are taken out. UOPC_CACHE_DIR, HOME,
            TMPDIR and the working folder are the trial's own; the first three may be given here.
        limits: names of `resource` without RLIMIT_, taken before anything else is imported.
        seconds: after these every thread's traceback goes to stderr, and all is killed.
        flags: of the interpreter.
        under: words of a command that ends by running the words behind it, the interpreter and its arguments.
    """
    is_text = isinstance(program, str)
    name = textwrap.dedent(program) if is_text else f"{program.__module__}.{program.__qualname__}{args}"
    with _workplace() as place:
        readable, writable = os.pipe()
        if is_text:
            (place / "program.py").write_text(name)
        order = {
            "path": str(place / "program.py") if is_text else None,
            "module": None if is_text else program.__module__,
            "function": None if is_text else program.__qualname__,
            "args": args,
            "limits": {"CORE": 0, **(limits or {})},
            "pipe": writable,
        }
        process = subprocess.Popen(
            [*under, sys.executable, *flags, "-m", "tests.reliability.child", json.dumps(order)],
            cwd=place / "work",
            env=_environment(place) | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writable],
            start_new_session=True,
        )
        os.close(writable)
        child = Child(name, process, os.fdopen(readable, "rb"), seconds)
        try:
            yield child
        finally:
            child.kill()


def run_trial(program: str | Callable[..., Any], *args: Any, **how: Any) -> Outcome:
    """Run `program` to its end, or to the end of its time; takes what `started` takes."""
    with started(program, *args, **how) as child:
        return child.wait()


def value_of(program: str | Callable[..., Any], *args: Any, **how: Any) -> Any:
    """What `program` returns in a child process; the test fails where it does not come to its end."""
    return run_trial(program, *args, **how).check().value


@contextmanager
def _workplace() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="trial-"))
    for name in ("cache", "home", "tmp", "work"):
        (place / name).mkdir(mode=0o700)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _environment(place: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("UOPC_")}
    return {
        "OPENBLAS_NUM_THREADS": "1",
        **kept,
        "PYTHONPATH": str(ROOT),
        "PYTHONFAULTHANDLER": "1",
        "UOPC_CACHE_DIR": str(place / "cache"),
        "HOME": str(place / "home"),
        "XDG_CACHE_HOME": "",
        "TMPDIR": str(place / "tmp"),
    }


def processes_of(leader: int) -> list[int]:
    """The processes of a child's session that are not dead; where there is no /proc, nobody knows any."""
    found: list[int] = []
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if entry.isdigit():
            with suppress(OSError):
                state, _, _, session, *_ = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
                if int(session) == leader and state not in "ZX":
                    found.append(int(entry))
    return found


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    return f"process {pid}"
