"""The inbox tasks are what their generator says, and nothing crosses from one split into another."""

import json
import re
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "data" / "inbox"
SPLITS = ("train", "val", "test")


def rows(split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{split}.jsonl").read_text("utf-8").splitlines()]


def test_the_generator_writes_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    for split in SPLITS:
        assert (tmp_path / f"{split}.jsonl").read_bytes() == (FOLDER / f"{split}.jsonl").read_bytes()


@pytest.mark.parametrize(("split", "each"), [("train", 20), ("val", 12), ("test", 20)])
def test_each_task_type_has_a_third_of_each_split(split: str, each: int) -> None:
    assert Counter(row["task_type"] for row in rows(split)) == {"date": each, "address": each, "fact": each}


@pytest.mark.parametrize("key", ["id", "input"])
def test_nothing_stands_twice_in_or_across_splits(key: str) -> None:
    values = [row[key] for split in SPLITS for row in rows(split)]
    assert len(set(values)) == len(values)


def test_no_template_is_shared_between_splits() -> None:
    templates = runpy.run_path(str(FOLDER / "make.py"))["TEMPLATES"]
    for part in (0, 1):  # neither the message nor the question
        texts = {split: {t[part] for kind in templates[split].values() for t in kind} for split in SPLITS}
        assert not texts["train"] & texts["val"]
        assert not texts["test"] & (texts["train"] | texts["val"])


def test_answers_can_be_read_off_the_message() -> None:
    for split in SPLITS:
        for row in rows(split):
            if row["task_type"] == "date":
                assert re.fullmatch(r"20\d\d-\d\d-\d\d", row["answer"])
            else:
                assert row["answer"] in row["input"].partition("\nQuestion:")[0]
