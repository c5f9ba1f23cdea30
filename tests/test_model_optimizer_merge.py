"""optimizers/model: merging patches."""

import asyncio
from dataclasses import replace

import pytest

from samples import append
from scripted import CALL, NO_MEMORY, PROMPTS, SKILL, Crowded, Scripted, optimizer, part, proposals
from skillpipe.artifacts import read_record, write_record
from skillpipe.errors import SkillpipeError
from skillpipe.merging import merge_by_support
from skillpipe.models import ModelError
from skillpipe.records import Edit, Merged, Patch, Usage

DOWN = ModelError("overloaded", permanent=False)


def merge(model, *patches, **settings) -> Merged:
    return asyncio.run(optimizer(model, **settings).merge("e1s1", SKILL, patches, NO_MEMORY))


def patch(*contents: str, source="failure", task="t1", usage=CALL) -> Patch:
    edits = tuple(replace(append(content, task), source=source) for content in contents)
    return Patch(source, (task,), f"on {task}", edits, usage=usage)


def joined(*edits: tuple[str, list[int]], reasoning="merged") -> dict:
    return {
        "reasoning": reasoning,
        "edits": [{"op": "append", "content": content, "from": numbers} for content, numbers in edits],
    }


def keep_all(request) -> dict:
    """A merge that puts all proposals in one edit."""
    found = proposals(request.messages[1].content)
    return joined(("+".join(found), list(range(len(found)))))


def test_no_call_is_made_for_a_single_patch():
    one = patch("a", "b", "a")
    merged = merge(Scripted(), one, Patch("success", ("t2",), "", (), usage=CALL))
    assert [(edit.content, edit.support) for edit in merged.edits] == [("a", 2), ("b", 1)]
    assert (merged.proposed, merged.usage) == (3, CALL + CALL)


def test_a_single_patch_needs_no_prompt():
    assert len(merge(Scripted(), patch("a"), prompts="nowhere").edits) == 1


def test_no_call_is_made_for_nothing():
    assert merge(Scripted()) == merge_by_support("e1s1", [])


def test_no_call_is_made_when_all_say_the_same():
    merged = merge(Scripted(), patch("a", task="t1"), patch("a", task="t2"), patch("a", task="t3", source="success"))
    assert merged.edits == (append("a", "t1", "t2", "t3", support=3),)
    assert merged.usage == CALL + CALL + CALL


def test_two_patches_of_a_kind_take_one_call():
    model = Scripted(joined(("ab", [0, 1])))
    merged = merge(model, patch("a", task="t1"), patch("b", task="t2"))
    assert merged == Merged("e1s1", 2, "merged", (append("ab", "t1", "t2", support=2),), usage=CALL + CALL + CALL)


def test_the_request_shows_the_skill_and_the_numbered_proposals_with_what_speaks_for_them():
    model = Scripted(joined(("x", [0])))
    delete = Edit("delete", target="- old\n- older", section="## A", file="references/a.md", source="success")
    merge(model, patch("é"), Patch("success", (), "it is old", (delete,)))
    (prompt,) = model.prompts
    assert part(prompt, "skill") == SKILL
    assert part(prompt, "reasoning") == "on t1\nit is old"
    assert part(prompt, "proposals").split("\n") == [
        '0: {"op": "append", "content": "é"} (support 1, 1 tasks, from failure)',
        '1: {"op": "delete", "section": "## A", "target": "- old\\n- older", "file": "references/a.md"}'
        " (support 1, 0 tasks, from success)",
    ]
    assert set(model.requests[0].schema["properties"]) == {"reasoning", "edits"}


