"""rollout.py with a model that costs, killed again and again: what it pays twice, writes, and counts."""

import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from asking import rows
from paid import PaidServer, target
from skillpipe.artifacts import write_rows
from skillpipe.records import Task
from workbench import STAGES, Bench

KILLS, AT_ONCE = 20, 8
TASKS = [Task(f"w{number}", f"Word: w{number}\nCapitals:", f"W{number}") for number in range(200)]
WORDS = ("skill=skills/toy", "tasks=tasks.jsonl", f"execution.max_concurrency={AT_ONCE}")


@pytest.fixture
def server() -> Iterator[PaidServer]:
    with PaidServer(latency_s=0.01) as running:
        yield running


@pytest.fixture
def bench(bench: Bench, server: PaidServer, path: Path) -> Bench:
    """With 200 tasks, and a target behind the server."""
    assert bench.run_here("compose", "env=toy", "gate=toy", *target(server, path)).code == 0
    write_rows(bench.root / "tasks.jsonl", TASKS)
    return bench


def kill_one(bench: Bench, server: PaidServer, requests: int) -> None:
    """Start a rollout, and kill it with all its processes the moment that so many more requests have come."""
    command = [sys.executable, STAGES / "rollout.py", *WORDS, "out=out.jsonl"]
    running = subprocess.Popen(command, cwd=bench.root, start_new_session=True, stderr=subprocess.DEVNULL)
    server.victim = running.pid
    server.kill_at = [len(server.seen) + requests]  # before the first request: a process takes longer to start
    assert running.wait() == -signal.SIGKILL


def in_doubt(path: Path) -> Counter[str]:
    """What the ledger holds of calls that a dead process had reserved, by the task's text."""
    return Counter(row["request"]["messages"][-1]["content"] for row in rows(path) if row["state"] == "reserved")


def test_killed_twenty_times_a_rollout_pays_again_only_for_what_was_under_way_and_writes_the_same_bytes(
    bench: Bench, server: PaidServer, path: Path
) -> None:
    chance, lost = random.Random(20), Counter[str]()
    for _ in range(KILLS):
        kill_one(bench, server, chance.randint(1, 12))
        under_way = in_doubt(path)
        assert 1 <= len(under_way) <= AT_ONCE
        lost += under_way
    assert not (bench.root / "out.jsonl").exists()
    bench.done("rollout", *WORDS, "out=out.jsonl")
    asked = server.asked
    assert set(asked) == {task.input for task in TASKS}
    assert [text for text in asked if asked[text] > 1 + lost[text]] == []
    assert KILLS <= asked.total() - len(TASKS) <= lost.total()
    other = f"execution.target.ledger={path}.undisturbed"
    bench.done("rollout", *WORDS, "out=undisturbed.jsonl", other)
    assert (bench.root / "out.jsonl").read_bytes() == (bench.root / "undisturbed.jsonl").read_bytes()


def test_calls_in_doubt_count_against_the_budget_each_time_and_stand_in_no_file(
    bench: Bench, server: PaidServer, path: Path
) -> None:
    kill_one(bench, server, 50)
    lost, calls = in_doubt(path).total(), len(TASKS)
    enough = f"budget.target.max_calls={calls + lost}"
    for _ in range(2):  # first they are sent again, then all is known
        ended = bench.run("rollout", *WORDS, "out=out.jsonl", f"budget.target.max_calls={calls + lost - 1}")
        assert ended.code == 1
        said = ended.err.splitlines()[-1]
        used = re.search(r"the target has used (\d+) calls \((\d+) of them in doubt\), ", said)
        assert used is not None, said
        assert int(used[1]) >= calls + lost - 1
        assert int(used[2]) == lost
    bench.done("rollout", *WORDS, "out=out.jsonl", enough)
    assert max(server.asked.values()) == 2
    bench.done("rollout", *WORDS, "out=undisturbed.jsonl", f"execution.target.ledger={path}.undisturbed")
    assert (bench.root / "out.jsonl").read_bytes() == (bench.root / "undisturbed.jsonl").read_bytes()
