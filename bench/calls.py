"""How fast calls are, to a slow server and from the ledger: `python bench/calls.py` prints the tables.

A server in another process answers after 200 ms. 1,000 calls, 64 at once, could be made in 3.1 s. The same
calls are made with httpx alone, with a client of httpx per worker (one client alone looks through all its
connections at each call), with ChatServer and with LitellmModel, both through a fresh ledger. Then 20,000
answers come from a ledger.
"""

import asyncio
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import psutil

from skillpipe.models import Request
from skillpipe.models.api import ChatServer, LitellmModel
from skillpipe.records import Message

CALLS, AT_ONCE, LATENCY_S, HITS = 1000, 64, 0.2, 20_000
SERVER = Path(__file__).parent.parent / "tests" / "fault_server.py"
SKILL = "Read the review and say whether it is positive or negative.\n" * 20

Ask = Callable[[int, int], Awaitable[object]]  # the number of the call, and of the worker that makes it


def main() -> None:
    """Measure and print the table."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), str(LATENCY_S)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            print(_calls(url, Path(folder)))
            print(_hits(url, Path(folder)))
    finally:
        process.kill()
        process.wait()


def _calls(url: str, folder: Path) -> str:
    ideal, load = AT_ONCE / LATENCY_S, psutil.getloadavg()[0]
    rows = [
        f"{CALLS:,} calls to a server that takes {LATENCY_S * 1000:.0f} ms, {AT_ONCE} at once; ideal are"
        f" {ideal:.0f} a second. Python {platform.python_version()}, {os.cpu_count()} cores, load before"
        f" {load:.1f}.\n",
        "| client | calls/s | of the ideal | CPU ms per call |",
        "| --- | --- | --- | --- |",
    ]
    measures: dict[str, Callable[[], Coroutine[Any, Any, tuple[float, float]]]] = {
        "httpx alone, one client": lambda: _with_httpx(url, 1),
        "httpx alone, a client per worker": lambda: _with_httpx(url, AT_ONCE),
        "ChatServer and ledger": lambda: _with_model(_chat(url, folder / "chat.sqlite")),
        "LitellmModel and ledger": lambda: _with_model(_litellm(url, folder / "litellm.sqlite")),
    }
    for name, measure in measures.items():
        seconds, cpu = asyncio.run(measure())
        rate = CALLS / seconds
        rows.append(f"| {name} | {rate:.0f} | {rate / ideal:.0%} | {cpu / CALLS * 1000:.2f} |")
    return "\n".join(rows) + "\n"


def _hits(url: str, folder: Path) -> str:
    model = _chat(url, folder / "chat.sqlite")  # knows the answers to all calls made above
    process = psutil.Process()

    async def run(hits: int) -> float:
        begin = time.perf_counter()
        for number in range(hits):
            await model.complete(_request(number % CALLS))
        return hits / (time.perf_counter() - begin)

    asyncio.run(run(HITS // 10))
    before = process.memory_info().rss
    rate = asyncio.run(run(HITS))
    grown = (process.memory_info().rss - before) / 2**20
    model.close()
    return (
        f"| {HITS:,} answers from the ledger | |\n| --- | --- |\n| answers a second | {rate:,.0f} |\n"
        f"| memory grown by | {grown:.1f} MB |"
    )


async def _timed(ask: Ask) -> tuple[float, float]:
    """Wall and CPU seconds of this process for all calls, after one to warm up."""
    await ask(CALLS, 0)
    todo = iter(range(CALLS))

    async def worker(number: int) -> None:
        for call in todo:
            await ask(call, number)

    begin, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*[worker(number) for number in range(AT_ONCE)])
    return time.perf_counter() - begin, time.process_time() - cpu


async def _with_httpx(url: str, clients: int) -> tuple[float, float]:
    limits = httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    opened = [httpx.AsyncClient(limits=limits, timeout=30) for _ in range(clients)]

    async def ask(call: int, worker: int) -> object:
        messages = [{"role": "system", "content": SKILL}, {"role": "user", "content": f"review {call}"}]
        body = {"model": "toy", "messages": messages, "max_tokens": 16}
        answer = await opened[worker % clients].post(f"{url}/chat/completions", json=body)
        return answer.raise_for_status().json()["choices"][0]["message"]["content"]

    try:
        return await _timed(ask)
    finally:
        for client in opened:
            await client.aclose()


async def _with_model(model: ChatServer | LitellmModel) -> tuple[float, float]:
    try:
        return await _timed(lambda call, worker: model.complete(_request(call)))
    finally:
        model.close()


def _request(call: int) -> Request:
    return Request((Message("system", SKILL), Message("user", f"review {call}")))


def _settings(url: str, ledger: Path) -> dict[str, Any]:
    return {
        "api_base": url, "api_key_env": None, "temperature": 0.0, "max_tokens": 16, "seed": None, "extra": {},
        "price": None, "timeout_s": 30.0, "ledger": ledger, "on_doubt": "stop",
        "retry": {"attempts": 1, "first_wait_s": 0.0, "max_wait_s": 0.0},
    }  # fmt: skip


def _chat(url: str, ledger: Path) -> ChatServer:
    return ChatServer(model="toy", json_schema=False, **_settings(url, ledger))


def _litellm(url: str, ledger: Path) -> LitellmModel:
    return LitellmModel(model="openai/toy", json_schema="never", drop_params=False, **_settings(url, ledger))


if __name__ == "__main__":
    main()
