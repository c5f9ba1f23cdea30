"""What conf/ may call while it is composed: the resolvers that unroll the steps, and the types of the configuration.

Hydra imports this module wherever `stages` is on the path: in compose.py, and in `dvc exp run` through
`hydra.plugins_path`. A resolver that returns a map must return an OmegaConf node.
"""

from omegaconf import DictConfig, OmegaConf

from skillpipe import config, schedule


def _steps(epochs: int, per_epoch: int, maximum: int, minimum: int, kind: str) -> DictConfig:
    return OmegaConf.create(schedule.unroll(epochs, per_epoch, maximum, minimum, kind))


def _last_step(epochs: int, per_epoch: int) -> str:
    return schedule.step_keys(epochs, per_epoch)[-1]


OmegaConf.register_new_resolver("steps", _steps, replace=True)
OmegaConf.register_new_resolver("last_step", _last_step, replace=True)
OmegaConf.register_new_resolver("conf_digest", config.conf_digest, replace=True)
config.register()
