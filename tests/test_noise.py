"""noise.py: what luck alone does to a val score, and to each gate."""

import pytest

from noise import all_gates, noise
from samples import scores
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Off, Paired, Strict
from skillpipe.records import ValScore
from skillpipe.scoring import HARD, SOFT

DICE = """
import hashlib

from skillpipe.models import Reply
from skillpipe.records import Usage


class Dice:
    \"\"\"Right or wrong by the word and the number of the repeat.\"\"\"

    def __init__(self, limit, log):
        pass

    async def complete(self, request):
        word = request.messages[-1].content.split()[1]
        right = hashlib.sha256(f"{word}/{request.replicate}".encode()).digest()[0] % 2
        return Reply(word.upper() if right else "no idea", Usage(1, 1, 1))

    def close(self):
        pass
"""


def test_the_spread_is_that_of_the_runs_scores():
    first, varied, *_ = noise([scores(0, 0, 1, 1), scores(1, 0, 1, 1), scores(0, 0, 0, 1)], {}, HARD)
    assert first == "3 runs of 4 tasks: mean 0.500  min 0.250  max 0.750  sd 0.250"
    assert varied == "2 of 4 tasks did not score the same in every run"


def test_each_gate_is_asked_about_every_ordered_pair_of_runs():
    runs = [scores(0, 0), scores(1, 0), scores(1, 0), scores(1, 1)]
    lines = noise(runs, {"strict": Strict(0.0), "paired": Paired(0.05), "off": Off()}, HARD)
    assert lines[2:] == [
        "the same skill would have been accepted, of 12 pairs of runs:",
        "  strict   42%",
        "  paired    0%",
        "  off     100%",
    ]


@pytest.mark.parametrize("rows", [scores(1, 0, 1), scores(1, None, 0.5)])
def test_a_deterministic_target_is_told_in_one_line_and_no_gate_is_asked(rows):
    lines = noise([rows, rows, rows], {"strict": None}, HARD)
    told = "every run scored the same on every task: this target is deterministic, a changed score is the skill's doing"
    assert lines[1:] == [told]


def test_a_score_that_is_missing_in_one_run_does_not_vary():
    assert noise([scores(1, 0), scores(1, None)], {}, HARD)[1].startswith("every run scored the same")


def test_two_runs_without_a_scored_task_in_common_accept_nothing():
    runs = [scores(1, None), scores(None, 1), scores(0, None)]
    assert noise(runs, {"off": Off()}, HARD)[2:] == [
        "the same skill would have been accepted, of 6 pairs of runs:",
        "  off   33%",
    ]


def test_the_runs_are_scored_by_the_metric():
    runs = [[ValScore("v0", "", 1.0, 0.25)], [ValScore("v0", "", 1.0, 0.75)]]
    assert noise(runs, {}, HARD)[1].startswith("every run scored the same")
    assert noise(runs, {}, SOFT)[0] == "2 runs of 1 tasks: mean 0.500  min 0.250  max 0.750  sd 0.354"


def test_a_run_without_any_score_is_refused():
    with pytest.raises(SkillpipeError, match="1 of 2 runs have no score at all"):
        noise([scores(1), scores(None)], {}, HARD)


def test_the_gates_are_those_of_conf(bench, monkeypatch):
    monkeypatch.chdir(bench.root)
    bench.write("conf/gate/mine.yaml", "rule: {_target_: skillpipe.gating.Paired, source: mine.py, alpha: 0.1}\n")
    gates = all_gates()
    assert list(gates) == ["guarded", "mine", "off", "paired", "strict", "toy", "veto", "veto_paired"]
    assert (type(gates["mine"]), type(gates["strict"])) == (Paired, Strict)


def test_the_script_scores_the_skill_of_params_and_writes_nothing(bench):
    before = bench.files()
    printed = bench.done("noise", "k=3").splitlines()
    assert printed[0].startswith("3 runs of 10 tasks: mean 0.")
    assert printed[1].startswith("every run scored the same on every task: this target is deterministic")
    assert len(printed) == 2
    assert bench.files() == before


def test_repeats_of_a_target_that_samples_differ_and_every_gate_has_its_share(bench):
    bench.write("dice.py", DICE)
    words = ("k=4", "skill=skills/toy/SKILL.md", "target._target_=dice.Dice")
    printed = bench.run_here("noise", *words).out.splitlines()
    assert "10 tasks did not score the same" in printed[1]
    shares = dict(line.split() for line in printed[3:])
    assert (shares["off"], shares["paired"], len(shares)) == ("100%", "0%", 7)
    assert shares["strict"] not in ("0%", "100%")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("k=1",), "k is 1; allowed is 2 or more"),
        ((), "k"),
        (("k=2", "skill=skills/gone"), "skills/gone"),
        (("k=2", "scores.metric=f1"), "metric is 'f1'"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(bench, words, said):
    assert said in bench.refused("noise", *words)


def test_a_gate_file_without_a_rule_is_named(bench):
    bench.write("conf/gate/broken.yaml", "policies: []\n")
    assert bench.refused("noise", "k=2").startswith("conf/gate/broken.yaml: no rule")


def test_too_few_scored_tasks_end_the_measurement(bench):
    assert "min_coverage is 1.5" in bench.run_here("noise", "k=2", "min_coverage=1.5").err
