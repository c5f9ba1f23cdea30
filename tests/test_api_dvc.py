"""The real pipeline, under real DVC, with a target that costs: experiments at once, a call in doubt, a raised limit."""

import signal
import subprocess
from pathlib import Path

import pytest

from paid import TOY, PaidServer, clone, must_fail, requests, target, toy_project
from project import Project, stages_that_ran
from skillpipe.artifacts import read_record
from skillpipe.records import Summary


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return toy_project(tmp_path_factory.mktemp("project") / "started")


def test_experiments_that_run_at_once_on_one_ledger_all_succeed_and_pay_for_nothing_twice(
    started: Project, tmp_path: Path
) -> None:
    """Up to the first rollout: what follows asks no more of a ledger, and takes a minute."""
    project = started.clone(tmp_path / "work")
    with PaidServer() as server:
        settings = [*TOY, *target(server, tmp_path / "calls.sqlite"), "num_epochs=1", "seed=1,2,3,4"]
        words = [word for setting in settings for word in ("-S", setting)]
        project.run("dvc", "exp", "run", "--queue", *words, "rollout@e1s1")
        project.run("dvc", "exp", "run", "--run-all", "-j", "4")
    states = [line.split()[-1] for line in project.run("dvc", "queue", "status").splitlines()[1:5]]
    assert states == ["Success"] * 4
    # All four want the same baseline of 10, and 8 of the 20 train tasks each.
    asked = requests(server.seen)
    assert 10 + 8 < len(asked) <= 10 + 20
    assert set(asked.values()) == {1}


def test_where_doubts_stop_a_run_one_line_says_what_to_type_and_that_mends_it(started: Project, tmp_path: Path) -> None:
    with PaidServer(latency_s=0.05) as server:
        settings = [*target(server, tmp_path / "calls.sqlite"), "execution.target.on_doubt=stop"]
        project = clone(started, tmp_path / "work", *settings)
        server.kill_at = [6]
        running = subprocess.Popen(
            ["dvc", "repro", "baseline"], cwd=project.root, env=project.environment(), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        server.victim = running.pid
        assert running.wait() == -signal.SIGKILL
        said = must_fail(project, "dvc", "repro", "baseline")
        [line] = [line for line in said.splitlines() if line.startswith("error: ")]
        assert "a call to toy was sent by a run that died, and may have been paid" in line
        mend = "python stages/compose.py execution.target.on_doubt=retry"
        assert f"`{mend}`" in line
        assert "Traceback" not in said
        project.run(*mend.split(), *TOY, *target(server, tmp_path / "calls.sqlite"))
        assert stages_that_ran(project.run("dvc", "repro", "baseline")) == ["baseline"]
    assert server.asked.total() <= 10 + 4


def test_a_run_that_its_budget_ends_goes_on_when_the_limit_is_raised_and_pays_for_nothing_twice(
    started: Project, tmp_path: Path
) -> None:
    """Training takes 28 calls and fits; with the test of the initial skill, which stays the best, it is 38."""
    with PaidServer() as server:
        settings = [
            *target(server, tmp_path / "calls.sqlite"),
            "num_epochs=1",
            "gate.rule.min_delta=0.99",
            "stop_early=false",
        ]
        project = clone(started, tmp_path / "work", *settings, "budget.target.max_calls=14")
        for limit, used, raised in ((14, 14, 28), (28, 38, 38)):
            said = must_fail(project, "dvc", "repro")
            assert f"error: budget.target.max_calls is {limit}: the target has used {used} calls, " in said
            assert len(server.seen) == used
            project.run("python", "stages/compose.py", *TOY, *settings, f"budget.target.max_calls={raised}")
        assert project.repro() == ["plan", "test_best", "report"]
    assert len(server.seen) == 38
    assert set(requests(server.seen).values()) == {1}
    assert read_record(project.root / "results" / "summary.json", Summary).target_calls == 38
