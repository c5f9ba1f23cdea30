"""docs/environments.md: its example is an environment as it stands, and what it says of exceptions is so."""

import inspect
import re
from pathlib import Path

import pytest
import yaml

from skillpipe import config
from skillpipe.artifacts import read_rows
from skillpipe.envs.dataset import Dataset
from skillpipe.envs.dataset.hub import Hub
from skillpipe.envs.suite import read_suite
from skillpipe.records import Rollout

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "environments.md").read_text("utf-8")


def block(kind: str, about: str) -> str:
    (found,) = [text for text in re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) if about in text]
    return found


@pytest.fixture
def mine(bench):
    """A project with the example as my_module.py and as its env."""
    bench.write("my_module.py", block("python", "class MyEnv"))
    bench.write("data/numbers.json", block("json", '"train"'))
    conf = yaml.safe_load(block("yaml", "my_module.MyEnv"))
    params = yaml.safe_load((bench.root / "params.yaml").read_text("utf-8"))
    for section in ("plan", "rollout"):
        params[section]["env"] = conf["env"]
    bench.write("params.yaml", yaml.safe_dump(params))
    return bench


def rollouts(mine):
    mine.done("plan", "conf=conf", "skill=skills/toy", "out=runs/plan")
    ended = mine.run(
        "rollout", "skill=skills/toy", "tasks=runs/plan/val.jsonl", "out=runs/val.jsonl", "min_coverage=0.5"
    )
    return ended, mine.root / "runs/val.jsonl"


def change(mine, old, new):
    text = (mine.root / "my_module.py").read_text("utf-8")
    assert old in text
    mine.write("my_module.py", text.replace(old, new))


def test_the_example_has_fifteen_lines_and_no_base_class():
    lines = [line for line in block("python", "class MyEnv").splitlines() if line.strip()]
    assert len(lines) <= 15
    assert "class MyEnv:\n" in block("python", "class MyEnv")


def test_the_example_plans_and_rolls_out_as_it_stands(mine):
    ended, path = rollouts(mine)
    assert ended.code == 0, ended.err
    rows = read_rows(path, Rollout)
    assert len(rows) == 4
    assert rows[0].task == "21 squared"
    assert {row.status for row in rows} == {"failed"}


def test_an_exception_in_run_is_missing_data_and_the_run_goes_on(mine):
    change(mine, "        return await", "        assert task.id != '23 squared', 'odd one'\n        return await")
    ended, path = rollouts(mine)
    assert ended.code == 0, ended.err
    (row,) = [row for row in read_rows(path, Rollout) if row.hard is None]
    assert (row.task, row.status, row.reason) == ("23 squared", "infra_error", "AssertionError: odd one")


def test_a_skillpipe_error_in_run_stops_the_stage_with_one_line(mine):
    raising = "        from skillpipe.errors import SkillpipeError\n        raise SkillpipeError('no device')\n"
    change(mine, "        return await", f"{raising}        return await")
    ended, path = rollouts(mine)
    assert (ended.code, ended.err.strip()) == (1, "error: no device")
    assert not path.exists()


def test_the_settings_of_a_dataset_are_those_that_it_takes(tmp_path):
    conf = yaml.safe_load(block("yaml", "input_template: null"))["env"]
    (tmp_path / "train.jsonl").write_text('{"id": 1, "input": "good", "answer": "positive"}', "utf-8")
    made = config.build(conf | {"data": str(tmp_path)}, "env")
    assert [task.input for task in made.tasks("train")] == ["Review: good\nSentiment:"]
    taken = set(inspect.signature(Dataset.__init__).parameters) - {"self"}
    assert taken == set(conf) - {"_target_", "source"}


def test_the_settings_of_a_hugging_face_dataset_are_those_that_it_takes():
    Hub(yaml.safe_load(block("yaml", "revision:"))["huggingface"])


def test_the_example_of_a_suite_is_one(tmp_path):
    (tmp_path / "notes.json").write_text(block("json", "prompt_prefix"), "utf-8")
    (task,) = read_suite(tmp_path / "notes.json").tasks
    assert [item.regex for item in task.rubric] == ["", "2025-03-03"]


@pytest.mark.parametrize("target", ["skyrl.md", "models.md", "../prompts/judge.md", "../data/suites/README.md"])
def test_the_page_links_what_belongs_to_it(target):
    assert f"]({target})" in PAGE
