"""Look on while a run goes on: `make watch`, or `python stages/watch.py` (`--once` prints one view and ends).

Run it beside `dvc repro`, in the same folder; an experiment from the queue runs in a folder of its own, which
`dvc queue logs` shows. It refreshes by itself and ends with Ctrl-C; it disturbs no run.

Reads: runs/phases, the last history in runs/, dvc.yaml, params.yaml. Writes: nothing. Model calls: none.
"""

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from threading import Event

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from skillpipe.artifacts import read_rows
from skillpipe.errors import SkillpipeError
from skillpipe.publishing import Link, done, last_state, phases_of, read_chain
from skillpipe.records import PhaseRecord, Spent, StepRecord

ROWS = 14  # of phases: the last ones, so that a view fits a terminal
COLOURS = {"running": "cyan", "completed": "green", "failed": "red"}


@dataclass(frozen=True)
class Progress:
    """A run as it stands: stages done of all, what was decided and spent so far, phases in the order of the run."""

    done: int
    stages: int
    history: Sequence[StepRecord]
    spent: Spent
    phases: Sequence[PhaseRecord]


def watch(run: Progress, now: datetime) -> RenderableType:
    """One view of a run: the whole, then a row per phase, then what went wrong."""
    accepted = sum(row.decision.action.startswith(("accept", "force")) for row in run.history)
    best = f", best on val {run.history[-1].best:.3f}" if run.history else ""
    steps = max(0, len(run.history) - 1)
    head = Text(
        f"{run.done} of {run.stages} stages done, {steps} steps decided, {accepted} accepted{best}", style="bold"
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("phase", "status", "", "tasks", "passing", "rate", "time left"):
        table.add_column(name, justify="left" if name in ("phase", "status", "") else "right", no_wrap=True)
    for record in run.phases[-ROWS:]:
        table.add_row(*_row(record, now))
    earlier = len(run.phases) - ROWS
    above = [Text(f"... {earlier} phases before these", style="dim")] if earlier > 0 else []
    errors = [Text(f"{row.phase} failed: {row.error}", style="red") for row in run.phases if row.status == "failed"]
    return Group(head, Text(_spend(run.spent)), Text(), *above, table, *errors)


def _row(record: PhaseRecord, now: datetime) -> list[RenderableType]:
    counts, ended = record.counts, datetime.fromisoformat(record.finished_at or now.isoformat())
    seconds = (ended - datetime.fromisoformat(record.started_at)).total_seconds()
    rate = counts.completed / seconds if seconds > 0 else 0.0
    left = (counts.total - counts.completed) / rate if rate and record.status == "running" else None
    return [
        record.phase,
        Text(record.status, style=COLOURS[record.status]),
        ProgressBar(total=max(1, counts.total), completed=counts.completed, width=12) if counts.total else "",
        f"{counts.completed}/{counts.total}" if counts.total else "",
        f"{counts.passed}" if counts.completed else "",
        f"{rate:.1f}/s" if rate else "",
        _clock(left) if left is not None else f"took {_clock(seconds)}" if record.finished_at else "",
    ]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _spend(spent: Spent) -> str:
    roles = {"target": spent.target, "optimizer": spent.optimizer} | (
        {"judge": spent.judge} if spent.judge.calls else {}
    )
    told = [
        f"{role} {used.calls} calls, {used.input_tokens + used.output_tokens} tokens" for role, used in roles.items()
    ]
    cost = (spent.target + spent.optimizer + spent.judge).cost_usd
    return "; ".join(told) + ("; cost not known: no price" if cost is None else f"; ${cost:.4f}")


def read_progress(chain: Sequence[Link]) -> Progress:
    """What there is now. Rounds that the history does not count yet are added to its spending."""
    made = done(chain)
    phases = phases_of(chain, made)
    state = last_state(made)
    try:
        history = read_rows(state / "history.jsonl", StepRecord) if state else []
    except SkillpipeError:  # replaced while it was read: the next view has it
        history = []
    counted = {link.phase for link in made if link.step in {row.step for row in history}} | (
        {"baseline"} if history else set()
    )
    rounds = [Spent(target=row.usage) for row in phases if row.phase not in counted]
    return Progress(len(made), len(chain), history, sum([*rounds, *(row.spent for row in history)], Spent()), phases)


def main() -> None:
    once = sys.argv[1:] == ["--once"]
    if sys.argv[1:] and not once:
        sys.exit(f"error: {' '.join(sys.argv[1:])}: no such option; there is --once, to print one view and end")
    try:
        console = Console()
        if once:
            console.print(watch(read_progress(read_chain()), datetime.now(timezone.utc)))
            return
        stopped = Event()
        # Not as an exception: Python drops one that comes while a finalizer runs, and the view would go on.
        signal.signal(signal.SIGINT, lambda *_: stopped.set())
        with Live(console=console, auto_refresh=False) as live:
            while not stopped.is_set():
                live.update(watch(read_progress(read_chain()), datetime.now(timezone.utc)), refresh=True)
                stopped.wait(1)
    except SkillpipeError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
