"""Ledgers and the calls in them, for tests."""

import os
from pathlib import Path
from typing import Any, Literal

from skillpipe.ledger import Call, Ledger, canonical, key_of, report
from skillpipe.ledger.database import connect
from skillpipe.models import Reply
from skillpipe.records import Usage
from skillpipe.secrets import Secrets

STAGES = Path(__file__).parent.parent / "stages"
ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STAGES), str(Path(__file__).parent)])}
HEAD = "import sys, books as t; from pathlib import Path; ledger = t.opened(Path(sys.argv[1]))\n"
NO_SECRETS = Secrets([], {})
ANSWER = Reply("yes\n \x00 é", Usage(1, 10, 2, 0.25), "length")


def a_call(number: int = 1, model: str = "m") -> Call:
    request = canonical({"model": model, "number": number})
    return Call(key_of(request), model, request)


def opened(path: Path, on_doubt: Literal["retry", "stop"] = "retry", experiment: str = "e") -> Ledger:
    return Ledger(path, experiment=experiment, on_doubt=on_doubt, secrets=NO_SECRETS)


def row(path: Path, call: Call) -> dict[str, Any]:
    db = connect(path, create=False)
    found = [record for record in report.export(db) if record["key"] == call.key]
    db.close()
    assert len(found) == 1
    return found[0]
