"""A whole run with an optimizer that is a model: what it is told again, and what it is never told."""

import json

import pytest
import yaml

from chains import run_chain
from workbench import Bench

# Answers by the title of the prompt; the edit does no good, and is a new one each time. Keeps what it was asked.
WRITER = """\
import json
from pathlib import Path

from skillpipe.models import Reply
from skillpipe.records import Usage


class Writer:
    def __init__(self, log):
        self.log = Path(log)

    async def complete(self, request):
        asked = request.messages[-1].content
        with self.log.open("a") as log:
            log.write(json.dumps(asked) + "\\n")
        count = len(self.log.read_text().splitlines())
        rule = {"op": "append", "content": f"- rule number {count}", "tasks": []}
        replies = {
            "Correct": {"edits": [rule], "patterns": [{"text": "small letters", "tasks": []}]},
            "Strengthen": {"edits": []},
            "Merge": {"edits": [rule | {"from": [0]}]},
            "Choose": {"selected": [0]},
            "Compare": {"guidance": "- a bad word", "notes": "rules have not helped", "reasoning": ""},
        }
        reply = next((reply for word, reply in replies.items() if word in asked.splitlines()[0]), {})
        return Reply(json.dumps(reply), Usage(1, 10, 5))

    def close(self):
        pass
"""


@pytest.fixture(scope="module")
def asked(toy_folder, tmp_path_factory) -> list[str]:
    """What the optimizer was asked in a run of two epochs, whose val and test tasks bear markers."""
    import shutil

    bench = Bench(shutil.copytree(toy_folder, tmp_path_factory.mktemp("memory") / "bench"))
    for split in ("val", "test"):
        path = bench.root / "data" / "toy" / f"{split}.jsonl"
        rows = [json.loads(row) for row in path.read_text("utf-8").splitlines()]
        marked = [{**row, "id": f"{split}marker-{row['id']}", "input": f"{split}marker {row['input']}"} for row in rows]
        bench.write(f"data/toy/{split}.jsonl", "".join(json.dumps(row) + "\n" for row in marked))
    bench.write("writer.py", WRITER)
    bench.write("asked.jsonl", "")
    text = (bench.root / "params.yaml").read_text("utf-8")
    params = yaml.safe_load(text)
    optimizer = {
        "_target_": "skillpipe.optimizers.model.ModelOptimizer", "source": "writer.py", "model_source": "writer.py",
        "minibatch_size": 8, "merge_batch_size": 2, "trajectory_tokens": 9000, "reflect_on": "both", "model": "writer",
        "update_mode": "patch", "execution_notes": False, "api": {"_target_": "writer.Writer", "log": "asked.jsonl"},
    }  # fmt: skip
    for section in ("plan", "reflect", "aggregate", "apply", "slow_update"):
        params[section]["optimizer"] = optimizer
    params["optimizer"] = optimizer
    params["steps"] = {
        "e1s1": {"previous": "start", "edit_budget": 3}, "e1s2": {"previous": "e1s1", "edit_budget": 3},
    }  # fmt: skip
    params["plan"] |= {"num_epochs": 1, "steps_per_epoch": 2}
    params["last_state"] = "e1s2"
    bench.write("params.yaml", yaml.safe_dump(params, sort_keys=False))
    run_chain(bench)
    return [json.loads(row) for row in (bench.root / "asked.jsonl").read_text("utf-8").splitlines()]


def test_an_edit_that_was_rejected_in_the_first_step_stands_in_the_seconds_reflect_request(asked):
    first, *_, second = [text for text in asked if "Correct" in text.splitlines()[0]]
    assert "- rule number" not in first
    assert "rule number 1" in second
    assert "rejected" in second.split("rule number 1")[0].rsplit("<memory>", 1)[1]
    assert "small letters" in second


def test_nothing_of_val_or_test_stands_in_any_request_of_the_run(asked):
    assert len(asked) >= 2
    assert [text for text in asked if "valmarker" in text or "testmarker" in text] == []
