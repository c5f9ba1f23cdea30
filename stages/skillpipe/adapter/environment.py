"""What connects a benchmark to training: the abstract class that a user's adapter derives from."""

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from skillpipe.adapter.loading import BaseDataLoader, BatchSpec
from skillpipe.errors import SkillpipeError

Row = dict[str, Any]
Item = dict[str, Any]


class EnvAdapter(ABC):
    """Builds environments and rolls skills out in them. A subclass has four methods to write; the rest has defaults.

    What is looked up in SkillOpt's own prompt folders (get_error_minibatch_prompt, get_success_minibatch_prompt) has no
    counterpart: what an optimizer is told stands in prompts/.
    """

    def setup(self, cfg: dict[str, Any]) -> None:
        """Called once before anything else, with a flat configuration, of which it keeps a copy."""
        self._cfg = dict(cfg)

    def get_dataloader(self) -> BaseDataLoader | None:
        """What plans batches; None if the adapter finds its own."""
        return None

    def requires_ray(self) -> bool:
        """Whether Ray must be running before a rollout."""
        return False

    @abstractmethod
    def build_train_env(self, batch_size: int, seed: int, **kwargs: Any) -> Any:
        """An environment of batch_size train tasks, to be given to rollout."""

    @abstractmethod
    def build_eval_env(self, env_num: int, split: str, seed: int, **kwargs: Any) -> Any:
        """An environment of the first env_num tasks of a split, 0 for all, to be given to rollout."""

    @abstractmethod
    def rollout(self, env_manager: Any, skill_content: str, out_dir: str, **kwargs: Any) -> list[Row]:
        """One row per task of the environment: `id`, `hard` (0 or 1, or a fraction), `soft` (0 to 1), and what else.

        What was said belongs into <out_dir>/predictions/<id>/conversation.json.
        """

    @abstractmethod
    def get_task_types(self) -> list[str]:
        """The kinds of task there are."""

    def reflect(self, results: list[Row], skill_content: str, out_dir: str, **kwargs: Any) -> list[Row | None]:
        """Always raises SkillpipeError: unlike SkillOpt, an adapter has no model that reflects; the optimizer has."""
        raise SkillpipeError(
            "EnvAdapter.reflect: here the optimizer reflects, not the adapter; choose one in conf/optimizer, such as "
            "`dvc exp run -S optimizer=model`"
        )

    def build_env_from_batch(self, batch: BatchSpec, **kwargs: Any) -> Any:
        """The environment of a batch, by its size, split and seed; override it to use the batch's payload."""
        if batch.phase == "train":
            return self.build_train_env(batch_size=batch.batch_size, seed=batch.seed, **kwargs)
        return self.build_eval_env(env_num=batch.batch_size, split=batch.split, seed=batch.seed, **kwargs)

    def build_reference_text(self, item: Item) -> str:
        """What the optimizer may see of an item and the target may not; empty for none."""
        return str(item.get("reference_text") or "").strip()

    def get_reference_metadata(self, item: Item) -> dict[str, Any]:
        """Which fields the reference was made of, and its first 400 characters."""
        text = self.build_reference_text(item)
        return {"fields": ["reference_text"] if text else [], "preview": text[:400]}

    def attach_reference_context(self, results: list[Row], items: list[Item] | None) -> list[Row]:
        """The rows as copies, in order, each with the reference of the item with its id, where there is one."""
        known = _by_id(items)
        references = {key: text for key, item in known.items() if (text := self.build_reference_text(item))}
        rows = [(row, references.get(str(row.get("id")), "")) for row in results]
        return [dict(row) | ({"reference_text": text} if text else {}) for row, text in rows]

    def select_representative_items(
        self,
        results: list[Row],
        items: list[Item] | None,
        *,
        n_failures: int,
        n_successes: int,
        seed: int | None = None,
    ) -> list[Item]:
        """A few items that failed (hard is 0), then a few that did not: of every task type first, then any.

        In an order drawn with `seed`; at most as many as asked for, none twice.
        """
        known = _by_id(items)
        rng = random.Random(seed)
        failed: list[tuple[Row, Item]] = []
        passed: list[tuple[Row, Item]] = []
        for row in results:
            if (item := known.get(str(row.get("id")))) is not None:
                (passed if row.get("hard") else failed).append((row, item))
        picked = _diverse(failed, n_failures, rng)
        taken = {str(item["id"]) for item in picked}
        return picked + [item for item in _diverse(passed, n_successes, rng) if str(item["id"]) not in taken]


def _by_id(items: Sequence[Item] | None) -> dict[str, Item]:
    return {str(item["id"]): item for item in items or () if isinstance(item, dict) and item.get("id") is not None}


def _diverse(pool: list[tuple[Row, Item]], quota: int, rng: random.Random) -> list[Item]:
    if quota <= 0 or not pool:
        return []
    drawn = list(pool)
    rng.shuffle(drawn)
    first_of_type: dict[str, str] = {}
    for row, item in drawn:
        kind = row.get("task_type") or item.get("task_type") or item.get("subtype") or "unknown"
        if str(item["id"]) not in first_of_type.values():
            first_of_type.setdefault(str(kind), str(item["id"]))
    unique = {str(item["id"]): item for _, item in drawn}
    order = dict.fromkeys([*first_of_type.values(), *unique])
    return [unique[key] for key in order][:quota]
