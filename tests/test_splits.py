"""splits.py: train, val and test kept apart, and train cut into batches."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import task, tasks
from skillpipe.errors import SkillpipeError
from skillpipe.splits import batches, check_splits


@st.composite
def deals(draw):
    """(train, batch size, seed) that is allowed."""
    count = draw(st.integers(1, 25))
    return tasks(count), draw(st.integers(1, count)), draw(st.integers(0, 99))


def first(count: int, deal) -> list[list]:
    return list(islice(batches(*deal), count))


def splits(**changes):
    return {"train": tasks(3, "a"), "val": tasks(2, "b"), "test": tasks(1, "c")} | changes


@given(deals())
def test_every_batch_has_its_size_and_no_task_twice(deal):
    for batch in first(12, deal):
        assert len(batch) == deal[1]
        assert len({row.id for row in batch}) == deal[1]


@given(deals())
def test_every_task_is_seen_once_before_any_comes_again(deal):
    train, size, _ = deal
    passes = 4
    dealt = [row.id for batch in first(passes * len(train) // size + 1, deal) for row in batch]
    everything = sorted(row.id for row in train)
    for begin in range(0, (passes - 1) * len(train), len(train)):
        assert sorted(dealt[begin : begin + len(train)]) == everything


@given(deals())
def test_the_same_seed_deals_the_same_batches(deal):
    assert first(6, deal) == first(6, deal)


@given(deals(), st.integers(1, 6))
def test_more_steps_change_no_earlier_batch(deal, count):
    assert first(count + 3, deal)[:count] == first(count, deal)


def test_another_seed_deals_other_batches():
    assert first(2, (tasks(20), 10, 1)) != first(2, (tasks(20), 10, 2))


def test_a_second_pass_is_shuffled_anew():
    one, two = first(2, (tasks(20), 20, 1))
    assert one != two


def test_the_train_list_itself_stays_in_order():
    train = tasks(9)
    first(5, (train, 4, 1))
    assert train == tasks(9)


def test_good_splits_pass():
    check_splits(splits(), 3)


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_an_empty_split_is_refused_by_name(split):
    with pytest.raises(SkillpipeError, match=f"^{split}: no tasks found"):
        check_splits(splits(**{split: []}), 1)


def test_an_id_in_two_splits_is_refused_with_both_places():
    twin = [task("a1", text="Another question?")]
    with pytest.raises(SkillpipeError, match="val task 'a1': the same id stands in train task 'a1'"):
        check_splits(splits(val=twin), 1)


def test_a_text_in_two_splits_is_refused_with_both_places():
    twin = [task("c9", text="Question a2?")]
    with pytest.raises(SkillpipeError, match="test task 'c9': the same input stands in train task 'a2'"):
        check_splits(splits(test=twin), 1)


def test_blanks_around_a_text_do_not_hide_that_it_stands_twice():
    with pytest.raises(SkillpipeError, match="the same input stands in train task 'a2'"):
        check_splits(splits(test=[task("c9", text="  Question a2?\n")]), 1)


def test_an_id_twice_in_one_split_is_refused():
    with pytest.raises(SkillpipeError, match="val task 'b0': the same id stands in val task 'b0'"):
        check_splits(splits(val=[task("b0"), task("b0", text="Other?")]), 1)


@pytest.mark.parametrize("size", [-1, 0, 4])
def test_a_batch_size_that_train_cannot_fill_is_refused_with_the_numbers(size):
    with pytest.raises(SkillpipeError, match=f"batch_size is {size} and train has 3 tasks; allowed is 1 to 3"):
        check_splits(splits(), size)


@pytest.mark.parametrize("size", [1, 3])
def test_a_batch_may_hold_one_task_or_all_of_train(size):
    check_splits(splits(), size)
