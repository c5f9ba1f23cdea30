"""optimizers/model/cutting.py: texts are cut to a budget, the longest first, from the middle."""

import re

from hypothesis import given
from hypothesis import strategies as st

from skillpipe.optimizers.model.cutting import fit
from skillpipe.skill import count_tokens

TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=80), max_size=6)
MARKER = re.compile(r"\n\[\.\.\. about (\d+) tokens cut here \.\.\.\]\n")


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def test_what_fits_is_not_touched():
    assert fit(["a" * 20, "b" * 20], 10) == (["a" * 20, "b" * 20], 0)
    assert fit([], 1) == ([], 0)


def test_the_longest_is_cut_in_its_middle_and_the_others_stay_whole():
    short, long = fit(["short", "A" * 500 + "B" * 500], 52)[0]
    assert short == "short"
    head, tail = MARKER.split(long)[::2]
    assert set(head) == {"A"}
    assert set(tail) == {"B"}
    assert len(head) + len(tail) == 52 * 4 - len("short")


def test_two_long_texts_are_cut_to_the_same_length():
    (one, two), cut = fit(["a" * 1000, "b" * 3000], 100)
    assert [len(MARKER.sub("", text)) for text in (one, two)] == [200, 200]
    assert cut == 200 + 700


def test_the_marker_says_how_much_was_cut():
    (text,), cut = fit(["a" * 4000], 100)
    assert cut == 900
    assert MARKER.search(text)[1] == "900"


def test_no_character_is_cut_in_two():
    (text,), _ = fit(["é€😀" * 100], 10)
    assert set(MARKER.sub("", text)) <= set("é€😀")


@given(TEXTS, st.integers(1, 60))
def test_in_all_they_take_the_budget_and_only_the_cut_ones_have_a_marker(texts, tokens):
    kept, cut = fit(texts, tokens)
    bare = [text if text == whole else MARKER.sub("", text, count=1) for text, whole in zip(kept, texts, strict=True)]
    assert sum(map(size, bare)) <= tokens * 4 or cut == 0
    assert (cut == 0) == (kept == texts) == (sum(map(size, texts)) <= tokens * 4)
    for part, whole in zip(bare, texts, strict=True):
        assert part == whole or any(
            whole.startswith(part[:at]) and whole.endswith(part[at:]) for at in range(len(part) + 1)
        )
    whole_tokens = sum(map(count_tokens, texts))
    assert cut <= whole_tokens