@pytest.mark.parametrize(
    ("failures", "successes", "batch", "calls"),
    [(1, 1, 2, 1), (2, 0, 2, 1), (3, 0, 2, 2), (4, 0, 2, 3), (5, 0, 2, 4), (4, 0, 4, 1), (9, 0, 3, 4), (10, 0, 3, 5),
     (3, 2, 4, 3), (1, 3, 2, 3), (0, 3, 8, 1), (8, 8, 8, 3)],
)  # fmt: skip
def test_the_tree_takes_this_many_calls(failures, successes, batch, calls):
    model = Scripted(by=keep_all)
    rows = [patch(f"f{number}") for number in range(failures)]
    rows += [patch(f"s{number}", source="success") for number in range(successes)]
    merged = merge(model, *rows, merge_batch_size=batch)
    assert len(model.requests) == calls
    assert [edit.support for edit in merged.edits] == [failures + successes]
    assert merged.usage.calls == failures + successes + calls


def test_batches_are_merged_level_by_level_each_kind_apart_and_failures_first():
    model = Scripted(by=keep_all)
    rows = [patch(f"s{number}", source="success") for number in range(2)] + [patch(f"f{number}") for number in range(5)]
    merged = merge(model, *rows)
    assert sorted(map(proposals, model.prompts), key=lambda shown: (len("".join(shown)), shown)) == [
        ["f0", "f1"],
        ["f2", "f3"],
        ["s0", "s1"],
        ["f0+f1", "f2+f3"],
        ["f0+f1+f2+f3", "f4"],
        ["f0+f1+f2+f3+f4", "s0+s1"],
    ]
    assert proposals(model.prompts[-1]) == ["f0+f1+f2+f3+f4", "s0+s1"]
    assert (merged.edits[0].content, merged.edits[0].source) == ("f0+f1+f2+f3+f4+s0+s1", "failure")


def test_merges_of_one_level_are_asked_at_once_and_their_order_is_that_of_the_patches():
    model = Crowded(2, keep_all)
    merged = merge(model, *[patch(f"f{number}") for number in range(4)])
    assert [proposals(prompt) for prompt in model.prompts] == [["f2", "f3"], ["f0", "f1"], ["f0+f1", "f2+f3"]]
    assert [edit.content for edit in merged.edits] == ["f0+f1+f2+f3"]


def test_support_and_tasks_are_those_of_the_proposals_whatever_else_the_model_says():
    rows = [patch("a", task="t1"), patch("b", task="t2", source="success"), patch("c", task="t3", source="success")]
    rows[0] = replace(rows[0], edits=(replace(rows[0].edits[0], support=4, tasks=("t1", "t9")),))
    model = Scripted(joined(("bc", [1, 0])), joined(("a", [0]), ("bc", [1])))
    merged = merge(model, *rows)
    assert [(edit.content, edit.support, edit.tasks, edit.source) for edit in merged.edits] == [
        ("a", 4, ("t1", "t9"), "failure"),
        ("bc", 2, ("t3", "t2"), "success"),
    ]


def test_a_proposal_that_was_split_counts_for_each_part():
    merged = merge(Scripted(joined(("x", [0, 1]), ("y", [1, 1, 1.0]))), patch("a"), patch("b"))
    assert [(edit.content, edit.support) for edit in merged.edits] == [("x", 2), ("y", 1)]


def test_an_edit_that_comes_from_no_proposal_is_left_out_and_counted():
    model = Scripted(joined(("x", [0, 7]), ("mine", []), ("theirs", [-1, 2, 10**30])))
    merged = merge(model, patch("a"), patch("b"))
    assert [(edit.content, edit.support) for edit in merged.edits] == [("x", 1)]
    assert (merged.dropped_edits, merged.fallback) == (2, "")


def test_edits_that_are_left_out_are_counted_at_every_level():
    def some(request):
        found = proposals(request.messages[1].content)
        return joined(("+".join(found), list(range(len(found)))), ("mine", []))

    assert merge(Scripted(by=some), patch("a"), patch("b"), patch("c"), patch("d")).dropped_edits == 3


def test_proposals_from_failures_are_shown_before_better_supported_ones_from_successes():
    model = Scripted(joined(("ab", [0, 1])))
    common = patch("b", source="success")
    merge(model, patch("a"), replace(common, edits=(replace(common.edits[0], support=5),)))
    assert proposals(model.prompts[0]) == ["a", "b"]


