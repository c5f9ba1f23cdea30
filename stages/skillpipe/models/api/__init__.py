"""Models that answer over the network and may cost: every call goes through the ledger.

This folder is what a stage depends on when its model is one of these; the ledger, which remembers answers and
changes none, is not in it.
"""

from skillpipe.models.api.chat_server import ChatServer
from skillpipe.models.api.litellm_model import LitellmModel

__all__ = ["ChatServer", "LitellmModel"]
