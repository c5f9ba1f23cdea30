"""How often each gate accepts a candidate that is no better than the current skill, and ones that are.

    PYTHONPATH=stages python bench/gate_power.py

A simulation without a model. The current skill passes each val task with one fixed probability, by chance and anew for
each candidate; the candidate with that probability plus its true gain. Prints the tables of docs/gates.md; the same
seed gives the same ones. Some minutes on one core.
"""

import argparse
import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain

from skillpipe.gating import OpenTask, Pair, Paired, Rule, Strict, Veto

SIZES = (10, 20, 40, 80)
BASES = (0.3, 0.5, 0.8)
GAINS = (-10, 0, 5, 10, 20)  # points
GATES: dict[str, Rule] = {
    "strict": Strict(0.0),
    "paired, alpha 0.2": Paired(0.2),
    "paired, alpha 0.05": Paired(0.05),
    "veto (strict, max_lost 2)": Veto(Strict(0.0), 2, None),
    "veto (strict, max_types_worse 0)": Veto(Strict(0.0), None, 0),
    "veto (paired 0.05, both)": Veto(Paired(0.05), 2, 0),
}
TYPES = "abc"
PASS, FAIL = Fraction(1), Fraction(0)


def trial(rng: random.Random, size: int, base: float, gain: float) -> list[Pair]:
    """One validation of a candidate: `size` tasks, of three types in turn."""

    def attempt(probability: float) -> Fraction:
        return PASS if rng.random() < probability else FAIL

    return [Pair(str(task), TYPES[task % 3], attempt(base), attempt(base + gain)) for task in range(size)]


def needed(rule: Rule, pairs: Sequence[Pair]) -> int:
    """How many tasks are run until a rejection is certain: those that the current skill fails come first."""
    pairs = sorted(pairs, key=lambda pair: pair.before)
    waiting = [OpenTask(pair.task, pair.task_type, pair.before) for pair in pairs]
    # What cannot pass after some tasks cannot pass after more, so the first such number can be halved into.
    return bisect_left(range(len(pairs)), True, key=lambda run: not rule.can_pass(pairs[:run], waiting[run:]))


def acceptance(base: float, trials: int, seed: int) -> Iterator[str]:
    """A table in percent: val sizes and gates by true gains."""
    yield f"\nThe current skill passes {base:.0%}; accepted of {trials} candidates, %, by their true gain in points\n"
    yield "| val | gate | " + " | ".join(f"{gain:+d}" if gain else "0" for gain in GAINS) + " |"
    yield "| ---: | --- |" + " ---: |" * len(GAINS)
    for size in SIZES:
        drawn = [candidates(size, base, gain, trials, seed) for gain in GAINS]
        for name, rule in GATES.items():
            rates = [100 * sum(rule.judge(pairs).accept for pairs in group) / trials for group in drawn]
            yield f"| {size} | {name} | " + " | ".join(f"{rate:.1f}" for rate in rates) + " |"


def savings(trials: int, seed: int) -> Iterator[str]:
    """A table in percent: the share of val that is run when a certain rejection stops it."""
    yield f"\nThe current skill passes 50%; val tasks that are run of all, %, mean of {trials} candidates\n"
    yield "| gate | true gain | " + " | ".join(f"val {size}" for size in SIZES) + " |"
    yield "| --- | ---: |" + " ---: |" * len(SIZES)
    for name, rule in GATES.items():
        for gain in (-10, 0, 10):
            groups = [candidates(size, 0.5, gain, trials, seed) for size in SIZES]
            shares = [100 * sum(needed(rule, pairs) / len(pairs) for pairs in group) / trials for group in groups]
            yield f"| {name} | {gain} | " + " | ".join(f"{share:.0f}" for share in shares) + " |"


def candidates(size: int, base: float, gain: int, trials: int, seed: int) -> list[list[Pair]]:
    """The same candidates for every gate."""
    rng = random.Random(f"{seed}/{size}/{base}/{gain}")
    return [trial(rng, size, base, gain / 100) for _ in range(trials)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    parts = [*(acceptance(base, words.trials, words.seed) for base in BASES), savings(words.trials // 10, words.seed)]
    for line in chain.from_iterable(parts):
        print(line, flush=True)


if __name__ == "__main__":
    main()
