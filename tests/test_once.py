"""Work done once for all who ask at the same time, and tables without locks: in threads, handlers, forked children."""

import os
import signal
import sys
import threading
import time
from collections import Counter

import pytest

from tests.support.moments import happen_at, moments_among
from uopc_core import once as module
from uopc_core.once import Task, do_side_by_side, once, task_for
from uopc_core.recent import Recent
from uopc_core.settings import context, current

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


class Work:
    """Returns 1 when it may; done again it returns 2 at once."""

    def __init__(self):
        self.times = 0
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self):
        self.times += 1
        self.begun.set()
        if self.times == 1:
            assert self.may_end.wait(30)
        return self.times


def in_threads(n, function):
    results = []
    threads = [threading.Thread(target=lambda: results.append(function())) for _ in range(n)]
    for thread in threads:
        thread.start()
    return threads, results


def test_who_asks_meanwhile_gets_the_same_result():
    work = Work()
    first, results = in_threads(1, lambda: once("key", work))
    assert work.begun.wait(30)
    others, more = in_threads(8, lambda: once("key", work))
    task = module._tasks["key"]
    while len(task._waiting) < 8:
        time.sleep(0.001)
    work.may_end.set()
    for thread in (*first, *others):
        thread.join()
    assert results + more == [1] * 9


def test_the_main_thread_has_it_done_by_another():
    assert once("key", threading.get_ident) != threading.get_ident()


def test_another_thread_does_it_itself():
    def ask():
        return once("key", threading.get_ident) == threading.get_ident()

    threads, results = in_threads(1, ask)
    threads[0].join()
    assert results == [True]


def test_it_is_done_with_the_settings_of_who_asks():
    with context(num_threads=3):
        assert once("key", lambda: current().num_threads) == 3


def test_what_it_raises_is_raised_where_it_was_asked_for():
    with pytest.raises(ZeroDivisionError):
        once("key", lambda: 1 // 0)
    assert once("key", lambda: 7) == 7


def test_work_that_needs_itself_does_it_in_the_midst():
    """As a finalizer may, which runs while the work is done."""
    depths = []

    def work():
        depths.append(len(depths))
        return once("key", work) if len(depths) < 3 else len(depths)

    assert once("key", work) == 3
    assert depths == [0, 1, 2]


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    work = Work()
    threads, _ = in_threads(1, lambda: once("key", work))
    assert work.begun.wait(30)
    assert once("key", work) == 2
    work.may_end.set()
    threads[0].join()


def test_without_threads_it_is_done_at_once(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert once("key", threading.get_ident) == threading.get_ident()
    assert do_side_by_side([task_for(n, lambda n=n: n) for n in range(3)], 2) == [0, 1, 2]


def test_tasks_side_by_side_are_each_done_once_and_come_in_order():
    done = Counter()

    def work(n):
        done[n] += 1
        return n

    tasks = [task_for(n, lambda n=n: work(n)) for n in range(20)]
    assert do_side_by_side(tasks, 3) == list(range(20))
    assert set(done.values()) == {1}


def test_what_one_of_them_raises_is_raised_when_all_are_done():
    done = []
    tasks = [task_for(n, lambda n=n: done.append(1 // n)) for n in range(5)]
    with pytest.raises(ZeroDivisionError):
        do_side_by_side(tasks, 2)
    assert len(done) == 4


@pytest.mark.parametrize("threads", [True, False], ids=["with threads", "without threads"])
@pytest.mark.parametrize("how", ["asked again", "interrupted"])
def test_whatever_happens_in_the_midst_of_asking(monkeypatch, how, threads):
    """A handler of signals that asks as well, or Ctrl-C: whoever asks next gets the result, and does not wait long."""
    monkeypatch.setattr(module, "PATIENCE_S", 3600)
    if not threads:
        monkeypatch.setattr(module, "_start_thread", lambda function: False)

    def happening():
        if how == "interrupted":
            raise KeyboardInterrupt
        assert once("key", lambda: 7) == 7

    for number in moments_among(lambda: once("key", lambda: 7), 100):
        try:
            assert happen_at(number, lambda: once("key", lambda: 7), happening) == 7
        except KeyboardInterrupt:
            assert how == "interrupted"
        assert once("key", lambda: 7) == 7


@needs_fork
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="forking beside threads warns")
def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have():
    work = Work()
    threads, _ = in_threads(1, lambda: once("key", work))
    assert work.begun.wait(30)
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        os._exit(once("key", lambda: 9))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    work.may_end.set()
    threads[0].join()


@needs_fork
def test_a_fork_waits_for_what_may_hold_a_lock_of_pythons():
    work = Work()
    task = Task("key", work, is_short=True)
    module._tasks["key"] = task
    threads, _ = in_threads(1, task.run)
    assert work.begun.wait(30)
    threading.Timer(0.1, work.may_end.set).start()
    module.finish_what_is_short()
    assert task.is_done
    threads[0].join()


def test_a_table_keeps_what_was_used_last():
    table = Recent(8)
    for n in range(100):
        table.add(n, str(n))
        assert table.get(0) == "0"
        assert len(table) <= 8
    assert [table.get(n) for n in (99, 98, 97, 50)] == ["99", "98", "97", None]
    table.clear()
    assert (len(table), table.get(99)) == (0, None)


def test_a_table_keeps_the_first_value_of_a_key():
    table = Recent(8)
    assert table.add("key", "first") == "first"
    assert table.add("key", "second") == "first"


@pytest.mark.parametrize("number", range(40))
def test_a_table_may_be_used_in_the_midst_of_itself(number):
    table = Recent(18)

    def use(start):
        for n in range(start, start + 6):
            assert table.get(n) in (None, n)
            assert table.add(n, n) == n
        assert table.get(start + 5) == start + 5

    happen_at(number, lambda: use(0), lambda: use(3))
    assert len(table) <= 18
