"""What conf/ may call while it is composed: the resolvers that unroll the steps, and the types of the configuration.

Hydra imports this module wherever `stages` is on the path: in compose.py, and in `dvc exp run` through
`hydra.plugins_path`. A resolver that returns a map must return an OmegaConf node.
"""

from typing import Any

from omegaconf import DictConfig, OmegaConf

from skillpipe import config, schedule


def _steps(epochs: int, per_epoch: int, maximum: int, minimum: int, kind: str, slow_update: bool) -> DictConfig:
    return OmegaConf.create(schedule.unroll(epochs, per_epoch, maximum, minimum, kind, slow_update))


def _slow_updates(epochs: int, per_epoch: int, slow_update: bool) -> DictConfig:
    return OmegaConf.create(schedule.unroll_epochs(epochs, per_epoch, slow_update))


def _extra_tests(last: bool, state: str) -> DictConfig:
    return OmegaConf.create({"last": {"state": state}} if last else {})


def _when(wanted: bool, path: str, *, _root_: DictConfig) -> Any:
    """The node at `path`, or null: a section that does not hold it is not stale when it changes."""
    return OmegaConf.select(_root_, path) if wanted else None


OmegaConf.register_new_resolver("steps", _steps, replace=True)
OmegaConf.register_new_resolver("slow_updates", _slow_updates, replace=True)
OmegaConf.register_new_resolver("extra_tests", _extra_tests, replace=True)
OmegaConf.register_new_resolver("last_state", schedule.last_state, replace=True)
OmegaConf.register_new_resolver("when", _when, replace=True)
OmegaConf.register_new_resolver("conf_digest", config.conf_digest, replace=True)
config.register()
