"""reflect.py: the optimizer reads this step's attempts and proposes edits."""

from dataclasses import replace

import pytest

from reflect import reflect
from samples import append, failed, passed, patch
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.records import Memory, Patch, StepMemory
from skillpipe.state import write_state
from workbench import SKILL, state

WORDS = ("step=e1s2", "state=state", "rollouts=rollouts.jsonl", "prompts=prompts", "out=patches.jsonl")


class Attentive:
    """An optimizer that keeps what it was given."""

    def __init__(self):
        self.given = None

    async def reflect(self, skill, rollouts, memory):
        self.given = (skill, rollouts, memory)
        return [patch(append("b")), patch(append("a"))]


def test_the_optimizer_gets_skill_attempts_and_memory_and_its_order_is_kept():
    optimizer, memory = Attentive(), Memory(notes="be brief")
    assert reflect(optimizer, SKILL, [failed("t1")], memory) == [patch(append("b")), patch(append("a"))]
    assert optimizer.given == (SKILL, [failed("t1")], memory)


@pytest.mark.parametrize(
    ("step", "proposed"), [("e1s2", ["Question t3? yes"]), ("e2s1", ["Question t2? yes", "Question t3? yes"])]
)
def test_the_script_proposes_from_the_current_skill_and_what_this_epoch_tried(bench, step, proposed):
    tried = StepMemory("e1s1", "reject", 0.5, 0.5, 3, 2, edits=(append("Question t2? yes"),))
    begun = replace(state(1, current=f"{SKILL}\nQuestion t1? yes\n"), memory=Memory((tried,)))
    write_state(bench.root / "state", begun)
    write_rows(bench.root / "rollouts.jsonl", [failed("t1"), failed("t2"), failed("t3"), passed("t4")])
    bench.done("reflect", f"step={step}", *WORDS[1:])
    (one,) = read_rows(bench.root / "patches.jsonl", Patch)
    assert [edit.content for edit in one.edits] == proposed


def test_with_nothing_to_propose_the_file_is_empty(bench):
    write_state(bench.root / "state", state(1))
    write_rows(bench.root / "rollouts.jsonl", [passed("t1")])
    assert bench.run_here("reflect", *WORDS).code == 0
    assert (bench.root / "patches.jsonl").read_bytes() == b""


@pytest.mark.parametrize("name", ["state", "rollouts.jsonl"])
def test_a_missing_input_is_refused_in_one_line_and_nothing_is_written(bench, name):
    if name != "state":
        write_state(bench.root / "state", state(1))
    assert bench.refused("reflect", *WORDS).startswith(f"{name}: no such f")
