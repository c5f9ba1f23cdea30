"""envs/skillopt/rows.py and conversation.py: what an adapter gives back becomes rollouts."""

import json

import pytest

from adapters import say
from samples import task
from skillpipe.adapter import RolloutResult
from skillpipe.envs.skillopt.rows import read_rows
from skillpipe.errors import SkillpipeError
from skillpipe.records import Message, Usage

SKILL = "Be brief."


def row(**changes):
    return {"id": "t", "hard": 1, "soft": 1.0} | changes


def read(folder, *rows, ids=("t",), metrics=()):
    return read_rows([task(key) for key in ids], list(rows), folder, SKILL, "Mine", metrics)


def test_rollouts_are_in_task_order_whatever_the_order_of_the_rows(tmp_path):
    rollouts = read(tmp_path, row(id="b", hard=0), row(id="a"), ids=("a", "b"))
    assert [(rollout.task, rollout.hard) for rollout in rollouts] == [("a", 1), ("b", 0)]


@pytest.mark.parametrize(
    ("hard", "status"),
    [(1, "passed"), (1.0, "passed"), (True, "passed"), (0, "failed"), (0.999, "failed"), (0.3, "failed")],
)
def test_a_task_passes_when_hard_is_1_and_a_fraction_is_kept(tmp_path, hard, status):
    [rollout] = read(tmp_path, row(hard=hard, soft=0.5))
    assert (rollout.status, rollout.hard, rollout.soft) == (status, float(hard), 0.5)


@pytest.mark.parametrize("key", ["hard", "soft"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.01, 2, None, "1", [1]])
def test_a_score_that_is_none_is_missing_data_and_says_which(tmp_path, key, value):
    say(tmp_path, "t", [{"role": "assistant", "content": "yes"}])
    [rollout] = read(tmp_path, row(**{key: value}))
    assert (rollout.status, rollout.hard, rollout.soft) == ("judge_error", None, None)
    assert rollout.reason.startswith(f"Mine.rollout: {key} is {value!r}; ")
    assert rollout.trajectory == (Message("assistant", "yes"),)


@pytest.mark.parametrize("key", ["hard", "soft"])
def test_a_row_without_a_score_is_missing_data(tmp_path, key):
    values = row()
    del values[key]
    [rollout] = read(tmp_path, values)
    assert (rollout.status, rollout.reason) == ("judge_error", f"Mine.rollout: {key} is None; it must be a number")


def test_no_row_for_a_task_is_missing_data(tmp_path):
    rollouts = read(tmp_path, row(id="a"), ids=("a", "b"))
    assert [rollout.status for rollout in rollouts] == ["passed", "infra_error"]
    assert rollouts[1].reason == "Mine.rollout gave no rows for id 'b'; one is needed"


def test_two_rows_for_a_task_are_none(tmp_path):
    [rollout] = read(tmp_path, row(), row(hard=0))
    assert (rollout.status, rollout.hard) == ("judge_error", None)
    assert "gave 2 rows for id 't'" in rollout.reason


@pytest.mark.parametrize("key", ["u", "", None, True, 1.5])
def test_a_row_of_a_task_that_was_not_asked_for_stops_the_stage(tmp_path, key):
    with pytest.raises(
        SkillpipeError, match=r"Mine\.rollout: row 1 has id .*, which is none of the 1 that it was to run"
    ):
        read(tmp_path, row(), row(id=key))


@pytest.mark.parametrize(
    ("rows", "said"), [(None, "gave NoneType"), ({"id": "t"}, "gave dict"), (["t"], "row 0 is str")]
)
def test_what_is_no_list_of_dicts_stops_the_stage(tmp_path, rows, said):
    with pytest.raises(SkillpipeError, match=said):
        read_rows([task("t")], rows, tmp_path, SKILL, "Mine", ())


def test_a_number_as_id_is_its_text(tmp_path):
    [rollout] = read(tmp_path, row(id=7), ids=("7",))
    assert (rollout.task, rollout.status) == ("7", "passed")


