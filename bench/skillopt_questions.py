"""The questions of skillopt_parity.py, skillpipe's answers, and how answers that differ are told apart."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from skillpipe.adapter.ratio import parse_ratio
from skillpipe.envs.cutting import shares
from skillpipe.gating import Strict, beats, pair_up
from skillpipe.optimizers.model.joining import Joiner
from skillpipe.optimizers.model.reflecting import _minibatches
from skillpipe.prompts import Template
from skillpipe.records import Edit, Patch, Rollout, Usage, ValScore
from skillpipe.schedule import edit_budget
from skillpipe.scoring import Metric

Question = dict[str, Any]
MODES = ("constant", "linear", "cosine")
METRICS = ("hard", "soft", "mixed")


def schedules(rng: random.Random) -> list[Question]:
    """200 triples (min, max, number of steps), each with every schedule."""
    asked = []
    for _ in range(200):
        low, high, steps = rng.randint(0, 6), rng.randint(1, 16), rng.randint(1, 40)
        asked += [{"mode": mode, "min": min(low, high), "max": high, "steps": steps} for mode in MODES]
    return asked


def our_schedule(asked: Question) -> list[int]:
    steps, limits = asked["steps"], (asked["max"], asked["min"])
    return [edit_budget(step, steps, *limits, asked["mode"]) for step in range(1, steps + 1)]


def gates(rng: random.Random) -> list[Question]:
    """500 triples of val scores (candidate, current, best) with every metric; soft scores are tenths and thirds."""
    asked = []
    for number in range(500):
        size, weight = rng.choice((1, 3, 10, 40)), rng.choice((0.0, 0.25, 0.5, 0.7, 1.0))
        soft = [rng.choice((0.0, 0.1, 0.2, 0.3, 1 / 3, 2 / 3, 1.0)) for _ in range(size)]
        rows = {}
        for name in ("candidate", "current", "best"):
            if number % 5:
                soft = [rng.choice((0.0, 0.1, 0.2, 0.3, 1 / 3, 2 / 3, 1.0)) for _ in range(size)]
            # Every fifth: the same scores in another order, so that all three are exactly as good.
            rows[name] = [
                {"id": str(place), "hard": int(value == 1), "soft": value}
                for place, value in enumerate(rng.sample(soft, size))
            ]
        asked += [{"metric": metric, "weight": weight, "rows": rows} for metric in METRICS]
    return asked


def our_gate(asked: Question) -> str:
    metric = Metric(asked["metric"], asked["weight"])
    scores = {
        name: [ValScore(row["id"], "", row["hard"], row["soft"]) for row in rows]
        for name, rows in asked["rows"].items()
    }
    verdict = Strict(min_delta=0.0).judge(pair_up(metric, scores["current"], scores["candidate"]))
    if not verdict.accept:
        return "reject"
    return "accept_new_best" if beats(metric, scores["best"], scores["candidate"]) else "accept"


def exact_gate(asked: Question) -> str:
    """The decision on sums of fractions: a third is a third."""
    weight = {"hard": Fraction(0), "soft": Fraction(1)}.get(asked["metric"], Fraction(str(asked["weight"])))
    candidate, current, best = (
        sum((1 - weight) * row["hard"] + weight * Fraction(row["soft"]).limit_denominator(1000) for row in rows)
        for rows in (asked["rows"][name] for name in ("candidate", "current", "best"))
    )
    if candidate <= current:
        return "reject"
    return "accept_new_best" if candidate > best else "accept"


def gate_kind(asked: Question, theirs: str, ours: str) -> str:
    exact = exact_gate(asked)
    wrong = " and ".join(side for side, answer in (("there", theirs), ("here", ours)) if answer != exact)
    return f"{asked['metric']}: an exact tie is none {wrong}, for rounding"


def ratios(rng: random.Random) -> list[Question]:
    """1000 sizes with a ratio of parts up to 20, and some that are no ratio."""
    asked = [
        {"total": rng.randint(1, 500), "ratio": ":".join(str(rng.randint(1, 20)) for _ in range(3))}
        for _ in range(1000)
    ]
    wrong = ("", "1", "1:2", "1:2:3:4", "0:1:1", "1:-1:2", "a:b:c", "1.5:1:1", "2:1:", " 2 : 1 : 7 ", "2::1:7")
    return asked + [{"total": 100, "ratio": text} for text in wrong]


def our_split(asked: Question) -> list[int] | str:
    try:
        return shares(asked["total"], parse_ratio(asked["ratio"]))
    except ValueError:
        return "refused"


def attempts(rng: random.Random) -> list[Question]:
    """300 batches: scores 0 and 1 in task order; the same shuffled by a seed; and scores with fractions."""
    asked = []
    for number in range(300):
        choices = (0, 1) if number % 3 < 2 else (0, 0.3, 1)
        rows = [{"id": f"t{place:03}", "hard": rng.choice(choices), "soft": 0.0} for place in range(rng.randint(1, 40))]
        asked.append({"rows": rows, "size": rng.randint(1, 10), "seed": number if number % 3 == 1 else None})
    return asked


def our_minibatches(asked: Question) -> list[list[str]]:
    rollouts = [
        Rollout(row["id"], "", "passed" if row["hard"] == 1 else "failed", row["hard"], 0.0, "", "", (), Usage())
        for row in asked["rows"]
    ]
    groups = [_minibatches(rollouts, source, asked["size"]) for source in ("failure", "success")]
    return [[row.task for row in batch] for group in groups for batch in group]


def minibatch_kind(asked: Question, theirs: list[list[str]], ours: list[list[str]]) -> str:
    if any(0 < row["hard"] < 1 for row in asked["rows"]):
        return "a hard score between 0 and 1: a success there, a failure here"
    if asked["seed"] is not None and [*map(len, theirs)] == [*map(len, ours)]:
        return "the same sizes, members shuffled there, in task order here"
    return "other"


def proposals(rng: random.Random) -> list[Question]:
    """200 steps' patches: usable merges, unusable ones, and patches that propose the same."""
    asked = []
    for number in range(200):
        failures, successes = rng.randint(0, 20), rng.randint(0, 20)
        texts = [f"p{place:03}" for place in range(failures + successes)]
        if number % 4 == 3:
            texts = [rng.choice("abcdef") for _ in texts]
        patches = [[text] for text in texts]
        groups = {"failure": patches[:failures], "success": patches[failures:]}
        if failures + successes:
            asked.append({**groups, "size": rng.randint(2, 9), "usable": number % 2 == 0})
    return asked


