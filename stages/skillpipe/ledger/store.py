"""The ledger's rows: reserve, settle, fail."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from skillpipe.errors import SkillpipeError
from skillpipe.ledger.database import connect, owners_folder
from skillpipe.ledger.owner import Owner, is_alive
from skillpipe.models import Reply
from skillpipe.records import Usage
from skillpipe.secrets import Secrets

_FIND = "SELECT state, owner, doubts, reply, finish, input_tokens, output_tokens, cost_usd FROM calls WHERE key = ?"
_RESERVE = """
INSERT INTO calls (key, state, owner, model, experiment, request, attempts, doubts, reserved_at)
VALUES (:key, 'reserved', :owner, :model, :experiment, :request, 1, 0, :now)
ON CONFLICT (key) DO UPDATE SET state = 'reserved', owner = :owner, experiment = :experiment,
  attempts = attempts + 1, doubts = doubts + (state = 'reserved'), error_class = NULL, error = NULL,
  reserved_at = :now, settled_at = NULL
"""
# Also when the row was pruned meanwhile: what is paid is kept. A reply that is there already stays.
_SETTLE = """
INSERT INTO calls (key, state, owner, model, experiment, request, attempts, doubts, reserved_at, settled_at,
  reply, finish, input_tokens, output_tokens, cost_usd, error_class, error)
VALUES (:key, :state, '', :model, :experiment, :request, 1 + :more, 0, :now, :now,
  :reply, :finish, :input_tokens, :output_tokens, :cost_usd, :error_class, :error)
ON CONFLICT (key) DO UPDATE SET state = :state, owner = '', attempts = attempts + :more, settled_at = :now,
  reply = :reply, finish = :finish, input_tokens = :input_tokens, output_tokens = :output_tokens,
  cost_usd = :cost_usd, error_class = :error_class, error = :error
WHERE state <> 'done'
"""
_OUTCOME = ("reply", "finish", "input_tokens", "output_tokens", "cost_usd", "error_class", "error")
_ABANDON = "UPDATE calls SET owner = '', attempts = attempts + ? WHERE key = ? AND owner = ?"
_USE = """
INSERT INTO uses VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET hits = hits + excluded.hits, misses = misses + excluded.misses
"""


@dataclass(frozen=True)
class Call:
    """One request: `key` from `key_of(request)`, `request` its canonical JSON."""

    key: str
    model: str
    request: str


class InDoubt(SkillpipeError):
    """A call that a process which died had sent, under `on_doubt: stop`."""


def canonical(description: Mapping[str, Any]) -> str:
    """One JSON text for equal descriptions: sorted keys, no spaces, ASCII. ValueError for NaN."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(request: str) -> str:
    """The sha256, in hex, of a request's canonical JSON."""
    return hashlib.sha256(request.encode()).hexdigest()