def test_a_row_may_be_a_record(tmp_path):
    [rollout] = read(tmp_path, RolloutResult("t", 0, 0.5, fail_reason="why"))
    assert (rollout.hard, rollout.soft, rollout.reason) == (0, 0.5, "why")


def test_usage_is_unknown_unless_the_row_tells(tmp_path):
    told = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    assert read(tmp_path, row())[0].usage == Usage(0, 0, 0, None)
    assert read(tmp_path, row(usage=told))[0].usage == Usage(1, 7, 2, None)
    assert read(tmp_path, row(usage=told | {"calls": 3, "cost_usd": 0.5}))[0].usage == Usage(3, 7, 2, 0.5)


@pytest.mark.parametrize("usage", [3, {}, {"prompt_tokens": -1, "completion_tokens": 0}, {"prompt_tokens": 1}])
def test_a_usage_that_cannot_be_read_is_missing_data(tmp_path, usage):
    [rollout] = read(tmp_path, row(usage=usage))
    assert rollout.status == "judge_error"
    assert "usage" in rollout.reason


def test_the_figures_that_were_asked_for_are_kept_and_no_other(tmp_path):
    [rollout] = read(tmp_path, row(n_turns=3, seconds=1.5), metrics=("n_turns", "never"))
    assert rollout.metrics == {"n_turns": 3.0}
    for wrong in ("many", None, float("nan")):
        assert read(tmp_path, row(n_turns=wrong), metrics=("n_turns",))[0].status == "judge_error"


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        ({"role": "user", "content": "hi"}, [("user", "hi")]),
        ({"role": "agent", "content": "hi"}, [("assistant", "hi")]),
        ({"role": "environment", "content": "hi"}, [("tool", "hi")]),
        ({"content": "hi"}, [("assistant", "hi")]),
        ("hi", [("assistant", "hi")]),
        ({"type": "tool_call", "cmd": "ls", "obs": "a b"}, [("assistant", "ls"), ("tool", "a b")]),
        (
            {"step": 1, "action": "go", "env_feedback": "gone", "reasoning": "why not"},
            [("assistant", "why not\ngo"), ("tool", "gone")],
        ),
        ({"action": "go", "env_feedback": None}, [("assistant", "go")]),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}, [("user", "a\nb")]),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"name": "f"}]},
            [("assistant", '[{"name": "f"}]')],
        ),
        ({"role": "system", "content": "Checked: wrong."}, [("system", "Checked: wrong.")]),
        ({"role": "system", "content": f"You are.\n{SKILL}"}, []),
    ],
)
def test_each_kind_of_entry_becomes_messages_without_the_skill(tmp_path, entry, messages):
    say(tmp_path, "t", [entry])
    assert [(message.role, message.content) for message in read(tmp_path, row())[0].trajectory] == messages


@pytest.mark.parametrize("conversation", [None, []])
def test_a_row_without_a_conversation_is_scored_all_the_same(tmp_path, conversation):
    if conversation is not None:
        say(tmp_path, "t", conversation)
    [rollout] = read(tmp_path, row())
    assert (rollout.status, rollout.trajectory, rollout.reason) == ("passed", (), "")


@pytest.mark.parametrize(("text", "said"), [("{", "cannot be read"), ('{"a": 1}', "holds dict, not a list")])
def test_a_conversation_that_cannot_be_read_is_said(tmp_path, text, said):
    say(tmp_path, "t", [])
    (tmp_path / "predictions" / "t" / "conversation.json").write_text(text)
    [rollout] = read(tmp_path, row(hard=0, fail_reason="wrong"))
    assert (rollout.status, rollout.trajectory) == ("failed", ())
    assert rollout.reason.startswith("wrong; conversation.json")
    assert said in rollout.reason


def test_no_id_leads_out_of_the_folder_of_conversations(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "conversation.json").write_text(json.dumps(["secret"]))
    [rollout] = read(out, row(id="../.."), ids=("../..",))
    assert (rollout.status, rollout.trajectory) == ("passed", ())
