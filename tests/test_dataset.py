"""envs/dataset.py: tasks from a folder of JSONL files."""

import asyncio
import json

import pytest

from skillpipe.envs.dataset import Dataset
from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError, Reply, Request
from skillpipe.records import Message, Task, Usage
from skillpipe.scoring import Score, exact

TASK = Task("t1", "Q: one?\nA:", "yes", "kind")


class Says:
    """A target with one answer; an exception is raised. Keeps the requests."""

    def __init__(self, answer, finish="stop"):
        self.answer, self.finish, self.requests = answer, finish, []

    async def complete(self, request):
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(self.answer, Usage(1, 7, 2), self.finish)

    def close(self):
        pass


def odd_scorer(response, answer):
    raise KeyError("no such answer")


def half(response, answer):
    return Score(0.5, 0.75, "half of it")


def run(target, scorer=exact):
    return asyncio.run(Dataset("data", "Q: {input}\nA:", scorer).run(TASK, "Be brief.", target))


def read(folder, *rows, split="train", prompt="Q: {input}\nA:"):
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    (folder / f"{split}.jsonl").write_text("".join(line + "\n" for line in lines), "utf-8")
    return Dataset(str(folder), prompt, exact).tasks(split)


def row(**changes):
    return {"id": "t1", "input": "one?", "answer": "yes"} | changes


def test_a_line_is_a_task_whose_input_is_the_prompt_as_sent(tmp_path):
    assert read(tmp_path, row(task_type="kind")) == [TASK]


def test_tasks_come_in_the_order_of_the_file(tmp_path):
    assert [task.id for task in read(tmp_path, row(id="b"), row(id="a"))] == ["b", "a"]


def test_only_the_file_of_the_split_is_read(tmp_path):
    assert [task.id for task in read(tmp_path, row(id="v"), split="val")] == ["v"]


def test_fields_that_nobody_asked_for_are_left_alone(tmp_path):
    assert read(tmp_path, row(source="a book", line=3))[0].task_type == ""


def test_an_input_that_looks_like_the_placeholder_is_text(tmp_path):
    assert read(tmp_path, row(input="{input} {x}"))[0].input == "Q: {input} {x}\nA:"


@pytest.mark.parametrize(("value", "text"), [(4, "4"), (2.5, "2.5"), (0, "0"), (10**400, f"1{'0' * 400}")])
def test_a_number_is_taken_as_its_text(tmp_path, value, text):
    assert read(tmp_path, row(answer=value))[0].answer == text


@pytest.mark.parametrize("field", ["id", "input", "answer"])
def test_a_missing_field_is_refused_with_file_line_and_field(tmp_path, field):
    value = row(id="t2", input="two?")
    del value[field]
    with pytest.raises(SkillpipeError, match=rf"train\.jsonl:2: {field} is None; it must be a text that is not blank"):
        read(tmp_path, row(), value)


@pytest.mark.parametrize("field", ["id", "input", "answer"])
@pytest.mark.parametrize("value", ["", "  ", None, True, ["a"], {"a": 1}])
def test_a_field_that_is_no_text_or_blank_is_refused(tmp_path, field, value):
    with pytest.raises(SkillpipeError, match=rf"train\.jsonl:1: {field} is "):
        read(tmp_path, row(**{field: value}))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{'id': 1}", "not JSON"),
        ('["t1"]', "list found; each row is an object with id, input, answer"),
        ('"t1"', "str found"),
        ('{"id": "t2", "input": "x", "answer": "y", "task_type": 1}', "task_type is 1; it must be a text"),
    ],
)
def test_a_line_that_is_no_task_is_refused_with_file_and_line(tmp_path, line, said):
    with pytest.raises(SkillpipeError, match=rf"train\.jsonl:2: {said}"):
        read(tmp_path, row(), line)


def test_a_missing_file_is_refused_with_what_the_folder_must_hold(tmp_path):
    with pytest.raises(SkillpipeError, match=r"val\.jsonl: no such file; env\.data must name a folder with train, val"):
        Dataset(str(tmp_path), "{input}", exact).tasks("val")


