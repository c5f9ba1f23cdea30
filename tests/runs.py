"""Plausible runs of any size, as a report is given them: made from a seed, with splices that fit their documents."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from skillpipe.page import LineOrigin, Names, RunView, StepFiles, phase_of
from skillpipe.records import (
    ACCEPTED,
    ApplyReport,
    Decision,
    Edit,
    EditOutcome,
    LineageRow,
    Message,
    Rollout,
    Spent,
    Splice,
    StepRecord,
    Usage,
)
from skillpipe.scoring import mean
from skillpipe.state import State, Version, val_scores
from skillpipe.usage import of_rollouts

SKILL = """---
name: parcels
description: Sorts messages about parcels by what their writer needs. Use it for the mail of a parcel service.
---
# Parcels

Read the message and decide what its writer needs.

## How to answer

Answer with one word.
- Judge the need, not the mood.
"""
NAMES = Names("skills/parcels", "parcels", "small-model", "large-model", "4f7efc3")
RULES = (
    "A message that names a date asks for *tracking*.",
    "When money is mentioned, answer `refund`, even if the parcel is late.",
    "Do not answer with a sentence.",
    "- A broken parcel is a complaint, not a question.",
    "If two needs are named, take the first.",
    "| sign | need |\n| --- | --- |\n| a number of 12 digits | tracking |",
)


def replay(initial: str, rows: Sequence[LineageRow]) -> list[LineOrigin]:
    """The lines of SKILL.md after the splices of these rows, with their origin: enough for these runs, no more."""
    lines = [LineOrigin(line) for line in initial.splitlines(keepends=True)]
    for row in rows:
        start, removed = row.splice.start, row.splice.removed
        before = tuple(each for line in lines[start : start + removed] for each in line.rows)
        lines[start : start + removed] = [LineOrigin(line, (*before, row)) for line in row.splice.lines]
    return lines


@dataclass
class Maker:
    """What a run is made of while it is made."""

    steps: int
    tasks: int
    seed: int
    early: bool
    skill: str = SKILL
    level: float = 0.3
    history: list[StepRecord] = field(default_factory=list)
    lineage: list[LineageRow] = field(default_factory=list)
    files: list[StepFiles] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.hardness = [self.random.random() for _ in range(self.tasks)]
        self.baseline = self.rollouts(self.level)
        self.val = self.baseline
        first, scored = mean(self.val), sum(row.hard is not None for row in self.val)
        decision = Decision("baseline", "the initial skill", first, None, scored)
        self.history.append(StepRecord("start", decision, first, first, 1.0, None, 0, 0))

    def rollouts(self, level: float, needed: int | None = None, prefix: str = "v") -> tuple[Rollout, ...]:
        return tuple(self.rollout(f"{prefix}{n}", n, level, needed) for n in range(self.tasks))

    def rollout(self, key: str, number: int, level: float, needed: int | None) -> Rollout:
        asked = Message("user", f"Message: where is my parcel {number}?\nNeed:")
        if needed is not None and number >= needed:
            return Rollout(key, "", "skipped", None, None, "not needed", "tracking", (), Usage())
        if self.random.random() < 0.01:
            return Rollout(key, "", "infra_error", None, None, "no answer", "tracking", (asked,), Usage(1, 0, 0))
        good = self.hardness[number] < level + self.random.uniform(-0.1, 0.1)
        said = Message("assistant", "tracking" if good else "I think that it is a question.")
        status, hard = ("passed", 1.0) if good else ("failed", 0.0)
        return Rollout(key, "", status, hard, hard, "", "tracking", (asked, said), Usage(1, 120, 4, 0.0001))

    def step(self, key: str) -> None:
        """One step: edits, val, a decision."""
        level = self.level + (0.9 - self.level) * self.random.uniform(-0.8, 0.8)
        stops = self.early and level < self.level - 0.04
        outcomes, candidate = self.edits(key)
        val = self.rollouts(level, self.tasks // 2 if stops else None)
        decision = self.decide(val)
        rows = [
            LineageRow(
                key, rank, o.edit, o.old_lines, o.lines, decision.action, decision.current, decision.candidate, o.splice
            )
            for rank, o in enumerate((o for o in outcomes if o.status == "applied"), start=1)
        ]
        self.lineage += rows
        if decision.action in ACCEPTED:
            self.skill, self.level, self.val = candidate, level, val
        current = mean(self.val)
        refused = tuple(o for o in outcomes if o.status not in ("applied", "over_budget"))
        spent = Spent(sum((row.usage for row in val), Usage()), Usage(3, 9000, 800, 0.02))
        self.history.append(
            StepRecord(
                key,
                decision,
                current,
                current,
                1.0,
                self.random.random(),
                len(outcomes),
                len(rows),
                refused,
                spent=spent,
            )
        )
        report = ApplyReport(
            key, 3, True, tuple(outcomes), "The failures share a habit: whole sentences.\nOne word is asked for."
        )
        self.files.append(StepFiles(key, report, val))

    def decide(self, val: Sequence[Rollout]) -> Decision:
        pairs = [
            (old, new) for old, new in zip(self.val, val, strict=True) if old.hard is not None and new.hard is not None
        ]
        before, after = (sum(pair[i].hard for pair in pairs) / len(pairs) for i in (0, 1))
        gained, lost = (tuple(b.task for a, b in pairs if (b.hard - a.hard) * sign > 0) for sign in (1, -1))
        spared = sum(row.status == "skipped" for row in val)
        at_most = (after * len(pairs) + spared) / (len(pairs) + spared) if spared else None
        action = "accept_new_best" if after > before and not spared else "reject"
        word, counts = "better" if after > before else "no gain", [round(mean * len(pairs)) for mean in (before, after)]
        reason = f"{word}: {counts[0]} -> {counts[1]} of {len(pairs)}"
        return Decision(action, reason, before, after, len(pairs), gained, lost, 1.0, 0.04, spared, at_most)

    def edits(self, key: str) -> tuple[list[EditOutcome], str]:
        """Three edits that take effect, the second over a line of the first, and two that do not; and the candidate."""
        lines, outcomes = self.skill.splitlines(keepends=True), []
        evidence = tuple(f"t{self.random.randrange(99)}" for _ in range(3))

        def put(op: str, start: int, removed: int, text: str, target: str = "") -> None:
            new = tuple(text.splitlines(keepends=True))
            edit = Edit(op, text.strip(), target.strip(), tasks=evidence, support=2)
            span = (start + 1, start + len(new))
            outcomes.append(EditOutcome(edit, "applied", "", None, span, Splice(start, removed, new)))
            lines[start : start + removed] = new

        put("append", len(lines), 0, f"\n{self.random.choice(RULES)}\n")
        put("append", len(lines), 0, f"\nExample {key}: the parcel is late -> tracking\n")
        put("replace", len(lines) - 1, 1, f"Example of {key}: the parcel is late -> tracking\n", lines[-1])
        missing = Edit("replace", "Be brief.", "Be long.", tasks=evidence[:1])
        outcomes.append(
            EditOutcome(missing, "unmatched", "target not found; closest is line 11: Answer with one word.", None, None)
        )
        outcomes.append(EditOutcome(Edit("append", "Be kind."), "over_budget", "the budget is 3", None, None))
        return outcomes, "".join(lines)


def a_run(steps: int = 6, tasks: int = 40, seed: int = 60, *, early: bool = True, done: int | None = None) -> RunView:
    """A whole run of so many steps and val tasks; with `done`, one that failed in the step after so many."""
    maker = Maker(steps, tasks, seed, early)
    keys = [f"e{n // 4 + 1}s{n % 4 + 1}" for n in range(steps if done is None else done)]
    for key in keys:
        maker.step(key)
    best = Version({"SKILL.md": maker.skill.encode()}, val_scores(maker.val))
    state = State(best, best, tuple(maker.history), tuple(maker.lineage))
    accepted = [row for row in maker.lineage if row.action in ACCEPTED]
    failed_phase = "" if done is None else f"rollout-e{done // 4 + 1}s{done % 4 + 1}"
    initial = maker.rollouts(0.3, prefix="x") if done is None else ()
    tested = maker.rollouts(maker.level, prefix="x") if done is None else ()
    rounds = [("baseline", maker.baseline), *((f"validate {step.step}", step.val) for step in maker.files)]
    return RunView(
        names=NAMES,
        initial={"SKILL.md": SKILL.encode()},
        state=state,
        origins={"SKILL.md": replay(SKILL, accepted)},
        baseline=maker.baseline,
        steps=tuple(maker.files),
        test_initial=initial,
        test_best=tested,
        spent=state.spent + of_rollouts([*initial, *tested]),
        phases=tuple(phase_of(name, rows) for name, rows in rounds if rows),
        status="completed" if done is None else "failed",
        failed_phase=failed_phase,
        error="" if done is None else "bad key: 401 <no access>",
    )


def a_step(step: str, action: str, **decision: object) -> StepRecord:
    """A row of the history with this decision; current and best are 0.5."""
    told = Decision(action, f"because of {step}", **{"current": 0.5, "candidate": None, "n": 4, **decision})
    return StepRecord(step, told, 0.5, 0.5, 1.0, None, 0, 0)
