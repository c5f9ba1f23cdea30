"""optimizers/model: reflecting on minibatches of attempts."""

import asyncio
from dataclasses import replace

import pytest

from samples import attempt, broken, failed, passed
from scripted import CALL, NO_MEMORY, NOTHING, SKILL, Crowded, Scripted, optimizer, part, proposal, rule
from skillpipe.records import Edit, Message


def reflect(model, *rollouts, **settings):
    return asyncio.run(optimizer(model, **settings).reflect(SKILL, rollouts, NO_MEMORY))


def ids(prompt: str) -> list[str]:
    return [line[4:] for line in part(prompt, "attempts").split("\n") if line.startswith("id: ")]


def test_failures_and_successes_have_minibatches_of_their_own_in_task_order():
    model = Scripted(*[NOTHING] * 4)
    patches = reflect(model, failed("a"), passed("b"), failed("c"), passed("d"), failed("e"), passed("f"))
    assert [ids(prompt) for prompt in model.prompts] == [["a", "c"], ["e"], ["b", "d"], ["f"]]
    assert [(one.source, one.tasks) for one in patches] == [
        ("failure", ("a", "c")),
        ("failure", ("e",)),
        ("success", ("b", "d")),
        ("success", ("f",)),
    ]


def test_failures_and_successes_have_prompts_of_their_own():
    model = Scripted(NOTHING, NOTHING)
    reflect(model, failed("a"), passed("b"))
    assert [prompt.split("\n")[0] for prompt in model.prompts] == [
        "# Correct a skill by what failed",
        "# Strengthen a skill by what worked",
    ]


def test_successes_are_left_out_on_request():
    model = Scripted(NOTHING)
    assert [one.source for one in reflect(model, passed("a"), failed("b"), reflect_on="failures")] == ["failure"]


def test_a_partial_pass_is_a_failure_and_what_has_no_score_is_left_out():
    model = Scripted(NOTHING)
    (one,) = reflect(model, attempt("a", 0.5), broken("b"))
    assert (one.source, one.tasks) == ("failure", ("a",))


@pytest.mark.parametrize("rollouts", [(), (broken("a"),)])
def test_with_nothing_to_read_nothing_is_asked(rollouts):
    assert reflect(Scripted(), *rollouts) == []


def test_the_model_is_shown_skill_trajectory_expected_answer_and_reason():
    rollout = replace(failed("t1", expected="42"), reason="expected 42, got 41")
    trajectory = (Message("user", "How many?"), Message("assistant", "call tool"), Message("user", "Tool: 41"))
    model = Scripted(NOTHING)
    reflect(model, replace(rollout, trajectory=trajectory))
    (prompt,) = model.prompts
    assert part(prompt, "skill") == SKILL  # whole, with its frontmatter, and its braces are no placeholders
    assert part(prompt, "trajectory") == "[user]\nHow many?\n[assistant]\ncall tool\n[user]\nTool: 41"
    assert part(prompt, "expected") == "42"
    assert part(prompt, "reason") == "expected 42, got 41"
    assert part(prompt, "memory") == "Nothing yet."


def test_placeholders_in_a_trajectory_mean_nothing():
    model = Scripted(NOTHING)
    reflect(model, replace(failed("t1"), trajectory=(Message("user", "{{skill}} {{x}}"),)))
    assert part(model.prompts[0], "trajectory") == "[user]\n{{skill}} {{x}}"


def test_all_requests_of_a_step_begin_with_the_same_text_up_to_the_attempts():
    model = Scripted(NOTHING, NOTHING)
    reflect(model, failed("a"), failed("b"), minibatch_size=1)
    one, two = (prompt.rpartition("<attempts>")[0] for prompt in model.prompts)
    assert one == two


def test_the_request_carries_the_schema_and_an_empty_system_message():
    model = Scripted(NOTHING)
    reflect(model, failed("t1"))
    (request,) = model.requests
    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.messages[0].content == ""
    assert set(request.schema["properties"]) == {"reasoning", "patterns", "edits"}
    assert request.replicate == 0


