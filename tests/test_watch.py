"""watch.py: what is to be seen of a run while it goes on."""

import contextlib
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from chains import chain_of, run_chain, run_stage
from samples import failed, passed, task
from skillpipe.phases import Phase, PhaseWriter, read_phases
from skillpipe.records import PhaseRecord, Spent, Usage
from watch import ROWS, Progress, watch
from workbench import STAGES, Bench, state

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=timezone.utc)
RUN = Progress(7, 30, state(1, 0).history, Spent(Usage(10, 100, 20, 0.25), Usage(2, 30, 5, 0.25)), ())


def record(tmp_path: Path, name: str = "validate-e1s1", *, error: str = "", ended: bool = False) -> PhaseRecord:
    """A phase of eight tasks that began 10 seconds ago; four have ended, three of them passed."""
    writer = PhaseWriter(Phase(name, "val", "", "out"), tmp_path, lambda: 0.0)
    writer.started([task(f"t{number}") for number in range(8)])
    for number, ended_how in enumerate([passed, passed, failed, passed]):
        writer.saw(ended_how(f"t{number}"))
    writer.finished(error)
    [found] = [row for row in read_phases(tmp_path) if row.phase == name]
    status = found.status if error or ended else "running"
    times = (NOW - timedelta(seconds=10)).isoformat(), NOW.isoformat() if error or ended else ""
    return replace(found, status=status, started_at=times[0], finished_at=times[1])


def seen(run: Progress) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(watch(run, NOW))
    return console.file.getvalue()


def test_a_running_phase_shows_tasks_passing_rate_and_time_left(tmp_path):
    [row] = [line for line in seen(replace(RUN, phases=[record(tmp_path)])).splitlines() if "validate-e1s1" in line]
    assert "━" in row
    assert [word for word in row.split() if "━" not in word] == [
        "validate-e1s1",
        "running",
        "4/8",
        "3",
        "0.4/s",
        "0:10",
    ]


def test_a_phase_that_ended_shows_what_it_took(tmp_path):
    [row] = [line for line in seen(replace(RUN, phases=[record(tmp_path, ended=True)])).splitlines() if "e1s1" in line]
    assert row.rstrip().endswith("took 0:10")


def test_the_whole_run_and_what_it_spent_come_first():
    lines = seen(RUN).splitlines()
    assert lines[0] == "7 of 30 stages done, 0 steps decided, 0 accepted, best on val 0.500"
    assert lines[1] == "target 10 calls, 120 tokens; optimizer 2 calls, 35 tokens; $0.5000"


def test_a_judge_that_was_asked_is_told_of_too():
    spent = replace(RUN.spent, judge=Usage(3, 30, 3, cost_usd=0.25))
    assert seen(replace(RUN, spent=spent)).splitlines()[1].endswith("; judge 3 calls, 33 tokens; $0.7500")


def test_an_unknown_cost_is_not_zero():
    spent = replace(RUN.spent, target=replace(RUN.spent.target, cost_usd=None))
    assert "cost not known: no price" in seen(replace(RUN, spent=spent))


def test_a_failed_phase_is_told_with_its_error(tmp_path):
    assert "validate-e1s1 failed: the server said 529" in seen(
        replace(RUN, phases=[record(tmp_path, error="the server said 529")])
    )


def test_of_a_long_run_the_last_phases_are_shown(tmp_path):
    phases = [replace(record(tmp_path), phase=f"validate-e1s{number}") for number in range(1, ROWS + 4)]
    text = seen(replace(RUN, phases=phases))
    assert "... 3 phases before these" in text
    assert "validate-e1s3 " not in text
    assert "validate-e1s17" in text


@pytest.fixture(scope="module")
def ran(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A toy run that failed in its second step's gate."""
    bench = Bench(Path(shutil.copytree(toy_folder, tmp_path_factory.mktemp("ran") / "bench")))
    run_chain(bench, before="gate-e2s1")
    run_stage(bench, next(link for link in chain_of(bench) if link.phase == "gate-e2s1"), "+broken=1")
    return bench


def test_once_prints_one_view_of_what_is_there_and_ends(ran):
    text = ran.done("watch", "--once")
    assert text.startswith("14 of 18 stages done, 1 steps decided, 1 accepted, best on val ")
    phases = [line.split()[0] for line in text.splitlines()[4:9]]
    assert phases == ["baseline", "rollout-e1s1", "validate-e1s1", "rollout-e2s1", "validate-e2s1"]
    assert "gate-e2s1 failed: unknown key broken" in " ".join(text.split())


def test_what_is_spent_counts_each_round_once(ran):
    assert "target 46 calls," in ran.done("watch", "--once")  # 10 val, then twice 8 train and 10 val


def test_before_a_run_there_is_a_view_too(bench):
    chain_of(bench)
    assert bench.done("watch", "--once").startswith("0 of 18 stages done")


def test_an_option_that_is_none_is_refused_in_one_line(bench):
    assert bench.refused("watch", "--one").startswith("--one: no such option")


def test_the_live_view_ends_with_ctrl_c_and_code_0(ran):
    ours, its = pty.openpty()
    child = subprocess.Popen([sys.executable, STAGES / "watch.py"], cwd=ran.root, stdin=its, stdout=its, stderr=its)
    os.close(its)
    told = b""
    while b"stages done" not in told and select.select([ours], [], [], 60)[0]:
        told += os.read(ours, 4096)
    child.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while select.select([ours], [], [], 60)[0] and (more := os.read(ours, 4096)):
            told += more
    assert child.wait(60) == 0
    os.close(ours)
    assert b"14 of 18" in told
