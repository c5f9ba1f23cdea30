"""phases: what a stage says of itself while it runs, and how it ended."""

import json
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from chains import ROOT
from samples import attempt, broken, failed, passed, task
from skillpipe.artifacts import read_record, write_record
from skillpipe.errors import SkillpipeError
from skillpipe.phases import Phase, PhaseWriter, in_one_line, phase_of, read_phases, watched
from skillpipe.publishing import read_chain
from skillpipe.records import PhaseRecord, PhaseScore, Usage

PHASE = Phase("validate-e1s1", "val", "runs/plan/val.jsonl", "runs/e1s1/val.jsonl")


class Clock:
    """A clock that is set by hand."""

    time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def writer(tmp_path: Path, clock: Clock) -> PhaseWriter:
    writer = PhaseWriter(PHASE, tmp_path, clock)
    writer.started([task("a", task_type="date"), task("b"), task("c")])
    return writer


def record(tmp_path: Path) -> PhaseRecord:
    return read_record(tmp_path / "validate-e1s1.json", PhaseRecord)


@pytest.mark.parametrize("link", read_chain(ROOT / "dvc.yaml", ROOT / "params.yaml"), ids=lambda link: link.phase)
def test_a_phase_is_called_as_its_stage_in_dvc_yaml(link):
    _, script, *words = link.command.split()
    given = dict(word.split("=", 1) for word in words)
    found = phase_of(PurePosixPath(script).stem, given["out"], given.get("tasks", ""))
    assert (found.name, found.out) == (link.phase, given["out"])
    assert (found.kind == "stage") == (script not in ("stages/rollout.py", "stages/validate.py"))


@pytest.mark.parametrize("out", ["/tmp/val.jsonl", "val.jsonl", "runs/val.jsonl", "out/start/val.jsonl"])
def test_what_is_written_elsewhere_is_no_phase_of_a_run(out):
    assert phase_of("rollout", out, "val.jsonl") is None


def test_a_phase_that_has_started_is_running_with_every_task_queued(writer, tmp_path):
    found = record(tmp_path)
    assert (found.schema, found.phase, found.kind, found.suite_name) == (
        "skillpipe.phase.v1", "validate-e1s1", "val", "runs/plan/val.jsonl",
    )  # fmt: skip
    assert (found.status, found.finished_at, found.error, found.score) == ("running", "", "", None)
    assert [(row.id, row.category, row.status) for row in found.tasks] == [
        ("a", "date", "queued"), ("b", "", "queued"), ("c", "", "queued"),
    ]  # fmt: skip


def test_tasks_are_written_as_they_begin_and_end_but_at_most_every_half_second(writer, tmp_path, clock):
    writer.began("a")
    assert record(tmp_path).counts.running == 0
    clock.time = 0.5
    writer.began("b")
    assert (record(tmp_path).counts.running, record(tmp_path).counts.queued) == (2, 1)
    clock.time = 0.9
    writer.saw(passed("b"))
    assert record(tmp_path).counts.completed == 0
    clock.time = 1.0
    writer.saw(failed("a"))
    assert record(tmp_path).counts.completed == 2


def test_a_slow_disk_is_written_to_less_often(tmp_path, clock, monkeypatch):
    def slow(path, found):
        clock.time += 1
        write_record(path, found)

    monkeypatch.setattr("skillpipe.phases.writing.write_record", slow)
    writer = PhaseWriter(PHASE, tmp_path, clock)
    writer.started([task("a")])
    clock.time += 19
    writer.began("a")
    assert record(tmp_path).counts.running == 0
    clock.time += 1
    writer.began("a")
    assert record(tmp_path).counts.running == 1


def test_a_record_that_cannot_be_written_ends_no_run(tmp_path, clock):
    (tmp_path / "full").write_text("no folder")
    writer = PhaseWriter(PHASE, tmp_path / "full", clock)
    writer.started([task("a")])
    writer.saw(passed("a"))
    writer.finished()


def test_the_end_is_written_at_once_with_score_counts_turns_and_usage(writer, tmp_path):
    rows = [passed("a"), attempt("b", 0.5), replace(broken("c"), reason="no answer")]
    for row in rows:
        writer.saw(row)
    writer.finished()
    found = record(tmp_path)
    assert (found.status, found.score, found.usage) == ("completed", PhaseScore(0.75, 0.75, 2, 1), Usage(3, 20, 2))
    assert found.finished_at >= found.started_at
    counts = found.counts
    assert (counts.total, counts.queued, counts.running, counts.completed) == (3, 0, 0, 3)
    assert (counts.passed, counts.failed, counts.infra_error, counts.error) == (1, 1, 1, 1)
    assert [(row.turns, row.reason) for row in found.tasks] == [(1, ""), (1, ""), (0, "no answer")]


def test_a_phase_that_failed_keeps_what_was_done_and_when_it_began(writer, tmp_path):
    began = record(tmp_path).started_at
    writer.saw(passed("a"))
    writer.began("b")
    writer.finished("the server said 529")
    found = record(tmp_path)
    assert (found.status, found.error, found.started_at) == ("failed", "the server said 529", began)
    assert [row.status for row in found.tasks] == ["passed", "queued", "queued"]


def test_repeats_of_a_task_are_attempts_of_their_own(tmp_path, clock):
    writer = PhaseWriter(PHASE, tmp_path, clock)
    writer.started([task("a")], repeats=2)
    writer.saw(passed("a"))
    writer.saw(replace(failed("a"), replicate=1))
    writer.finished()
    assert [(row.id, row.status) for row in record(tmp_path).tasks] == [("a", "passed"), ("a#1", "failed")]


def test_a_block_that_raises_is_a_phase_that_failed_with_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SkillpipeError), watched(PHASE):
        raise SkillpipeError("no such model")
    assert [(row.status, row.error) for row in read_phases()] == [("failed", "no such model")]
    with pytest.raises(KeyError), watched(PHASE):
        raise KeyError("a defect")
    assert read_phases()[0].error == "KeyError: 'a defect'"


def test_records_are_read_in_the_order_of_the_run_and_anything_else_is_passed_over(tmp_path):
    names = ["report", "validate-e1s1", "test_best", "rollout-e10s1", "baseline", "rollout-e2s1", "slow_update-e1",
             "rollout-e1s1", "gate-e1s1", "rollout-e1s2", "plan"]  # fmt: skip
    for name in names:
        PhaseWriter(replace(PHASE, name=name), tmp_path).finished()
    (tmp_path / "half.json").write_text('{"schema": "skillpipe.ph')
    (tmp_path / "other.json").write_text(json.dumps({"schema": "other.phase.v1", "phase": "x"}))
    assert [row.phase for row in read_phases(tmp_path)] == [
        "plan", "baseline", "rollout-e1s1", "validate-e1s1", "gate-e1s1", "rollout-e1s2", "slow_update-e1",
        "rollout-e2s1", "rollout-e10s1", "test_best", "report",
    ]  # fmt: skip


def test_where_no_stage_has_run_there_are_no_records(tmp_path):
    assert read_phases(tmp_path / "none") == []


def test_one_line_names_the_first_three_of_the_tasks_that_run_and_failed(tmp_path, clock):
    writer = PhaseWriter(PHASE, tmp_path, clock)
    writer.started([task(name) for name in "abcdefg"])
    writer.saw(passed("a"))
    writer.saw(failed("b"))
    for name in "cdefg":
        writer.began(name)
    clock.time = 1
    writer.began("c")
    told = "validate-e1s1: 2/7 completed, 5 running (c, d, e, +2 more), 1 failed (b)"
    assert in_one_line(record(tmp_path)) == told
