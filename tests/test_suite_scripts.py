"""The shipped suite through plan and rollout, target and judge behind one server: asked and paid once, and counted."""

import json
import shutil

import pytest

from conftest import ROOT
from fault_server import FaultServer
from samples import passed
from scripted import part
from skillpipe.artifacts import read_record, read_rows, write_rows
from skillpipe.records import PlanSummary, Rollout, Usage
from workbench import Bench

PLAN = ("conf=conf", "skill=skills/notes", "out=runs/plan")
ROLLOUT = ("skill=skills/notes", "tasks=runs/plan/val.jsonl", "out=runs/val.jsonl")
NOTE = "# Note\n\n2025-08-08\n\n- [ ] Nils: planes the door\n"
RETRY = "retry={attempts: 1, first_wait_s: 0.001, max_wait_s: 0.002}"


def is_judged(text):
    return text.startswith("# Judge an attempt")


def verdicts(text, verdict="yes"):
    items = json.loads(part(text, "evidence"))["rubric"]
    told = [{"id": item["id"], "verdict": verdict, "reason": "so it is"} for item in items]
    return json.dumps({"items": told})


@pytest.fixture
def judged():
    """A server that is target and judge; what the judge says can be changed."""
    said = {"judge": lambda text: f"say {verdicts(text)}"}
    with FaultServer(lambda _, text: said["judge"](text) if is_judged(text) else f"say {NOTE}") as server:
        server.said = said
        yield server


def project(bench: Bench, server: FaultServer, *more: str) -> Bench:
    return judged_project(bench, server.url, "chat_server", "toy", *more)


def judged_project(bench: Bench, address: str, kind: str, model: str, *more: str) -> Bench:
    """The shipped suite, with this kind of model at this address as its target and its judge."""
    shutil.copytree(ROOT / "data/suites", bench.root / "data/suites")
    shutil.copytree(ROOT / "skills/notes", bench.root / "skills/notes")
    ledger = bench.root.parent / "calls.sqlite"
    choices = ["env=suite", "batch_size=6"]
    for role in ("target", "judge"):
        choices += [f"{role}={kind}", f"{role}.model={model}", f"{role}.api_base={address}"]
        choices += [f"execution.{role}.ledger={ledger}", f"execution.{role}.{RETRY}"]
    done(bench, "compose", *choices, *more)
    return bench


def done(bench, script, *words):
    ended = bench.run_here(script, *words)
    assert ended.code == 0, ended.err


def asked(server):
    return [request for request in server.seen if is_judged(request.text)]


def test_val_is_judged_once_and_a_second_run_asks_nothing(bench, judged):
    bench = project(bench, judged)
    done(bench, "plan", *PLAN)
    done(bench, "rollout", *ROLLOUT)
    first, calls = (bench.root / "runs/val.jsonl").read_bytes(), len(judged.seen)
    assert (calls, len(asked(judged))) == (6, 3)
    done(bench, "rollout", *ROLLOUT)
    assert ((bench.root / "runs/val.jsonl").read_bytes(), len(judged.seen)) == (first, calls)


def test_scores_reasons_and_usage_are_in_the_rollouts(bench, judged):
    bench = project(bench, judged)
    done(bench, "plan", *PLAN)
    done(bench, "rollout", *ROLLOUT)
    rows = read_rows(bench.root / "runs/val.jsonl", Rollout)
    assert [(row.status, row.soft) for row in rows] == [("passed", 1.0), ("failed", 0.8), ("failed", 0.8)]
    assert rows[1].reason == "date: no match (The date is written as 2025-08-21.)"
    assert {row.judge_usage for row in rows} == {Usage(1, 10, 5, None)}
    assert {row.usage for row in rows} == {Usage(1, 10, 5, None)}


def test_the_judge_is_held_to_the_schema_and_sees_no_assertion_and_no_regex(bench, judged):
    bench = project(bench, judged)
    done(bench, "plan", *PLAN)
    done(bench, "rollout", *ROLLOUT)
    for request in asked(judged):
        assert "response_format" in request.body
        assert "must_complete_within_sec" not in request.text
        assert "(?m)" not in request.text


def test_a_judge_whose_replies_cannot_be_used_fails_the_stage_and_scores_nothing(bench, judged):
    bench = project(bench, judged)
    done(bench, "plan", *PLAN)
    judged.said["judge"] = lambda text: "say I would rather not."
    ended = bench.run_here("rollout", *ROLLOUT)
    assert ended.code == 1
    assert "0 of 3 tasks were scored, min_coverage is 0.9: 3 x judge_error: judge: no JSON" in ended.err
    assert not (bench.root / "runs/val.jsonl").exists()


def test_the_judges_budget_counts_what_earlier_stages_used(bench, judged):
    bench = project(bench, judged, "budget.judge.max_calls=4")
    done(bench, "plan", *PLAN)
    row = passed("t1")
    write_rows(bench.root / "runs/before.jsonl", [Rollout(**{**vars(row), "judge_usage": Usage(3, 30, 15)})])
    ended = bench.run_here("rollout", *ROLLOUT, "spent=[runs/before.jsonl]")
    assert ended.code == 1
    assert "budget.judge.max_calls is 4: the judge has used 4 calls" in ended.err


def test_plan_warns_of_a_rubric_without_a_judge_and_not_of_one_with_it(bench, judged):
    bench = project(bench, judged)
    done(bench, "plan", *PLAN)
    assert not any("judge" in line for line in read_record(bench.root / "runs/plan/summary.json", PlanSummary).warnings)
    done(bench, "compose", "env=suite", "batch_size=6")
    done(bench, "plan", *PLAN)
    warnings = read_record(bench.root / "runs/plan/summary.json", PlanSummary).warnings
    assert any("judge=none: 12 of 12 tasks have a rubric that nobody judges" in line for line in warnings)
    assert judged.seen == []
