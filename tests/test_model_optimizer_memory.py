"""optimizers/model: what a model is told of the steps before, and where."""

import asyncio

import pytest

from samples import append, failed, passed
from scripted import NOTHING, SKILL, Scripted, by_title, optimizer, part, proposal, remembered, rule
from skillpipe.optimizers.model.recalling import show_memory
from skillpipe.records import Edit, EditOutcome, Memory, Merged, Observation, Patch

MEMORY = Memory((remembered(append("- shout")),), "Examples helped more than rules.")
SHOWN = """Notes from the epochs before:
Examples helped more than rules.

Step e1s1: 9 of 15 attempts failed; rejected (held-out score 0.500 before, 0.250 with these edits).
Its edits:
- {"op": "append", "content": "- shout"}"""


def lines(*steps) -> list[str]:
    return show_memory(Memory(steps)).split("\n")


def test_reflecting_merging_and_ranking_are_told_what_is_remembered():
    said = {"selected": [0]}
    model = Scripted(by=by_title(correct=[proposal(rule())], strengthen=[NOTHING], merge=[{"edits": []}] * 2,
                                 choose=[said], decide=[said]))  # fmt: skip
    one = optimizer(model)
    merged = Merged("e1s2", 3, "", tuple(map(append, "abc")))

    async def ask() -> None:
        await one.reflect(SKILL, [failed("t1"), passed("t2")], MEMORY)
        await one.merge("e1s2", SKILL, [Patch("failure", ("t1",), "", (append(text),)) for text in "ab"], MEMORY)
        await one.rank(SKILL, merged, 2, MEMORY)
        await one.rank(SKILL, merged, None, MEMORY)

    asyncio.run(ask())
    first = [request.messages[1].content for request in model.requests if len(request.messages) == 2]
    assert [part(prompt, "memory") for prompt in first] == [SHOWN] * 5


def test_a_step_is_told_with_what_failed_what_was_tried_and_what_was_decided():
    patterns = [Observation("answers in prose", ("t1", "t2")), Observation("no unit", ("t3",))]
    delete = Edit("delete", target="- old", section="## A")
    assert lines(remembered(append("- shout"), delete, patterns=patterns)) == [
        "Step e1s1: 9 of 15 attempts failed; rejected (held-out score 0.500 before, 0.250 with these edits).",
        "What failed:",
        "- answers in prose (tasks: 2)",
        "- no unit (tasks: 1)",
        "Its edits:",
        '- {"op": "append", "content": "- shout"}',
        '- {"op": "delete", "section": "## A", "target": "- old"}',
    ]


def test_steps_are_told_oldest_first():
    shown = lines(remembered(step="e2s1"), remembered(step="e2s2", action="accept_new_best", scores=(0.5, 0.75)))
    assert [line.split(":")[0] for line in shown] == ["Step e2s1", "Step e2s2"]
    assert shown[1].endswith("accepted, the best so far (held-out score 0.500 before, 0.750 with these edits).")


@pytest.mark.parametrize(
    ("action", "scores", "said"),
    [
        ("accept", (0.5, 2 / 3), "accepted (held-out score 0.500 before, 0.667 with these edits)."),
        ("force_accept", (None, None), "accepted without a comparison."),
        ("reject_policy", (0.5, None), "rejected by a rule of the run."),
        ("skip_no_patches", (None, None), "nothing was proposed."),
        ("no_change", (0.5, 0.5), "nothing could be changed (held-out score 0.500 before, 0.500 with these edits)."),
    ],
)
def test_a_decision_is_told_with_its_scores_where_there_are_any(action, scores, said):
    assert lines(remembered(action=action, scores=scores)) == [f"Step e1s1: 9 of 15 attempts failed; {said}"]


def test_an_edit_that_could_not_be_applied_is_told_with_the_reason():
    unmatched = EditOutcome(Edit("delete", target="- gone"), "unmatched", "no such line", None, None)
    assert lines(remembered(refused=[unmatched]))[1:] == [
        "Could not be applied:",
        '- {"op": "delete", "target": "- gone"}: unmatched: no such line',
    ]


def test_a_long_edit_is_cut_on_its_line():
    shown = lines(remembered(append("begin" + "x" * 9000 + "end")))[2]
    assert len(shown) < 1000
    assert "begin" in shown
    assert "tokens cut here" in shown
    assert shown.endswith('end"}')


def test_with_nothing_to_remember_that_is_said():
    assert show_memory(Memory()) == "Nothing yet."
    assert show_memory(Memory((), "try examples")) == "Notes from the epochs before:\ntry examples"
