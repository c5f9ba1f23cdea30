"""optimizers/model: the update modes rewrite and full_rewrite."""

import asyncio
from dataclasses import replace

import pytest

from samples import append, failed, passed
from scripted import CALL, NO_MEMORY, Crowded, Scripted, by_title, optimizer, part, proposal, rule
from skillpipe.artifacts import read_record, write_record
from skillpipe.merging import merge_by_support
from skillpipe.models import ModelError
from skillpipe.optimizers import Rewrite
from skillpipe.records import Edit, Memory, Merged, Patch, Usage

REGION = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->\n"
GUIDED = f"---\nname: toy\ndescription: A toy.\n---\n# Toy\n\n- a\n\n{REGION}"
DOWN = ModelError("overloaded", permanent=False)


def run(model, **settings):
    return optimizer(model, **{"update_mode": "full_rewrite", **settings})


def reflect(model, *rollouts, **settings) -> list[Patch]:
    return asyncio.run(run(model, **settings).reflect(GUIDED, rollouts, NO_MEMORY))


def merge(model, *patches, **settings) -> Merged:
    return asyncio.run(run(model, **settings).merge("e1s1", GUIDED, patches, NO_MEMORY))


def rewrite(model, *edits) -> Rewrite:
    return asyncio.run(run(model, update_mode="rewrite").rewrite(GUIDED, edits, Memory((), "be bold")))


def whole(body: str, tasks=("t1",), source="failure") -> Patch:
    return Patch(source, tuple(tasks), f"why {body}", (), usage=CALL, body=body)


def bodies(prompt: str) -> list[str]:
    shown = part(prompt, "candidates").split("<text>\n")[1:]
    return [text.partition("\n</text>")[0] for text in shown]


def unite(request) -> dict:
    return {"reasoning": "united", "body": "+".join(bodies(request.messages[1].content))}


def shows_the_body_alone(prompt: str) -> bool:
    parts = part(prompt, "body"), part(prompt, "protected")
    return parts == ("# Toy\n\n- a", "guidance") and "name: toy" not in prompt


def test_each_minibatch_gives_a_whole_body_and_sees_the_present_one_without_frontmatter_and_regions():
    model = Scripted({"reasoning": "too short", "body": "# Toy\n\n- a\n- b\n"}, {"body": "# Toy\n\n- c"})
    one, two = reflect(model, failed("t1"), passed("t2"))
    assert all(map(shows_the_body_alone, model.prompts))
    assert one == Patch("failure", ("t1",), "too short", (), usage=CALL, body="# Toy\n\n- a\n- b")
    assert (two.source, two.body) == ("success", "# Toy\n\n- c")
    assert set(model.requests[0].schema["properties"]) == {"reasoning", "body", "patterns"}


@pytest.mark.parametrize("body", ["", None, " \n", "# Toy\n\n- a", "\n# Toy\n\n- a\n\n"])
def test_an_empty_body_and_the_present_one_propose_nothing(body):
    (one,) = reflect(Scripted({"reasoning": "fine", "body": body}), failed("t1"))
    assert (one.body, one.failure, one.reasoning) == ("", "", "fine")


@pytest.mark.parametrize("marker", ["<!-- SLOW_UPDATE_START -->", "<!-- APPENDIX_END -->"])
def test_a_body_with_a_marker_is_asked_for_again(marker):
    model = Scripted({"body": f"# Toy\n{marker}"}, {"body": "# Toy\n\n- b"})
    (one,) = reflect(model, failed("t1"))
    assert one.body == "# Toy\n\n- b"
    assert marker in model.prompts[1]


def test_edits_in_place_of_a_body_are_no_reply():
    (bad, _) = reflect(Scripted(by=by_title(rewrite=[proposal(rule())] * 2 + [{"body": ""}])), failed("a"), passed("b"),
                       max_concurrency=1)  # fmt: skip
    assert "'body' is a required property" in bad.failure


def test_in_other_modes_a_body_in_the_reply_plays_no_part():
    (one,) = reflect(Scripted(proposal(rule()) | {"body": "# New"}), failed("t1"), update_mode="rewrite")
    assert ([edit.content for edit in one.edits], one.body) == (["- be brief"], "")


