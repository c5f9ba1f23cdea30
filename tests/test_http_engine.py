"""A whole training run on `reviews` with the real model behind HTTP, through litellm."""

import json
from pathlib import Path

from engine_server import engine_server
from project import Project


def test_a_run_through_litellm_on_a_real_server_improves_the_held_out_score(tmp_path: Path) -> None:
    project = Project.copy(tmp_path / "project")
    with engine_server() as address:
        settings = {
            "num_epochs": 1,
            "steps_per_epoch": 1,
            "target": "litellm",
            "target.model": "openai/smollm2",
            "target.api_base": f"{address}/v1",
            "target.max_tokens": 16,
            "+target.extra.stop": '["\n"]',
            "execution.target.ledger": tmp_path / "calls.sqlite",
        }
        project.run("python", "stages/compose.py", *(f"{key}={value}" for key, value in settings.items()))
        project.commit()
        project.repro()
    summary = json.loads((project.root / "results" / "summary.json").read_text("utf-8"))
    assert summary["test_gain"] > 0
    assert summary["test_coverage"] == 1
    assert summary["target_calls"] == 40 + 15 + 40 + 2 * 60
