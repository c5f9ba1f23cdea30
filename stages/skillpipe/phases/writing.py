"""Write down how a stage goes, and how it ended."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol

from skillpipe.artifacts import write_record
from skillpipe.errors import SkillpipeError
from skillpipe.phases.naming import Phase, phase_of
from skillpipe.phases.reading import FOLDER, read_phase
from skillpipe.records import PhaseCounts, PhaseRecord, PhaseScore, PhaseTask, Rollout, Task, Usage
from skillpipe.records.phase import attempt_id

INTERVAL_S = 0.5


class Observer(Protocol):
    """Is told how a round of rollouts goes. Called from one thread; returns at once; raises nothing of its own."""

    def started(self, tasks: Sequence[Task], repeats: int = 1) -> None:
        """Before anything else: these tasks will be attempted, each `repeats` times."""
        ...

    def began(self, task: str, replicate: int = 0) -> None:
        """An attempt is under way."""
        ...

    def saw(self, rollout: Rollout) -> None:
        """An attempt has ended, in any order; `skipped` where it was not needed."""
        ...

    def finished(self, error: str = "") -> None:
        """No more will come; `error` says why the round failed, and is empty if it did not."""
        ...


def now() -> str:
    """UTC, ISO 8601 with milliseconds: such times compare as texts."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


class PhaseWriter:
    """An Observer that keeps the phase's record up to date: at once when it starts and ends, between that not more
    often than every half second, and seldom enough that writing takes a twentieth of the time at most.
    """

    def __init__(self, phase: Phase, folder: Path = FOLDER, clock: Callable[[], float] = time.monotonic) -> None:
        self._phase, self._path, self._clock = phase, folder / f"{phase.name}.json", clock
        self._tasks: dict[str, PhaseTask] = {}
        self._usage, self._started_at, self._next = Usage(), now(), 0.0

    def started(self, tasks: Sequence[Task], repeats: int = 1) -> None:
        for task in tasks:
            for replicate in range(repeats):
                key = attempt_id(task.id, replicate)
                self._tasks[key] = PhaseTask(key, task.task_type, "queued", None, None, None, "")
        self._write()

    def began(self, task: str, replicate: int = 0) -> None:
        key = attempt_id(task, replicate)
        self._tasks[key] = replace(self._tasks[key], status="running")
        self._write_if_due()

    def saw(self, rollout: Rollout) -> None:
        task = PhaseTask.of(rollout)
        self._tasks[task.id] = task
        self._usage += rollout.usage
        self._write_if_due()

    def finished(self, error: str = "") -> None:
        for key, task in self._tasks.items():
            if task.status == "running":  # broken off: it has no rollout, like one that never began
                self._tasks[key] = replace(task, status="queued")
        self._write(error, ended=True)

    def _write_if_due(self) -> None:
        if self._clock() >= self._next:
            self._write()

    def _write(self, error: str = "", *, ended: bool = False) -> None:
        before, phase, tasks = self._clock(), self._phase, tuple(self._tasks.values())
        record = PhaseRecord(
            phase=phase.name, kind=phase.kind, suite_name=phase.suite_name,
            status="failed" if error else "completed" if ended else "running",
            started_at=self._started_at, finished_at=now() if ended else "",
            counts=PhaseCounts.of(tasks), tasks=tasks, score=PhaseScore.of(tasks), error=error, out=phase.out,
            usage=self._usage,
        )  # fmt: skip
        with suppress(OSError):  # a disk that is full: the stage's own output will say so
            write_record(self._path, record)
        after = self._clock()
        self._next = after + max(INTERVAL_S, 20 * (after - before))


@contextmanager
def watched(phase: Phase | None) -> Iterator[Observer | None]:
    """An observer for a round of rollouts, told at the end how the block ended; None for a round of no run."""
    if phase is None:
        yield None
        return
    writer = PhaseWriter(phase)
    try:
        yield writer
    except BaseException as error:
        writer.finished(_told(error))
        raise
    writer.finished()


@contextmanager
def recorded(command: Sequence[str]) -> Iterator[None]:
    """Write down that a stage failed, with its error, whatever it was; forget what an earlier run said of it.

    `command` is sys.argv: the script and its key=value words. A command that runs nothing (`--cfg job`) is passed over.
    """
    words = dict(word.split("=", 1) for word in command[1:] if "=" in word)
    phase = phase_of(Path(command[0]).stem, words.get("out", ""), words.get("tasks", ""))
    if phase is None or any(word.startswith("-") for word in command[1:]):
        yield
        return
    path, since = FOLDER / f"{phase.name}.json", now()
    try:
        yield
    except BaseException as error:
        told = _told(error)
        if told and not ((known := read_phase(path)) and known.status == "failed" and known.started_at >= since):
            begin = phase.name, phase.kind, phase.suite_name
            record = PhaseRecord(*begin, "failed", since, now(), PhaseCounts.of(()), (), None, told, phase.out)
            with suppress(OSError):  # a disk that is full: what is told is the stage's own error
                write_record(path, record)
        raise
    if (known := read_phase(path)) is None or known.started_at < since:
        path.unlink(missing_ok=True)


def offer(command: Sequence[str]) -> str:
    """A line to add to a stage's error: how to see what its run came to so far; empty if there is nothing to see."""
    words = dict(word.split("=", 1) for word in command[1:] if "=" in word)
    if phase_of(Path(command[0]).stem, words.get("out", "")) is None or not any(Path("runs").glob("*/state")):
        return ""
    return "\nto see what the run came to so far, type `make report` (or `python stages/publish.py`)"


def _told(error: BaseException) -> str:
    """The error in one line; empty for an exit that is none."""
    if isinstance(error, SystemExit):
        if error.code in (None, 0):
            return ""
        first, *_ = str(error.code).splitlines()  # what comes after is an offer for people
        return "interrupted" if error.code == 130 else first.removeprefix("error: ")
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    text = str(error) if isinstance(error, SkillpipeError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())
