"""Tasks that are episodes of a SkyRL Gym environment, registered by skillpipe.skyhook or otherwise."""

import skillpipe.skyhook  # noqa: F401 - before all else: it says what to install when SkyRL Gym is missing
from skillpipe.envs.skyrl.environment import SkyRL

__all__ = ["SkyRL"]