class Ledger:
    """The ledger as one process sees it. For one thread; any number of processes may share the file.

    Survives kill -9 at any moment. After a power cut the last rows may be missing, and would be paid again:
    no write waits for the disk. Cannot live on a network file system.

    Args:
        path: the SQLite file, made with its folders when missing; `~` is the home folder.
        experiment: what rows written here are filed under.
        on_doubt: what to do with a call whose process died after reserving it: "retry" sends it again,
            "stop" raises InDoubt.
        secrets: what must not be written.
    """

    def __init__(
        self, path: str | Path, *, experiment: str, on_doubt: Literal["retry", "stop"], secrets: Secrets
    ) -> None:
        self._path = Path(path).expanduser()
        self._experiment, self._on_doubt, self._secrets = experiment, on_doubt, secrets
        self._hits: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._doubts: dict[str, int] = {}
        self._db = connect(self._path, create=True)
        self._owners = owners_folder(self._path)
        self._owner = Owner(self._owners)

    @property
    def doubts(self) -> int:
        """How often the calls that were asked for here had been sent by a process that died, and were sent again.

        They may have been paid each time. It is the same for whoever asks for the same calls, now or later.
        """
        return sum(self._doubts.values())

    def find(self, call: Call) -> Reply | None:
        """The answer when it is known. Writes nothing."""
        row = self._db.execute(_FIND, (call.key,)).fetchone()
        return self._hit(call, row) if row is not None and row[0] == "done" else None

    def claim(self, call: Call) -> Reply | Literal["mine", "busy"]:
        """The answer when it is known; else "mine", or "busy".

        "mine": the call is reserved, and must now be sent and then settled, failed or abandoned. "busy":
        someone who lives is at it, ask again. A failed call can be claimed again. Raises InDoubt as
        `on_doubt` says.
        """
        found = self._known(call)
        if found is not None:
            return found
        with self._writing():
            found = self._known(call)  # others may have come first
            if found is None:
                self._db.execute(_RESERVE, self._row(call))
                self._misses[call.model] += 1
                self._note(call, self._db.execute(_FIND, (call.key,)).fetchone())
        return found or "mine"

    def settle(self, call: Call, reply: Reply, attempts: int) -> Reply:
        """Write the answer down, with the cost in its usage, and return it as it will be found again: use that one.

        `attempts` is the number of requests that this claim sent.
        """
        reply = replace(reply, text=self._secrets.known(reply.text))
        self._close_row(
            call,
            attempts,
            state="done",
            reply=reply.text,
            finish=reply.finish,
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
            cost_usd=reply.usage.cost_usd,
        )
        return reply

    def fail(self, call: Call, error_class: str, error: str, attempts: int) -> None:
        """Write down that the call could not be made or answered."""
        error = self._secrets.redact(error)
        self._close_row(call, attempts, state="failed", error_class=error_class, error=error)

    def abandon(self, call: Call, attempts: int) -> None:
        """Say that the outcome will not be known (the wait was cancelled): in doubt from now on."""
        self._db.execute(_ABANDON, (attempts - 1, call.key, self._owner.id))

    def close(self) -> None:
        """Write down how often this process was answered from here, and end it as an owner."""
        models = {*self._hits, *self._misses}
        if models:
            with self._writing():
                for model in sorted(models):
                    use = (self._experiment, model, self._hits[model], self._misses[model])
                    self._db.execute(_USE, use)
        self._db.close()
        self._owner.close()

    def _known(self, call: Call) -> Reply | Literal["busy"] | None:
        """What the row says; None when the call may be reserved."""
        row = self._db.execute(_FIND, (call.key,)).fetchone()
        if row is None or row[0] == "failed":
            return None
        if row[0] == "done":
            return self._hit(call, row)
        if row[1] == self._owner.id or is_alive(self._owners, row[1]):
            return "busy"
        if self._on_doubt == "stop":
            raise InDoubt(
                f"{self._path}: a call to {call.model} was sent by a run that died, and may have been paid; "
                f"`python -m skillpipe.ledger --ledger {self._path} doubts` lists such calls. To send them again, type "
                "`python stages/compose.py execution.target.on_doubt=retry` (or execution.optimizer.on_doubt=retry), "
                "with the overrides of this run, and `dvc repro`"
            )
        return None

    def _hit(self, call: Call, row: tuple[Any, ...]) -> Reply:
        _, _, _, text, finish, input_tokens, output_tokens, cost = row
        self._hits[call.model] += 1
        self._note(call, row)
        return Reply(text, Usage(1, input_tokens, output_tokens, cost), finish)

    def _note(self, call: Call, row: tuple[Any, ...]) -> None:
        if doubts := row[2]:
            self._doubts[call.key] = doubts

    def _close_row(self, call: Call, attempts: int, **values: object) -> None:
        row = {**self._row(call), **dict.fromkeys(_OUTCOME), **values, "more": attempts - 1}
        self._db.execute(_SETTLE, row)

    def _row(self, call: Call) -> dict[str, object]:
        request = self._secrets.known(call.request)
        row = {"key": call.key, "model": call.model, "request": request, "experiment": self._experiment}
        return {**row, "owner": self._owner.id, "now": time.time()}

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:  # whatever it was, nothing half-done stays, and it goes on
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
