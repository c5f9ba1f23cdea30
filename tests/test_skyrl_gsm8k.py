"""SkyRL's own gsm8k, configured as docs/skyrl.md says."""

import asyncio
import json
import re
from pathlib import Path

import yaml

from skillpipe import config
from skillpipe.records import Rollout
from skyrl_toys import Says

DOCS = (Path(__file__).resolve().parents[1] / "docs" / "skyrl.md").read_text("utf-8")
TASKS = [("a", "3 boxes of 4 pens?", "12"), ("b", "1000 and 234 more?", "1234"), ("c", "5 less 7?", "-2")]


def answered(folder: Path, *replies: str) -> list[Rollout]:
    """A rollout per task of a train file of gsm8k rows."""
    given = [
        {"id": key, "prompt": [{"role": "user", "content": text}], "reward_spec": {"ground_truth": truth}}
        for key, text, truth in TASKS
    ]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given), "utf-8")
    settings = yaml.safe_load(re.search(r"```yaml\n(.*?)```", DOCS, re.DOTALL)[1])["env"] | {"data": str(folder)}
    environment = config.build(settings, "env")
    tasks = environment.tasks("train")
    pairs = zip(tasks, replies, strict=True)
    return [asyncio.run(environment.run(task, "Calculate.", Says(reply))) for task, reply in pairs]


def test_right_answers_in_its_format_earn_1(tmp_path):
    rollouts = answered(tmp_path, "3 * 4 = 12\n#### 12", "#### 1,234", "#### -2")
    assert [(row.status, row.hard, row.soft, row.metrics) for row in rollouts] == [("passed", 1, 1, {"reward": 1})] * 3


def test_wrong_answers_and_right_ones_without_the_format_earn_0(tmp_path):
    rollouts = answered(tmp_path, "#### 13", "It is 1234.", "")
    assert [(row.status, row.hard, row.soft) for row in rollouts] == [("failed", 0, 0)] * 3


def test_the_ground_truth_is_what_the_optimizer_is_told(tmp_path):
    assert [row.expected for row in answered(tmp_path, "x", "x", "x")] == ["12", "1234", "-2"]


def test_a_row_without_the_ground_truth_that_the_environment_needs_is_missing_data(tmp_path):
    environment = config.build(
        yaml.safe_load(re.search(r"```yaml\n(.*?)```", DOCS, re.DOTALL)[1])["env"] | {"data": str(tmp_path)}, "env"
    )
    (tmp_path / "train.jsonl").write_text('{"id": "a", "input": "x", "answer": "1"}\n', "utf-8")
    rollout = asyncio.run(environment.run(environment.tasks("train")[0], "", Says("#### 1")))
    assert (rollout.status, rollout.hard) == ("judge_error", None)
    assert rollout.reason == "env gsm8k: AssertionError: reward_spec field is required"
