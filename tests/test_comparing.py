"""comparing.py: what two skills did on the same tasks."""

import pytest

from samples import attempt, broken, tasks
from skillpipe.comparing import pair_up, sample
from skillpipe.errors import SkillpipeError
from skillpipe.scoring import Metric

HARD = Metric("hard", 0.5)
BEFORE = [attempt(f"t{number}", score) for number, score in enumerate((0, 1, 0, 1, 0.5, 0))]
AFTER = [attempt(f"t{number}", score) for number, score in enumerate((1, 0, 0, 1, 0.5, 0.5))]


def pairs(policy="mixed", before=BEFORE, after=AFTER):
    return [(pair.after.task, pair.category) for pair in pair_up(before, after, HARD, policy)]


def test_pairs_are_sorted_by_what_became_of_the_task_in_task_order():
    assert pairs() == [
        ("t0", "improved"), ("t1", "regressed"), ("t2", "persistent_fail"), ("t3", "stable_success"),
        ("t4", "persistent_fail"), ("t5", "improved"),
    ]  # fmt: skip


def test_a_policy_leaves_the_other_pairs_out():
    assert {category for _, category in pairs("changed")} == {"improved", "regressed"}
    assert {category for _, category in pairs("unchanged")} == {"persistent_fail", "stable_success"}
    assert len(pairs("changed")) + len(pairs("unchanged")) == len(pairs("mixed"))


@pytest.mark.parametrize("place", [0, 1])
def test_a_task_without_a_score_on_either_side_is_no_pair(place):
    sides = [list(BEFORE), list(AFTER)]
    sides[place][2] = broken("t2")
    assert "t2" not in dict(pairs(before=sides[0], after=sides[1]))


def test_the_runs_metric_decides_what_improved():
    soft = Metric("soft", 0.5)
    old, new = attempt("t0", 0.25), attempt("t0", 0.5)
    assert [pair.category for pair in pair_up([old], [new], soft, "mixed")] == ["improved"]


def test_an_unknown_policy_is_refused_with_the_allowed_ones():
    with pytest.raises(SkillpipeError, match="pair_policy is 'all'; allowed are mixed, changed, unchanged"):
        pairs("all")


def test_a_sample_keeps_task_order_and_is_drawn_by_seed_and_epoch():
    drawn = sample(tasks(30), 10, 1, "e2")
    assert drawn == sorted(drawn, key=lambda task: int(task.id[1:]))
    assert len({task.id for task in drawn}) == 10
    assert drawn == sample(tasks(30), 10, 1, "e2") != sample(tasks(30), 10, 1, "e3") != sample(tasks(30), 10, 2, "e2")


def test_fewer_tasks_than_samples_are_all_taken():
    assert sample(tasks(3), 10, 1, "e2") == tasks(3)


def test_no_samples_are_refused():
    with pytest.raises(SkillpipeError, match=r"slow_update\.samples is 0; allowed is 1 or more"):
        sample(tasks(3), 0, 1, "e2")
