"""slow_update.py: guidance from what an epoch changed."""

from dataclasses import replace

import pytest

from samples import attempt, tasks
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.candidate import Limits
from skillpipe.errors import SkillpipeError
from skillpipe.executor import Run
from skillpipe.gating import Off, Strict
from skillpipe.optimizers import Guidance
from skillpipe.records import Memory, Task, TaskPair, Usage, ValScore
from skillpipe.scoring import Metric
from skillpipe.state import Version, read_state, write_state
from skillpipe.transition import Judgement
from slow_update import Way, slow_update
from workbench import SKILL, skill, state

BEFORE = skill("# Before\n")
TRAIN, VAL = tasks(6), tasks(3, "v")
LIMITS = Limits("toy", ("SKILL.md",), 5000, 500)


class Scripted:
    """An environment in which a skill passes the tasks that it is told by a word of the skill."""

    def __init__(self, **passes):
        self.passes, self.ran = passes, []

    def tasks(self, split):
        return []

    async def run(self, task, skill, target):
        self.ran.append(task.id)
        word = next((word for word in self.passes if word in skill), "")
        return attempt(task.id, float(task.id in self.passes.get(word, ())))


class Comparing:
    """An optimizer that says what it is told, and keeps what it was asked."""

    def __init__(self, guidance):
        self.guidance, self.asked = guidance, []

    async def compare(self, skill, guidance, pairs, memory):
        self.asked.append((skill, guidance, list(pairs), memory))
        return self.guidance


def update(environment, optimizer, begun=None, before=BEFORE, rule=None, policy="mixed"):
    run = Run(2, "here", lambda rollout: rollout)
    way = Way(4, policy, 1, 0.9, run, run, Strict(0.0) if rule is None else None, LIMITS)
    judgement = Judgement(rule or Strict(0.0), (), Metric("hard", 0.5), None, 20)
    begun = begun or state(1, 0, 0)
    return slow_update("e2", begun, before, TRAIN, VAL, environment, None, optimizer, judgement, way)


GUIDED = Guidance("- watch the ending", "rules about endings help", "two regressed", usage=Usage(1, 9, 9))


def test_both_skills_do_the_same_sampled_tasks_and_the_optimizer_sees_the_pairs():
    environment, optimizer = Scripted(Toy=("t0", "t1"), Before=("t1", "t2")), Comparing(GUIDED)
    updated = update(environment, optimizer)
    ((text, region, pairs, _),) = optimizer.asked
    assert (text, region, pairs) == (SKILL, "", list(updated.pairs))
    train = [task for task in environment.ran if task.startswith("t")]
    assert sorted(train[:4]) == sorted(train[4:]) == sorted(pair.after.task for pair in pairs)


def test_guidance_that_helps_enters_its_region_and_the_state():
    environment = Scripted(watch=("v0", "v1"), Toy=("v0",))
    updated = update(environment, Comparing(GUIDED))
    text = updated.state.current.skill["SKILL.md"].decode()
    assert "<!-- SLOW_UPDATE_START -->\n- watch the ending\n<!-- SLOW_UPDATE_END -->" in text
    assert updated.state.history[-1].decision.action == "accept_new_best"
    assert (updated.state.history[-1].step, updated.state.lineage[-1].edit.region) == ("e2", "slow_update")


def test_guidance_that_does_not_help_is_rejected_like_any_edit_and_the_notes_are_kept():
    updated = update(Scripted(watch=("v0",), Toy=("v0",)), Comparing(GUIDED))
    assert updated.state.current.skill == skill()
    assert updated.state.history[-1].decision.action == "reject"
    assert updated.state.memory.notes == "rules about endings help"


def test_without_the_gate_guidance_enters_with_the_scores_that_it_has():
    updated = update(Scripted(watch=(), Toy=("v0",)), Comparing(GUIDED), rule=Off())
    assert updated.state.history[-1].decision.action == "force_accept"
    assert updated.state.history[-1].current == 0
    assert updated.state.best.skill == skill()


