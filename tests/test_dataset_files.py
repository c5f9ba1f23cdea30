"""envs/dataset: the kinds of files, the layouts of a folder, and how one file is cut."""

import json
import re
from pathlib import Path

import pytest

from skillpipe.envs import manifest
from skillpipe.envs.dataset import Dataset
from skillpipe.records import SPLITS, SplitManifest
from skillpipe.scoring import exact

ROW = {"id": "t1", "input": "one?", "answer": "yes"}
RATIO = {"ratio": "2:1:7", "seed": 42}


def rows(count, prefix="t"):
    return [{"id": f"{prefix}{number}", "input": f"{prefix} {number}?", "answer": "yes"} for number in range(count)]


def dataset(path, **settings):
    return Dataset(str(path), "{input}", exact, **settings)


def write(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str | bytes):
        lines = [json.dumps(row) + "\n" for row in content] if path.suffix == ".jsonl" else json.dumps(content)
        content = "".join(lines)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def ids(path, of="train", **settings):
    return [task.id for task in dataset(path, **settings).tasks(of)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.jsonl", rows(2)),
        ("train.ndjson", '{"id": "t0", "input": "a", "answer": "b"}\n\n{"id": "t1", "input": "c", "answer": "d"}'),
        ("train.json", rows(2)),
        ("train.json", {"data": rows(2), "version": 1}),
        ("train.json", {"t0": {"input": "a", "answer": "b"}, "x": {"id": "t1", "input": "c", "answer": "d"}}),
        ("train.csv", "id,input,answer\nt0,a,b\nt1,c,d\n"),
        ("train/rows.json", rows(2)),
        ("train/part.csv", "answer,id,input\nb,t0,a\nd,t1,c\n"),
    ],
    ids=["jsonl", "ndjson", "list", "data", "object", "csv", "folder", "columns"],
)
def test_a_file_or_folder_per_split_is_read_in_file_order(tmp_path, name, content):
    write(tmp_path / name, content)
    assert ids(tmp_path) == ["t0", "t1"]


def test_a_csv_with_a_byte_order_mark_and_quotes_over_lines_is_read(tmp_path):
    text = '\ufeffid,input,answer\r\nt1,"one,\r\n""two""?",yes\r\n\r\nt2,three?,no\r\n'
    write(tmp_path / "train.csv", text)
    tasks = dataset(tmp_path).tasks("train")
    assert [(task.id, task.input, task.answer) for task in tasks] == [
        ("t1", 'one,\r\n"two"?', "yes"),
        ("t2", "three?", "no"),
    ]


def test_a_cell_longer_than_the_standard_limit_is_read(tmp_path):
    write(tmp_path / "train.csv", f"id,input,answer\nt1,{'x' * 200_000},yes\n")
    assert len(dataset(tmp_path).tasks("train")[0].input) == 200_000


@pytest.mark.parametrize(
    ("name", "split"),
    [("validation", "val"), ("valid", "val"), ("selection", "val"), ("valid_seen", "val"), ("valid_unseen", "test")],
)
def test_a_split_may_go_by_another_of_its_names(tmp_path, name, split):
    write(tmp_path / f"{name}.jsonl", [ROW])
    assert ids(tmp_path, split) == ["t1"]


def test_fields_go_by_the_names_that_are_given(tmp_path):
    write(tmp_path / "train.jsonl", [{"key": 7, "q": "one?", "label": "yes", "kind": "k", "why": "because"}])
    fields = {"id": "key", "input": "q", "answer": "label", "task_type": "kind", "reference": "why"}
    (task,) = dataset(tmp_path, fields=fields).tasks("train")
    assert (task.id, task.input, task.answer, task.task_type, task.reference) == ("7", "one?", "yes", "k", "because")


def test_a_ratio_cuts_one_file_and_every_row_lands_in_one_split(tmp_path):
    path = write(tmp_path / "all.jsonl", rows(20))
    parts = {split: ids(path, split, split=RATIO) for split in SPLITS}
    assert [len(part) for part in parts.values()] == [4, 2, 14]
    assert sorted(name for part in parts.values() for name in part) == sorted(row["id"] for row in rows(20))
    assert parts == {split: ids(tmp_path, split, split=RATIO) for split in SPLITS}


def test_a_head_cuts_one_file_in_its_order(tmp_path):
    path = write(tmp_path / "all.json", rows(10))
    parts = [ids(path, split, split={"head": "70/30"}) for split in SPLITS]
    assert parts == [["t0", "t1", "t2", "t3", "t4", "t5", "t6"], ["t7", "t8"], ["t9"]]


def test_a_limit_takes_the_first_of_each_split(tmp_path):
    write(tmp_path / "train.jsonl", rows(5))
    assert ids(tmp_path, limit=2) == ["t0", "t1"]


@pytest.mark.parametrize(
    ("split", "mode", "cut", "seed", "sizes"),
    [(RATIO, "ratio", "2:1:7", 42, (4, 2, 14)), ({"head": "70/30"}, "head", "70/30", None, (14, 3, 3))],
)
def test_the_manifest_tells_how_tasks_were_cut_and_is_the_same_every_time(tmp_path, split, mode, cut, seed, sizes):
    path = write(tmp_path / "all.jsonl", rows(20))

    def told():
        made = dataset(path, split=split)
        return manifest(made, {part: made.tasks(part) for part in SPLITS})

    assert told() == told() == SplitManifest(path.as_posix(), mode, cut, seed, *sizes)


def test_plan_writes_the_manifest(bench):
    write(bench.root / "data/toy/all.jsonl", rows(40))
    for split in SPLITS:
        (bench.root / f"data/toy/{split}.jsonl").unlink()
    params = bench.root / "params.yaml"
    cut = r"\1data: data/toy\n\1split: {ratio: '2:1:1', seed: 3}\n"
    write(params, re.sub(r"( +)data: data/toy\n", cut, params.read_text("utf-8")))
    bench.done("plan", "conf=conf", "skill=skills/toy", "out=runs/plan")
    assert json.loads((bench.root / "runs/plan/splits.json").read_text("utf-8")) == {
        "source": "data/toy", "mode": "ratio", "cut": "2:1:1", "seed": 3, "train": 20, "val": 10, "test": 10,
    }  # fmt: skip
