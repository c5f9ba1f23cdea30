"""transition.py: from one state to the next."""

from dataclasses import replace

import pytest

from samples import append, broken, failed, passed
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Off, Strict
from skillpipe.records import ApplyReport, Edit, Memory, Observation, Rollout, Spent, Usage
from skillpipe.scoring import Metric
from skillpipe.state import Version, val_scores
from skillpipe.transition import Evaluated, Judgement, advance
from workbench import SKILL, outcome, skill, state, val

EDIT = append("- be brief", "t1", "t2")
CANDIDATE = skill(f"{SKILL}\n- be brief\n")
ENTERED = (outcome(EDIT),)
STRICT = Strict(0.0)
TRAIN = (failed("t1"), passed("t2"))


def report(*outcomes, step="e1s1") -> ApplyReport:
    return ApplyReport(step, 4, any(one.status == "applied" for one in outcomes), outcomes)


def judgement(rule=STRICT, patience=None, max_rejected=20) -> Judgement:
    return Judgement(rule, (), Metric("hard", 0.5), patience, max_rejected)


class Never:
    """A rule that must not be asked to judge."""

    def judge(self, pairs):
        raise AssertionError

    def can_pass(self, pairs, unknown):
        return True


def decide(begun, scored, candidate=CANDIDATE, outcomes=ENTERED, train=TRAIN, step="e1s1", **how):
    new = Evaluated(candidate, report(*outcomes, step=step), scored, train)
    return advance(begun, new, judgement(**how))


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
    after = decide(state(1, 0), [], skill(), [outcome(EDIT, "duplicate"), outcome(EDIT, "unmatched")], rule=Never())
    row = after.history[-1]
    assert (row.decision.action, row.decision.candidate, row.current) == ("skip_no_patches", None, 0.5)
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
    row = advance(state(1, 0), Evaluated(CANDIDATE, used, val(1, 1), TRAIN), judgement()).history[-1]
    assert row.spent == Spent(Usage(4, 40, 4), Usage(3, 300, 30, 0.5))


def test_the_step_counts_the_optimizers_failures():
    failing = replace(report(outcome(EDIT)), reply_failures=2, fallbacks=("no merge", "no rank"))
    row = advance(state(1, 0), Evaluated(CANDIDATE, failing, val(1, 1), TRAIN), judgement()).history[-1]
    assert (row.reply_failures, row.fallbacks) == (2, 2)


def test_edits_that_could_not_be_applied_stay_in_the_history_and_those_over_budget_do_not():
    refused = [outcome(Edit("delete"), "unmatched"), outcome(append("z"), "protected")]
    after = decide(state(1, 0), val(1, 1), outcomes=[refused[0], outcome(EDIT), outcome(append("y"), "over_budget"),
                                                     refused[1]])  # fmt: skip
    assert after.memory.steps[-1].refused == after.history[-1].refused == tuple(refused)


def test_train_scores_and_coverage_are_over_scored_tasks():
    row = decide(state(1, 0), [*val(1), broken("v1")], train=(passed("t1"), broken("t2"))).history[-1]
    assert (row.train_hard, row.coverage) == (1.0, 0.5)


def skipped(task: str) -> Rollout:
    return Rollout(task, "", "skipped", None, None, "not needed", "yes", (), Usage())


def test_a_candidate_that_was_seen_before_is_judged_by_the_scores_that_it_had_then():
    one = decide(state(1, 0, 0), val(0, 0, 1), rule=Strict(0.5))
    row = decide(one, [], step="e1s2").history[-1]
    assert (row.decision.action, row.same_as, row.spent.target.calls) == ("reject", "e1s1", 2)


def test_scores_that_were_cut_short_hold_only_against_the_same_current_skill():
    one = decide(state(1, 0), [*val(0), skipped("v1")])
    assert decide(one, [], step="e1s2").history[-1].same_as == "e1s1"
    other = decide(one, val(1, 1), skill("# Other\n"), step="e1s2", rule=Off())
    with pytest.raises(SkillpipeError, match="e1s3: the candidate has no val rollouts"):
        decide(other, [], step="e1s3")


