"""Suites that are wrong: each is refused when tasks are read, in one line that names file, task and field."""

import json

import pytest

from skillpipe.envs.suite import Suite
from skillpipe.errors import SkillpipeError
from suites import ITEM, suite_task, write_pair, write_suite

NAN = float("nan")
REQUIRED = {"required_tool_calls": [{"tool": "tap"}]}
BAD_TASKS = [
    ({"prompt": None}, "task 't1': 'prompt' is a required property"),
    ({"category": None}, "task 't1': 'category' is a required property"),
    ({"rubric": None}, "task 't1': 'rubric' is a required property"),
    ({"description_for_judge": None}, "task 't1': 'description_for_judge' is a required property"),
    ({"id": None}, "task number 1: 'id' is a required property"),
    ({"id": 7}, "task number 1: id: 7 is not of type 'string'"),
    ({"id": " "}, "task ' ': id is blank"),
    ({"prompt": " \n"}, "task 't1': prompt is blank"),
    ({"category": "easy"}, "task 't1': category: 'easy' is not one of ['diagnostic', 'single_step'"),
    ({"rubric": []}, "task 't1': rubric: [] should be non-empty"),
    ({"rubric": "polite"}, "task 't1': rubric: 'polite' is not of type 'array'"),
    ({"rubric": [ITEM, ITEM]}, "task 't1': rubric.1.id is 'polite', as that of another item"),
    ({"rubric": [ITEM | {"check": " "}]}, "task 't1': rubric.0.check is missing or blank"),
    ({"rubric": [{"id": "a"}]}, "task 't1': rubric.0.check is missing or blank"),
    ({"rubric": [ITEM | {"regex": "a)"}]}, "task 't1': rubric.0.regex is 'a)', no regular expression"),
    ({"rubric": [ITEM | {"regex": "a{99999999999}"}]}, "no regular expression: the repetition number is too large"),
    ({"rubric": [ITEM | {"weight": 2}]}, "task 't1': rubric.0: Additional properties are not allowed ('weight'"),
    ({"hard_assertions": {"min_tools": 1}}, "task 't1': hard_assertions: Additional properties are not allowed"),
    ({"hard_assertions": {"max_tool_calls": "9"}}, "hard_assertions.max_tool_calls: '9' is not of type 'integer'"),
    ({"hard_assertions": {"min_tool_calls": -1}}, "hard_assertions.min_tool_calls: -1 is less than the minimum of 0"),
    ({"hard_assertions": {"must_complete_within_sec": 0}}, "hard_assertions.must_complete_within_sec: 0 is less than"),
    ({"hard_assertions": {"must_complete_within_sec": NAN}}, "not JSON: NaN is no JSON number"),
    ({"hard_assertions": {"response_required": "no"}}, "hard_assertions.response_required: 'no' is not of type"),
    ({"hard_assertions": {"min_tool_calls": 3, "max_tool_calls": 2}}, "min_tool_calls is 3 and max_tool_calls 2"),
    (
        {"hard_assertions": {"required_tools": ["tap"], "forbidden_tools": ["tap"]}},
        "tap is both required and forbidden",
    ),
    ({"hard_assertions": REQUIRED | {"forbidden_tools": ["tap"]}}, "tap is both required and forbidden"),
    ({"repeats": 101}, "task 't1': repeats: 101 is greater than the maximum of 100"),
    ({"answer_format": "number"}, "task 't1': answer_format: 'number' is not one of"),
    ({"answer_format": "option_letter", "expected_answer": "Paris"}, "expected_answer is 'Paris'; with answer_format"),
    ({"answer_format": "option_letter", "expected_answer": "Ä"}, "it is one of A to Z"),
    ({"prompts": "x"}, "task 't1': Additional properties are not allowed ('prompts' was unexpected)"),
    ({"setup": {"app": "mail"}}, "task 't1': setup: this environment has a model that answers and nothing else"),
    ({"input_screenshot": "a.png"}, "task 't1': input_screenshot: this environment has a model that answers"),
]
OBSERVED = [{"id": "o", "skill_name": "a", "tool_name": "b"}]
BAD_SUITES = [
    ("[]", "list found; a suite is an object with name and tasks"),
    ("{", "not JSON"),
    (b"\xff{}", "not UTF-8 at byte 0"),
    ('{"name": "toys"}', "suite: 'tasks' is a required property"),
    ('{"tasks": []}', "tasks: [] should be non-empty"),
    ('{"tasks": [1]}', "task number 1: 1 is not of type 'object'"),
    ({"prompt_prefix": 3}, "prompt_prefix: 3 is not of type 'string'"),
    ({"prompt_prefx": "x"}, "suite: Additional properties are not allowed ('prompt_prefx' was unexpected)"),
    ({"trace_observations": OBSERVED}, "trace_observations 'o': give skill_name or tool_name, one of them"),
    ({"global_reset": {"a": 1}}, "global_reset: this environment has no device to set up"),
    ({"tasks": [suite_task(), suite_task()]}, "task 't1' stands twice"),
]


def refusal(path, **changes):
    settings = {"pair": None, "head": None} | changes
    with pytest.raises(SkillpipeError) as caught:
        Suite(str(path), **settings).tasks("train")
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert len(said) < 400
    return said


@pytest.mark.parametrize(("changes", "said"), BAD_TASKS, ids=[said for _, said in BAD_TASKS])
def test_a_task_that_is_wrong_is_refused_with_file_task_and_field(tmp_path, changes, said):
    folder = write_pair(tmp_path / "toys")
    write_suite(folder / "toys_train.json", suite_task(**changes))
    told = refusal(folder)
    assert told.startswith(f"{folder / 'toys_train.json'}: ")
    assert said in told


@pytest.mark.parametrize(("content", "said"), BAD_SUITES, ids=[said for _, said in BAD_SUITES])
def test_a_suite_that_is_wrong_is_refused_with_file_and_field(tmp_path, content, said):
    path = write_pair(tmp_path / "toys") / "toys_train.json"
    if isinstance(content, dict):
        content = json.dumps({"tasks": [suite_task()]} | content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    told = refusal(path.parent)
    assert told.startswith(f"{path}: ")
    assert said in told


def test_a_prompt_in_two_suites_is_refused_also_behind_different_prefixes(tmp_path):
    folder = write_pair(tmp_path / "toys")
    write_suite(folder / "toys_train.json", suite_task("x", prompt="Do toys-b1. "), prompt_prefix="Be brief.")
    assert "val task 'toys-b1': the same prompt stands in train task 'x'" in refusal(folder)


def test_a_folder_without_a_pair_is_refused(tmp_path):
    write_suite(tmp_path / "toys" / "toys_train.json", suite_task())
    assert "no pair of suites; <prefix>_train.json needs <prefix>_verification.json beside it" in refusal(
        tmp_path / "toys"
    )


def test_a_verification_suite_of_one_task_cannot_be_val_and_test(tmp_path):
    assert "toys_verification.json: 1 tasks are held out" in refusal(write_pair(tmp_path / "toys", held_out=1))


def test_one_suite_that_is_not_to_be_cut_is_refused_with_what_to_say(tmp_path):
    path = write_suite(tmp_path / "all.json", suite_task())
    assert "one suite; say how to cut it, env.head=70/30" in refusal(path)
    assert "1 tasks are too few to be cut 70/30" in refusal(path, head="70/30")


def test_a_folder_that_is_to_be_cut_is_refused(tmp_path):
    assert "head cuts one suite: name its file" in refusal(write_pair(tmp_path / "toys"), head="70/30")
