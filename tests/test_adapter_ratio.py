"""adapter: SplitDataLoader over one file that is split by a ratio."""

import importlib.util
import json
import random

import pytest

from skillpipe.adapter import SplitDataLoader
from skillpipe.adapter.ratio import parse_ratio, split_sizes

ITEMS = [{"id": str(number)} for number in range(20)]
SKILLOPT = importlib.util.find_spec("skillopt") is not None


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def ids(items):
    return [item["id"] for item in items]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", ITEMS),
        ("a.json", {"data": ITEMS}),
        ("a.json", {item["id"]: item for item in ITEMS}),
        ("a.jsonl", "\n\n".join(json.dumps(item) for item in ITEMS)),
    ],
    ids=["array", "data", "values", "lines"],
)
def test_a_ratio_splits_each_kind_of_file_and_writes_what_it_did(tmp_path, name, content):
    write(tmp_path / "raw" / name, content)
    loader = SplitDataLoader(data_path=str(tmp_path / "raw"))
    loader.setup({"out_root": str(tmp_path / "out"), "env": "mine"})
    assert (len(loader.train_items), len(loader.val_items), len(loader.test_items)) == (4, 2, 14)
    assert sorted(ids(loader.train_items + loader.val_items + loader.test_items)) == sorted(ids(ITEMS))
    made = tmp_path / "out" / "_generated_splits" / "mine_2-1-7_seed42"
    assert json.loads((made / "val" / "items.json").read_text()) == loader.val_items
    assert json.loads((made / "split_manifest.json").read_text()) == {
        "source_data_path": str(tmp_path / "raw"),
        "split_mode": "ratio",
        "split_ratio": "2:1:7",
        "split_seed": 42,
        "counts": {"train": 4, "val": 2, "test": 14},
    }


def test_what_the_constructor_leaves_empty_comes_from_the_configuration(tmp_path):
    path = str(write(tmp_path / "raw.json", ITEMS))
    loader = SplitDataLoader(split_mode="", split_ratio="", split_seed=0, seed=9)
    out = str(tmp_path / "out")
    loader.setup({"data_path": path, "split_mode": "RATIO", "split_ratio": "1:1:2", "split_output_dir": out})
    assert (len(loader.train_items), len(loader.test_items), loader.split_seed) == (5, 10, 9)
    assert (tmp_path / "out" / "train" / "items.json").is_file()


def test_items_are_shuffled_by_the_split_seed(tmp_path):
    path = str(write(tmp_path / "raw.json", ITEMS))
    loader = SplitDataLoader(data_path=path, split_seed=5)
    loader.setup({"out_root": str(tmp_path)})
    shuffled = list(ITEMS)
    random.Random(5).shuffle(shuffled)
    assert loader.train_items + loader.val_items + loader.test_items == shuffled


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"split_mode": "random"}, "split_mode is 'random'; allowed are ratio, split_dir"),
        ({"split_mode": "split_dir"}, "needs a split_dir"),
        ({"split_mode": "ratio"}, "needs a data_path"),
        ({"data_path": "empty.json"}, "no items to split"),
        ({"data_path": "split"}, "is split already"),
        ({"data_path": "two"}, "holds 2 JSON or JSONL files"),
        ({"data_path": "number.json"}, "int found"),
    ],
)
def test_what_cannot_be_loaded_is_refused(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ("empty.json", ""),
        ("split/val/a.json", []),
        ("two/a.json", []),
        ("two/b.jsonl", ""),
        ("number.json", 5),
    ):
        write(tmp_path / name, content)
    with pytest.raises(ValueError, match=said):
        SplitDataLoader(**arguments).setup({})


@pytest.mark.parametrize("text", ["", "1:2", "1:2:3:4", "a:b:c", "1.5:1:1", "0:1:1", "-1:1:1"])
def test_what_is_no_ratio_is_refused(text):
    with pytest.raises(ValueError, match="split_ratio is"):
        parse_ratio(text)


@pytest.mark.parametrize(
    ("total", "ratio", "sizes"),
    [(10, (2, 1, 7), (2, 1, 7)), (1, (2, 1, 7), (0, 0, 1)), (3, (1, 1, 1), (1, 1, 1)), (66, (2, 11, 17), (4, 24, 38))],
)
def test_sizes_are_by_largest_remainder_and_equal_ones_go_to_the_larger_part(total, ratio, sizes):
    assert split_sizes(total, ratio) == sizes


@pytest.mark.skipif(not SKILLOPT, reason="SkillOpt is not installed; `pip install skillopt==0.2.0` to compare with it")
def test_batches_are_those_of_skillopts_own_loader(tmp_path):
    from skillopt.datasets.base import SplitDataLoader as Theirs

    path = str(write(tmp_path / "raw.json", ITEMS))
    loaders = [
        kind(data_path=path, split_output_dir=str(tmp_path / kind.__module__)) for kind in (SplitDataLoader, Theirs)
    ]
    for loader in loaders:
        loader.setup({})
    how = {"epoch": 2, "steps_per_epoch": 3, "accumulation": 2, "batch_size": 2, "seed": 5}
    ours, theirs = ([*loader.plan_train_epoch(**how), loader.build_train_batch(3, 8)] for loader in loaders)
    assert [(a.seed, a.payload) for a in ours] == [(b.seed, b.payload) for b in theirs]
    assert loaders[0].test_items == loaders[1].test_items
