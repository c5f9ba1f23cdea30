"""Rows from a Hugging Face dataset, by the `datasets` library, which is imported only here and only when used."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillpipe.envs.dataset.rows import Row, shown
from skillpipe.errors import SkillpipeError
from skillpipe.records import SPLITS, Split

_FILES = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}
_KEYS = ("path", "name", "revision", "splits")


class Hub:
    """A dataset by `path`: a folder or file on this machine, or a name on the hub, there with the `revision`.

    A revision (a commit) is asked for since a name alone may hold other rows tomorrow. `name` is the dataset's
    configuration; `splits` says what it calls train, val and test, or a part of one ("train[:200]"), where that is not
    train, validation and test. Class labels are given as their names. Raises SkillpipeError.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        unknown = sorted(settings.keys() - set(_KEYS))
        splits = settings.get("splits") or {}
        if unknown or not settings.get("path") or not splits.keys() <= set(SPLITS):
            raise SkillpipeError(
                f"env.huggingface is {shown(dict(settings))}; allowed are path (needed), name, "
                f"revision and splits, a map of {', '.join(SPLITS)}"
            )
        self._splits = {"train": "train", "val": "validation", "test": "test"} | dict(splits)
        self.path = str(settings["path"])
        self._name, self._revision = settings.get("name"), settings.get("revision")
        self._local = Path(self.path).exists()
        if not self._local and not self._revision:
            raise SkillpipeError(
                f"env.huggingface.path {self.path!r} is no file or folder here; for a dataset on the hub give its "
                "revision too, a commit, so that the same run reads the same rows"
            )

    def rows(self, split: Split) -> list[Row]:
        """The rows of a split, in the dataset's order."""
        name_of_split = self._splits[split]
        table = self._load(name_of_split)
        labels = {name: kind for name, kind in table.features.items() if hasattr(kind, "int2str")}
        rows = []
        for number, row in enumerate(table):
            named = {
                name: labels[name].int2str(value) if name in labels and value is not None and value >= 0 else value
                for name, value in row.items()
            }
            rows.append((f"{self.path} [{name_of_split}] row {number}", named))
        return rows

    def _load(self, split: str) -> Any:
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        try:
            import datasets
        except ImportError:
            raise SkillpipeError(
                "env.huggingface: the library datasets is not installed; type `pip install 'skillpipe[hf]'`"
            ) from None
        kind = _FILES.get(Path(self.path).suffix) if Path(self.path).is_file() else None
        try:
            if kind:
                return datasets.load_dataset(kind, data_files={"train": self.path}, split=split)
            revision = None if self._local else self._revision
            return datasets.load_dataset(self.path, self._name, split=split, revision=revision)
        except Exception as error:  # the library raises what its readers, the hub and the network raise
            told = " ".join(str(error).split())[:300]
            raise SkillpipeError(f"{self.path} [{split}]: {type(error).__name__}: {told}") from error
