"""gate.py: decide on the candidate and write the state that the next step starts from."""

import pytest

from gate import gate
from samples import append, failed, passed
from skillpipe.artifacts import write_record, write_rows
from skillpipe.gating import Strict
from skillpipe.records import ApplyReport
from skillpipe.scoring import Metric
from skillpipe.skill import write_folder
from skillpipe.state import read_state, write_state
from skillpipe.transition import Evaluated, Judgement
from workbench import SKILL, outcome, skill, state, val

CANDIDATE = skill(f"{SKILL}\n- be brief\n")
REPORT = ApplyReport("e1s1", 4, True, (outcome(append("- be brief", "t1")),))
TRAIN = [failed("t1"), passed("t2")]
WORDS = ("state=state", "candidate=candidate", "val=val.jsonl", "rollouts=rollouts.jsonl", "out=after")


@pytest.fixture
def step(bench):
    """Files of a step whose candidate fixes one of two val tasks."""
    write_state(bench.root / "state", state(1, 0))
    write_folder(bench.root / "candidate" / "skill", CANDIDATE)
    write_record(bench.root / "candidate" / "report.json", REPORT)
    write_rows(bench.root / "val.jsonl", val(1, 1))
    write_rows(bench.root / "rollouts.jsonl", TRAIN)
    return bench


def test_the_script_writes_the_state_after_the_step(step):
    step.done("gate", *WORDS)
    judgement = Judgement(Strict(0.0), (), Metric("hard", 0.5), None, 20)
    candidate = Evaluated(CANDIDATE, REPORT, val(1, 1), TRAIN)
    assert read_state(step.root / "after") == gate(state(1, 0), candidate, judgement)


def test_a_setting_of_the_gate_on_the_command_line_decides(step):
    assert step.run_here("gate", *WORDS, "rule.min_delta=0.5").code == 0
    assert read_state(step.root / "after").history[-1].decision.action == "reject"


@pytest.mark.parametrize("name", ["candidate/report.json", "val.jsonl", "rollouts.jsonl", "state/history.jsonl"])
def test_a_missing_input_is_refused_in_one_line_and_nothing_is_written(step, name):
    (step.root / name).unlink()
    assert step.refused("gate", *WORDS).startswith(f"{name}: no such file")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("rule.min_delta=-1", "gate.rule.min_delta is -1; allowed is 0 up to 1"),
        ("val=rollouts.jsonl", "not of the same tasks"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line_and_nothing_is_written(step, word, said):
    assert said in step.refused("gate", *WORDS, word)