def test_equal_skills_are_not_run_against_each_other():
    environment, optimizer = Scripted(), Comparing(GUIDED)
    updated = update(environment, optimizer, before=skill())
    assert (environment.ran, optimizer.asked, updated.pairs) == ([], [], [])
    decision = updated.state.history[-1].decision
    assert (decision.action, decision.reason) == ("no_change", "nothing to compare")


def test_after_training_has_stopped_nothing_is_run():
    environment, begun = Scripted(), replace(state(1, 0, 0), stop="no candidate can pass")
    updated = update(environment, Comparing(GUIDED), begun)
    assert environment.ran == []
    assert (updated.state.history[-1].decision.action, updated.state.stop) == ("stopped", "no candidate can pass")


def test_a_reply_that_cannot_be_used_keeps_the_skill_and_is_counted():
    failed = Guidance("", failure="no JSON", usage=Usage(2, 9, 9))
    updated = update(Scripted(Before=("t0", "t1", "t2", "t3")), Comparing(failed))
    row = updated.state.history[-1]
    assert (row.decision.action, row.decision.reason, row.reply_failures) == ("no_change", "no JSON", 1)
    assert row.spent.optimizer == Usage(2, 9, 9)


def test_the_notes_of_the_epoch_before_stay_until_there_are_new_ones():
    begun = replace(state(1, 0, 0), memory=Memory(notes="older notes"))
    updated = update(Scripted(), Comparing(Guidance("")), begun)
    assert updated.state.memory.notes == "older notes"


def test_a_policy_without_pairs_asks_nobody():
    optimizer = Comparing(GUIDED)
    assert update(Scripted(), optimizer, policy="changed").pairs == []
    assert optimizer.asked == []


def test_what_both_skills_used_is_counted():
    row = update(Scripted(watch=("v0",), Toy=("v0",)), Comparing(GUIDED)).state.history[-1]
    assert row.spent.target.calls >= 8
    assert row.spent.optimizer == Usage(1, 9, 9)


WORDS = (
    "epoch=e2", "before=before", "state=state", "train=train.jsonl", "val=val.jsonl", "prompts=prompts", "out=runs/e2",
)  # fmt: skip


def test_the_script_writes_pairs_candidate_val_and_state(bench):
    words = [f"word{letter}" for letter in "bcdefgh"]
    rows = [Task(word, f"Word: {word}\nCapitals:", word.upper()) for word in words]
    write_rows(bench.root / "train.jsonl", rows[:4])
    write_rows(bench.root / "val.jsonl", rows[4:])
    scored = tuple(ValScore(row.id, "", 0.0, 0.0) for row in rows[4:])
    begun = state(0, 0, 0)
    version = Version(begun.current.skill, scored)
    write_state(bench.root / "state", replace(begun, current=version, best=version, tried=()))
    bench.write("before/SKILL.md", f"{SKILL}\nCapitals: one\n")
    bench.done("slow_update", *WORDS)
    folder = bench.root / "runs" / "e2"
    assert {path.name for path in folder.iterdir()} == {"pairs.jsonl", "candidate", "val.jsonl", "state"}
    assert read_rows(folder / "pairs.jsonl", TaskPair)
    assert read_state(folder / "state").history[-1].step == "e2"


@pytest.mark.parametrize("samples", [0, -1])
def test_no_samples_are_refused(samples):
    run = Run(2, "here", lambda rollout: rollout)
    way = Way(samples, "mixed", 1, 0.9, run, run, None, LIMITS)
    judgement = Judgement(Strict(0.0), (), Metric("hard", 0.5), None, 20)
    with pytest.raises(SkillpipeError, match=r"slow_update\.samples"):
        slow_update("e2", state(1), BEFORE, TRAIN, VAL, Scripted(), None, Comparing(GUIDED), judgement, way)
