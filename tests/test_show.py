"""show.py: what the last run came to, for people."""

from dataclasses import replace
from pathlib import Path

from show import show
from skillpipe.artifacts import write_record
from skillpipe.records import Summary

SUMMARY = Summary(
    test_initial=0.25, test_best=0.75, test_gain=0.5, test_initial_soft=0.25, test_best_soft=0.75, test_last=None,
    test_coverage=1.0, val_initial=0.3, val_best=0.8, steps=5, steps_accepted=2, steps_rejected=1, steps_no_change=1,
    steps_stopped=1, edits_proposed=9, edits_applied=5, edits_kept=3, reply_failures=2, fallbacks=1, val_not_needed=7,
    training_calls=80, target_calls=120, target_tokens=4240, optimizer_calls=14, optimizer_tokens=900, judge_calls=0,
    cost_usd=0.5,
)  # fmt: skip


def lines(summary: Summary = SUMMARY) -> dict[str, str]:
    return dict(line.split("  ", 1) for line in show(summary, Path("results")).splitlines())


def test_the_gain_on_held_out_tasks_comes_first():
    assert show(SUMMARY, Path("results")).splitlines()[0].split() == [
        "test", "(held", "out)", "0.250", "->", "0.750", "(+0.500)",
    ]  # fmt: skip


def test_steps_edits_and_calls_are_told():
    text = show(SUMMARY, Path("results"))
    assert "5: 2 accepted, 1 rejected, 1 without change, 1 after training had stopped" in text
    assert "9 proposed, 5 tried, 3 kept" in text
    assert lines()["target"].strip() == "120 calls, 4240 tokens; 7 val rollouts not needed"
    assert lines()["optimizer"].strip() == "14 calls, 900 tokens; 2 replies unusable, 1 fallbacks"


def test_a_cost_is_told_in_dollars_and_an_unknown_one_is_no_zero():
    assert lines()["cost"].strip() == "$0.5000"
    assert lines(replace(SUMMARY, cost_usd=None))["cost"].strip() == "not known: no price"


def test_best_skill_and_diff_are_told_by_path():
    assert Path(lines()["best skill"].strip()) == Path("results/best/SKILL.md")
    assert lines()["its diff"].strip().startswith(str(Path("results/diff.patch")))


def test_when_nothing_was_accepted_the_best_skill_is_the_initial_one():
    assert lines(replace(SUMMARY, steps_accepted=0))["best skill"].strip().startswith("the initial skill")


def test_a_loss_has_its_sign():
    assert "(-0.250)" in show(replace(SUMMARY, test_gain=-0.25), Path("results"))


def test_the_script_prints_the_summary_of_results(bench):
    write_record(bench.root / "results" / "summary.json", SUMMARY)
    assert bench.done("show").splitlines() == show(SUMMARY, Path("results")).splitlines()


def test_before_a_run_the_script_refuses_with_the_command_to_type(bench):
    assert "summary.json: no such file; run `dvc repro`" in bench.refused("show")
