"""publishing: manifest, result and test scores, as pure functions of a run; the chain of its stages."""

from dataclasses import replace
from pathlib import Path

import pytest

from chains import ROOT
from published import PHASE, PUBLISHED
from samples import attempt, broken, passed
from skillpipe import artifacts
from skillpipe.errors import SkillpipeError
from skillpipe.page import render
from skillpipe.publishing import (
    RunFiles,
    Settings,
    StepFiles,
    artifacts_in,
    clear,
    done,
    manifest,
    read_chain,
    result,
    scores_on_test,
    view,
)
from skillpipe.records import (
    Decision,
    Estimate,
    PhaseCounts,
    PhaseRecord,
    PhaseScore,
    PhaseTask,
    PlanSummary,
    Spent,
    StepRecord,
    Usage,
    publish,
)
from workbench import SKILL, skill, state, val

SETTINGS = Settings("skills/toy", {"data": "data/toy"}, {"_target_": "x.Y"}, {"_target_": "x.Z"}, {"rule": {}})
RUN = RunFiles(SETTINGS, skill(), state(1, 0), val(1, 0), test_initial=val(1, 0, 0, 0))


def step(key: str, action: str, best: float) -> StepRecord:
    return StepRecord(key, Decision(action, "", 0.5, best, 2), best, best, 1.0, 0.5, 1, 1)


@pytest.mark.parametrize("sample", PUBLISHED, ids=lambda sample: type(sample).__name__)
def test_a_published_record_is_read_back_as_it_was_written(tmp_path, sample):
    artifacts.write_record(tmp_path / "one.json", sample)
    assert artifacts.read_record(tmp_path / "one.json", type(sample)) == sample


def test_each_test_task_has_the_scores_of_both_skills_in_task_order():
    initial, best = [attempt("b", 0.5), passed("a")], [passed("a"), passed("b")]
    assert scores_on_test(initial, best) == [
        publish.TestScore("b", "", 0.5, 0.5, 1.0, 1.0), publish.TestScore("a", "", 1.0, 1.0, 1.0, 1.0),
    ]  # fmt: skip


def test_a_test_score_is_the_mean_over_the_repeats_that_have_one_and_none_without():
    initial = [passed("a"), replace(attempt("a", 0.0), replicate=1), replace(broken("a"), replicate=2), broken("b")]
    assert [(row.task, row.initial_hard) for row in scores_on_test(initial, initial)] == [("a", 0.5), ("b", None)]


def test_when_the_initial_skill_is_best_its_scores_stand_for_both():
    assert scores_on_test([passed("a")], []) == [publish.TestScore("a", "", 1.0, 1.0, 1.0, 1.0)]
    assert manifest(RUN, {}).scores.test_best == 0.25


def test_a_run_that_failed_before_its_last_test_has_no_best_test_score():
    failed = replace(RUN, status="failed", failed_phase="test_best", error="why")
    assert manifest(failed, {}).scores.test_best is None


def test_the_best_step_is_the_one_whose_candidate_was_the_last_new_best():
    better = replace(RUN.state.best, skill=skill(SKILL + "- be brief\n"))
    history = (*RUN.state.history, step("e1s1", "accept_new_best", 0.75), step("e1s2", "reject", 0.75))
    run = replace(RUN, state=replace(RUN.state, best=better, history=history))
    told = result(run)
    assert (told.best_step, told.accepted_count, told.rejected_count) == ("e1s1", 1, 1)
    assert (told.initial_score, told.best_score) == (0.5, 0.75)
    assert result(RUN).best_step == "start"


def test_the_current_skill_is_told_apart_from_the_best_one():
    last = replace(step("e1s2", "accept", 0.75), current=0.625)
    history = (*RUN.state.history, step("e1s1", "accept_new_best", 0.75), last, step("e1s3", "reject", 0.75))
    told = result(replace(RUN, state=replace(RUN.state, history=history[:3])))
    assert (told.current_step, told.current_score, told.best_score) == ("e1s2", 0.625, 0.75)
    assert result(replace(RUN, state=replace(RUN.state, history=history))).current_step == "e1s2"
    assert result(RUN).current_step == "start"


def test_what_was_spent_counts_the_history_the_open_step_and_the_tests_once_each():
    baseline = replace(RUN.state.history[0], spent=Spent(Usage(2, 20, 2), Usage(1, 5, 5)))
    known = replace(RUN.state, history=(baseline, step("e1s1", "reject", 0.5)))
    steps = tuple(StepFiles(key, rollouts=tuple(val(1, 0)), val=tuple(val(1))) for key in ("e1s1", "e1s2"))
    told = result(replace(RUN, state=known, steps=steps))
    assert (told.spent.target.calls, told.spent.optimizer.calls) == (2 + 4 + 3, 1)
    assert result(replace(RUN, state=None)).spent.target.calls == 2 + 4


def test_the_page_is_given_all_that_the_run_knows():
    judged = [replace(row, judge_usage=Usage(1, 8, 2, 0.5)) for row in val(1, 1)]
    plan = PlanSummary(4, 2, 2, 1, ("e1s1",), Estimate(9, 9, None, None, 0, 0), ("val is small",))
    settings = replace(SETTINGS, judge={"_target_": "x.Judge", "model": "a-judge"})
    open_step = StepFiles("e1s1", val=tuple(judged))
    run = replace(RUN, settings=settings, plan=plan, test_last=tuple(judged), steps=(open_step,))
    seen = view(run, "4f7efc3-dirty")
    assert (seen.plan, seen.test_last, seen.spent) == (plan, tuple(judged), result(run).spent)
    assert seen.spent.judge == Usage(4, 32, 8, 2.0)
    assert (seen.names.judge, seen.names.revision, seen.names.run) == ("a-judge", "4f7efc3-dirty", result(run).run_id)
    page = render(seen)
    for said in ("a-judge: 4 calls", "val is small", "4f7efc3-dirty", "1.000 on test"):
        assert said in page


