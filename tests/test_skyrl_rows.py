"""envs/skyrl: rows as tasks, what of them reaches the environment, and settings that are refused."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillpipe import artifacts, config
from skillpipe.envs.skyrl.rows import read_task
from skillpipe.errors import SkillpipeError
from skillpipe.records import Message, Task
from skyrl_toys import Game, Says, environment, paid, play, registered

TALK = [
    {"role": "user", "content": "One?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "2?"},
]


@pytest.fixture(autouse=True)
def game() -> Iterator[None]:
    with registered():
        yield


def read(row: Any, prompt: str = "Q: {input}\nA:", code: str = "") -> Task:
    return read_task(row, "train.jsonl:1", prompt, code)


def row(**changes: Any) -> dict[str, Any]:
    return {"id": "t1", "input": "one?", "answer": "yes"} | changes


def test_a_row_is_a_task_and_what_is_not_the_pipelines_is_the_environments():
    found = read(row(task_type="kind", env_class="x", rewards=[1], reward_spec={"ground_truth": "yes"}))
    data = {"rewards": [1], "reward_spec": {"ground_truth": "yes"}}
    assert found == Task("t1", "Q: one?\nA:", "yes", "kind", data=data)


def test_a_prompt_that_is_a_text_is_taken_as_it_is():
    assert read({"id": "t1", "prompt": "Ask", "answer": "a"}) == Task("t1", "Ask", "a")


def test_a_prompt_of_messages_begins_the_conversation():
    found = read({"id": "t1", "prompt": TALK, "answer": "a", "rewards": [1]})
    assert found.input == "One?\n\nYes.\n\n2?"
    rollout = play(task=found)
    assert rollout.trajectory[:3] == tuple(Message(message["role"], message["content"]) for message in TALK)
    assert "prompt" not in Game.made[0].extras


@pytest.mark.parametrize("name", ["reward_spec", "reward_model"])
@pytest.mark.parametrize(("truth", "answer"), [("72", "72"), (72, "72"), ({"target": ["a"]}, '{"target": ["a"]}')])
def test_without_an_answer_the_ground_truth_is_the_answer(name, truth, answer):
    assert read({"id": "t1", "input": "x", name: {"ground_truth": truth}}).answer == answer


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (["t1"], "list found"),
        ({"id": "t1", "input": "x"}, "no answer, and no ground_truth in reward_spec or reward_model"),
        (row(id=" "), "id is ' '; it must be a text that is not blank"),
        (row(input=None), "input is None"),
        (row(answer=["x"]), r"answer is \['x'\]"),
        (row(prompt=[]), "prompt is empty"),
        (row(prompt=[{"role": "system", "content": "x"}]), "a system message, which is the skill's place"),
        (row(prompt=[{"role": "robot", "content": "x"}]), "a message is an object with role"),
        (row(prompt=["x"]), "a message is an object with role"),
        (row(prompt=[{"role": "user"}]), "content is None"),
        (row(task_type=3), "task_type is 3"),
        (row(_code="x"), "_code, which is taken"),
    ],
)
def test_a_row_that_is_no_task_is_refused_with_its_place(value, said):
    with pytest.raises(SkillpipeError, match=rf"train\.jsonl:1: .*{said}"):
        read(value)


def test_tasks_come_from_the_file_of_the_split_in_its_order(tmp_path):
    lines = (json.dumps(row(id=key)) + "\n" for key in "ba")
    (tmp_path / "val.jsonl").write_text("".join(lines), "utf-8")
    assert [task.id for task in environment(data=str(tmp_path)).tasks("val")] == ["b", "a"]


def test_a_missing_file_is_refused_with_what_the_folder_must_hold(tmp_path):
    with pytest.raises(SkillpipeError, match=r"val\.jsonl: no such file; env\.data must name a folder"):
        environment(data=str(tmp_path)).tasks("val")


def test_a_task_is_read_back_as_it_was_written(tmp_path):
    found = read(row(rewards=[1, 0.5], deep={"a": [None, True]}), code="0123")
    artifacts.write_rows(tmp_path / "tasks.jsonl", [found])
    assert artifacts.read_rows(tmp_path / "tasks.jsonl", Task) == [found]


def test_a_constructor_is_called_as_skyrl_calls_it():
    play(task=read(row(rewards=[1]), code="0123"), arguments={"env_config": {"db": {"path": "x"}}}, max_turns=4)
    assert Game.made[0].extras == {"answer": "yes", "rewards": [1], "max_turns": 4}
    assert Game.made[0].env_config.db.path == "x"


def test_or_with_the_rows_fields_as_arguments_of_their_own():
    task = Task("t1", "Start", "c", data={"extras": {"rewards": [1]}, "_code": "0123"})
    assert play(task=task, data_as="keywords", arguments={"env_config": 3}).status == "passed"
    assert (Game.made[0].extras, Game.made[0].env_config) == ({"rewards": [1]}, 3)


def test_an_environment_that_changes_its_data_changes_no_other_episodes():
    task = paid(1.0)
    playing = environment()
    for _ in range(2):
        asyncio.run(playing.run(task, "", Says("a")))
        Game.made[-1].extras["rewards"].append(9)
    assert Game.made[-1].extras["rewards"] == [1.0, 9]
    assert task == paid(1.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prompt": "Q:"}, r"env\.prompt is 'Q:'; it must hold \{input\}"),
        ({"data_as": "rows"}, "env.data_as is 'rows'; allowed are extras and keywords"),
        ({"max_turns": 0}, "env.max_turns is 0; allowed is 1 or more"),
        ({"reward_range": [1, 1]}, r"env.reward_range is \[1, 1\]; allowed are two numbers"),
        ({"reward_range": [0, float("inf")]}, "env.reward_range"),
        ({"reward_range": [float("nan"), 1]}, "env.reward_range"),
        ({"reward_range": [0]}, "env.reward_range"),
        ({"pass_at": 1.5}, "env.pass_at is 1.5; allowed is more than -1, at most 1"),
        ({"pass_at": -1}, "env.pass_at is -1; allowed is more than -1, at most 1"),
        ({"env_id": "chess"}, "env.env_id is 'chess'; registered are .*gsm8k.*toy_game"),
        ({"modules": ["no_such_module"]}, r"env.modules: no_such_module cannot be imported \(No module named"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_with_what_is_allowed(changes, said):
    with pytest.raises(SkillpipeError, match=said):
        environment(**changes)


MODULE = "from skyrl_gym import Env\nfrom skillpipe.skyhook import env\n@env['{0}']\nclass Game(Env): ...\n"


def built(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The train tasks of an environment that a module in the working directory registers under its own name."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))  # and taken away again: build leaves it there
    (folder / "train.jsonl").write_text(json.dumps(row()) + "\n", "utf-8")
    settings = {
        "_target_": "skillpipe.envs.skyrl.SkyRL", "source": "x", "env_id": name, "modules": [name], "data": ".",
        "prompt": "{input}", "data_as": "extras", "arguments": {}, "max_turns": 1, "reward_range": [0, 1], "pass_at": 1,
    }  # fmt: skip
    return config.build(settings, "env").tasks("train")


def test_modules_are_found_on_the_working_directory_and_register_their_environments(tmp_path, monkeypatch):
    (tmp_path / "toy_module_a.py").write_text(MODULE.format("toy_module_a"), "utf-8")
    assert [task.id for task in built(tmp_path, "toy_module_a", monkeypatch)] == ["t1"]


def test_a_change_of_a_module_changes_its_tasks(tmp_path, monkeypatch):
    (tmp_path / "toy_module_b.py").write_text(MODULE.format("toy_module_b"), "utf-8")
    before = built(tmp_path, "toy_module_b", monkeypatch)
    assert built(tmp_path, "toy_module_b", monkeypatch) == before
    (tmp_path / "toy_module_b.py").write_text(MODULE.format("toy_module_b") + "# changed\n", "utf-8")
    assert built(tmp_path, "toy_module_b", monkeypatch) != before
