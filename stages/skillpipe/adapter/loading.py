"""What a batch is, and what plans batches."""

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class BatchSpec:
    """One batch that is asked for.

    `phase` is "train" or "eval"; `payload` is what the loader found, for a data set the list of its items; `metadata`
    is the loader's own, a new dict each.
    """

    phase: str
    split: str
    seed: int
    batch_size: int
    payload: object | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class BaseDataLoader(ABC):
    """Plans batches. A subclass says how one train batch and one eval batch are made."""

    def setup(self, cfg: dict[str, Any]) -> None:  # noqa: B027  a hook: doing nothing is the default
        """Called once, with the whole flat configuration, before any batch is asked for."""

    def set_out_root(self, out_root: str) -> None:  # noqa: B027
        """Told where a run writes, for loaders that keep files."""

    def state_dict(self) -> dict[str, Any]:
        """What the loader must remember to go on later: nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Take back what state_dict gave."""

    def get_train_size(self) -> int | None:
        """How many train items there are; None if that is not known."""
        return None

    @staticmethod
    def make_base_seeds(steps_per_epoch: int, accumulation: int, seed: int) -> list[int]:
        """One seed per train batch of an epoch: seed + 1, seed + 2, ..."""
        return list(range(seed + 1, seed + steps_per_epoch * accumulation + 1))

    @staticmethod
    def shuffle_epoch_seeds(base_seeds: list[int], epoch: int, seed: int) -> list[int]:
        """The seeds in the order of this epoch, as a new list: shuffled with seed + 1000 x epoch."""
        order = list(base_seeds)
        random.Random(seed + epoch * 1000).shuffle(order)
        return order

    def plan_train_epoch(
        self, *, epoch: int, steps_per_epoch: int, accumulation: int, batch_size: int, seed: int, **kwargs: Any
    ) -> list[BatchSpec]:
        """The epoch's train batches, steps_per_epoch x accumulation of them, each made from a seed of its own."""
        seeds = self.make_base_seeds(steps_per_epoch=steps_per_epoch, accumulation=accumulation, seed=seed)
        return [
            self.build_train_batch(batch_size=batch_size, seed=batch_seed, **kwargs)
            for batch_seed in self.shuffle_epoch_seeds(seeds, epoch=epoch, seed=seed)
        ]

    @abstractmethod
    def build_train_batch(self, batch_size: int, seed: int, **kwargs: Any) -> BatchSpec:
        """One train batch; the same seed gives the same batch."""

    @abstractmethod
    def build_eval_batch(self, env_num: int, split: str, seed: int, **kwargs: Any) -> BatchSpec:
        """One batch of a split to evaluate on; env_num 0 means all of it."""
