"""Work that nobody waits for at the end of the process, and the one warning of a process whose compiler fails.

`concurrent.futures` would keep the process alive until its work is done, and refuses any after the main thread's end.
"""

from __future__ import annotations

import atexit
import queue
import sys
import threading
import warnings
from collections.abc import Callable
from contextvars import copy_context
from functools import partial

from uopc_core.errors import CompileError, SettingsError
from uopc_core.forks import in_forked_child
from uopc_core.once import own_thread

__all__ = ["in_background", "warn_once"]


IDLE_S = 1.0  # after which the thread ends, so that a process that uses no others is seen to have one


class _Worker:
    """One thread, made when there is something to do. It begins nothing once the process ends."""

    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None
        self.has_ended = self._is_registered = False

    def put(self, work: Callable[[], object]) -> None:
        self.work.put(work)
        if self.thread is None or not self.thread.is_alive():
            thread = own_thread(self.run)
            thread.start()
            self.thread = thread
        if not self._is_registered:
            self._is_registered = True
            atexit.register(self.end)  # later than those who kill compilers, so called before them

    def run(self) -> None:
        while True:
            try:
                work = self.work.get(timeout=IDLE_S)
            except queue.Empty:
                self.thread = None  # before the look: who puts something from now on starts another
                if self.work.empty():
                    return
                continue
            if self.has_ended:
                return
            try:
                work()
            except (CompileError, SettingsError):  # found again, and told, by whoever needs the kernel
                pass

    def end(self) -> None:
        self.has_ended = True


_worker = _Worker()
_warned = False


def in_background(function: Callable[[], object]) -> None:
    """Have `function` called by a thread, with the settings of this one; not at all where none can be started."""
    if sys.is_finalizing():
        return
    try:
        _worker.put(partial(copy_context().run, function))
    except RuntimeError:
        return


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


def _renew() -> None:
    global _worker
    _worker = _Worker()


in_forked_child(_renew)