def test_at_a_perfect_score_training_stops_and_says_why():
    after = decide(state(1, 0), val(1, 1))
    assert after.stop == after.history[-1].stop == "no candidate can pass the gate: the current skill's val score is 1"


def test_without_a_gate_training_goes_on_at_a_perfect_score():
    assert decide(state(1, 0), val(1, 1), rule=Off()).stop == ""


def test_after_a_stop_the_state_is_passed_on_and_the_step_says_stopped():
    one = decide(state(1, 0), val(1, 1))
    two = decide(one, [], CANDIDATE, (), (), step="e1s2")
    assert (two.current, two.best, two.stop) == (one.current, one.best, one.stop)
    assert (two.history[-1].decision.action, two.history[-1].decision.reason) == ("stopped", one.stop)


def test_patience_counts_steps_since_the_last_acceptance():
    at = state(1, 0, 0, 0)
    for number, stops in ((1, False), (2, True)):
        at = decide(at, val(0, 0, 0, 0), skill(f"# {number}\n"), step=f"e1s{number}", patience=2)
        assert bool(at.stop) == stops
    assert at.stop == "no candidate was accepted in 2 steps (patience 2)"


def test_an_acceptance_begins_the_count_of_patience_anew():
    at = decide(state(1, 0, 0, 0), val(0, 0, 0, 0), skill("# 1\n"), patience=2)
    at = decide(at, val(1, 1, 0, 0), skill("# 2\n"), step="e1s2", patience=2)
    at = decide(at, val(1, 0, 0, 0), skill("# 3\n"), step="e1s3", patience=2)
    assert at.stop == ""


def test_the_memory_of_a_step_holds_edits_scores_patterns_and_what_failed():
    found = (Observation("says too much", ("t1",)),)
    told = replace(report(outcome(EDIT), outcome(append("z"), "protected")), patterns=found)
    (row,) = advance(state(1, 0), Evaluated(CANDIDATE, told, val(1, 0), TRAIN), judgement()).memory.steps
    assert (row.step, row.action, row.before, row.after) == ("e1s1", "reject", 0.5, 0.5)
    assert (row.tasks, row.failed, row.patterns, row.edits) == (2, 1, found, (EDIT,))
    assert [one.edit.content for one in row.refused] == ["z"]


def test_the_memory_forgets_the_oldest_rejected_edits_first_and_no_accepted_one():
    at = decide(state(1, 0, 0), val(1, 1, 0), max_rejected=2)
    for number in (2, 3, 4):
        edits = [outcome(append(f"edit {number}"))]
        at = decide(at, val(0, 0, 0), skill(f"# {number}\n"), edits, step=f"e1s{number}", max_rejected=2)
    assert [[edit.content for edit in row.edits] for row in at.memory.steps] == [
        ["- be brief"], [], ["edit 3"], ["edit 4"],
    ]  # fmt: skip


def test_the_memory_begins_anew_with_each_epoch_and_keeps_its_notes():
    at = decide(state(1, 0, 0), val(0, 0, 0), skill("# 1\n"), step="e1s1")
    at = replace(at, memory=replace(at.memory, notes="Short answers."))
    at = decide(at, val(0, 0, 0), skill("# 2\n"), step="e2s1")
    assert ([row.step for row in at.memory.steps], at.memory.notes) == (["e2s1"], "Short answers.")


def test_nothing_of_val_is_in_the_memory():
    after = decide(state(1, 0), val(0, 1))
    assert {f"v{number}" for number in range(2)}.isdisjoint(str(after.memory).replace("'", " ").split())
    assert after.memory == replace(after.memory, notes="") == Memory(after.memory.steps)
