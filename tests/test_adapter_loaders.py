"""adapter: BatchSpec, BaseDataLoader, and SplitDataLoader over a folder that is split."""

import json

import pytest

from skillpipe.adapter import BaseDataLoader, BatchSpec, SplitDataLoader


class Loader(BaseDataLoader):
    def build_train_batch(self, batch_size, seed, **kwargs):
        return BatchSpec("train", "train", seed, batch_size)

    def build_eval_batch(self, env_num, split, seed, **kwargs):
        return BatchSpec("eval", split, seed, env_num)


@pytest.fixture
def folder(tmp_path):
    for split, size in (("train", 5), ("val", 3), ("test", 2)):
        write(tmp_path / "split" / split / "items.json", [{"id": f"{split}{number}"} for number in range(size)])
    return tmp_path / "split"


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def ready(folder, **arguments):
    loader = SplitDataLoader(split_dir=str(folder), split_mode="split_dir", **arguments)
    loader.setup({})
    return loader


def ids(items):
    return [item["id"] for item in items]


def test_a_batch_has_a_dict_of_its_own_and_no_other_fields():
    first, second = BatchSpec("train", "train", 1, 2), BatchSpec("train", "train", 1, 2)
    first.metadata["a"] = 1
    assert (first.payload, second.metadata) == (None, {})
    with pytest.raises(AttributeError):
        first.more = 1


@pytest.mark.parametrize("name", ["build_train_batch", "build_eval_batch"])
def test_a_loader_without_one_of_the_two_methods_cannot_be_made(name):
    methods = {key: getattr(Loader, key) for key in ("build_train_batch", "build_eval_batch") if key != name}
    with pytest.raises(TypeError, match=name):
        type("Mine", (BaseDataLoader,), methods)()


def test_a_loader_has_nothing_to_remember_and_no_known_size():
    loader = Loader()
    loader.setup({})
    loader.set_out_root("o")
    loader.load_state_dict({"a": 1})
    assert (loader.state_dict(), loader.get_train_size()) == ({}, None)


def test_seeds_are_counted_from_the_seed_and_shuffled_by_epoch():
    base = Loader.make_base_seeds(steps_per_epoch=3, accumulation=2, seed=42)
    assert base == [43, 44, 45, 46, 47, 48]
    first, second = (Loader.shuffle_epoch_seeds(base, epoch, 42) for epoch in (1, 2))
    assert sorted(first) == sorted(second) == base
    assert first != second
    assert base == [43, 44, 45, 46, 47, 48]


def test_an_epoch_is_one_batch_per_shuffled_seed():
    batches = Loader().plan_train_epoch(epoch=1, steps_per_epoch=3, accumulation=2, batch_size=5, seed=42)
    expected = Loader.shuffle_epoch_seeds(Loader.make_base_seeds(3, 2, 42), 1, 42)
    assert [(batch.seed, batch.batch_size) for batch in batches] == [(seed, 5) for seed in expected]


def test_a_split_folder_gives_its_items_in_order(folder):
    loader = ready(folder)
    assert ids(loader.train_items) == [f"train{number}" for number in range(5)]
    assert (ids(loader.val_items), ids(loader.test_items)) == (["val0", "val1", "val2"], ["test0", "test1"])
    assert loader.get_train_size() == 5


def test_a_limit_keeps_the_first_of_each_split(folder):
    loader = ready(folder, limit=2)
    assert (ids(loader.train_items), ids(loader.val_items)) == (["train0", "train1"], ["val0", "val1"])


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train", "train"),
        *((name, "val") for name in ("val", "valid_seen", "selection", "dev")),
        *((name, "test") for name in ("test", "valid_unseen")),
    ],
)
def test_splits_have_the_names_that_skillopt_gives_them(folder, name, split):
    loader = ready(folder)
    items = loader.get_split_items(name)
    assert ids(items)[0] == f"{split}0"
    items.clear()
    assert loader.get_split_items(name)


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_a_missing_part_is_named(folder, split):
    (folder / split / "items.json").unlink()
    (folder / split).rmdir()
    with pytest.raises(ValueError, match=f"Missing '{split}/' subdirectory"):
        ready(folder)


def test_an_eval_batch_is_the_first_of_a_split_and_all_for_0(folder):
    loader = ready(folder)
    for env_num, size in ((0, 3), (2, 2), (9, 3)):
        batch = loader.build_eval_batch(env_num, "valid_seen", seed=7, out_root="o")
        assert (batch.phase, batch.split, batch.seed, batch.batch_size) == ("eval", "valid_seen", 7, size)
        assert ids(batch.payload) == ["val0", "val1", "val2"][:size]


def test_a_train_batch_is_drawn_by_its_seed(folder):
    loader = ready(folder)
    batches = [loader.build_train_batch(3, seed) for seed in range(9)]
    assert all(batch.batch_size == len({*ids(batch.payload)}) == 3 for batch in batches)
    assert len({tuple(ids(batch.payload)) for batch in batches}) > 1
    assert ids(batches[4].payload) == ids(loader.build_train_batch(3, 4).payload)
    assert ids(loader.train_items) == [f"train{number}" for number in range(5)]


def test_an_epoch_shows_every_item_once_and_fills_only_batches_that_would_be_empty(folder):
    batches = ready(folder).plan_train_epoch(epoch=1, steps_per_epoch=2, accumulation=2, batch_size=2, seed=1)
    shown = [key for batch in batches[:3] for key in ids(batch.payload)]
    assert [batch.batch_size for batch in batches] == [2, 2, 1, 2]
    assert sorted(shown) == [f"train{number}" for number in range(5)]
    assert len({*ids(batches[3].payload)}) == 2


def test_a_split_without_json_or_not_an_array_is_refused(folder):
    write(folder / "val" / "items.json", {"a": 1})
    with pytest.raises(ValueError, match="dict found"):
        ready(folder)
    (folder / "val" / "items.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"No \.json file"):
        ready(folder)


def test_the_first_json_file_by_name_is_the_split(folder):
    write(folder / "val" / "a.json", [{"id": "first"}])
    assert ids(ready(folder).val_items) == ["first"]
