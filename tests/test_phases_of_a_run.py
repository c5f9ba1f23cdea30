"""phases: what the stages of a real run leave in runs/phases."""

import shutil
from pathlib import Path

import pytest

from chains import chain_of, run_chain, run_stage
from skillpipe.phases import read_phases
from skillpipe.records import PhaseScore
from workbench import Bench


@pytest.fixture(scope="module")
def ran(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A toy run up to its first gate."""
    bench = Bench(Path(shutil.copytree(toy_folder, tmp_path_factory.mktemp("ran") / "bench")))
    run_chain(bench, before="gate-e1s1")
    return bench


def test_every_round_of_rollouts_of_a_run_leaves_a_record_of_each_task(ran):
    found = {row.phase: row for row in read_phases(ran.root / "runs" / "phases")}
    assert list(found) == ["baseline", "rollout-e1s1", "validate-e1s1"]
    assert {row.status for row in found.values()} == {"completed"}
    assert [row.counts.completed for row in found.values()] == [10, 8, 10]
    assert found["baseline"].score == PhaseScore(0.4, 0.4, 10, 4)
    assert found["baseline"].usage.calls == 10


def test_a_target_that_cannot_be_run_leaves_a_failed_phase_with_the_tasks_that_it_had(ran, tmp_path):
    bench = Bench(Path(shutil.copytree(ran.root, tmp_path / "bench")))
    with (bench.root / "toys.py").open("a") as source:
        source.write(
            "\n\nclass Lost(Instant):\n    async def complete(self, request):\n        raise OSError('gone')\n"
        )
    rollout = next(link for link in chain_of(bench) if link.phase == "rollout-e1s1")
    assert bench.run("rollout", *rollout.command.split()[2:], "target._target_=toys.Lost").code == 1
    found = {row.phase: row for row in read_phases(bench.root / "runs" / "phases")}["rollout-e1s1"]
    assert found.status == "failed"
    assert "the first 4 tasks all failed to run: OSError: gone" in found.error
    assert found.counts.total == 8
    assert found.counts.infra_error >= 4


def test_a_command_that_only_shows_the_configuration_leaves_no_record(ran):
    before = ran.files()
    assert ran.run("gate", "state=x", "out=runs/e1s1/state", "--cfg", "job").code == 0
    assert ran.files() == before


def test_a_defect_of_a_stage_is_recorded_too_and_keeps_its_traceback(ran, tmp_path):
    bench = Bench(Path(shutil.copytree(ran.root, tmp_path / "bench")))
    with (bench.root / "toys.py").open("a") as source:
        source.write("\n\nclass Odd(Gate):\n    def judge(self, pairs):\n        return 1 / 0\n")
    gate = next(link for link in chain_of(bench) if link.phase == "gate-e1s1")
    ended = bench.run("gate", *gate.command.split()[2:], "rule._target_=toys.Odd")
    assert "Traceback" in ended.err
    found = {row.phase: row for row in read_phases(bench.root / "runs" / "phases")}["gate-e1s1"]
    assert (found.status, found.error) == ("failed", "ZeroDivisionError: division by zero")


def test_a_run_leaves_no_record_of_a_stage_without_tasks_that_went_well(ran):
    assert not (ran.root / "runs" / "phases" / "plan.json").exists()
    assert run_stage(ran, chain_of(ran)[0]).code == 0
    assert not (ran.root / "runs" / "phases" / "plan.json").exists()