class Echo:
    """Stands for the optimizer's model: gives every proposal back as it came, or nothing usable. Keeps what it saw."""

    def __init__(self, usable: bool) -> None:
        self.usable = usable
        self.shown: list[list[str]] = []

    async def ask(self, prompt: str, schema: str, read: Callable[[Question], Any]) -> SimpleNamespace:
        edits = [json.loads(line.split(": ", 1)[1].rsplit(" (", 1)[0]) for line in prompt.splitlines()]
        self.shown.append(sorted(edit["content"] for edit in edits))
        if not self.usable:
            return SimpleNamespace(value=None, failure="no JSON", usage=Usage(1))
        echoed = {"edits": [edit | {"from": [place]} for place, edit in enumerate(edits)]}
        return SimpleNamespace(value=read(echoed), failure="", usage=Usage(1))


def our_merge(asked: Question) -> dict[str, Any]:
    patches = [
        Patch(source, (), "", tuple(Edit("append", text, source=source) for text in texts))
        for source in ("failure", "success")
        for texts in asked[source]
    ]
    echo = Echo(asked["usable"])
    joiner = Joiner(echo, Template("{{proposals}}"), "", asked["size"])  # type: ignore[arg-type]
    merged = asyncio.run(joiner.merge("s", patches))
    return {"shown": sorted(echo.shown), "order": [edit.content for edit in merged.edits]}


def merge_kind(asked: Question, theirs: Question, ours: Question) -> str:
    texts = [text for source in ("failure", "success") for patch in asked[source] for text in patch]
    if len(set(texts)) < len(texts):
        alike = sorted(set(theirs["order"])) == sorted(ours["order"])
        return "what is proposed twice: kept twice there, once with its support here" if alike else "other"
    return "other merges" if theirs["shown"] != ours["shown"] else "another order"


def schedule_kind(asked: Question, theirs: list[int], ours: list[int]) -> str:
    low, high, steps = asked["min"], asked["max"], asked["steps"]
    # cos(pi t) is a fraction at these t alone.
    cosines = {Fraction(1, 3): Fraction(1, 2), Fraction(1, 2): Fraction(0), Fraction(2, 3): Fraction(-1, 2)}
    for step, (there, here) in enumerate(zip(theirs, ours, strict=True), start=1):
        share = cosines.get(Fraction(step, steps)) if asked["mode"] == "cosine" else 1 - 2 * Fraction(step, steps)
        value = None if share is None else low + Fraction(high - low) * (1 + share) / 2
        if there != here and (value is None or value.denominator != 2):
            return "other"
    return f"{asked['mode']}: a budget of exactly x.5, told apart by rounding there, to the even number here"


def split_kind(asked: Question, theirs: object, ours: object) -> str:
    if "refused" in (theirs, ours):
        return "refused by one"
    parts = parse_ratio(asked["ratio"])
    remainders = [asked["total"] * part % sum(parts) for part in parts]
    return "equal remainders, told apart by rounding there" if len(set(remainders)) < 3 else "other"


COMPARED: dict[str, tuple[str, Any, Any, Any]] = {
    "schedule": ("edit budget of every step (200 triples x 3 schedules)", schedules, our_schedule, schedule_kind),
    "gate": ("gate decision (500 triples x 3 metrics)", gates, our_gate, gate_kind),
    "split": ("split sizes", ratios, our_split, split_kind),
    "minibatches": ("minibatches of reflect", attempts, our_minibatches, minibatch_kind),
    "merge": ("merges of aggregate, and the order of their result", proposals, our_merge, merge_kind),
}
