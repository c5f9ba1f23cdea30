"""envs/cutting.py: one list of tasks cut into train, val and test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpipe.envs.cutting import by_head, by_ratio, halves, head_size, shares
from skillpipe.errors import SkillpipeError

WEIGHTS = st.lists(st.integers(1, 9), min_size=3, max_size=3)


def test_a_ratio_is_train_val_test():
    parts = by_ratio(range(10), "2:1:7", 42, "data")
    assert {split: len(part) for split, part in parts.items()} == {"train": 2, "val": 1, "test": 7}


@given(st.integers(0, 300), WEIGHTS)
def test_shares_add_up_and_none_is_off_by_one_or_more(count, weights):
    sizes = shares(count, weights)
    assert sum(sizes) == count
    assert all(abs(size - count * weight / sum(weights)) < 1 for size, weight in zip(sizes, weights, strict=True))


@pytest.mark.parametrize(
    ("count", "weights", "sizes"),
    [
        (10, [2, 1, 7], [2, 1, 7]),
        (11, [2, 1, 7], [2, 1, 8]),  # remainders .2 .1 .7
        (5, [1, 1, 2], [1, 1, 3]),  # remainders .25 .25 .5
        (3, [1, 3, 2], [0, 2, 1]),  # remainders .5 .5 0: the larger weight
        (4, [1, 1, 1], [2, 1, 1]),  # all alike: the earlier part
    ],
)
def test_what_is_left_over_goes_to_the_largest_remainder_then_weight_then_the_earlier_part(count, weights, sizes):
    assert shares(count, weights) == sizes


@given(st.integers(20, 60), st.integers(0, 99))
def test_a_ratio_loses_nothing_and_the_same_seed_cuts_the_same(count, seed):
    parts = by_ratio(range(count), "2:1:7", seed, "data")
    assert sorted(item for part in parts.values() for item in part) == list(range(count))
    assert parts == by_ratio(range(count), "2:1:7", seed, "data")


def test_another_seed_cuts_otherwise():
    assert by_ratio(range(30), "1:1:1", 1, "data") != by_ratio(range(30), "1:1:1", 2, "data")


@pytest.mark.parametrize("ratio", ["2:1", "2:1:7:1", "0:1:7", "-1:1:1", "2:1:x", "1.5:1:1", "", "2 : 1 : 7"])
def test_what_is_no_ratio_is_refused_with_what_is(ratio):
    with pytest.raises(SkillpipeError, match="allowed is train:val:test in whole numbers from 1, in quotes: '2:1:7'"):
        by_ratio(range(30), ratio, 1, "data")


def test_a_part_that_would_be_empty_is_refused_with_the_numbers():
    with pytest.raises(
        SkillpipeError, match="data: 4 tasks cut 2:1:7 are train 1, val 0, test 3; no part may be empty"
    ):
        by_ratio(range(4), "2:1:7", 1, "data")


@pytest.mark.parametrize(("count", "train"), [(2, 1), (3, 2), (4, 2), (10, 7), (90, 63), (100, 70)])
def test_a_head_of_seventy_percent_is_the_whole_tasks_of_it(count, train):
    assert head_size(count, "70/30", "suite") == train


@pytest.mark.parametrize(("count", "train"), [(2, 1), (5, 4)])
def test_a_head_that_would_be_empty_is_all_but_one(count, train):
    assert head_size(count, "10/90", "suite") == train


@pytest.mark.parametrize("count", [0, 1])
def test_one_task_cannot_be_cut(count):
    with pytest.raises(SkillpipeError, match=f"suite: {count} tasks are too few to be cut 70/30"):
        head_size(count, "70/30", "suite")


@pytest.mark.parametrize("head", ["70", "70/20", "0/100", "70:30", "70/30/0", "x/y", ""])
def test_what_is_no_head_is_refused_with_what_is(head):
    with pytest.raises(SkillpipeError, match="two whole percentages that add up to 100, such as 70/30"):
        head_size(10, head, "suite")


def test_a_head_cuts_in_the_order_given_and_val_gets_the_odd_one():
    assert by_head("abcdefghij", "70/30", "suite") == {"train": list("abcdefg"), "val": ["h", "i"], "test": ["j"]}


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_to_hold_out_is_refused(count):
    with pytest.raises(SkillpipeError, match=f"suite: {count} tasks are held out, and val and test need one each"):
        halves(range(count), "suite")


def test_three_tasks_leave_too_few_to_hold_out():
    with pytest.raises(SkillpipeError, match="suite: 1 tasks are held out"):
        by_head("abc", "70/30", "suite")
