"""optimizers/model: slow updates, and how many calls an optimizer takes at most."""

import asyncio
from dataclasses import replace

import pytest

from samples import append, failed, passed
from scripted import CALL, NO_MEMORY, SKILL, Scripted, optimizer, part, remembered
from skillpipe.models import ModelError
from skillpipe.optimizers import Guidance
from skillpipe.records import Memory, Message, TaskPair, Usage

SAID = {"reasoning": "why", "guidance": "- be brief\n", "notes": " rules help "}


def pair(key: str, category: str) -> TaskPair:
    before = passed(key) if category in ("regressed", "stable_success") else failed(key)
    after = passed(key) if category in ("improved", "stable_success") else failed(key)
    return TaskPair(category, before, after)


def compare(model, *pairs, guidance="", memory=NO_MEMORY, **settings) -> Guidance:
    return asyncio.run(optimizer(model, **settings).compare(SKILL, guidance, pairs, memory))


def shown(prompt: str, field: str) -> list[str]:
    return [line.partition(": ")[2] for line in part(prompt, "pairs").split("\n") if line.startswith(f"{field}: ")]


def test_the_guidance_and_the_notes_are_the_models():
    assert compare(Scripted(SAID), pair("t1", "regressed")) == Guidance("- be brief", "rules help", "why", "", CALL)


@pytest.mark.parametrize("said", [{"guidance": ""}, {"guidance": None, "notes": None}])
def test_both_may_be_empty(said):
    assert compare(Scripted(said), pair("t1", "regressed")) == Guidance("", usage=CALL)


def test_the_model_sees_skill_present_guidance_and_memory():
    model = Scripted(SAID, SAID)
    compare(model, pair("t1", "regressed"), guidance="old words", memory=Memory((remembered(append("- x")),), "mine"))
    compare(model, pair("t1", "regressed"))
    assert part(model.prompts[0], "skill") == SKILL
    assert [part(prompt, "guidance") for prompt in model.prompts] == ["old words", "None yet."]
    assert part(model.prompts[0], "memory").startswith("Notes from the epochs before:\nmine\n\nStep e1s1: ")


def test_pairs_come_by_category_what_to_mend_first_and_in_task_order_within_each():
    model = Scripted(SAID)
    categories = ["stable_success", "improved", "regressed", "persistent_fail", "regressed"]
    compare(model, *(pair(f"t{number}", category) for number, category in enumerate(categories)))
    assert shown(model.prompts[0], "id") == ["t2", "t4", "t3", "t1", "t0"]
    assert shown(model.prompts[0], "category") == [
        "regressed", "regressed", "persistent_fail", "improved", "stable_success"]  # fmt: skip


def test_a_pair_shows_both_attempts_with_result_and_reason_and_what_was_expected():
    model = Scripted(SAID)
    after = replace(failed("t1", expected="42"), reason="expected 42", trajectory=(Message("assistant", "41"),))
    compare(model, TaskPair("regressed", passed("t1"), after))
    assert part(model.prompts[0], "before") == (
        "result: passed\nreason: none given\n[user]\nQuestion t1?\n[assistant]\nyes"
    )
    assert part(model.prompts[0], "now") == "result: failed\nreason: expected 42\n[assistant]\n41"
    assert part(model.prompts[0], "expected") == "42"


def test_long_attempts_are_cut_to_the_budget():
    model = Scripted(SAID)
    long = replace(failed("t1"), trajectory=(Message("user", "begin" + "x" * 9000 + "end"),))
    compare(model, TaskPair("persistent_fail", long, long), trajectory_tokens=100)
    assert len(part(model.prompts[0], "pairs")) < 900
    assert "tokens cut here" in part(model.prompts[0], "before")
    assert part(model.prompts[0], "now").endswith("end")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("nothing", "no JSON"),
        ({"notes": "x"}, "'guidance' is a required property"),
        ({"guidance": "x <!-- SLOW_UPDATE_END -->"}, "`guidance` holds <!-- SLOW_UPDATE_END -->"),
    ],
)
def test_a_reply_that_cannot_be_used_leaves_all_as_it_is_and_is_told(said, why):
    model = Scripted(said, said)
    found = compare(model, pair("t1", "regressed"))
    assert (found.text, found.notes, found.usage) == ("", "", CALL + CALL)
    assert why in found.failure
    assert why in model.prompts[1]


def test_a_comparison_that_could_not_be_asked_for_is_told():
    found = compare(Scripted(ModelError("overloaded", permanent=False)), pair("t1", "regressed"))
    assert found == Guidance("", failure="overloaded", usage=Usage(1))


def test_without_pairs_nothing_is_asked():
    assert compare(Scripted()) == Guidance("", reasoning="there is nothing to compare")


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        ({}, 2 * (3 + 4 + 1)),  # 3 minibatches; merges: 3 to 2 to 1, and both kinds; a ranking; each asked twice
        ({"update_mode": "rewrite"}, 2 * (3 + 4 + 2)),
        ({"update_mode": "full_rewrite"}, 2 * (3 + 4)),
        ({"execution_notes": True}, 2 * (3 + 4 + 2)),
        ({"reflect_on": "failures", "minibatch_size": 4}, 2 * (1 + 1 + 1)),
    ],
)
def test_a_step_takes_no_more_calls_than_are_told_beforehand(settings, calls):
    assert optimizer(Scripted(), **settings).calls_per_step(4) == calls


def test_a_slow_update_takes_at_most_two_calls():
    assert optimizer(Scripted()).calls_per_epoch() == 2
