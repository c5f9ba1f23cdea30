"""start.py: the state that training starts from."""

import pytest

from samples import broken
from skillpipe.artifacts import write_rows
from skillpipe.errors import SkillpipeError
from skillpipe.records import Spent, Usage
from skillpipe.scoring import Metric
from skillpipe.state import read_state
from start import start
from workbench import skill, val

HARD = Metric("hard", 0.5)


def test_the_initial_skill_is_both_current_and_best():
    begun = start(skill(), val(1, 0), HARD)
    assert begun.current == begun.best
    assert begun.current.skill == skill()


def test_the_history_begins_with_the_baseline_and_its_score():
    (row,) = start(skill(), val(1, 0, 0, 1), HARD).history
    assert (row.step, row.decision.action, row.current, row.best) == ("start", "baseline", 0.5, 0.5)
    assert (row.decision.current, row.decision.candidate, row.decision.n) == (0.5, None, 4)
    assert (row.train_hard, row.edits_proposed, row.edits_applied) == (None, 0, 0)


def test_no_edit_has_entered_yet():
    assert start(skill(), val(1), HARD).lineage == ()


def test_what_the_baseline_used_is_counted():
    assert start(skill(), val(1, 0), HARD).history[0].spent == Spent(target=Usage(2, 20, 2))


def test_a_task_without_a_score_counts_in_coverage_and_not_in_the_mean():
    (row,) = start(skill(), [*val(1), broken("v1")], HARD).history
    assert (row.current, row.coverage, row.decision.n) == (1.0, 0.5, 1)


def test_a_baseline_without_any_score_is_refused_and_not_a_zero():
    with pytest.raises(SkillpipeError):
        start(skill(), [broken("v0")], HARD)


def test_val_is_kept_as_scores_without_text():
    assert [row.task for row in start(skill(), val(1, 0), HARD).current.val] == ["v0", "v1"]


def test_the_script_writes_a_state_that_can_be_read(bench):
    write_rows(bench.root / "val.jsonl", val(1, 0))
    bench.done("start", "skill=skills/toy", "val=val.jsonl", "out=runs/start/state")
    assert read_state(bench.root / "runs" / "start" / "state") == start(skill(), val(1, 0), HARD)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["skill=skills/toy", "val=gone.jsonl", "out=s"], "gone.jsonl: no such file"),
        (["skill=skills/gone", "val=val.jsonl", "out=s"], "skills/gone"),
        (["skill=skills/toy", "out=s"], "val"),
    ],
)
def test_what_is_missing_is_refused_in_one_line_and_nothing_is_written(bench, words, said):
    write_rows(bench.root / "val.jsonl", val(1, 0))
    assert said in bench.refused("start", *words)
