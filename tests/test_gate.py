"""gate.py: decide on the candidate and write the state that the next step starts from."""

from dataclasses import replace

import pytest

from gate import gate
from samples import append, broken, failed, passed
from skillpipe.artifacts import write_record, write_rows
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Strict
from skillpipe.records import ApplyReport, Edit, Spent, Usage
from skillpipe.skill import write_folder
from skillpipe.state import Version, read_state, val_scores, write_state
from workbench import SKILL, outcome, skill, state, val

EDIT = append("- be brief", "t1", "t2")
CANDIDATE = skill(f"{SKILL}\n- be brief\n")
ENTERED = (outcome(EDIT),)
STRICT = Strict(0.0)
TRAIN = (failed("t1"), passed("t2"))
WORDS = ("state=state", "candidate=candidate", "val=val.jsonl", "rollouts=rollouts.jsonl", "out=after")


def report(*outcomes) -> ApplyReport:
    return ApplyReport("e1s1", 4, any(one.status == "applied" for one in outcomes), outcomes)


class Never:
    """A rule that must not be asked."""

    def decide(self, current, best, candidate):
        raise AssertionError


def decide(begun, scored, candidate=CANDIDATE, outcomes=ENTERED, rule=STRICT, train=TRAIN):
    return gate(begun, candidate, report(*outcomes), scored, train, rule)


def test_an_accepted_candidate_is_the_next_current_and_best_skill():
    after = decide(state(1, 0), val(1, 1))
    assert after.current == after.best == Version(CANDIDATE, val_scores(val(1, 1)))
    assert (after.history[-1].decision.action, after.history[-1].current) == ("accept_new_best", 1.0)


def test_a_rejected_candidate_leaves_current_and_best_as_they_were():
    begun = state(1, 0)
    after = decide(begun, val(0, 1))
    assert (after.current, after.best) == (begun.current, begun.best)
    assert after.history[-1].decision.action == "reject"


def test_a_candidate_better_than_current_alone_is_current_and_not_best():
    begun = state(0, 0)
    begun = replace(begun, best=Version(skill("# Best\n"), val_scores(val(1, 1))))
    after = decide(begun, val(1, 0))
    assert (after.current.skill, after.best) == (CANDIDATE, begun.best)
    assert (after.history[-1].current, after.history[-1].best) == (0.5, 1.0)


def test_a_candidate_that_equals_the_current_skill_is_not_judged():
    after = decide(state(1, 0), [], skill(), [outcome(EDIT, "duplicate"), outcome(EDIT, "unmatched")], Never())
    row = after.history[-1]
    assert (row.decision.action, row.decision.candidate, row.current) == ("no_change", None, 0.5)
    assert row.decision.reason == "no edit took effect: 1 duplicate, 1 unmatched"
    assert after.lineage == ()


def test_a_step_without_proposals_says_so():
    assert decide(state(1), [], skill(), []).history[-1].decision.reason == "no edit was proposed"


def test_a_candidate_without_val_rollouts_is_refused():
    with pytest.raises(SkillpipeError, match="e1s1: the candidate has no val rollouts"):
        decide(state(1), [])


def test_history_and_lineage_grow_at_the_end():
    one = decide(state(1, 0), val(1, 1))
    two = decide(one, val(0, 0), skill("# Other\n"))
    assert two.history[:2] == one.history
    assert two.lineage[:1] == one.lineage
    assert (len(two.history), len(two.lineage)) == (3, 2)


@pytest.mark.parametrize(("scored", "action"), [(val(1, 1), "accept_new_best"), (val(0, 0), "reject")])
def test_each_edit_of_the_candidate_has_a_row_of_lineage_with_its_tasks_and_the_decision(scored, action):
    (row,) = decide(state(1, 0), scored).lineage
    assert (row.step, row.rank, row.edit, row.lines, row.action) == ("e1s1", 1, EDIT, (5, 5), action)
    assert (row.score_before, row.score_after) == (0.5, scored[0].hard)


def test_edits_without_effect_have_no_row_and_ranks_count_those_that_have():
    edits = [
        outcome(Edit("delete"), "unmatched"),
        outcome(EDIT),
        outcome(append("y"), "over_budget"),
        outcome(append("x")),
    ]
    after = decide(state(1, 0), val(1, 1), outcomes=edits)
    assert [(row.rank, row.edit.content) for row in after.lineage] == [(1, "- be brief"), (2, "x")]
    assert (after.history[-1].edits_proposed, after.history[-1].edits_applied) == (4, 2)


def test_the_step_counts_what_train_and_val_used_and_what_the_optimizer_did():
    used = replace(report(outcome(EDIT)), usage=Usage(3, 300, 30, 0.5))
    row = gate(state(1, 0), CANDIDATE, used, val(1, 1), TRAIN, STRICT).history[-1]
    assert row.spent == Spent(Usage(4, 40, 4), Usage(3, 300, 30, 0.5))


def test_the_step_counts_the_optimizers_failures():
    failing = replace(report(outcome(EDIT)), reply_failures=2, fallbacks=("no merge", "no rank"))
    row = gate(state(1, 0), CANDIDATE, failing, val(1, 1), TRAIN, STRICT).history[-1]
    assert (row.reply_failures, row.fallbacks) == (2, 2)


def test_edits_that_could_not_be_applied_stay_in_the_history_and_those_over_budget_do_not():
    refused = [outcome(Edit("delete"), "unmatched"), outcome(append("z"), "protected")]
    after = decide(state(1, 0), val(1, 1), outcomes=[refused[0], outcome(EDIT), outcome(append("y"), "over_budget"),
                                                     refused[1]])  # fmt: skip
    assert after.refused == after.history[-1].refused == tuple(refused)


def test_train_scores_and_coverage_are_over_scored_tasks():
    row = decide(state(1, 0), [*val(1), broken("v1")], train=(passed("t1"), broken("t2"))).history[-1]
    assert (row.train_hard, row.coverage) == (1.0, 0.5)


@pytest.fixture
def step(bench):
    """Files of a step whose candidate fixes one of two val tasks."""
    write_state(bench.root / "state", state(1, 0))
    write_folder(bench.root / "candidate" / "skill", CANDIDATE)
    write_record(bench.root / "candidate" / "report.json", report(outcome(EDIT)))
    write_rows(bench.root / "val.jsonl", val(1, 1))
    write_rows(bench.root / "rollouts.jsonl", [failed("t1"), passed("t2")])
    return bench


def test_the_script_writes_the_state_after_the_step(step):
    step.done("gate", *WORDS)
    assert read_state(step.root / "after") == decide(state(1, 0), val(1, 1))


def test_a_setting_of_the_gate_on_the_command_line_decides(step):
    assert step.run_here("gate", *WORDS, "rule.min_delta=0.5").code == 0
    assert read_state(step.root / "after").history[-1].decision.action == "reject"


@pytest.mark.parametrize("name", ["candidate/report.json", "val.jsonl", "rollouts.jsonl", "state/history.jsonl"])
def test_a_missing_input_is_refused_in_one_line_and_nothing_is_written(step, name):
    (step.root / name).unlink()
    assert step.refused("gate", *WORDS).startswith(f"{name}: no such file")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rule.min_delta=-1", "gate.rule.min_delta is -1; allowed is 0 up to 1"),
        ("val=rollouts.jsonl", "not of the same tasks"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line_and_nothing_is_written(step, word, said):
    assert said in step.refused("gate", *WORDS, word)
