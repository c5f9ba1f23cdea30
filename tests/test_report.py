"""report.py: what a run came to, for git."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from report import OnTest, changes
from report import report as reported
from samples import append, broken
from skillpipe.artifacts import read_record, read_rows, write_record, write_rows
from skillpipe.publishing import StepFiles, names_in_repository
from skillpipe.records import Estimate, LineageRow, PlanSummary, Spent, Splice, Summary, Usage
from skillpipe.state import State, Version, val_scores, write_state
from workbench import SKILL, lineage, skill, state, val

BEST = f"{SKILL}\n- be brief\n"
WORDS = (
    "skill=skills/toy", "plan=plan.json", "state=state", "baseline=baseline.jsonl", "tests=tests", "last=false",
    "out=results",
)  # fmt: skip


PLANNED = PlanSummary(4, 2, 2, 1, ("e1s1", "e1s2", "e1s3"), Estimate(9, 9, None, None, 0, 0), ("val is small",))


def report(state: State, initial, best, last=None):
    return reported(state, OnTest(initial, best, last))


def last_state() -> State:
    """After a run of three steps: one accepted, one rejected, one without change."""
    baseline = replace(state(1, 0).history[0], spent=Spent(Usage(2, 20, 2), Usage(1, 100, 10, 0.25)))
    after = replace(baseline, current=1.0, best=1.0, train_hard=0.25, edits_proposed=3)

    def step(key, action, candidate, applied):
        decision = replace(baseline.decision, action=action, candidate=candidate)
        return replace(after, step=key, decision=decision, edits_applied=applied)

    steps = [
        step("e1s1", "accept_new_best", 1.0, 2),
        step("e1s2", "reject", 0.5, 1),
        step("e1s3", "skip_no_patches", None, 0),
    ]
    best = Version(skill(BEST), val_scores(val(1, 1)))
    brief = lineage("e1s1", append("- be brief"), "accept_new_best", Splice(7, 0, ("\n", "- be brief\n")))
    rows = [brief, lineage("e1s1", append("x"), "accept_new_best"),
            lineage("e1s2", append("y"), "reject")]  # fmt: skip
    return State(best, best, (baseline, *steps), tuple(rows))


def test_the_gain_is_that_on_test():
    summary, _ = report(last_state(), val(1, 0, 0, 0), val(1, 1, 1, 0))
    assert (summary.test_initial, summary.test_best, summary.test_gain) == (0.25, 0.75, 0.5)


def test_val_scores_are_those_of_the_baseline_and_of_the_best_skill_whatever_came_last():
    ended = last_state()
    ended = replace(ended, history=(*ended.history, replace(ended.history[-1], current=0.75)))
    summary, _ = report(ended, val(1), val(1))
    assert (summary.val_initial, summary.val_best) == (0.5, 1.0)


def test_steps_and_edits_are_counted_by_what_became_of_them():
    summary, _ = report(last_state(), val(1), val(1))
    steps = (summary.steps, summary.steps_accepted, summary.steps_rejected, summary.steps_no_change)
    assert steps == (3, 1, 1, 1)
    assert (summary.edits_proposed, summary.edits_applied, summary.edits_kept) == (9, 3, 2)


def test_usage_is_that_of_every_step_and_of_both_tests():
    summary, _ = report(last_state(), val(1, 0), val(1, 1))
    assert (summary.target_calls, summary.target_tokens) == (12, 132)
    assert (summary.optimizer_calls, summary.optimizer_tokens, summary.cost_usd) == (4, 440, 1.0)


def test_a_cost_with_an_unknown_price_in_it_is_unknown():
    unpriced = [replace(row, usage=replace(row.usage, cost_usd=None)) for row in val(1, 0)]
    assert report(last_state(), unpriced, val(1, 1))[0].cost_usd is None


def test_failed_replies_and_fallbacks_are_those_of_all_steps():
    ended = last_state()
    rows = (ended.history[0], *(replace(row, reply_failures=2, fallbacks=1) for row in ended.history[1:]))
    summary, _ = report(replace(ended, history=rows), val(1), val(1))
    assert (summary.reply_failures, summary.fallbacks) == (6, 3)


def test_what_a_slow_update_wrote_and_could_not_read_is_counted_and_is_no_step():
    ended = last_state()
    update = replace(ended.history[1], step="e2", edits_proposed=1, edits_applied=1, reply_failures=1, fallbacks=1)
    summary, _ = report(replace(ended, history=(*ended.history, update)), val(1), val(1))
    assert (summary.steps, summary.edits_proposed, summary.edits_applied) == (3, 10, 4)
    assert (summary.reply_failures, summary.fallbacks) == (1, 1)


def test_when_the_initial_skill_is_best_its_test_counts_for_both_and_is_paid_once():
    summary, _ = report(state(1, 0), val(1, 0), [])
    assert (summary.test_initial, summary.test_best, summary.test_gain) == (0.5, 0.5, 0)
    assert summary.target_calls == 2


def test_soft_scores_are_told_apart_from_hard_ones():
    initial, best = ([replace(row, soft=soft) for row in val(0, 0)] for soft in (0.25, 0.5))
    summary, _ = report(last_state(), initial, best)
    assert (summary.test_initial, summary.test_initial_soft, summary.test_best_soft) == (0, 0.25, 0.5)
    assert summary.test_best == 0


def test_the_last_skill_has_a_score_of_its_own_where_it_was_asked_for():
    assert report(last_state(), val(1, 0), val(1, 1))[0].test_last is None
    asked, _ = report(last_state(), val(1, 0), val(1, 1), val(0, 0))
    assert (asked.test_last, asked.target_calls) == (0.0, 14)


def test_the_score_of_a_last_skill_that_is_the_best_is_the_bests():
    assert report(last_state(), val(1, 0), val(1, 1), [])[0].test_last == 1.0
    assert report(state(1, 0), val(1, 0), [], [])[0].test_last == 0.5


def test_a_slow_update_is_a_row_of_the_curve_and_no_step():
    ended = last_state()
    ended = replace(ended, history=(*ended.history, replace(ended.history[-1], step="e1")))
    summary, curve = report(ended, val(1), val(1))
    assert (summary.steps, curve[-1].step) == (3, "e1")


def test_a_candidate_that_was_not_run_on_all_tasks_has_a_bound_in_the_curve_and_no_score():
    ended = last_state()
    cut = replace(ended.history[2], decision=replace(ended.history[2].decision, not_needed=1, at_most=0.5))
    summary, curve = report(replace(ended, history=(*ended.history[:2], cut, ended.history[3])), val(1), val(1))
    assert (curve[2].candidate, curve[2].at_most, summary.val_not_needed) == (None, 0.5, 1)


def test_steps_after_a_stop_are_counted_apart():
    ended = last_state()
    stopped = replace(ended.history[3], decision=replace(ended.history[3].decision, action="stopped"))
    summary, _ = report(replace(ended, history=(*ended.history[:3], stopped)), val(1), val(1))
    assert (summary.steps, summary.steps_no_change, summary.steps_stopped) == (3, 0, 1)


def test_training_calls_are_those_before_the_tests():
    summary, _ = report(last_state(), val(1, 0), val(1, 1))
    assert (summary.training_calls, summary.target_calls) == (8, 12)


def test_each_val_task_of_each_candidate_is_gained_lost_the_same_or_not_needed():
    ended = last_state()
    decision = replace(ended.history[1].decision, gained=("v1",), lost=("v2",))
    ended = replace(ended, history=(ended.history[0], replace(ended.history[1], decision=decision)))
    skipped = replace(broken("v3"), status="skipped")
    rows = changes(ended, [StepFiles("e1s1", val=(*val(1, 1, 0), skipped))])
    assert [(row.step, row.task, row.outcome) for row in rows] == [
        ("e1s1", "v0", "the same"), ("e1s1", "v1", "gained"), ("e1s1", "v2", "lost"), ("e1s1", "v3", "not needed"),
    ]  # fmt: skip


def test_coverage_is_the_lower_of_the_two_tests():
    assert report(last_state(), [*val(1), broken("v1")], val(1, 1))[0].test_coverage == 0.5
    assert report(last_state(), val(1, 1), [*val(1), broken("v1")])[0].test_coverage == 0.5


def test_the_curve_has_a_row_per_step_with_the_baseline_first():
    _, curve = report(last_state(), val(1), val(1))
    assert [(row.index, row.step, row.action) for row in curve] == [
        (0, "start", "baseline"), (1, "e1s1", "accept_new_best"), (2, "e1s2", "reject"), (3, "e1s3", "skip_no_patches"),
    ]  # fmt: skip
    assert [row.current for row in curve] == [0.5, 1.0, 1.0, 1.0]
    assert [row.candidate for row in curve] == [None, 1.0, 0.5, None]
    assert [row.train for row in curve] == [None, 0.25, 0.25, 0.25]


@pytest.fixture
def run(bench) -> Path:
    """A folder with the files of an ended run, and its report."""
    write_state(bench.root / "state", last_state())
    write_record(bench.root / "plan.json", PLANNED)
    write_rows(bench.root / "baseline.jsonl", val(1, 0))
    write_rows(bench.root / "tests" / "initial.jsonl", val(1, 0))
    write_rows(bench.root / "tests" / "best.jsonl", val(1, 1))
    bench.done("report", *WORDS)
    return bench.root


def test_the_script_publishes_best_skill_diff_summary_curve_and_lineage(run):
    names = [path.relative_to(run / "results").as_posix() for path in sorted((run / "results").rglob("*"))]
    assert names == [
        "best", "best/SKILL.md", "changes.csv", "curve.csv", "diff.patch", "initial", "initial/SKILL.md",
        "lineage.jsonl", "manifest.json", "report.html", "result.json", "summary.json", "test.jsonl",
    ]  # fmt: skip
    assert (run / "results" / "best" / "SKILL.md").read_text("utf-8") == BEST
    assert read_record(run / "results" / "summary.json", Summary).test_gain == 0.5
    assert read_rows(run / "results" / "lineage.jsonl", LineageRow) == list(last_state().lineage)
    assert len((run / "results" / "curve.csv").read_text("utf-8").splitlines()) == 5
    numbers = json.loads((run / "results" / "summary.json").read_text())
    assert {name for name, value in numbers.items() if type(value) not in (int, float)} == {"test_last"}
    subprocess.run(["git", "apply", "results/diff.patch"], cwd=run, check=True)
    assert (run / "skills" / "toy" / "SKILL.md").read_text("utf-8") == BEST


def test_a_missing_input_is_refused_in_one_line_and_nothing_is_written(bench):
    write_state(bench.root / "state", last_state())
    write_record(bench.root / "plan.json", PLANNED)
    write_rows(bench.root / "tests" / "initial.jsonl", val(1, 0))
    assert bench.refused("report", *WORDS).startswith("tests/best.jsonl: no such file")


def test_files_of_a_skills_folder_are_named_by_their_path_in_the_repository():
    names = names_in_repository("./skills/toy/", {"SKILL.md": b"", "references/a.md": b""})
    assert names == {"SKILL.md": "skills/toy/SKILL.md", "references/a.md": "skills/toy/references/a.md"}


def test_a_skill_of_one_file_is_named_by_that_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.md").write_text(SKILL)
    assert names_in_repository("mine.md", {"SKILL.md": b""}) == {"SKILL.md": "mine.md"}
