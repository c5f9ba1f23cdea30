"""A small adapter for SkillOpt, written against its documentation alone (docs/reference/api.md of SkillOpt 0.2.0).

It imports nothing of this project. Its tasks ask for a word in capitals, backwards, or its number of letters; its
model is a function that does a kind of task right if the skill speaks of it: so the same skill always scores the same,
without a network. bench/skillopt_adapter.py runs it in SkillOpt and here.
"""

import json
from pathlib import Path

from skillopt.datasets.base import SplitDataLoader
from skillopt.envs.base import EnvAdapter

KINDS = {"capitals": str.upper, "backwards": lambda word: word[::-1], "letters": lambda word: str(len(word))}


class WordsLoader(SplitDataLoader):
    """Items as they lie in split_dir/<split>/items.json: id, question, ground_truth, task_type."""


class WordsAdapter(EnvAdapter):
    """Rolls out every item at once, and leaves conversations and results.jsonl behind."""

    def __init__(
        self, split_dir: str = "", split_mode: str = "split_dir", split_seed: int = 42, limit: int = 0
    ) -> None:
        self.loader = WordsLoader(split_dir=split_dir, split_mode=split_mode, split_seed=split_seed, limit=limit)

    def setup(self, cfg: dict) -> None:
        super().setup(cfg)
        self.loader.setup(cfg)

    def get_dataloader(self):
        return self.loader

    def build_env_from_batch(self, batch, **kwargs):
        return list(batch.payload or [])

    def build_train_env(self, batch_size: int, seed: int, **kwargs):
        return self.build_env_from_batch(self.loader.build_train_batch(batch_size=batch_size, seed=seed))

    def build_eval_env(self, env_num: int, split: str, seed: int, **kwargs):
        return self.build_env_from_batch(self.loader.build_eval_batch(env_num=env_num, split=split, seed=seed))

    def get_task_types(self) -> list[str]:
        return list(KINDS)

    def rollout(self, env_manager, skill_content: str, out_dir: str, **kwargs) -> list[dict]:
        rows = [self._one(item, skill_content, Path(out_dir)) for item in env_manager]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (Path(out_dir) / "results.jsonl").write_text(lines, "utf-8")
        return rows

    def _one(self, item: dict, skill: str, out_dir: Path) -> dict:
        said = model(skill, item["question"])
        wanted = item["ground_truth"]
        right = sum(a == b for a, b in zip(said, wanted, strict=False))
        folder = out_dir / "predictions" / item["id"]
        folder.mkdir(parents=True, exist_ok=True)
        conversation = [{"role": "user", "content": item["question"]}, {"role": "assistant", "content": said}]
        (folder / "conversation.json").write_text(json.dumps(conversation), "utf-8")
        return {
            "id": item["id"],
            "hard": int(said == wanted),
            "soft": right / max(len(said), len(wanted)),
            "n_turns": 1,
            "task_type": item["task_type"],
            "fail_reason": "" if said == wanted else f"expected {wanted!r}, got {said!r}",
            "predicted_answer": said,
        }


def model(skill: str, question: str) -> str:
    """Answers `<kind>: <word>`; with the word as it is, unless the skill speaks of the kind."""
    kind, word = question.split(": ")
    return KINDS[kind](word) if kind in skill.lower() else word


def write_items(folder: Path) -> None:
    """train (12 items), val (9) and test (15) under `folder`, in the layout of split_mode=split_dir."""
    number = 0
    for split, size in (("train", 12), ("val", 9), ("test", 15)):
        items = []
        for _ in range(size):
            kind, word = list(KINDS)[number % 3], "abcdefghij"[number % 7 :] + "xyz"[: number % 4] + str(number)
            item = {"id": f"w{number}", "question": f"{kind}: {word}", "ground_truth": KINDS[kind](word)}
            items.append(item | {"task_type": kind, "reference_text": f"{kind} of {word}"})
            number += 1
        (folder / split).mkdir(parents=True, exist_ok=True)
        (folder / split / "items.json").write_text(json.dumps(items, indent=1), "utf-8")
