"""Campaigns in processes of their own: one that dies or hangs is a failure, and another goes on behind it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.fuzz.campaign import Result, fuzz

__all__ = ["fuzz_in_workers"]

HANGS = 180.0  # seconds without a new program, but for those without a processor: then a process is taken to hang


def waited_for_a_processor(pid: int | None) -> float:
    """Seconds that the main thread of a process was ready to run and others ran; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) * 1e-9
    except (OSError, IndexError):
        return 0.0


def family(pid: int | None) -> list[int | None]:
    """A process and what it has started that still runs, compilers above all."""
    found = [pid]
    for process in found:
        try:
            for task in Path(f"/proc/{process}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # it has ended, or the system does not say
    return found


@dataclass(frozen=True)
class _Task:
    """What every worker does; the seeds differ."""

    mode: str
    tier: str
    only: tuple[str, ...]
    seconds: float
    shrinking: bool


def _work(seeds: list[int], task: _Task, channel: Connection) -> None:
    result = fuzz(seeds, task.mode, task.tier, task.only, task.seconds, task.shrinking, started=channel.send)
    channel.send(result)
    channel.close()


class _Worker:
    """A process with its seeds, and how far it has come."""

    def __init__(self, seeds: list[int], task: _Task) -> None:
        self.seeds, self.seed = seeds, seeds[0]
        self.waits: dict[int | None, float] = {}  # of each process of the family, those that have ended too
        spawn = multiprocessing.get_context("spawn")
        self.channel, other = spawn.Pipe(duplex=False)
        self.process: BaseProcess = spawn.Process(target=_work, args=(seeds, task, other), daemon=True)
        self.process.start()
        self.heard = self._clock()
        other.close()

    def _clock(self) -> float:
        """Seconds that the process has had to get on, in which a busy machine kept none of its family waiting."""
        self.waits |= {pid: waited_for_a_processor(pid) for pid in family(self.process.pid)}
        return time.monotonic() - sum(self.waits.values())

    def hear(self) -> Result | str | None:
        """The result, a word on how the process ended, or None while it runs."""
        try:
            while self.channel.poll():
                message = self.channel.recv()
                if isinstance(message, Result):
                    return message
                self.seed, self.heard = message, self._clock()
        except EOFError:
            return "died"
        return "hangs" if self._clock() - self.heard > HANGS else None

    def lost(self, ending: str, task: _Task) -> Result:
        """A result in place of the one that a process did not give."""
        only = f" --only {' '.join(task.only)}" if task.only else ""
        command = f"--mode {task.mode} --tier {task.tier} --seed {self.seed} --programs 1{only}"
        text = f"# {command}\n# the process {ending}; with --show the program is printed\n"
        return Result(self.seeds.index(self.seed) + 1, failures=1, reports={f"{ending} {self.seed}": text})

    def rest(self) -> list[int]:
        return self.seeds[self.seeds.index(self.seed) + 1 :]


def fuzz_in_workers(
    seeds: Sequence[int],
    mode: str,
    tier: str,
    only: tuple[str, ...] = (),
    seconds: float = float("inf"),
    shrinking: bool = True,
    workers: int = 1,
) -> Result:
    """All seeds, shared among processes; one that dies or hangs is replaced by another that goes on behind it."""
    total, task = Result(), _Task(mode, tier, only, seconds, shrinking)
    shares = [list(seeds[k::workers]) for k in range(workers)]
    running = [_Worker(share, task) for share in shares if share]
    while running:
        wait([w.channel for w in running], timeout=5)
        for worker in list(running):
            outcome = worker.hear()
            if outcome is None:
                continue
            running.remove(worker)
            worker.process.kill()
            if isinstance(outcome, str):
                running += [_Worker(worker.rest(), task)] if worker.rest() else []
                outcome = worker.lost(outcome, task)
            total.add(outcome)
    return total
