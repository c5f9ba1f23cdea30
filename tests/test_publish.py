"""publish.py: a run that failed says where and why, in the files that one which ended has."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from chains import chain_of, run_chain, run_stage
from conftest import TOY
from skillpipe import config
from skillpipe.artifacts import read_record, read_rows
from skillpipe.publishing import Link
from skillpipe.records import LineageRow, RunManifest, RunResult, Summary
from workbench import SKILL, Bench


def published(root: Path) -> tuple[RunManifest, RunResult]:
    results = root / "results"
    return read_record(results / "manifest.json", RunManifest), read_record(results / "result.json", RunResult)


@pytest.fixture(scope="module")
def failures(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The files of a toy run that failed in each stage in turn, mended and gone on with each time; and of its end."""
    bench = Bench(Path(shutil.copytree(toy_folder, tmp_path_factory.mktemp("failing") / "bench")))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(bench.root)
        bench.write("params.yaml", config.compose([*TOY, "slow_update.enabled=true"]))
    found: dict[str, tuple[Link, RunManifest, RunResult, str]] = {}
    for link in chain_of(bench):
        failed = run_stage(bench, link, "+broken=1")
        assert failed.code == 1
        ended = bench.run_here("publish")
        assert ended.code == 0, ended.err
        found[link.phase] = (link, *published(bench.root), failed.err)
        ended = run_stage(bench, link)
        assert ended.code == 0, ended.err
    return found, bench


def test_whichever_stage_fails_the_manifest_and_the_result_say_where_and_why(failures):
    for phase, (_, manifest, result, _) in failures[0].items():
        for told in (manifest, result):
            assert (told.status, told.failed_phase) == ("failed", phase)
            assert told.error.startswith("unknown key broken; allowed are ")
            assert "\n" not in told.error
        assert result.stop_reason.startswith(f"{phase} failed: ")
        assert [row.error for row in manifest.phases if row.phase == phase] == [manifest.error]


def test_a_failed_run_has_every_step_up_to_the_failure_and_none_after_it(failures):
    for phase, (link, _, result, _) in failures[0].items():
        steps = {step.step: step.action for step in result.steps}
        if phase in ("plan", "baseline", "start", "rollout-e1s1"):
            assert steps == {}
        elif link.step == "e1s1":
            assert steps == {"e1s1": "undecided"}
        elif link.step == "e2s1":
            assert set(steps) == ({"e1s1"} if phase == "rollout-e2s1" else {"e1s1", "e2s1"})
            assert steps["e1s1"] != "undecided"
        else:
            assert list(steps) == ["e1s1", "e2s1"] if link.step == "e2" else ["e1s1", "e2s1", "e2"]
            assert "undecided" not in steps.values()
    assert "slow_update-e2" in failures[0]


def test_scores_are_none_before_there_are_any_and_the_baselines_from_then_on(failures):
    found = failures[0]
    assert found["baseline"][2].initial_score is None
    assert found["start"][2].initial_score == found["report"][2].initial_score == 0.4
    assert found["test_best"][1].scores.test_initial is not None
    assert found["test_best"][1].scores.test_best is None


def test_the_best_skill_so_far_its_diff_and_lineage_are_published(failures):
    found = failures[0]
    assert found["gate-e1s1"][2].best_skill == SKILL
    assert found["rollout-e2s1"][2].best_skill != SKILL
    assert found["rollout-e2s1"][2].best_step == "e1s1"
    assert {"best_skill", "initial_skill", "diff", "lineage", "result"} <= set(found["rollout-e2s1"][1].artifacts)


def test_only_files_that_are_there_are_listed(failures):
    _, bench = failures
    for _, manifest, result, _ in failures[0].values():
        assert all(path.startswith("results/") for path in manifest.artifacts.values())
        assert "summary" not in manifest.artifacts
        assert all((bench.root / path).exists() for step in result.steps for path in step.files.values())


