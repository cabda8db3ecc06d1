"""Work that nobody waits for at the end of the process, and the one warning of a process whose compiler fails.

`concurrent.futures` would keep the process alive until its work is done, and refuses any after the main thread's end.
"""

from __future__ import annotations

import os
import queue
import threading
import warnings
from collections.abc import Callable
from contextvars import copy_context

from uopc_core.errors import CompileError
from uopc_core.forks import in_forked_child

__all__ = ["Pending", "in_background", "warn_once"]


class Pending:
    """Something that a thread of this process is at, or will be."""

    __slots__ = ("_done", "_pid")

    def __init__(self) -> None:
        self._done = threading.Event()
        self._pid = os.getpid()

    def finish(self) -> None:
        self._done.set()

    def wait(self) -> None:
        """Until it is done; not at all in a forked child, which does not take the thread along."""
        if self._pid == os.getpid():
            self._done.wait()


class _Worker:
    """One thread, made when there is first something to do."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[tuple[Callable[[], object], Pending]] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None

    def put(self, task: Callable[[], object], pending: Pending) -> None:
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self.run, name="uopc-compile", daemon=True)
            self.thread.start()
        self.tasks.put((task, pending))

    def run(self) -> None:
        while True:
            task, pending = self.tasks.get()
            try:
                task()
            except CompileError:  # found again, and told, by whoever needs the kernel
                pass
            finally:
                pending.finish()


_worker = _Worker()
_warned = False


def in_background(function: Callable[[], object]) -> Pending | None:
    """Have `function` called by a thread, with the settings of this one; None where no thread can be started."""
    pending, context = Pending(), copy_context()
    try:
        _worker.put(lambda: context.run(function), pending)
    except RuntimeError:
        return None
    return pending


def warn_once(error: CompileError) -> None:
    """Tell, once in a process, that NumPy computes what the compiler failed at."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"uopc_array: a kernel could not be compiled, so NumPy computes it from now on: {error}",
            RuntimeWarning,
            stacklevel=3,
        )


def _renew_after_fork() -> None:
    global _worker
    _worker = _Worker()


in_forked_child(_renew_after_fork)
