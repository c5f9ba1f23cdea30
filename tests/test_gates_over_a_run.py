"""An optimizer whose edits are good and harmful in turns: what each gate makes of it, step by step."""

from collections.abc import Sequence

import pytest

from samples import append
from skillpipe.gating import Off, Paired, Strict, Veto
from skillpipe.records import ApplyReport, ValScore
from skillpipe.scoring import HARD
from skillpipe.state import State
from skillpipe.transition import Evaluated, Judgement, advance
from workbench import SKILL, outcome, skill, state, val

TASKS = 30
GATES = {
    "strict": Strict(0.0),
    "paired": Paired(0.2),
    "veto": Veto(Strict(0.0), max_lost=2, max_types_worse=None),
    "off": Off(),
}


def changed(current: Sequence[ValScore], good: bool) -> list[float]:
    """A good edit passes four tasks more, a harmful one breaks seven; whatever was said last decides."""
    hard = [row.hard for row in current]
    flips = 4 if good else 7
    for place, value in enumerate(hard):
        if flips and value == (0.0 if good else 1.0):
            hard[place], flips = (1.0 if good else 0.0), flips - 1
    return hard


def train(rule, steps: int = 6) -> State:
    at = state(*([1.0] * 8 + [0.0] * (TASKS - 8)))
    for number in range(1, steps + 1):
        good = number % 2 == 1
        edit = append(f"- {'good' if good else 'harmful'} advice {number}")
        text = at.current.skill["SKILL.md"].decode() if number > 1 else SKILL
        report = ApplyReport(f"e1s{number}", 4, True, (outcome(edit),))
        scored = val(*changed(at.current.val, good))
        candidate = skill(f"{text}\n{edit.content}\n")
        at = advance(at, Evaluated(candidate, report, scored, ()), Judgement(rule, (), HARD, None, 20))
    return at


@pytest.mark.parametrize("name", ["strict", "paired", "veto"])
def test_every_gate_ends_at_or_above_the_start_and_keeps_no_harmful_edit(name):
    ended = train(GATES[name])
    assert ended.history[-1].current >= ended.history[0].current
    assert b"harmful" not in ended.current.skill["SKILL.md"]
    assert ended.history[-1].current == ended.history[-1].best


def test_without_a_gate_the_score_falls_and_the_best_skill_is_kept():
    ended = train(GATES["off"])
    assert ended.history[-1].current < ended.history[0].current
    assert b"harmful" in ended.current.skill["SKILL.md"]
    assert ended.history[-1].best >= ended.history[0].current


@pytest.mark.parametrize("name", GATES)
def test_the_history_says_step_by_step_what_was_decided_and_why(name):
    for row in train(GATES[name]).history[1:]:
        assert row.decision.reason
        assert (row.decision.current, row.decision.candidate) != (None, None)
        assert row.decision.gained or row.decision.lost


def test_harmful_steps_are_rejected_with_the_tasks_that_they_lost():
    rows = train(GATES["strict"]).history[1:]
    assert [row.decision.action for row in rows[1::2]] == ["reject"] * 3
    assert all(len(row.decision.lost) == 7 for row in rows[1::2])
