"""aggregate.py: the patches of a step become one ranked list."""

import pytest

from aggregate import aggregate
from samples import append, patch
from skillpipe.artifacts import read_record, write_rows
from skillpipe.optimizers.examples import Examples
from skillpipe.records import Memory, Merged
from skillpipe.state import write_state
from workbench import SKILL, state

WORDS = ("step=e1s2", "state=state", "patches=patches.jsonl", "prompts=prompts", "out=merged.json")


class Last:
    """An optimizer that keeps the last edit alone, and the skill as its reason."""

    async def merge(self, step, skill, patches, memory):
        return Merged(step, 9, skill, patches[-1].edits[-1:])


@pytest.fixture
def bench(bench):
    write_state(bench.root / "state", state(1))
    return bench


def test_the_merge_is_the_optimizers():
    merged = aggregate(Last(), "e1s1", SKILL, [patch(append("a"), append("b"))], Memory())
    assert merged == Merged("e1s1", 9, SKILL, (append("b"),))


def test_the_script_merges_ranks_and_adds_up_support(bench):
    write_rows(bench.root / "patches.jsonl", [patch(append("a", "t1"), append("b", "t2")), patch(append("b", "t3"))])
    bench.done("aggregate", *WORDS)
    merged = read_record(bench.root / "merged.json", Merged)
    assert (merged.step, merged.proposed) == ("e1s2", 3)
    assert merged.edits == (append("b", "t2", "t3", support=2), append("a", "t1"))


def test_no_patches_merge_to_an_empty_list(bench):
    bench.write("patches.jsonl", "")
    assert bench.run_here("aggregate", *WORDS).code == 0
    assert read_record(bench.root / "merged.json", Merged) == aggregate(Examples(), "e1s2", SKILL, [], Memory())


def test_a_patch_that_does_not_fit_is_refused_with_its_line_and_field(bench):
    write_rows(bench.root / "patches.jsonl", [patch(append("a"))])
    text = (bench.root / "patches.jsonl").read_text("utf-8")
    bench.write("patches.jsonl", text + text.replace('"support": 1', '"support": 0'))
    assert bench.refused("aggregate", *WORDS).startswith("patches.jsonl:2: edits.0.support: ")


def test_a_step_that_is_none_is_refused_and_nothing_is_written(bench):
    bench.write("patches.jsonl", "")
    assert bench.refused("aggregate", "step=first", *WORDS[1:]).startswith("merged.json: step: 'first'")


def test_a_misspelt_key_is_refused_by_name_and_nothing_is_written(bench):
    bench.write("patches.jsonl", "")
    before = bench.files()
    ended = bench.run("aggregate", *WORDS, "optimiser.size=2")
    assert ended.code == 1
    assert "optimiser" in ended.err
    assert "Traceback" not in ended.err
    assert bench.files() == before