def test_a_page_speaks_of_no_judge_where_there_is_none():
    nobody = replace(RUN, settings=replace(SETTINGS, judge={"source": "stages/skillpipe/judging"}))
    assert view(nobody).names.judge == view(RUN).names.judge == ""


def test_a_run_that_stopped_early_says_why():
    stopped = replace(step("e1s1", "reject", 0.5), stop="no step was accepted in 3")
    assert result(replace(RUN, state=replace(RUN.state, history=(*RUN.state.history, stopped)))).stop_reason == (
        "no step was accepted in 3"
    )


def test_scores_of_the_rounds_that_matter_most_and_totals_are_in_the_manifest():
    run = replace(RUN, steps=(StepFiles("e1s1", rollouts=tuple(val(1, 1, 0))),))
    told = manifest(run, {})
    assert told.score_summary.baseline == PhaseScore(0.5, 0.5, 2, 1)
    assert told.score_summary.latest_train.n_passed == 2
    assert told.score_summary.best == PhaseScore(0.5, 0.5, 2, 1)
    assert (told.totals.tasks, told.totals.passed, told.totals.failed) == (9, 4, 5)


def test_times_are_those_of_a_record_of_the_same_rollouts_alone():
    tasks = tuple(PhaseTask.of(row) for row in val(1, 0))
    times = "2026-12-01T12:00:00.000+00:00", "2026-12-01T12:01:00.000+00:00"
    record = PhaseRecord(
        "baseline", "val", "", "completed", *times, PhaseCounts.of(tasks), tasks, PhaseScore.of(tasks), "", ""
    )
    [found, _] = result(replace(RUN, phases=(record,))).phases
    assert (found.started_at, found.finished_at) == times
    [found, _] = result(replace(RUN, baseline=val(1, 1), phases=(record,))).phases
    assert (found.started_at, found.finished_at) == ("", "")


def test_a_round_under_way_is_part_of_an_unfinished_run():
    running = replace(PHASE, phase="test_best", status="running")
    told = result(replace(RUN, status="unfinished", phases=(running,)))
    assert [(row.phase, row.status) for row in told.phases][-1] == ("test_best", "running")


def test_another_setting_or_another_skill_is_another_run():
    other = [replace(RUN, settings=replace(SETTINGS, target={"_target_": "x.Z"})), replace(RUN, initial=skill("# B\n"))]
    assert len({result(run).run_id for run in (RUN, *other)}) == 3
    assert result(replace(RUN, state=None)).run_id == result(RUN).run_id


def test_the_manifest_lists_the_files_that_are_there(tmp_path):
    artifacts.write_text(tmp_path / "best" / "SKILL.md", SKILL)
    assert artifacts_in(tmp_path) == {"best_skill": (tmp_path / "best" / "SKILL.md").as_posix()}


def test_clearing_takes_away_what_a_run_publishes_and_nothing_else(tmp_path):
    for name in ("best/SKILL.md", "initial/a/b.md", "summary.json", "manifest.json", "notes.txt"):
        artifacts.write_text(tmp_path / name, "x")
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def write(root: Path, pipeline: str, params: str) -> tuple[Path, Path]:
    (root / "dvc.yaml").write_text(pipeline)
    (root / "params.yaml").write_text(params)
    return root / "dvc.yaml", root / "params.yaml"


def test_stages_come_in_an_order_in_which_they_can_run():
    chain = read_chain(ROOT / "dvc.yaml", ROOT / "params.yaml")
    seen: set[str] = set()
    for link in chain:
        assert link.needs <= seen, link.phase
        seen.add(link.phase)
    assert chain[-1].phase == "report"


def test_a_stage_counts_as_done_only_if_all_before_it_are(tmp_path):
    stages = "stages: {b: {cmd: x, deps: [runs/a/in], outs: [runs/b]}, a: {cmd: x, outs: [runs/a]}}"
    chain = read_chain(*write(tmp_path, stages, "seed: 1"))
    assert [link.phase for link in chain] == ["a", "b"]
    (tmp_path / "runs" / "b").mkdir(parents=True)
    assert done(chain, tmp_path) == ()
    (tmp_path / "runs" / "a").mkdir()
    assert done(chain, tmp_path) == chain


@pytest.mark.parametrize(
    ("pipeline", "params", "told"),
    [
        ("stages: {a: {cmd: x, deps: [runs/b], outs: [runs/a]}, b: {cmd: x, deps: [runs/a], outs: [runs/b]}}", "s: 1",
         "a, b wait for each other"),
        ("stages: {a: {cmd: x, outs: ['runs/${where}']}}", "s: 1", "no where, which dvc.yaml names"),
        ("- a", "s: 1", "dvc.yaml: not a map"),
        ("a: 1", "s: 1", "has no map of stages"),
        ("a: [", "s: 1", "dvc.yaml: not YAML"),
    ],
)  # fmt: skip
def test_a_pipeline_that_cannot_be_read_is_refused_by_name(tmp_path, pipeline, params, told):
    with pytest.raises(SkillpipeError, match=told):
        read_chain(*write(tmp_path, pipeline, params))