def test_the_error_of_a_stage_ends_with_how_to_get_the_report_once_there_is_something_to_report(failures):
    for phase, (_, _, _, error) in failures[0].items():
        lines = error.strip().splitlines()
        assert lines[0].startswith("error: ")
        assert len(lines) == (1 if phase in ("plan", "baseline", "start") else 2)
        assert lines[-1].endswith("type `make report` (or `python stages/publish.py`)") == (len(lines) == 2)


def test_a_run_that_ended_is_published_by_the_report_stage_without_any_time(failures):
    _, bench = failures
    manifest, result = published(bench.root)
    assert (manifest.status, result.status) == ("completed", "completed")
    assert result.stop_reason.startswith("no candidate can pass the gate")
    assert {row.started_at + row.finished_at for row in (*manifest.phases, *result.phases)} == {""}
    assert manifest.phase_records == ()
    assert "summary" in manifest.artifacts
    summary = read_record(bench.root / "results" / "summary.json", Summary)
    assert manifest.scores.test_best == summary.test_best == 1.0
    assert result.spent.target.calls == summary.target_calls
    assert (result.initial_score, result.best_score) == (summary.val_initial, summary.val_best)


def test_of_a_run_that_ended_the_script_changes_nothing(failures):
    _, bench = failures
    before = bench.files()
    assert "completed after 2 steps" in bench.run_here("publish").out
    assert bench.files() == before


def test_the_run_has_the_same_id_however_it_ended(failures):
    found, bench = failures
    ids = {manifest.run_id for _, manifest, _, _ in found.values()} | {told.run_id for told in published(bench.root)}
    assert len(ids) == 1


def test_what_an_earlier_run_published_or_left_behind_is_no_part_of_a_failed_one(bench):
    chain = run_chain(bench)
    whole = published(bench.root)[1]
    failing = next(link for link in chain if link.phase == "apply-e1s1")
    run_stage(bench, failing, "+broken=1")
    bench.run_here("publish")
    manifest, result = published(bench.root)
    assert (bench.root / "runs" / "e2s1" / "state").is_dir()
    assert len(whole.steps) == 2
    assert [step.step for step in result.steps] == ["e1s1"]
    assert set(result.steps[0].files) == {"rollouts", "patches", "merged"}
    assert result.best_skill == SKILL
    assert not any("e2s1" in path or "validate-e1s1" in path for path in manifest.phase_records)
    assert manifest.scores.test_initial is not None  # it does not depend on the stage that failed
    assert not (bench.root / "results" / "summary.json").exists()
    assert read_rows(bench.root / "results" / "lineage.jsonl", LineageRow) == []


def test_a_run_that_was_ended_from_outside_is_unfinished_and_no_failure(bench):
    run_chain(bench, before="apply-e1s1")
    assert bench.run_here("publish").out.startswith("unfinished after 0 steps, val 0.400 -> 0.400")
    manifest, result = published(bench.root)
    assert (manifest.status, manifest.failed_phase, manifest.error) == ("unfinished", "", "")
    assert result.stop_reason == "the run goes on, or was ended from outside"


def test_a_failure_that_was_mended_is_forgotten(bench):
    chain = run_chain(bench, before="reflect-e1s1")
    failing = next(link for link in chain if link.phase == "reflect-e1s1")
    run_stage(bench, failing, "+broken=1")
    assert (bench.root / "runs" / "phases" / "reflect-e1s1.json").exists()
    run_stage(bench, failing)
    assert not (bench.root / "runs" / "phases" / "reflect-e1s1.json").exists()


def test_an_old_failure_later_in_the_run_is_not_taken_for_this_runs(bench):
    chain = {link.phase: link for link in run_chain(bench, before="gate-e1s1")}
    run_stage(bench, chain["gate-e1s1"], "+broken=1")
    shutil.rmtree(bench.root / "runs" / "e1s1" / "candidate")  # a new run has begun, and was killed in its apply
    bench.run_here("publish")
    assert published(bench.root)[0].status == "unfinished"


def test_outside_a_project_the_script_refuses_in_one_line(tmp_path):
    assert "params.yaml: no such file" in Bench(tmp_path).refused("publish")