def test_a_patch_holds_the_edits_the_reasoning_and_the_usage():
    replaced = {"op": "replace", "target": "Use", "content": "Apply", "section": "# Toy", "file": "SKILL.md"}
    (one,) = reflect(Scripted(proposal(rule(tasks=["t2", "t1", "t2"]), replaced)), failed("t1"), failed("t2"))
    assert one.edits == (Edit("append", "- be brief", tasks=("t2", "t1")), Edit("replace", "Apply", "Use", "# Toy"))
    assert (one.reasoning, one.failure, one.raw, one.usage) == ("why", "", "", CALL)


def test_edits_of_a_success_come_from_success():
    (one,) = reflect(Scripted(proposal(rule())), passed("t1"))
    assert [edit.source for edit in one.edits] == ["success"]


def test_null_is_the_same_as_left_out():
    (one,) = reflect(Scripted(proposal(rule(target=None, section=None, file=None))), failed("t1"))
    assert one.edits == (Edit("append", "- be brief", tasks=("t1",)),)


def test_ids_of_no_task_of_the_minibatch_are_dropped_and_counted():
    said = proposal(rule(tasks=["t1", "t3", "x", "x"]), rule("- b", tasks=["t3"]))
    one, _ = reflect(Scripted(said, NOTHING), failed("t1"), failed("t2"), failed("t3"))
    assert [edit.tasks for edit in one.edits] == [("t1",), ()]
    assert one.dropped_tasks == 3


def test_an_edit_that_names_no_task_is_kept_without_evidence():
    (one,) = reflect(Scripted(proposal({"op": "append", "content": "- b"})), failed("t1"))
    assert [edit.tasks for edit in one.edits] == [()]
    assert one.dropped_tasks == 0


def test_an_edit_without_the_target_it_needs_stays_what_it_is():
    (one,) = reflect(Scripted(proposal({"op": "replace", "content": "- b"})), failed("t1"))
    assert one.edits == (Edit("replace", "- b"),)


def test_minibatches_are_asked_at_once_and_patches_come_in_task_order_whoever_answers_first():
    rollouts = [failed(f"t{number}") for number in range(5)]
    model = Crowded(5, lambda request: proposal(rule("- of " + ids(request.messages[1].content)[0])))
    patches = reflect(model, *rollouts, minibatch_size=1)
    assert [ids(prompt)[0] for prompt in model.prompts] == ["t4", "t3", "t2", "t1", "t0"]
    assert [one.edits[0].content for one in patches] == [f"- of t{number}" for number in range(5)]


def test_no_more_requests_are_under_way_than_allowed():
    model = Crowded(3, lambda _: NOTHING)
    reflect(model, *[failed(f"t{number}") for number in range(9)], minibatch_size=1, max_concurrency=3)
    assert model.most == 3
    assert len(model.requests) == 9


def test_long_attempts_are_cut_visibly_and_the_cut_is_recorded():
    long = replace(failed("long"), trajectory=(Message("user", "begin" + "x" * 4000 + "end"),))
    model = Scripted(NOTHING, NOTHING)
    cut, whole = reflect(model, failed("short"), long, failed("other"), trajectory_tokens=300)
    assert 700 < cut.cut_tokens < 800
    assert f"about {cut.cut_tokens} tokens cut here" in model.prompts[0]
    assert "begin" in model.prompts[0]
    assert "end\n</trajectory>" in model.prompts[0]
    assert "Question short?" in model.prompts[0]
    assert whole.cut_tokens == 0


def test_a_reason_that_repeats_a_long_response_is_cut_too():
    model = Scripted(NOTHING)
    (one,) = reflect(model, replace(failed("t1"), reason="expected 'a', got " + "b" * 8000), trajectory_tokens=100)
    assert 1900 < one.cut_tokens < 2000
    assert part(model.prompts[0], "reason").startswith("expected 'a', got bbb")
    assert len(part(model.prompts[0], "attempts")) < 700


def test_an_attempt_that_took_too_long_is_a_failure():
    model = Scripted(NOTHING)
    (one,) = reflect(model, replace(failed("slow"), status="timeout"))
    assert one.tasks == ("slow",)
    assert "result: timeout" in model.prompts[0]


def test_two_attempts_at_a_task_are_both_shown_and_the_task_is_named_once():
    model = Scripted(proposal(rule(tasks=["t1"])))
    (one,) = reflect(model, failed("t1"), replace(failed("t1"), replicate=1))
    assert ids(model.prompts[0]) == ["t1", "t1"]
    assert (one.tasks, one.edits[0].tasks) == (("t1",), ("t1",))
