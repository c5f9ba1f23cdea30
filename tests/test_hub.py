"""envs/dataset/hub.py: rows from a Hugging Face dataset; those that need its library are skipped without it."""

import json
import sys

import pytest

from skillpipe.envs.dataset import Dataset
from skillpipe.errors import SkillpipeError
from skillpipe.records import SPLITS
from skillpipe.scoring import exact


@pytest.fixture
def library(monkeypatch, tmp_path):
    """The library, with nothing of this machine's caches and no network."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("datasets")


def dataset(folder, **huggingface):
    settings = {name: value for name, value in huggingface.items() if name != "cut"}
    return Dataset(str(folder), "{input}", exact, split=huggingface.get("cut"), huggingface=settings)


def rows(split, count=3):
    return [{"id": f"{split}{number}", "input": f"{split} {number}?", "answer": "yes"} for number in range(count)]


def ids(made, split="train"):
    return [task.id for task in made.tasks(split)]


def refusal(folder, **huggingface):
    with pytest.raises(SkillpipeError) as caught:
        dataset(folder, **huggingface).tasks("train")
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_a_folder_of_jsonl_files_is_read_by_its_own_splits(library, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for split in ("train", "validation", "test"):
        text = "".join(json.dumps(row) + "\n" for row in rows(split))
        (folder / f"{split}.jsonl").write_text(text, "utf-8")
    made = dataset(folder, path=str(folder))
    assert [ids(made, split)[0] for split in SPLITS] == ["train0", "validation0", "test0"]


def test_a_parquet_file_is_read_and_cut(library, tmp_path):
    path = tmp_path / "all.parquet"
    library.Dataset.from_list(rows("t", 10)).to_parquet(str(path))
    made = dataset(tmp_path, path=str(path), cut={"head": "70/30"})
    assert ids(made, "test") == ["t9"]


def test_a_split_goes_by_the_name_that_is_given_or_a_part_of_one(library, tmp_path):
    path = tmp_path / "all.parquet"
    library.Dataset.from_list(rows("t", 10)).to_parquet(str(path))
    made = dataset(tmp_path, path=str(path), splits={"train": "train[:2]", "val": "train[2:3]"})
    assert (ids(made), ids(made, "val")) == (["t0", "t1"], ["t2"])


def test_a_class_label_is_given_as_its_name(library, tmp_path):
    path = tmp_path / "labels.parquet"
    kinds = library.Features(
        {
            "id": library.Value("string"),
            "input": library.Value("string"),
            "answer": library.ClassLabel(names=["no", "yes"]),
        }
    )
    told = [{"id": "a", "input": "a?", "answer": 1}, {"id": "b", "input": "b?", "answer": 0}]
    library.Dataset.from_list(told, features=kinds).to_parquet(str(path))
    assert [task.answer for task in dataset(tmp_path, path=str(path)).tasks("train")] == ["yes", "no"]


def test_a_row_that_is_wrong_is_refused_with_its_place(library, tmp_path):
    path = tmp_path / "bad.parquet"
    library.Dataset.from_list([{"id": "a", "input": "a?"}]).to_parquet(str(path))
    assert (
        refusal(tmp_path, path=str(path))
        == f"{path} [train] row 0: answer is None; it must be a text that is not blank"
    )


def test_a_split_that_is_not_there_is_refused(library, tmp_path):
    path = tmp_path / "all.parquet"
    library.Dataset.from_list(rows("t")).to_parquet(str(path))
    assert f"{path} [dev]: ValueError" in refusal(tmp_path, path=str(path), splits={"train": "dev"})


def test_without_the_library_it_is_told_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "not installed; type `pip install 'skillpipe[hf]'`" in refusal(tmp_path, path=str(tmp_path))


def test_a_name_on_the_hub_needs_a_revision(tmp_path):
    said = refusal(tmp_path, path="someone/something")
    assert "'someone/something' is no file or folder here; for a dataset on the hub give its revision too" in said


@pytest.mark.parametrize(
    "settings", [{}, {"name": "x"}, {"path": "x", "config": "y"}, {"path": "x", "splits": {"dev": "x"}}]
)
def test_settings_that_are_wrong_are_refused_with_what_is_allowed(tmp_path, settings):
    assert "allowed are path (needed), name, revision and splits" in refusal(tmp_path, **settings)


def test_other_datasets_do_not_import_the_library(tmp_path):
    (tmp_path / "train.jsonl").write_text(json.dumps(rows("t")[0]), "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "datasets", None)
        assert ids(Dataset(str(tmp_path), "{input}", exact)) == ["t0"]