def test_a_prompt_without_a_place_for_the_input_is_refused():
    with pytest.raises(SkillpipeError, match=r"env\.prompt is 'Q:'; it must hold \{input\}"):
        Dataset("data", "Q:", exact)


def test_the_target_gets_the_skill_as_system_message_and_the_task_as_user_message():
    target = Says("yes")
    run(target)
    assert target.requests == [Request((Message("system", "Be brief."), Message("user", TASK.input)))]


def test_a_right_answer_passes_and_keeps_what_was_said_and_used():
    rollout = run(Says(" yes\n"))
    assert (rollout.status, rollout.hard, rollout.soft, rollout.reason) == ("passed", 1.0, 1.0, "")
    assert rollout.trajectory == (Message("user", TASK.input), Message("assistant", " yes\n"))
    assert (rollout.task, rollout.task_type, rollout.expected) == ("t1", "kind", "yes")
    assert rollout.usage == Usage(1, 7, 2)


def test_a_wrong_answer_fails_with_the_scorers_reason():
    rollout = run(Says("no"))
    assert (rollout.status, rollout.hard, rollout.reason) == ("failed", 0.0, "expected 'yes', got 'no'")


def test_an_empty_answer_is_a_wrong_answer():
    assert run(Says("")).status == "failed"


def test_partial_credit_is_kept_and_does_not_pass():
    rollout = run(Says("x"), half)
    assert (rollout.status, rollout.hard, rollout.soft, rollout.reason) == ("failed", 0.5, 0.75, "half of it")


def test_an_answer_that_the_token_limit_cut_says_so_when_it_is_wrong():
    assert run(Says("ye", "length")).reason.startswith("cut by the token limit; expected")
    assert run(Says("yes", "length")).reason == ""


def test_a_call_that_failed_is_missing_data_and_a_call():
    rollout = run(Says(ModelError("timed out", permanent=False)))
    assert (rollout.status, rollout.hard, rollout.soft, rollout.reason) == ("infra_error", None, None, "timed out")
    assert rollout.usage == Usage(calls=1)


def test_a_scorer_that_raises_is_missing_data_and_keeps_the_answer():
    rollout = run(Says("yes"), odd_scorer)
    assert (rollout.status, rollout.hard) == ("judge_error", None)
    assert rollout.reason == "scorer: KeyError: 'no such answer'"
    assert rollout.trajectory[-1].content == "yes"
    assert rollout.usage == Usage(1, 7, 2)


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (lambda: Score(float("nan"), 1.0), "ValueError: hard score is nan; allowed is 0 to 1"),
        (lambda: Score(0.0, float("nan")), "ValueError: soft score is nan; it must be a number"),
        (lambda: Score(1.5, 1.0), "ValueError: hard score is 1.5; allowed is 0 to 1"),
        (lambda: 1.0, "TypeError: it returned 1.0, a scorer returns a Score"),
        (lambda: None, "TypeError: it returned None, a scorer returns a Score"),
    ],
)
def test_a_score_that_is_none_is_missing_data(score, said):
    rollout = run(Says("yes"), lambda response, answer: score())
    assert (rollout.status, rollout.hard, rollout.soft) == ("judge_error", None, None)
    assert rollout.reason == f"scorer: {said}"


def test_the_reference_is_in_the_rollout_and_not_in_what_the_target_is_sent():
    target = Says("yes")
    task = Task("t1", "Q: one?\nA:", "yes", "kind", "Take the first.")
    rollout = asyncio.run(Dataset("data", "Q: {input}\nA:", exact).run(task, "Be brief.", target))
    assert rollout.reference == "Take the first."
    assert "Take the first." not in str(target.requests)


@pytest.mark.parametrize(("target", "scorer"), [(Says(SkillpipeError("no key")), exact), (Says("yes"), None)])
def test_what_the_user_must_mend_stops_the_run(target, scorer):
    def refuses(response, answer):
        raise SkillpipeError("no key")

    with pytest.raises(SkillpipeError, match="no key"):
        run(target, scorer or refuses)
