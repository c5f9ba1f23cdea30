"""An environment that runs an adapter which was written for SkillOpt."""

from skillpipe.envs.skillopt.environment import SkillOpt

__all__ = ["SkillOpt"]
