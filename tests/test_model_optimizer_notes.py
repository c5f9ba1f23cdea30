"""optimizers/model: patterns of failure, execution notes, and making fewer of them."""

import asyncio

import pytest

from samples import append, failed, passed
from scripted import CALL, NO_MEMORY, NOTHING, SKILL, Scripted, optimizer, part, proposal, rule
from skillpipe.models import ModelError
from skillpipe.records import Observation, Patch, Usage


def reflect(model, *rollouts, **settings) -> list[Patch]:
    return asyncio.run(optimizer(model, **settings).reflect(SKILL, rollouts, NO_MEMORY))


def merge(*patches, said=()) -> tuple[tuple[Observation, ...], tuple[Observation, ...]]:
    merged = asyncio.run(optimizer(Scripted(*said)).merge("e1s1", SKILL, patches, NO_MEMORY))
    return merged.patterns, merged.notes


def seen(text: str, *tasks: str) -> dict:
    return {"text": text, "tasks": list(tasks)}


def test_patterns_are_kept_with_the_tasks_that_show_them():
    said = proposal(rule()) | {"patterns": [seen("no\n unit", "t2", "t1"), seen("prose", "t1")]}
    (one,) = reflect(Scripted(said), failed("t1"), failed("t2"))
    assert one.patterns == (Observation("no unit", ("t2", "t1")), Observation("prose", ("t1",)))
    assert one.notes == ()


def test_ids_of_other_tasks_are_dropped_from_patterns_and_notes_and_counted():
    said = proposal(rule(tasks=["x"])) | {"patterns": [seen("p", "t1", "y")], "notes": [seen("n", "z", "t1")]}
    (one,) = reflect(Scripted(said), failed("t1"), execution_notes=True)
    assert (one.patterns, one.notes, one.dropped_tasks) == (
        (Observation("p", ("t1",)),),
        (Observation("n", ("t1",)),),
        3,
    )


def test_a_pattern_that_says_nothing_is_left_out_and_one_without_tasks_is_kept():
    (one,) = reflect(Scripted(proposal() | {"patterns": [seen(" \n", "t1"), {"text": "prose"}]}), failed("t1"))
    assert one.patterns == (Observation("prose"),)


def test_a_pattern_of_another_form_costs_no_edit():
    given = ["prose", {"text": "no unit", "count": 3}]
    (one,) = reflect(Scripted(proposal(rule()) | {"patterns": given}), failed("t1"))
    assert one.patterns == (Observation("prose"), Observation("no unit"))
    assert len(one.edits) == 1


def test_patterns_and_notes_are_asked_for_about_failures_alone():
    given = {"patterns": [seen("p", "t2")], "notes": [seen("n", "t2")]}
    model = Scripted(NOTHING, NOTHING | given)
    _, success = reflect(model, failed("t1"), passed("t2"), execution_notes=True)
    assert [set(request.schema["properties"]) for request in model.requests] == [
        {"reasoning", "edits", "patterns", "notes"},
        {"reasoning", "edits"},
    ]
    assert (success.patterns, success.notes) == ((), ())


@pytest.mark.parametrize("update_mode", ["patch", "full_rewrite"])
def test_a_prompt_speaks_of_notes_only_where_they_are_wanted(update_mode):
    said = {"edits": [], "body": "", "notes": [seen("Mind the unit.", "t1")]}
    wanted, other = Scripted(said), Scripted(said)
    (one,) = reflect(wanted, failed("t1"), execution_notes=True, update_mode=update_mode)
    (two,) = reflect(other, failed("t1"), execution_notes=False, update_mode=update_mode)
    assert one.notes == (Observation("Mind the unit.", ("t1",)),)
    assert two.notes == ()
    assert "## Defects and lapses" in wanted.prompts[0]
    assert "`notes`" in wanted.prompts[0]
    assert "lapse" not in other.prompts[0]
    assert "notes" not in other.prompts[0]
    assert "notes" not in other.requests[0].schema["properties"]


@pytest.mark.parametrize("update_mode", ["patch", "full_rewrite"])
def test_a_reply_about_successes_is_not_asked_for_notes(update_mode):
    model = Scripted(*[NOTHING | {"body": ""}] * 2)
    reflect(model, failed("t1"), passed("t2"), execution_notes=True, update_mode=update_mode)
    assert ["lapse" in prompt for prompt in model.prompts] == [True, False]


def test_a_merge_keeps_the_patterns_and_notes_of_all_patches_also_of_those_without_edits():
    rows = [
        Patch("failure", ("t1",), "", (append("a"),), patterns=(Observation("Prose.", ("t1",)),)),
        Patch("failure", ("t2",), "", (append("b"),), notes=(Observation("Mind the unit.", ("t2",)),)),
        Patch("failure", ("t3",), "", (), patterns=(Observation("prose", ("t3",)), Observation("no unit", ("t3",)))),
    ]
    patterns = (Observation("Prose.", ("t1", "t3")), Observation("no unit", ("t3",)))
    notes = (Observation("Mind the unit.", ("t2",)),)
    said = {"edits": [{"op": "append", "content": "ab", "from": [0, 1]}]}
    assert merge(*rows, said=[said]) == (patterns, notes)
    assert merge(rows[0], rows[2]) == (patterns, ())


def compact(model, *notes) -> tuple[list[str], Usage]:
    return asyncio.run(optimizer(model).compact(notes))


def test_notes_are_made_fewer_in_one_call():
    model = Scripted({"notes": ["Mind\n the unit.", "Mind the unit.", " ", "Copy names."]})
    assert compact(model, *"abcde") == (["Mind the unit.", "Copy names."], CALL)
    assert part(model.prompts[0], "notes") == "- a\n- b\n- c\n- d\n- e"
    assert model.prompts[0].endswith("Write at most 2 notes.\n")


@pytest.mark.parametrize(
    "said",
    ["shorter", {"notes": []}, {"notes": [" "]}, {"notes": ["a", "b", "c"]}, {"notes": ["<!-- APPENDIX_END -->"]}],
)
def test_notes_stay_as_they_are_when_the_reply_cannot_be_used(said):
    assert compact(Scripted(said, said), *"abc") == (["a", "b", "c"], CALL + CALL)


def test_notes_stay_as_they_are_when_the_call_fails():
    assert compact(Scripted(ModelError("down", permanent=True)), *"ab") == (["a", "b"], Usage(1))


@pytest.mark.parametrize("notes", [(), ("a",)])
def test_there_is_nothing_to_compact_in_less_than_two_notes(notes):
    assert compact(Scripted(), *notes) == (list(notes), Usage())
