"""Work that is done once, however many ask for it at the same time, and that nobody finds half done.

A handler of signals runs on the main thread, in the midst of whatever that is at, and may compute. A lock that the main
thread held would never be freed for it; a module that it was importing would stay half there. So the main thread has
such work done by another one and waits for that, which a handler can do on top of it; and Ctrl-C ends the waiting, not
the work. No lock is held while anything else runs, and nobody waits for ever: what another thread has not done after
PATIENCE_S, and anything at the end of the process, one does oneself. So work must bear being done twice.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from _thread import _count as count_threads  # that Python has started; without a lock, as `active_count` has
from _thread import allocate_lock, get_ident
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from uopc_core.forks import in_forked_child

__all__ = ["Task", "do_side_by_side", "finish_what_is_short", "has_other_threads", "once", "own_thread", "task_for"]

PATIENCE_S = 90  # longer than a compiler may take


class Task:
    """A piece of work. One thread does it, with the settings of whoever asked first; everybody gets the result.

    Attributes:
        function: the work.
        is_short: it may hold locks of Python's own, so a process is not forked, and does not end, in the midst of it.
        is_done: there is a result.
        is_over: nobody is at it any more.
    """

    __slots__ = (
        "_claim",
        "_context",
        "_error",
        "_key",
        "_value",
        "_waiting",
        "function",
        "is_done",
        "is_over",
        "is_short",
    )

    def __init__(self, key: Hashable, function: Callable[[], Any], is_short: bool) -> None:
        self.function = function
        self.is_short = is_short
        self.is_done = self.is_over = False
        self._key = key
        self._context = copy_context()
        self._claim: dict[str, list[int]] = {}  # who enters itself first does the work
        self._waiting: list[Any] = []  # a lock for each thread that waits
        self._value: Any = None
        self._error: Exception | None = None

    def start(self) -> None:
        """See to it that somebody does the work: another thread if this is the main one."""
        if not self._claim and not (_is_main() and _start_thread(self.run)):
            self.run()

    def run(self) -> None:
        """Do the work, unless somebody has begun it."""
        mine = [get_ident()]
        try:
            if self._claim.setdefault("runner", mine) is not mine:
                return
            self._value = self._context.run(self.function)
            self.is_done = True
        except Exception as error:  # raised where the result is asked for
            self._error = error
            self.is_done = True
        finally:
            if self._claim.get("runner") is mine:
                self.end()

    def is_begun(self) -> bool:
        return bool(self._claim)

    def result(self) -> Any:
        """What the work gives; raises what it raised."""
        self.wait()
        if not self.is_done:
            self.end()
            return self.function()
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self) -> None:
        """Until it is done, or there is nobody to wait for."""
        if self.is_over or self._claim.get("runner") == [get_ident()] or sys.is_finalizing():
            return
        lock = allocate_lock()
        lock.acquire()
        self._waiting.append(lock)  # before the look: who ends the work looks here afterwards
        if not self.is_over:
            lock.acquire(timeout=PATIENCE_S)

    def end(self) -> None:
        """Nobody is at it any more: those who wait go on, and who asks from now on asks anew."""
        self.is_over = True
        _tasks.pop(self._key, None)
        for lock in self._waiting:
            with suppress(RuntimeError):  # it has been released
                lock.release()


_tasks: dict[Hashable, Task] = {}  # those that are not done
_own_threads: dict[int, None] = {}


def task_for(key: Hashable, function: Callable[[], Any], *, is_short: bool = False) -> Task:
    """The task under way for `key`, or a new one that will call `function`."""
    while True:
        task = _tasks.get(key) or _tasks.setdefault(key, Task(key, function, is_short))
        if not task.is_over and not task.is_done:
            return task
        task.end()  # who did it was interrupted in the last step


def once(key: Hashable, function: Callable[[], Any], *, is_short: bool = False) -> Any:
    """What `function` returns; those who ask for `key` while it runs wait for the same result.

    Who asks later asks again: `function` begins by looking whether the work has been done.
    """
    task = task_for(key, function, is_short=is_short)
    task.start()
    return task.result()


def do_side_by_side(tasks: Sequence[Task], n_threads: int) -> list[Any]:
    """The results of all tasks, done by so many threads, this one among them unless it is the main one.

    What one of them raises is raised when all are done.
    """

    def work() -> None:
        for task in tasks:
            task.run()

    n_helpers = min(n_threads, len(tasks)) - (not _is_main())
    if sum([_start_thread(work) for _ in range(n_helpers)]) == 0 or not _is_main():
        work()
    for task in tasks:
        task.wait()
    return [task.result() for task in tasks]


def _is_main() -> bool:
    return get_ident() == threading.main_thread().ident


def has_other_threads() -> bool:
    """Whether there are threads that Python has started besides those of this package, which touch no arrays."""
    return count_threads() > len(_own_threads)


def own_thread(function: Callable[[], None]) -> threading.Thread:
    """A thread of this package, not started yet, that calls `function`; nobody waits for it at the end of the process.

    Raises:
        RuntimeError: when it is started: there can be no more threads, or none on this platform.
    """

    def run() -> None:
        _own_threads[get_ident()] = None
        try:
            function()
        finally:
            _own_threads.pop(get_ident(), None)

    return threading.Thread(target=run, name="uopc", daemon=True)


def _start_thread(function: Callable[[], None]) -> bool:
    """Whether there is a thread now that calls `function`."""
    if sys.is_finalizing():
        return False
    try:
        own_thread(function).start()
    except RuntimeError:
        return False
    return True


def finish_what_is_short() -> None:
    """Wait for work that may hold locks of Python's own, if somebody is at it."""
    for _ in range(100):  # whoever was waited for may begin the next at once
        under_way = [task for task in list(_tasks.values()) if task.is_short and task.is_begun()]
        if not under_way:
            return
        for task in under_way:
            task.wait()


def _forget_tasks() -> None:
    for task in list(_tasks.values()):
        task.end()


atexit.register(finish_what_is_short)  # a daemon thread that is ended while it loads C++ aborts the process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish_what_is_short)
in_forked_child(_forget_tasks)
in_forked_child(_own_threads.clear)
