"""Adapters as a user writes them, on the classes of skillpipe.adapter: their model is a function."""

import json
from pathlib import Path

from skillpipe.adapter import EnvAdapter, SplitDataLoader

SIZES = {"train": 4, "val": 3, "test": 2}


def items(split: str) -> list[dict]:
    return [
        {"id": f"{split}{number}", "word": f"{split}{number}", "task_type": "even" if number % 2 == 0 else "odd"}
        for number in range(SIZES[split])
    ]


def write_items(folder: Path) -> None:
    """train (4 items), val (3) and test (2), as SplitDataLoader reads them."""
    for split in SIZES:
        (folder / split).mkdir(parents=True)
        (folder / split / "items.json").write_text(json.dumps(items(split)), "utf-8")


class Words(EnvAdapter):
    """Passes the items whose task type stands in the skill. Keeps what its rollouts were given.

    `change` is applied to the list of rows before it is given back.
    """

    def __init__(self, split_dir="", change=None):
        self.loader = SplitDataLoader(split_dir=str(split_dir), split_mode="split_dir")
        self.change, self.calls = change, []

    def setup(self, cfg):
        super().setup(cfg)
        self.loader.setup(cfg)

    def get_dataloader(self):
        return self.loader

    def get_task_types(self):
        return ["even", "odd"]

    def build_env_from_batch(self, batch, **kwargs):
        return batch.payload

    def build_train_env(self, batch_size, seed, **kwargs):
        return self.loader.build_train_batch(batch_size, seed).payload

    def build_eval_env(self, env_num, split, seed, **kwargs):
        return self.loader.build_eval_batch(env_num, split, seed).payload

    def rollout(self, env_manager, skill_content, out_dir, **kwargs):
        self.calls.append(([item["id"] for item in env_manager], skill_content, Path(out_dir), kwargs))
        rows = [self.row(item, skill_content, Path(out_dir)) for item in env_manager]
        return self.change(rows) if self.change else rows

    def row(self, item, skill, out_dir):
        passed = item["task_type"] in skill
        say(out_dir, item["id"], [{"role": "user", "content": item["word"]}, {"role": "assistant", "content": "yes"}])
        reason = "" if passed else f"no, see {out_dir}"
        return {"id": item["id"], "hard": int(passed), "soft": 1.0 if passed else 0.25, "fail_reason": reason}


class Listed(Words):
    """Has no loader: its environments are lists of items."""

    def get_dataloader(self):
        return None

    build_env_from_batch = EnvAdapter.build_env_from_batch


class Defaulted(Words):
    """Has a loader, and environments that are lists, but leaves build_env_from_batch as it is."""

    build_env_from_batch = EnvAdapter.build_env_from_batch


class Simulator:
    """An environment that does not say which items it holds."""

    def __init__(self, found):
        self.found = found

    def __iter__(self):
        return iter(self.found)


class Simulated(Words):
    """Makes a simulator of a batch's items; with `honest` false, of the batch's size alone."""

    def __init__(self, split_dir="", honest=True):
        super().__init__(split_dir)
        self.honest = honest

    def build_env_from_batch(self, batch, **kwargs):
        every = self.loader.get_split_items(batch.split)
        return Simulator(batch.payload if self.honest else every[: batch.batch_size])


def say(out_dir: Path, key: str, conversation: object) -> None:
    folder = out_dir / "predictions" / key
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "conversation.json").write_text(json.dumps(conversation), "utf-8")
