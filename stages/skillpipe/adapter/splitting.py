"""A loader for data that lies in three folders, or in one file that is split by a ratio."""

import json
import random
from pathlib import Path
from typing import Any

from skillpipe.adapter.loading import BaseDataLoader, BatchSpec
from skillpipe.adapter.ratio import Item, parse_ratio, read_items, split_sizes

SPLIT_NAMES = ("train", "val", "test")

_ALIASES = {"valid_seen": "val", "selection": "val", "valid_unseen": "test"}


class SplitDataLoader(BaseDataLoader):
    """Items from a folder with train/, val/ and test/, or from one file that is split by a ratio.

    split_mode "split_dir" reads `split_dir`. "ratio" reads `data_path` (load_raw_items), shuffles it with `split_seed`,
    writes <split_output_dir>/{train,val,test}/items.json and split_manifest.json, and reads those; without a
    split_output_dir they go to <out_root>/_generated_splits/<env>_<ratio with dashes>_seed<split_seed>. `limit` keeps
    the first so many items of each split; 0 keeps all. What is empty in the constructor is taken from setup's cfg.

    A subclass needs no method of its own where a split is a JSON array of objects with an "id". Unlike SkillOpt, ratio
    mode without a data_path is refused as such; SkillOpt looks for data in the working directory.
    """

    def __init__(
        self,
        split_dir: str = "",
        data_path: str = "",
        split_mode: str = "ratio",
        split_ratio: str = "2:1:7",
        split_seed: int = 42,
        split_output_dir: str = "",
        seed: int = 42,
        limit: int = 0,
        **kwargs: Any,
    ) -> None:
        self.split_dir = split_dir
        self.data_path = data_path
        self.split_mode = split_mode
        self.split_ratio = split_ratio
        self.split_seed = int(split_seed)
        self.split_output_dir = split_output_dir
        self.seed = seed
        self.limit = limit
        self._splits: dict[str, list[Item]] = {}

    def setup(self, cfg: dict[str, Any]) -> None:
        """Find the items of all splits. Raises ValueError for a mode, ratio or folder that is wrong."""
        for name in ("split_mode", "split_dir", "data_path", "split_output_dir", "split_ratio"):
            if not getattr(self, name):
                setattr(self, name, str(cfg.get(name) or ""))
        self.split_seed = self.split_seed or int(cfg.get("split_seed") or 0) or self.seed
        mode = (self.split_mode or "ratio").strip().lower()
        if mode not in ("ratio", "split_dir"):
            raise ValueError(f"{type(self).__name__}: split_mode is {self.split_mode!r}; allowed are ratio, split_dir")
        self.split_mode = mode
        if mode == "ratio":
            self.split_dir = self._split_by_ratio(cfg)
        if not self.split_dir:
            raise ValueError(f"{type(self).__name__}: split_mode=split_dir needs a split_dir with train/, val/, test/")
        for name in SPLIT_NAMES:
            folder = Path(self.split_dir) / name
            if not folder.is_dir():
                raise ValueError(f"Missing '{name}/' subdirectory in split_dir {self.split_dir}")
            items = self.load_split_items(str(folder))
            self._splits[name] = items[: self.limit] if self.limit else items

    def load_raw_items(self, data_path: str) -> list[Item]:
        """All items before they are split: a JSON array, {"data": [...]}, the values of an object, or JSONL.

        A folder must hold exactly one such file, and no split (ValueError).
        """
        path = Path(data_path)
        if path.is_dir():
            if any((path / name).is_dir() for name in SPLIT_NAMES):
                raise ValueError(f"{path} is split already; use split_mode=split_dir and split_dir={path}")
            files = [*sorted(path.glob("*.json")), *sorted(path.glob("*.jsonl"))]
            if len(files) != 1:
                raise ValueError(f"{path} holds {len(files)} JSON or JSONL files; data_path must lead to exactly one")
            path = files[0]
        return read_items(path)

    def load_split_items(self, split_path: str) -> list[Item]:
        """The items of one split: the first *.json of the folder by name, which must be an array.

        Raises FileNotFoundError when there is none, ValueError when it is no array.
        """
        files = sorted(Path(split_path).glob("*.json"))
        if not files:
            raise FileNotFoundError(f"No .json file in {split_path}")
        items = json.loads(files[0].read_text("utf-8"))
        if not isinstance(items, list):
            raise ValueError(f"{files[0]}: {type(items).__name__} found; a split is a JSON array")
        return items

    def write_split_items(self, split_path: str, items: list[Item]) -> None:
        """Write one split as load_split_items reads it."""
        folder = Path(split_path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "items.json").write_text(json.dumps(items, ensure_ascii=False, indent=2), "utf-8")

    @property
    def train_items(self) -> list[Item]:
        return self._splits.get("train", [])

    @property
    def val_items(self) -> list[Item]:
        return self._splits.get("val", [])

    @property
    def test_items(self) -> list[Item]:
        return self._splits.get("test", [])

    def get_split_items(self, split: str) -> list[Item]:
        """A split's items, as a new list. valid_seen and selection are val, valid_unseen is test.

        So is, as in SkillOpt, every unknown name val.
        """
        return list(self._splits.get(_ALIASES.get(split, split), self.val_items))

    def get_train_size(self) -> int:
        return len(self.train_items)

    def build_train_batch(self, batch_size: int, seed: int, **kwargs: Any) -> BatchSpec:
        """The first batch_size train items, shuffled with `seed`."""
        items = list(self.train_items)
        random.Random(seed).shuffle(items)
        items = items[:batch_size]
        return BatchSpec("train", "train", seed, len(items), items)

    def build_eval_batch(self, env_num: int, split: str, seed: int, **kwargs: Any) -> BatchSpec:
        """The first env_num items of a split in their order, never shuffled; 0 means all."""
        items = self.get_split_items(split)
        items = items[:env_num] if env_num else items
        return BatchSpec("eval", split, seed, len(items), items)

    def plan_train_epoch(
        self, *, epoch: int, steps_per_epoch: int, accumulation: int, batch_size: int, seed: int, **kwargs: Any
    ) -> list[BatchSpec]:
        """Every train item once, in an order of this epoch (seed + 1000 x epoch), in batches of batch_size.

        A batch for which nothing is left is filled with a shuffle of all items of its own.
        """
        start = seed + epoch * 1000
        order = list(self.train_items)
        random.Random(start).shuffle(order)
        batches = []
        for number in range(steps_per_epoch * accumulation):
            batch_seed = start + number + 1
            items = order[number * batch_size : (number + 1) * batch_size]
            if not items:
                again = list(order)
                random.Random(batch_seed).shuffle(again)
                items = again[:batch_size]
            batches.append(BatchSpec("train", "train", batch_seed, len(items), items))
        return batches

    def _split_by_ratio(self, cfg: dict[str, Any]) -> str:
        if not self.data_path:
            raise ValueError(f"{type(self).__name__}: split_mode=ratio needs a data_path")
        ratio = self.split_ratio or "2:1:7"
        source = Path(self.data_path).absolute()
        items = list(self.load_raw_items(str(source)))
        if not items:
            raise ValueError(f"{source}: no items to split")
        random.Random(self.split_seed).shuffle(items)
        sizes = split_sizes(len(items), parse_ratio(ratio))
        folder = self._output_folder(cfg, ratio)
        start = 0
        for name, size in zip(SPLIT_NAMES, sizes, strict=True):
            self.write_split_items(str(folder / name), items[start : start + size])
            start += size
        manifest = {
            "source_data_path": str(source),
            "split_mode": "ratio",
            "split_ratio": ratio,
            "split_seed": self.split_seed,
            "counts": dict(zip(SPLIT_NAMES, sizes, strict=True)),
        }
        (folder / "split_manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2), "utf-8")
        return str(folder)

    def _output_folder(self, cfg: dict[str, Any], ratio: str) -> Path:
        if self.split_output_dir:
            return Path(self.split_output_dir).absolute()
        name = str(cfg.get("env") or type(self).__name__.replace("DataLoader", "").lower())
        root = Path(str(cfg.get("out_root") or Path.cwd())).absolute()
        return root / "_generated_splits" / f"{name}_{ratio.replace(':', '-')}_seed{self.split_seed}"
