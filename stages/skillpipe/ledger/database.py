"""The ledger's SQLite file: its tables, and how it is opened."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from skillpipe.errors import SkillpipeError

VERSION = 1
# Seconds to wait for another process that is writing; a write takes well under a millisecond.
BUSY_S = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'done', 'failed')),
  owner TEXT NOT NULL,          -- of the reservation; empty once its outcome is known to be unknown
  model TEXT NOT NULL,
  experiment TEXT NOT NULL,     -- that sent it, and so paid
  request TEXT NOT NULL,        -- canonical JSON of what the key is the hash of
  attempts INTEGER NOT NULL,    -- requests sent, or feared to have been sent
  doubts INTEGER NOT NULL,      -- of these, how many ended with their process and were sent again
  reply TEXT, finish TEXT, input_tokens INTEGER, output_tokens INTEGER,
  cost_usd REAL,                -- NULL: no price known
  error_class TEXT, error TEXT,
  reserved_at REAL NOT NULL, settled_at REAL
);
CREATE INDEX IF NOT EXISTS open_calls ON calls (owner) WHERE state = 'reserved';
CREATE TABLE IF NOT EXISTS uses (
  experiment TEXT NOT NULL, model TEXT NOT NULL, hits INTEGER NOT NULL, misses INTEGER NOT NULL,
  PRIMARY KEY (experiment, model)
);
"""


def owners_folder(path: Path) -> Path:
    """Where the owners of a ledger's reservations hold their locks."""
    return path.with_name(f"{path.name}-owners")


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open a ledger. SkillpipeError if it is missing (unless `create`), or not a ledger of this version."""
    if not create and not path.is_file():
        raise SkillpipeError(f"{path}: no ledger there; no call was made yet, or give --ledger")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # prompts and replies are the user's alone
        db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        _prepare(db, path)
    except (OSError, sqlite3.Error) as error:
        why = "give a path on a local disk that you can write to as the ledger"
        raise SkillpipeError(f"{path}: cannot be opened as a ledger ({error}); {why}") from error
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    with closing(db.execute("PRAGMA user_version")) as rows:
        version = rows.fetchone()[0]
    if version not in (0, VERSION):
        raise SkillpipeError(f"{path}: a ledger of version {version}, this is {VERSION}; give another path")
    if version == 0:
        _use_write_ahead_log(db)
        db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
    db.execute("PRAGMA synchronous = NORMAL")


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch the file over, once. SQLite does not wait for a lock here, so this does."""
    end = time.monotonic() + BUSY_S
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise OSError(f"this file system has no shared memory: journal mode is {mode}")
