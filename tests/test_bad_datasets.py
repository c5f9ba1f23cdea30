"""Datasets that are wrong: each is refused when tasks are read, in one short line that says where."""

import json

import pytest

from skillpipe.envs.dataset import Dataset
from skillpipe.errors import SkillpipeError
from skillpipe.scoring import exact, number, regex

ROW = {"id": "t1", "input": "one?", "answer": "yes"}
LINE = json.dumps(ROW) + "\n"
TRAIN = {"train.jsonl": LINE}
RATIO = {"ratio": "2:1:7", "seed": 1}


def row(**changes):
    return json.dumps({name: value for name, value in (ROW | changes).items() if value is not None}) + "\n"


BAD = [
    ("no files", {}, {}, "train.jsonl: no such file; env.data must name a folder with train, val and test"),
    ("no val", TRAIN, {"ask": "val"}, "val.jsonl: no such file"),
    ("an empty folder", {"train/notes.txt": "x"}, {}, "train.jsonl: no such file"),
    ("two files", TRAIN | {"train.csv": "id\n"}, {}, "train stands in train.jsonl, train.csv; keep one of them"),
    ("two names", {"val.jsonl": LINE, "valid.jsonl": LINE}, {"ask": "val"}, "val stands in val.jsonl, valid.jsonl"),
    ("two in a folder", {"train/a.json": "[]", "train/b.json": "[]"}, {}, "train stands in a.json, b.json"),
    ("no id", {"train.jsonl": row(id=None)}, {}, "train.jsonl:1: id is None; it must be a text that is not blank"),
    ("a list as input", {"train.jsonl": row(input=["a"])}, {}, "train.jsonl:1: input is ['a']"),
    ("a blank answer", {"train.jsonl": row(answer=" ")}, {}, "train.jsonl:1: answer is ' '"),
    ("a long wrong value", {"train.jsonl": row(input=["x" * 9999])}, {}, "(10003 characters); it must be a text"),
    ("a task type", {"train.jsonl": row(task_type=3)}, {}, "train.jsonl:1: task_type is 3; it must be a text"),
    ("a reference", {"train.jsonl": row(reference=["a"])}, {}, "train.jsonl:1: reference is ['a']; it must be a text"),
    ("not a number", {"train.jsonl": LINE + '{"id": 1, "answer": NaN}'}, {}, "train.jsonl:2: not JSON: NaN is no JSON"),
    ("a cut line", {"train.jsonl": LINE + '{"id": "t2", "inp'}, {}, "train.jsonl:2: not JSON"),
    ("a huge cut line", {"train.jsonl": '{"id": "' + "x" * 50_000_000}, {}, "train.jsonl:1: not JSON"),
    ("a huge line", {"train.jsonl": row(input="x" * 50_000_000)}, {}, "an input of 50000000 characters; allowed are"),
    ("deep nesting", {"train.jsonl": "[" * 100_000 + "]" * 100_000}, {}, "train.jsonl:1: not usable JSON"),
    ("a list in JSONL", {"train.jsonl": f"[{LINE.strip()}]"}, {}, "train.jsonl:1: list found; each row is an object"),
    ("no rows in JSON", {"train.json": "3"}, {}, "train.json: int found; a JSON file holds a list of rows"),
    ("a text in a list", {"train.json": '[{}, "x"]'}, {}, "train.json: row 2: str found; each row is an object"),
    ("texts in an object", {"train.json": '{"t1": "x"}'}, {}, "train.json: 't1': str found; each row is an object"),
    ("not UTF-8", {"train.csv": b"id\n\xff\n"}, {}, "train.csv: not UTF-8 at byte 3"),
    (
        "a short row",
        {"train.csv": "id,input,answer\nt1,one?\n"},
        {},
        "train.csv:2: 2 cells in this row and 3 in the first",
    ),
    (
        "an open quote",
        {"train.csv": 'id,input,answer\nt1,"one?,yes\n'},
        {},
        "train.csv:2: not CSV: unexpected end of data",
    ),
    ("a name twice", {"train.csv": "id,id,answer\n"}, {}, "train.csv:1: the first line is ['id', 'id', 'answer']"),
    ("a nameless field", {"train.csv": "id,,answer\n"}, {}, "it names each field, once"),
    ("one file", {"all.jsonl": LINE}, {"data": "all.jsonl"}, "all.jsonl: one file; cut it by env.split"),
    ("an unknown kind", {"all.xlsx": LINE}, {"data": "all.xlsx", "split": RATIO}, "all.xlsx: unknown kind of file"),
    ("no file to cut", {}, {"split": RATIO}, "0 data files (none); to cut it into splits, it must hold one"),
    ("files to cut", {"a.csv": "", "b.json": ""}, {"split": RATIO}, "2 data files (a.csv, b.json)"),
    ("split already", TRAIN, {"split": RATIO}, "already split, it holds train; leave out env.split"),
    ("too few to cut", {"all.jsonl": LINE}, {"split": RATIO}, "1 tasks cut 2:1:7 are train 0, val 0, test 1"),
    ("no seed", TRAIN, {"split": {"ratio": "2:1:7"}}, "env.split is {'ratio': '2:1:7'}; allowed are {ratio:"),
    ("a seed that is none", TRAIN, {"split": RATIO | {"seed": True}}, "allowed are {ratio:"),
    ("an unknown split", TRAIN, {"split": {"random": 1}}, "env.split is {'random': 1}; allowed are {ratio:"),
    ("an unknown field", TRAIN, {"fields": {"question": "q"}}, "env.fields: question; allowed are id, input, answer"),
    ("a nameless name", TRAIN, {"fields": {"id": ""}}, "env.fields.id is ''; it must name a field of the rows"),
    ("no limit", TRAIN, {"limit": 0}, "env.limit is 0; allowed is 1 or more"),
    (
        "no pattern",
        {"train.jsonl": row(answer="(")},
        {"scorer": regex},
        "train.jsonl:1: scorer regex: answer '(' is no",
    ),
    ("no number", {"train.jsonl": row()}, {"scorer": number}, "train.jsonl:1: scorer number: answer 'yes' holds no"),
]


@pytest.mark.parametrize(("files", "settings", "said"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD])
def test_a_dataset_that_is_wrong_is_refused_in_one_short_line(tmp_path, files, settings, said):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    settings = {"data": "", "ask": "train", "scorer": exact} | settings
    data, ask = tmp_path / settings.pop("data"), settings.pop("ask")
    with pytest.raises(SkillpipeError) as caught:
        Dataset(str(data), "{input}", **settings).tasks(ask)
    told = str(caught.value)
    assert said in told
    assert len(told.splitlines()) == 1
    assert len(told.replace(str(tmp_path), "")) < 300
