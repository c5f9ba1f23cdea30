"""Task ids may be any text: nothing is named after them, so nothing is written elsewhere and nothing collides."""

import json

from skillpipe.artifacts import read_rows
from skillpipe.records import Rollout, Task

IDS = [
    "../../../outside", "/tmp/outside", "a/b", "a\\b", "..", ".", "CON", "a b", " a", "a ", "a\tb", "a\nb", "ä",
    "a\u0308", "🙂", "👩‍💻", "x" * 300, "a:b*c?", "a%2Fb", "$HOME", "${seed}", "{input}", "A", "a", "-rf",
    "'; drop", "u\u2028", "a\x00b",
]  # fmt: skip


def test_odd_ids_come_through_plan_and_rollout_as_they_are_and_name_no_file(bench):
    for split in ("train", "val", "test"):
        rows = [{"id": f"{name}{split[1]}", "input": f"{split}{n}", "answer": "X"} for n, name in enumerate(IDS)]
        bench.write(f"data/toy/{split}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    before = set(bench.files())
    outside = {path for path in bench.root.parent.rglob("*") if not path.is_relative_to(bench.root)}
    bench.done("plan", "conf=conf", "skill=skills/toy", "out=runs/plan")
    bench.done("rollout", "skill=skills/toy", "tasks=runs/plan/val.jsonl", "out=runs/val.jsonl")
    assert [row.id for row in read_rows(bench.root / "runs/plan/val.jsonl", Task)] == [f"{name}a" for name in IDS]
    assert [row.task for row in read_rows(bench.root / "runs/val.jsonl", Rollout)] == [f"{name}a" for name in IDS]
    assert {name for name in set(bench.files()) - before if not name.startswith("runs/")} == set()
    planned = {name.removeprefix("runs/plan/") for name in bench.files() if name.startswith("runs/plan/")}
    assert planned == {
        "batches/e1s1.jsonl", "batches/e2s1.jsonl", "splits.json", "summary.json",
        "test.jsonl", "train.jsonl", "val.jsonl",
    }  # fmt: skip
    assert {path for path in bench.root.parent.rglob("*") if not path.is_relative_to(bench.root)} == outside


def test_an_id_is_taken_as_it_is_written_and_never_as_another(bench):
    """Two ids that a file system or Unicode would fold into one are two."""
    rows = [{"id": name, "input": f"q{n}", "answer": "X"} for n, name in enumerate(IDS)]
    bench.write("data/toy/train.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    bench.done("plan", "conf=conf", "skill=skills/toy", "out=runs/plan")
    assert len({task.id for task in read_rows(bench.root / "runs/plan/train.jsonl", Task)}) == len(IDS)
