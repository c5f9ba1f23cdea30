"""Who reserved a call, and whether that process still lives.

A process id says too little: it is reused, and means nothing in another container or after a restart. Instead
each owner holds a lock on a file of its own, which the kernel drops when the process ends, however it ends.
SQLite's locks are the portable ones of the standard library; the file itself stays empty.
"""

import sqlite3
import time
import uuid
from pathlib import Path


class Owner:
    """An owner of reservations, alive until `close` or the end of the process. `id` is never used twice."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.id = uuid.uuid4().hex
        self._path = folder / self.id
        self._lock = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        self._lock.execute("PRAGMA journal_mode = MEMORY")  # no second file
        self._lock.execute("BEGIN EXCLUSIVE")

    def close(self) -> None:
        """End this owner: what it still has reserved is in doubt from now on."""
        self._lock.close()
        self._path.unlink(missing_ok=True)


def is_alive(folder: Path, owner: str) -> bool:
    """Whether this owner still lives. A copy of the ledger, made without its folder, has no live owners."""
    path = folder / owner
    if not owner or not path.exists():
        return False
    probe = None
    try:
        # mode=rw: an owner that ends just now has deleted the file, and it must not come back
        uri = f"{path.resolve().as_uri()}?mode=rw"
        probe = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)
        probe.execute("PRAGMA journal_mode = MEMORY")
        probe.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return path.exists()  # locked by its owner (or, for a moment, by another who asks: ask again later)
    finally:
        if probe is not None:
            probe.close()
    return False


def forget_dead(folder: Path, older_than_s: float = 3600.0) -> None:
    """Delete the files of dead owners, but for young ones: theirs may be about to take its lock."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if time.time() - path.stat().st_mtime > older_than_s and not is_alive(folder, path.name):
            path.unlink(missing_ok=True)
