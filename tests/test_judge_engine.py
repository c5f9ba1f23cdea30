"""A suite judged by a real model over HTTP: the embedded engine's own server is target and judge."""

from collections.abc import Iterator

import pytest

from engine_server import engine_server
from skillpipe.artifacts import read_rows
from skillpipe.records import Rollout
from test_suite_scripts import PLAN, ROLLOUT, done, judged_project
from workbench import Bench


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with engine_server() as address:
        yield f"{address}/v1"


@pytest.mark.parametrize(
    ("kind", "model", "more"),
    [("chat_server", "smollm2", []), ("litellm", "openai/smollm2", ["judge.json_schema=always"])],
)
def test_a_real_model_held_to_the_rubric_judges_and_what_it_cannot_say_is_no_score(
    bench: Bench, address: str, kind: str, model: str, more: list[str]
) -> None:
    settings = ["judge.max_tokens=400", "target.max_tokens=48", "min_coverage=0.3", *more]
    bench = judged_project(bench, address, kind, model, *settings)
    done(bench, "plan", *PLAN)
    done(bench, "rollout", *ROLLOUT)
    rows = read_rows(bench.root / "runs/val.jsonl", Rollout)
    judged = [row for row in rows if row.status != "judge_error"]
    assert judged
    for row in judged:  # three items by regex, two by the judge
        assert (row.soft, row.metrics["unjudged"]) == (row.metrics["rubric_passed"] / 5, 0)
    for row in rows:
        if row not in judged:  # a model this small may speak twice of one item and not at all of another
            assert (row.hard, row.soft) == (None, None)
            assert "judge: verdicts are on " in row.reason
        assert row.judge_usage.calls in (1, 2)
        assert row.judge_usage.input_tokens > 0 < row.judge_usage.output_tokens
