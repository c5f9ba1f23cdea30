"""validate.py: the candidate on val."""

import pytest

from skillpipe.artifacts import read_rows, write_rows
from skillpipe.records import Rollout, Task, Tried, ValScore
from skillpipe.skill import write_folder
from skillpipe.state import digest
from workbench import SKILL, skill

VAL = ("wordba", "wordbb", "wordbc")
WORDS = ("skill=candidate", "current=current", "tried=tried.jsonl", "tasks=val.jsonl", "out=runs/val.jsonl")
CANDIDATE = skill(f"{SKILL}\n- be brief\n")


@pytest.fixture
def bench(bench):
    """Val tasks of which the current skill passes all but the last, and a candidate."""
    write_rows(bench.root / "val.jsonl", [Task(word, f"Word: {word}\nCapitals:", word.upper()) for word in VAL])
    write_folder(bench.root / "current" / "skill", skill())
    scored = [ValScore(word, "", hard, hard) for word, hard in zip(VAL, (1.0, 1.0, 0.0), strict=True)]
    write_rows(bench.root / "current" / "val.jsonl", scored)
    write_rows(bench.root / "tried.jsonl", [Tried(digest(skill()), "start", "", True, tuple(scored))])
    write_folder(bench.root / "candidate", CANDIDATE)
    return bench


def ran(bench, *words) -> dict[str, str]:
    ended = bench.run_here("validate", *WORDS, *words)
    assert ended.code == 0, ended.err
    return {row.task: row.status for row in read_rows(bench.root / "runs" / "val.jsonl", Rollout)}


def test_tasks_that_cannot_change_the_decision_are_not_run(bench):
    assert ran(bench, "target.limit=-1") == {"wordba": "skipped", "wordbb": "skipped", "wordbc": "failed"}


def test_without_stopping_early_every_task_is_run(bench):
    assert set(ran(bench, "target.limit=-1", "rule=null").values()) == {"failed"}


def test_each_task_is_run_as_often_as_repeats_say(bench):
    ran(bench, "repeats=2", "rule=null")
    rows = read_rows(bench.root / "runs" / "val.jsonl", Rollout)
    assert [(row.task, row.replicate) for row in rows] == [(word, number) for word in VAL for number in (0, 1)]


def test_a_candidate_that_is_the_current_skill_is_not_run_and_needs_no_model(bench):
    write_folder(bench.root / "candidate", skill())
    assert ran(bench, "target._target_=toys.NoSuchModel") == {}


def test_a_candidate_that_was_tried_before_is_not_run_and_needs_no_model(bench):
    row = Tried(digest(CANDIDATE), "e1s1", digest(skill()), False, ())
    write_rows(bench.root / "tried.jsonl", [row])
    assert ran(bench, "target._target_=toys.NoSuchModel") == {}


def test_a_candidate_whose_scores_were_cut_short_against_another_skill_is_run(bench):
    row = Tried(digest(CANDIDATE), "e1s1", digest(skill("# Other\n")), False, ())
    write_rows(bench.root / "tried.jsonl", [row])
    assert len(ran(bench)) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tasks=gone.jsonl",), "gone.jsonl: no such file"),
        (("skill=gone",), "gone"),
        (("rule.min_delta=2",), "gate.rule.min_delta is 2; allowed is 0 up to 1"),
        (("scores.metric=best",), "metric"),
    ],
)
def test_what_cannot_be_validated_is_refused_in_one_line_and_nothing_is_written(bench, words, said):
    assert said in bench.refused("validate", *WORDS, *words)
