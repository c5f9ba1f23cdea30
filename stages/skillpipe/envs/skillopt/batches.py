"""Which items an adapter has, and how some of them become the environment of one rollout.

Works on objects, not on classes: an adapter may derive from SkillOpt's EnvAdapter or from the one here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skillpipe.errors import SkillpipeError
from skillpipe.records import Split

Item = dict[str, Any]

METHODS = (
    "setup",
    "get_dataloader",
    "requires_ray",
    "build_eval_env",
    "build_env_from_batch",
    "build_reference_text",
    "rollout",
    "reflect",
    "get_task_types",
)
# What SkillOpt's trainer calls the splits.
SPLIT_NAMES: dict[Split, str] = {"train": "train", "val": "valid_seen", "test": "valid_unseen"}
# Where the methods of an adapter that it did not write itself come from.
BASES = ("skillopt.envs.base", "skillpipe.adapter.environment")


def overrides(adapter: Any, method: str) -> bool:
    """Whether the adapter has this method of its own, and not from the abstract class."""
    return getattr(type(adapter), method).__module__ not in BASES


class Batches:
    """The items of one adapter, by split.

    Items come from the loader's eval batch of the whole split (its payload) or, where there is no loader, from
    build_eval_env(env_num=0, ...), which must then be the list of the items: so SkillOpt's eval_only takes it too.
    """

    def __init__(self, adapter: Any, name: str, seed: int, out_root: str) -> None:
        self._adapter, self._name = adapter, name
        self._how = {"seed": seed, "out_root": out_root}

    def items(self, split: Split) -> list[Item]:
        """All items of a split in the adapter's order. Raises SkillpipeError where the adapter cannot list them."""
        loader, where = self._adapter.get_dataloader(), SPLIT_NAMES[split]
        if loader is None:
            found, call = self._adapter.build_eval_env(env_num=0, split=where, **self._how), "build_eval_env"
        else:
            found, call = loader.build_eval_batch(env_num=0, split=where, **self._how).payload, "build_eval_batch"
        if not _are_items(found):
            raise SkillpipeError(
                f"{self._name}: {call}(env_num=0, split={where!r}) gave {_what(found)}; tasks are known before "
                "they are run, so it must give a list of dicts with an id: from a data loader as the batch's payload, "
                "or without one from build_eval_env itself"
            )
        return list(found)

    def environment(self, split: Split, ids: Sequence[str]) -> Any:
        """What rollout is given to run the items with these ids, and no other.

        The loader's batch of the whole split is cut down to them, with every list in its metadata that has an entry per
        item, and goes through build_env_from_batch. An adapter whose environments are lists of items is given a part of
        that list. Raises SkillpipeError when the adapter makes an environment of other items.
        """
        if self._adapter.get_dataloader() is None:
            return self._part_of_all(split, ids)
        batch = self._narrowed(self._batch(split), ids)
        environment = self._adapter.build_env_from_batch(batch, out_root=self._how["out_root"])
        if _are_items(environment):
            same = sorted(str(item["id"]) for item in environment) == sorted(ids)
            return environment if same else self._part_of_all(split, ids)
        if not overrides(self._adapter, "build_env_from_batch"):
            raise SkillpipeError(
                f"{self._name}: build_env_from_batch is the default, which knows a batch's size and seed and not its "
                "items; write one that makes the environment of batch.payload"
            )
        return environment

    def _batch(self, split: Split) -> Any:
        loader = self._adapter.get_dataloader()
        if split == "train":
            return loader.build_train_batch(batch_size=len(self.items(split)), **self._how)
        return loader.build_eval_batch(env_num=0, split=SPLIT_NAMES[split], **self._how)

    def _narrowed(self, batch: Any, ids: Sequence[str]) -> Any:
        payload = list(batch.payload)
        places = self._places(payload, ids)
        metadata = {
            key: [value[place] for place in places]
            if isinstance(value, list | tuple) and len(value) == len(payload)
            else value
            for key, value in batch.metadata.items()
        }
        items = [payload[place] for place in places]
        return replace(batch, payload=items, batch_size=len(items), metadata=metadata)

    def _part_of_all(self, split: Split, ids: Sequence[str]) -> list[Item]:
        every = self._adapter.build_eval_env(env_num=0, split=SPLIT_NAMES[split], **self._how)
        if not _are_items(every):
            raise SkillpipeError(
                f"{self._name}: build_eval_env(env_num=0) gave {_what(every)}; a list of items is needed"
            )
        return [every[place] for place in self._places(every, ids)]

    def _places(self, items: Sequence[Item], ids: Sequence[str]) -> list[int]:
        places = {str(item["id"]): place for place, item in enumerate(items)}
        missing = [key for key in ids if key not in places]
        if missing:
            raise SkillpipeError(
                f"{self._name}: its batch of {len(items)} items has none with id {missing[0]!r}; the same seed must "
                "give the same items, and a batch of the whole split all of them"
            )
        return [places[key] for key in ids]


def _are_items(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(item, dict) and item.get("id") is not None for item in value
    )


def _what(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} with a member that is no dict with an id"
    return type(value).__name__
