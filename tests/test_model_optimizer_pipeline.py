"""The real pipeline, under real DVC, with an optimizer that is a model: what it takes, does and is shown."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_server import Seen
from paid import PaidServer, clone, must_fail, optimizer, requests, run_files, titles, toy_project
from project import Project
from skillpipe.artifacts import read_record, read_rows
from skillpipe.records import ApplyReport, Merged, Patch, Rollout, StepRecord, Summary, Usage

KEY = "pl4nted-writers-key"
REFLECTED = ["reflect", "aggregate", "apply", "validate", "gate"]
Writer = tuple[Project, PaidServer, list[Seen]]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return toy_project(tmp_path_factory.mktemp("project") / "started")


def test_when_the_optimizers_key_is_refused_there_is_no_decision_either(
    started: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    with PaidServer(lambda: f"401 {KEY}") as server:
        settings = optimizer(server, tmp_path / "calls.sqlite")
        project = clone(started, tmp_path / "work", *settings, "optimizer.api.api_key_env=TOY_KEY")
        said = must_fail(project, "dvc", "repro")
    assert "reflect: the optimizer's model gave no usable reply for any of " in said
    assert "refused the key in TOY_KEY" in said
    assert KEY not in said
    assert not [name for name in run_files(project.root) if "patches" in name or "e1s1/state" in name]


@pytest.fixture(scope="module")
def writer(started: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writer]:
    """A finished run with an optimizer that is a model, its server, and how many requests that took."""
    root = tmp_path_factory.mktemp("writer")
    with PaidServer() as server:
        project = clone(started, root / "work", *optimizer(server, root / "calls.sqlite"))
        project.repro()
        yield project, server, list(server.seen)


def step(project: Project, key: str) -> Path:
    return project.root / "runs" / key


def test_a_run_with_a_model_as_optimizer_counts_what_it_took_everywhere(writer: Writer) -> None:
    project, _, seen = writer
    call, total = Usage(1, 10, 5, 0.02), Usage()
    for key in ("e1s1", "e2s1"):
        patches = read_rows(step(project, key) / "patches.jsonl", Patch)
        merged = read_record(step(project, key) / "merged.json", Merged)
        report = read_record(step(project, key) / "candidate" / "report.json", ApplyReport)
        assert [one.usage for one in patches] == [call] * len(patches)
        assert report.usage.calls >= merged.usage.calls >= len(patches) > 0
        assert (report.reply_failures, report.fallbacks) == (0, ())
        total += report.usage
        if key == "e1s1":  # many tasks fail: there is something to merge and to choose from
            assert report.usage.calls == merged.usage.calls + 1 == len(patches) + 2
    history = read_rows(step(project, "e2s1") / "state" / "history.jsonl", StepRecord)
    assert sum((row.spent.optimizer for row in history), Usage()) == total
    summary = read_record(project.root / "results" / "summary.json", Summary)
    assert summary.optimizer_calls == total.calls == len(seen)
    assert summary.optimizer_tokens == 15 * len(seen)
    assert summary.cost_usd == pytest.approx(0.02 * len(seen))
    assert (summary.reply_failures, summary.fallbacks) == (0, 0)


def test_its_edits_are_tried_in_the_order_that_it_chose_and_raise_the_held_out_score(writer: Writer) -> None:
    project, _, seen = writer
    merged = read_record(step(project, "e1s1") / "merged.json", Merged)
    report = read_record(step(project, "e1s1") / "candidate" / "report.json", ApplyReport)
    assert [one.edit for one in report.outcomes] == list(reversed(merged.edits))
    assert [one.status for one in report.outcomes[:4]] == ["applied"] * 3 + ["over_budget"]
    train = {row.task for row in read_rows(step(project, "e1s1") / "rollouts.jsonl", Rollout)}
    assert all(set(edit.tasks) <= train and edit.tasks for edit in merged.edits)
    assert read_record(project.root / "results" / "summary.json", Summary).test_gain > 0
    assert titles(seen)["Merge"] == titles(seen)["Choose"] == 1


def test_it_is_shown_no_word_of_val_and_test(writer: Writer) -> None:
    project, _, seen = writer
    rows = [json.loads(line) for split in ("val", "test")
            for line in (project.root / "data" / "toy" / f"{split}.jsonl").read_text("utf-8").splitlines()]  # fmt: skip
    assert len(rows) == 20
    assert not [row["id"] for row in rows for request in seen if row["id"] in request.text]


def test_another_prompt_reruns_reflect_and_what_follows_and_pays_nothing_twice(writer: Writer, tmp_path: Path) -> None:
    finished, server, seen = writer
    project = finished.twin(tmp_path / "twin")
    with (project.root / "prompts" / "reflect_failures.md").open("a") as prompt:
        prompt.write("\nBe polite.\n")
    before = len(server.seen)
    ran = project.repro()
    new = server.seen[before:]
    assert {f"{name}@{key}" for name in REFLECTED for key in ("e1s1", "e2s1")} <= set(ran)
    assert not {"plan", "baseline", "start", "rollout@e1s1", "test_initial"} & set(ran)
    assert titles(new)["Correct"] >= 2
    assert set(requests(new).values()) == {1}
    assert not set(requests(new)) & set(requests(seen))
    assert "Please. Word: " in (step(project, "e1s1") / "candidate" / "skill" / "SKILL.md").read_text("utf-8")
    assert project.repro() == []
