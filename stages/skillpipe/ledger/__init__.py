"""The book of every call that costs: written down before it is sent, settled after.

One SQLite file, shared by all processes of a machine. What was paid for once is never paid for again, and
what a killed process left open is known to be in doubt. `python -m skillpipe.ledger --help` shows what is in
it.
"""

from skillpipe.ledger.store import Call, InDoubt, Ledger, canonical, key_of

__all__ = ["Call", "InDoubt", "Ledger", "canonical", "key_of"]
