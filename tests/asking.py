"""Models behind an API, and what they are asked in tests."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fault_server import FaultServer
from skillpipe.ledger import report
from skillpipe.ledger.database import connect
from skillpipe.models import Reply, Request
from skillpipe.models.api import ChatServer, LitellmModel
from skillpipe.records import Message

STAGES = Path(__file__).parent.parent / "stages"
KEY = "pl4nted-0123456789-key"
SETTINGS: dict[str, Any] = {
    "model": "openai/toy",
    "api_base": None,
    "api_key_env": "TOY_KEY",
    "temperature": 0.0,
    "max_tokens": 50,
    "seed": None,
    "extra": {},
    "drop_params": False,
    "json_schema": "auto",
    "price": None,
    "timeout_s": 20.0,
    "on_doubt": "retry",
    "retry": {"attempts": 3, "first_wait_s": 0.001, "max_wait_s": 0.002},
}
Model = LitellmModel | ChatServer


def a_model(server: FaultServer | None, path: Path | str, wire: str = "litellm", **changes: Any) -> Model:
    base = server.url if server else "http://127.0.0.1:9/v1"
    settings = {**SETTINGS, "api_base": base, "ledger": path, **changes}
    if wire == "litellm":
        return LitellmModel(**settings)
    own = {"model": "toy", "json_schema": settings["json_schema"] == "always"}
    return ChatServer(**{name: value for name, value in settings.items() if name != "drop_params"} | own)


both_wires = pytest.mark.parametrize("wire", ["litellm", "chat"])


def a_request(text: str, **more: Any) -> Request:
    return Request((Message("system", "the skill"), Message("user", text)), **more)


def ask(model: Model, *texts: str) -> list[Reply | BaseException]:
    """Ask all at once; a failure stands in the place of its reply."""

    async def run() -> list[Reply | BaseException]:
        calls = [model.complete(a_request(text)) for text in texts]
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(run())


def rows(path: Path) -> list[dict[str, Any]]:
    db = connect(path, create=False)
    found = list(report.export(db))
    db.close()
    return found


def in_another_process(script: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join([str(STAGES), str(Path(__file__).parent)])
    everything = {**os.environ, "PYTHONPATH": search, **environ}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=everything, text=True, capture_output=True, timeout=120, check=False)


REPLY_SCHEMA = {"type": "object", "properties": {"edits": {"type": "array"}}}
