"""splits.py: train, val and test kept apart, and train cut into batches."""

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import task, tasks
from skillpipe.errors import SkillpipeError
from skillpipe.splits import batches, check_splits, in_turns


@st.composite
def deals(draw):
    """(train, batch size, seed) that is allowed."""
    count = draw(st.integers(1, 25))
    return tasks(count), draw(st.integers(1, count)), draw(st.integers(0, 99))


def first(count: int, deal) -> list[list]:
    return list(islice(batches(*deal, stratify=False), count))


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


def test_the_first_three_offenders_are_named_and_the_others_counted():
    with pytest.raises(SkillpipeError) as caught:
        check_splits(splits(val=tasks(3, "a")), 1)
    told = str(caught.value)
    assert told.startswith(
        "val task 'a0': the same id stands in train task 'a0'; "
        "val task 'a0': the same input stands in train task 'a0'; "
        "val task 'a1': the same id stands in train task 'a1'; 3 more such; ids and inputs must be unique"
    )


@pytest.mark.parametrize("size", [-1, 0, 4])
def test_a_batch_size_that_train_cannot_fill_is_refused_with_the_numbers(size):
    with pytest.raises(SkillpipeError, match=f"batch_size is {size} and train has 3 tasks; allowed is 1 to 3"):
        check_splits(splits(), size)


@pytest.mark.parametrize("size", [1, 3])
def test_a_batch_may_hold_one_task_or_all_of_train(size):
    check_splits(splits(), size)


@st.composite
def kinds(draw):
    """Train tasks of up to four types."""
    types = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=40))
    return [task(f"t{number}", task_type=kind) for number, kind in enumerate(types)]


@given(kinds(), st.integers(0, 9))
def test_stratified_batches_lose_nothing_and_hold_nothing_twice(train, seed):
    size = (len(train) + 1) // 2
    dealt = list(islice(batches(train, size, seed, stratify=True), 6))
    assert all(len({row.id for row in batch}) == size for batch in dealt)
    seen = [row.id for batch in dealt for row in batch][: len(train)]
    assert sorted(seen) == sorted(row.id for row in train)
    assert dealt == list(islice(batches(train, size, seed, stratify=True), 6))


@given(kinds())
def test_types_in_turns_are_never_a_whole_task_off_their_share(train):
    total = Counter(row.task_type for row in train)
    dealt: Counter[str] = Counter()
    for number, row in enumerate(in_turns(train), start=1):
        dealt[row.task_type] += 1
        assert all(abs(dealt[kind] - number * total[kind] / len(train)) < 1 for kind in total)


def test_a_stratified_batch_holds_each_type_as_often_as_train_does():
    train = [task(f"t{number}", task_type="rare" if number < 4 else "common") for number in range(16)]
    for batch in islice(batches(train, 4, 1, stratify=True), 8):
        assert Counter(row.task_type for row in batch) == {"rare": 1, "common": 3}
    plain = [Counter(row.task_type for row in batch) for batch in islice(batches(train, 4, 1, stratify=False), 8)]
    assert any(count != {"rare": 1, "common": 3} for count in plain)


def test_types_in_turns_keep_the_order_within_a_type():
    ordered = in_turns([task(f"t{number}", task_type=kind) for number, kind in enumerate("aaabbb")])
    assert [row.id for row in ordered if row.task_type == "a"] == ["t0", "t1", "t2"]
    assert [row.task_type for row in ordered] == ["a", "b"] * 3