def test_one_body_takes_no_call_and_no_prompt():
    one = whole("x")
    merged = merge(Scripted(), one, Patch("success", ("t2",), "", (), usage=CALL), prompts="nowhere")
    assert (merged.body, merged.reasoning, merged.usage) == ("x", "why x", CALL + CALL)
    assert merge(Scripted()) == merge_by_support("e1s1", [])


def test_the_same_body_twice_takes_no_call():
    assert merge(Scripted(), whole("x"), whole("x", ["t2"])).body == "x"


def test_bodies_are_merged_failures_first_and_shown_with_what_is_behind_them():
    model = Scripted(by=unite)
    merged = merge(model, whole("s", ["t3"], "success"), whole("f", ["t1", "t2"]))
    (prompt,) = model.prompts
    assert shows_the_body_alone(prompt)
    assert part(prompt, "candidates").startswith("<candidate>\nfrom: failure, 2 tasks\nwhy: why f\n<text>\nf\n</text>")
    assert (merged.body, merged.reasoning, merged.fallback, merged.edits) == ("f+s", "united", "", ())
    assert merged.usage == CALL + CALL + CALL


def test_bodies_are_merged_level_by_level_in_the_order_of_the_patches_whoever_answers_first():
    merged = merge(Crowded(2, unite), *(whole(letter, [letter]) for letter in "abcd"))
    assert merged.body == "a+b+c+d"
    model = Scripted(by=unite)
    assert merge(model, *(whole(letter) for letter in "abcde"), merge_batch_size=3).body == "a+b+c+d+e"
    assert len(model.requests) == 3


@pytest.mark.parametrize("said", ["sorry", {"body": ""}, {"body": "<!-- APPENDIX_START -->"}])
def test_after_two_unusable_replies_the_body_that_most_failed_tasks_are_behind_is_taken_and_that_is_told(said):
    rows = [whole("s", ["t1", "t2", "t3"], "success"), whole("f1", ["t4"]), whole("f2", ["t5", "t6"])]
    merged = merge(Scripted(said, said), *rows, merge_batch_size=8)
    assert merged.body == "f2"
    assert merged.fallback.startswith("1 x ")
    assert merged.usage.calls == 5


def test_only_the_batch_that_failed_falls_back():
    def some(request):
        return DOWN if bodies(request.messages[1].content) == ["a", "b"] else unite(request)

    merged = merge(Scripted(by=some), whole("a"), whole("b", ["t1", "t2"]), whole("c"), whole("d"))
    assert (merged.body, merged.fallback) == ("b+c+d", "1 x overloaded")


def test_failed_patches_are_counted_and_a_merge_can_be_written_and_read(tmp_path):
    bad = replace(whole(""), failure="overloaded")
    merged = merge(Scripted(by=unite), whole("a"), whole("b"), bad)
    assert merged.failures == 1
    write_record(tmp_path / "merged.json", merged)
    assert read_record(tmp_path / "merged.json", Merged) == merged


def test_a_rewrite_is_one_call_that_shows_the_suggestions_in_their_order():
    model = Scripted({"reasoning": "done", "body": "# Toy\n\n- b\n"})
    found = rewrite(model, append("- b", "t1"), Edit("delete", target="- a"))
    assert found == Rewrite("# Toy\n\n- b", "done", "", CALL)
    (prompt,) = model.prompts
    assert shows_the_body_alone(prompt)
    assert part(prompt, "suggestions").split("\n") == [
        '1: {"op": "append", "content": "- b"}',
        '2: {"op": "delete", "target": "- a"}',
    ]
    assert part(prompt, "memory") == "Notes from the epochs before:\nbe bold"


@pytest.mark.parametrize(("said", "why"), [("no", "no JSON"), ({"body": " "}, "`body` is empty"), ({}, "schema")])
def test_a_rewrite_that_cannot_be_used_is_a_failure_with_the_reason_and_what_it_took(said, why):
    found = rewrite(Scripted(said, said), append("- b"))
    assert (found.body, found.usage) == ("", CALL + CALL)
    assert why in found.failure


def test_a_rewrite_that_could_not_be_asked_for_is_a_failure():
    assert rewrite(Scripted(DOWN), append("- b")) == Rewrite("", "", "overloaded", Usage(1))


def test_without_suggestions_nothing_is_rewritten_and_nothing_asked():
    assert rewrite(Scripted()).failure == "there are no suggestions to carry out"