def test_what_the_model_says_twice_is_one_edit():
    merged = merge(Scripted(joined(("x", [0]), ("x ", [1]))), patch("a", task="t1"), patch("b", task="t2"))
    assert [(edit.support, edit.tasks) for edit in merged.edits] == [(2, ("t1", "t2"))]


def test_edits_come_most_supported_first():
    merged = merge(Scripted(joined(("one", [0]), ("two", [1, 2]))), patch("a"), patch("b", "c"))
    assert [edit.content for edit in merged.edits] == ["two", "one"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("sorry", "no JSON: no object in the reply"),
        (joined(), "no edit is left"),
        (joined(("x", [5])), "each must say in `from` which of the proposals 0 to 1 it comes from"),
        ({"edits": [{"op": "append", "content": "x"}]}, "schema: $.edits[0]: 'from' is a required property"),
    ],
)
def test_after_two_unusable_replies_proposals_are_merged_by_support_and_the_reason_is_told(said, why):
    model = Scripted(said, said)
    rows = [patch("a", task="t1"), patch("b", "a", task="t2")]
    merged = merge(model, *rows)
    plain = merge_by_support("e1s1", rows)
    assert merged.edits == plain.edits
    assert merged.reasoning == plain.reasoning
    assert why in merged.fallback
    assert why in model.prompts[1]
    assert merged.usage == plain.usage + CALL + CALL


def test_a_second_reply_that_can_be_used_is_no_fallback():
    merged = merge(Scripted("sorry", joined(("ab", [0, 1]))), patch("a"), patch("b"))
    assert ([edit.content for edit in merged.edits], merged.fallback) == (["ab"], "")
    assert merged.usage.calls == 4


def test_only_the_batch_that_failed_falls_back():
    def some(request):
        return DOWN if proposals(request.messages[1].content) == ["c", "d"] else keep_all(request)

    merged = merge(Scripted(by=some), patch("a"), patch("b"), patch("c"), patch("d"))
    assert [edit.content for edit in merged.edits] == ["a+b+c+d"]
    assert merged.fallback == "1 x overloaded"


def test_when_every_merge_fails_nothing_is_lost_and_every_reason_is_counted():
    merged = merge(Scripted(DOWN, DOWN, DOWN), patch("a"), patch("b"), patch("c"), patch("d"))
    assert [edit.content for edit in merged.edits] == ["a", "b", "c", "d"]
    assert merged.fallback == "3 x overloaded"
    assert merged.usage == sum([CALL] * 4 + [Usage(1)] * 3, Usage())


def test_failed_patches_are_counted_and_what_they_cost_too():
    bad = Patch("failure", ("t9",), "", (), failure="overloaded", usage=Usage(1, cost_usd=None))
    for rows in ([bad, patch("a"), patch("b")], [bad, patch("a")], [bad]):
        merged = merge(Scripted(by=keep_all), *rows)
        assert merged.failures == 1
        assert merged.usage.cost_usd is None


def test_a_merge_can_be_written_and_read(tmp_path):
    merged = merge(Scripted(DOWN), patch("a"), patch("b", source="success"))
    write_record(tmp_path / "merged.json", merged)
    assert read_record(tmp_path / "merged.json", Merged) == merged


@pytest.mark.parametrize("name", ["merge", "repair"])
def test_a_prompt_that_lost_a_placeholder_is_refused_before_anything_is_asked(tmp_path, name):
    for path in PROMPTS.glob("*.md"):
        text = path.read_text("utf-8")
        (tmp_path / path.name).write_text(text.replace("{{", "{") if path.stem == name else text, "utf-8")
    with pytest.raises(SkillpipeError, match=rf"{name}\.md: .* is missing"):
        merge(Scripted(), patch("a"), patch("b"), prompts=str(tmp_path))


def test_one_optimizer_serves_many_event_loops():
    model = Scripted(by=keep_all)
    one = optimizer(model, max_concurrency=1)
    rows = [patch(f"f{number}") for number in range(4)]
    assert asyncio.run(one.merge("e1s1", SKILL, rows, NO_MEMORY)) == asyncio.run(
        one.merge("e1s1", SKILL, rows, NO_MEMORY)
    )
