"""page: the report of a run as one HTML file."""

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from runs import NAMES, SKILL, a_run, a_step
from skillpipe.artifacts import write_record, write_rows
from skillpipe.errors import SkillpipeError
from skillpipe.page import RunView, StepFiles, read_steps, render
from skillpipe.page.words import ACTIONS
from skillpipe.records import Action, Message, PlanSummary

EVIL = "<script>alert('planted')</script><img src=x onerror=alert(1)>"


def text(page: str) -> str:
    """What stands between the tags, in one line."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def evil_run() -> RunView:
    """A run with a script in every text that people or models write."""
    run = a_run(steps=2, tasks=4)
    said = (Message("user", EVIL), Message("assistant", EVIL))
    rollouts = [replace(row, task=row.task + EVIL, expected=EVIL, trajectory=said, hard=0.0) for row in run.baseline]
    outcomes = [
        replace(
            row,
            reason=EVIL,
            edit=replace(row.edit, content=EVIL, target=EVIL, section=EVIL, file=EVIL, tasks=(EVIL,)),
        )
        for row in run.steps[0].report.outcomes
    ]
    report = replace(run.steps[0].report, outcomes=tuple(outcomes), reasoning=EVIL, fallbacks=(EVIL,))
    decision = replace(run.state.history[1].decision, reason=EVIL, gained=(EVIL,), lost=(EVIL,))
    history = (run.state.history[0], replace(run.state.history[1], decision=decision, stop=EVIL), run.state.history[2])
    best = replace(
        run.state.best, skill={"SKILL.md": f"{SKILL}\n{EVIL}\n\n[x](javascript:alert(1)) ![y](a.png)\n".encode()}
    )
    return replace(
        run,
        names=replace(NAMES, skill=EVIL, env=EVIL, target=EVIL, optimizer=EVIL, revision=EVIL),
        state=replace(run.state, history=history, best=best),
        baseline=tuple(rollouts),
        steps=(StepFiles(run.steps[0].step, report, tuple(rollouts)), run.steps[1]),
        plan=PlanSummary(1, 1, 1, 1, (), None, (EVIL,)),
        status="failed",
        failed_phase=EVIL,
        error=EVIL,
    )


def test_a_script_that_is_planted_anywhere_stays_text():
    page = render(evil_run())
    tags = re.findall(r"<script\b|<img\b|<iframe\b|<link\b", page)
    assert tags == ["<script"], "the page's own script, and nothing that could load or run"
    assert not re.search(r"<[^>]*\s(onerror|src|href=\"javascript)", page)
    assert page.count("alert(&#39;planted&#39;)") > 20


def test_the_page_has_no_address_to_load_from_and_a_policy_that_allows_none():
    page = render(a_run())
    assert not re.search(r"\bsrc=|url\(|@import|href=\"(?!#)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src &#39;none&#39;;")
    assert "unsafe" not in policy


def test_the_same_run_gives_the_same_bytes_in_every_process():
    code = "from runs import a_run\nfrom skillpipe.page import render\nprint(hash('a') and render(a_run(8, 30)))"
    root = Path(__file__).resolve().parents[1]
    pages = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{root / 'stages'}{os.pathsep}{root / 'tests'}"}
        pages.append(subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout)
    assert pages[0] == pages[1]
    assert len(pages[0]) > 50_000


def test_text_that_no_file_could_hold_is_shown_escaped():
    run = a_run(steps=1)
    report = replace(run.steps[0].report, reasoning="half a pair: \ud83d")
    page = render(replace(run, steps=(replace(run.steps[0], report=report),)))
    assert "half a pair: \\ud83d" in page.encode("utf-8").decode("utf-8")


def test_a_run_of_40_steps_and_200_tasks_is_small_and_fast():
    run = a_run(steps=40, tasks=200)
    started = time.process_time()
    page = render(run)
    assert time.process_time() - started < 2
    assert len(page.encode()) < 5_000_000


def test_a_failed_run_says_where_and_why_and_never_looks_completed():
    page = text(render(a_run(done=3)))
    assert "The run failed in rollout-e1s4; it decided on 3 steps." in page
    assert "bad key: 401 &lt;no access&gt;" in page
    assert "completed" not in page.split("Phases")[0]
    assert "Test held out, read once after training not reached" in page


def test_a_run_that_failed_before_its_baseline_has_a_page():
    run = RunView(NAMES, {"SKILL.md": SKILL.encode()}, status="failed", failed_phase="baseline", error="no answer")
    page = text(render(run))
    assert "The run failed in baseline; it decided on 0 steps." in page
    assert "it did not come as far as the baseline" in page
    assert "No step has run." in page


def test_an_unfinished_run_never_looks_completed():
    page = text(render(replace(a_run(done=3), status="unfinished", failed_phase="", error="")))
    assert "unfinished The run has not ended; it decided on 3 steps." in page
    assert "completed" not in page.split("Phases")[0]


def test_a_step_without_a_decision_is_listed_with_what_it_left():
    run = a_run(steps=3, done=2)
    left = replace(run.steps[0], step="e1s3", val=())
    page = text(render(replace(run, steps=(*run.steps, left))))
    assert "Step e1s3 not decided" in page
    assert "The run ended before this step was decided." in page


def test_every_action_has_words():
    assert set(ACTIONS) == set(get_args(Action))


@pytest.mark.parametrize(
    "action", ["no_change", "skip_no_patches", "stopped", "reject_policy", "force_accept", "accept"]
)
def test_a_step_of_any_action_is_told(action):
    run = a_run(steps=1)
    state = replace(run.state, history=(*run.state.history, a_step("e9s9", action)))
    page = text(render(replace(run, state=state)))
    assert f"Step e9s9 {ACTIONS[action][1]}" in page
    assert "because of e9s9" in page


def test_a_stop_is_the_reason_that_the_run_ended():
    run = a_run(steps=1)
    history = (
        run.state.history[0],
        replace(run.state.history[1], stop="no gain in 3 steps"),
        a_step("e1s2", "stopped"),
    )
    page = text(render(replace(run, state=replace(run.state, history=history))))
    assert "Ended after e1s1: no gain in 3 steps" in page
    assert "Steps 1: " in page, "a step that was not run is not counted"


def test_when_no_candidate_passed_the_best_skill_is_the_initial_one():
    run = a_run(steps=0)
    page = text(render(replace(run, test_best=())))
    assert "No candidate passed the gate: the best skill is the initial one." in page
    assert "No change: the best skill is the initial one." in page


def test_files_of_steps_are_read_as_far_as_a_run_came(tmp_path):
    run = a_run(steps=2)
    for step in run.steps:
        write_record(tmp_path / step.step / "candidate" / "report.json", step.report)
    write_rows(tmp_path / "e1s1" / "val.jsonl", run.steps[0].val)
    assert read_steps(tmp_path, ["e1s1", "e1s2", "e1s3"]) == (run.steps[0], replace(run.steps[1], val=()))


def test_a_malformed_file_of_a_step_is_refused_by_name(tmp_path):
    (tmp_path / "e1s1").mkdir()
    (tmp_path / "e1s1" / "val.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(SkillpipeError, match=r"val\.jsonl:1: not JSON"):
        read_steps(tmp_path, ["e1s1"])
