"""optimizers/model: replies that cannot be used and calls that fail, while reflecting."""

import asyncio
import json

import pytest

from samples import failed, passed
from scripted import CALL, NO_MEMORY, NOTHING, SKILL, Crowded, Scripted, by_title, optimizer, proposal, rule
from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError, Reply
from skillpipe.records import Message, Usage


def reflect(model, *rollouts, **settings):
    return asyncio.run(optimizer(model, **settings).reflect(SKILL, rollouts, NO_MEMORY))


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "rewrite", "content": "x"},
        {"content": "x"},
        {"op": "append", "content": 3},
        {"op": "append", "where": "end"},
        "append x",
    ],
)
def test_a_malformed_edit_becomes_nothing_else_but_a_second_try(edit):
    model = Scripted(proposal(rule(), edit), proposal(rule("- mended")))
    (one,) = reflect(model, failed("t1"))
    assert [edit.content for edit in one.edits] == ["- mended"]
    assert "schema: $.edits[1]" in model.prompts[1]


def test_the_second_try_shows_the_model_its_reply_and_the_error():
    model = Scripted("I would rather not.", proposal(rule()))
    (one,) = reflect(model, failed("t1"))
    first, second = model.requests
    assert second.messages[:2] == first.messages
    assert second.messages[2] == Message("assistant", "I would rather not.")
    assert second.messages[3].role == "user"
    assert "no JSON: no object in the reply" in second.messages[3].content
    assert second.schema == first.schema
    assert (len(one.edits), one.failure, one.raw, one.usage) == (1, "", "", CALL + CALL)


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_an_empty_reply_is_shown_as_a_message_that_providers_accept(nothing):
    model = Scripted(nothing, NOTHING)
    reflect(model, failed("t1"))
    assert model.requests[1].messages[2].content == "(no text)"


def test_after_two_unusable_replies_the_patch_is_a_failure_that_keeps_the_last():
    model = Scripted(by=by_title(correct=["first", "second"], strengthen=[NOTHING]))
    bad, _ = reflect(model, failed("t1"), passed("t2"))
    assert (bad.tasks, bad.edits, bad.raw, bad.usage) == (("t1",), (), "second", CALL + CALL)
    assert bad.failure == "no JSON: no object in the reply"


def test_a_reply_that_the_token_limit_cut_is_no_reply_even_if_it_reads_well():
    cut = Reply(json.dumps(proposal(rule())), CALL, "length")
    model = Scripted(by=by_title(correct=[cut, cut], strengthen=[NOTHING]))
    bad, _ = reflect(model, failed("t1"), passed("t2"))
    assert bad.failure.startswith("truncated: ")
    assert bad.edits == ()


def test_a_call_that_failed_is_a_failure_at_once_and_its_message_is_kept():
    model = Scripted(ModelError("overloaded,\n  try later", permanent=False), NOTHING)
    bad, good = reflect(model, failed("t1"), passed("t2"))
    assert (bad.failure, bad.raw, bad.usage) == ("overloaded, try later", "", Usage(1))
    assert good.failure == ""
    assert len(model.requests) == 2


def test_a_second_try_that_fails_keeps_the_first_reply():
    model = Scripted(by=by_title(correct=["what?", ModelError("overloaded", permanent=False)], strengthen=[NOTHING]))
    bad, _ = reflect(model, failed("t1"), passed("t2"))
    assert (bad.failure, bad.raw, bad.usage) == ("overloaded", "what?", CALL + Usage(1))


def test_when_every_minibatch_fails_the_step_fails_with_the_commonest_reasons():
    said = [ModelError(text, permanent=True) for text in ("no key", "no key", "down", "no key", "a", "b")]
    with pytest.raises(SkillpipeError) as caught:
        reflect(Scripted(*said), *[failed(f"t{number}") for number in range(6)], minibatch_size=1)
    message = str(caught.value)
    assert "gave no usable reply for any of 6 minibatches: 3 x no key; 1 x down; 1 x a" in message
    assert "1 x b" not in message
    assert "conf/" in message
    assert len(message.splitlines()) == 1


def test_nothing_to_propose_is_no_failure():
    (one,) = reflect(Scripted(NOTHING), failed("t1"))
    assert (one.edits, one.failure, one.reasoning) == ((), "", "all is well")


def test_a_model_that_cannot_be_used_ends_what_is_under_way_and_asks_no_more():
    def refuse(request):
        raise SkillpipeError("no key: export KEY=...")

    model = Crowded(3, refuse)
    with pytest.raises(SkillpipeError, match="no key"):
        reflect(model, *[failed(f"t{number}") for number in range(9)], minibatch_size=1, max_concurrency=3)
    assert len(model.requests) == 1
    assert model.cancelled >= 2
