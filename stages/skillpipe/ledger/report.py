"""What the ledger's rows add up to, and what may be taken out of them."""

import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skillpipe.ledger.database import owners_folder
from skillpipe.ledger.owner import forget_dead, is_alive

Group = Literal["model", "experiment"]
Prunable = Literal["doubts", "failed", "done"]

_SPEND = """
SELECT {group}, SUM(state = 'done'), SUM(state = 'failed'), SUM(attempts), SUM(doubts),
  SUM(input_tokens), SUM(output_tokens), SUM(cost_usd), SUM(state = 'done' AND cost_usd IS NULL)
FROM calls GROUP BY {group} ORDER BY {group}
"""
_USES = "SELECT {group}, SUM(hits), SUM(misses) FROM uses GROUP BY {group}"
_OPEN = """
SELECT key, owner, model, experiment, reserved_at FROM calls WHERE state = 'reserved' ORDER BY reserved_at
"""


@dataclass(frozen=True)
class Spend:
    """What one model, or one experiment, has cost. `cost_usd` leaves out the `unpriced` calls.

    `attempts` are requests sent or feared to have been; `resent` those that were in doubt and sent again;
    `hit_rate` is the share of requests answered from the ledger, by processes that have ended in order; None
    when there were none.
    """

    name: str
    done: int
    failed: int
    in_doubt: int
    attempts: int
    resent: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced: int
    hit_rate: float | None


@dataclass(frozen=True)
class Doubt:
    """A call that was sent, or about to be, by an owner that lives no more.

    `since` is in seconds since 1970.
    """

    key: str
    model: str
    experiment: str
    since: float


def spend(db: sqlite3.Connection, path: Path, group: Group) -> list[Spend]:
    """One row per model or per experiment, by name."""
    uses = {name: (hits, misses) for name, hits, misses in db.execute(_USES.format(group=group))}
    doubtful = [getattr(doubt, group) for doubt in doubts(db, path)]
    rows = []
    for name, done, failed, attempts, resent, *paid in db.execute(_SPEND.format(group=group)):
        hits, misses = uses.get(name, (0, 0))
        rate = hits / (hits + misses) if hits + misses else None
        read, written, cost, unpriced = (value or 0 for value in paid)
        tokens = (read, written, float(cost), unpriced)
        rows.append(Spend(name, done, failed, doubtful.count(name), attempts, resent, *tokens, rate))
    return rows


def doubts(db: sqlite3.Connection, path: Path) -> list[Doubt]:
    """The calls in doubt, oldest first."""
    folder = owners_folder(path)
    rows = db.execute(_OPEN).fetchall()
    alive = {owner: is_alive(folder, owner) for owner in {row[1] for row in rows}}
    return [Doubt(key, model, name, since) for key, owner, model, name, since in rows if not alive[owner]]


def prune(db: sqlite3.Connection, path: Path, what: Prunable, older_than_days: float) -> int:
    """Delete calls in doubt, failed ones, or answers, that are older, and return how many they were.

    Their requests would be sent, and paid, again. The files of owners that died are deleted too.
    """
    before = time.time() - 86400 * older_than_days
    if what == "doubts":
        keys = [(doubt.key, before) for doubt in doubts(db, path)]
        statement = "DELETE FROM calls WHERE state = 'reserved' AND key = ? AND reserved_at <= ?"
        found = db.executemany(statement, keys).rowcount if keys else 0
    else:
        found = db.execute("DELETE FROM calls WHERE state = ? AND settled_at <= ?", (what, before)).rowcount
    forget_dead(owners_folder(path))
    return found


def export(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Every row as a dict, in the order of reservation; `request` is decoded."""
    rows = db.execute("SELECT * FROM calls ORDER BY reserved_at, key")
    names = [column[0] for column in rows.description]
    for row in rows:
        record = dict(zip(names, row, strict=True))
        yield {**record, "request": json.loads(record["request"])}
