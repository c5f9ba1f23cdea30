"""The real pipeline on a few rounds of the word game, with the real embedded model."""

import json
from pathlib import Path

import pytest

from project import Project
from skillpipe.artifacts import read_rows
from skillpipe.records import Rollout
from toys import write

FEW = {"train": 6, "val": 3, "test": 3}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run of one step, on a data folder with few rows and the game beside them."""
    project = Project.copy(tmp_path_factory.mktemp("trained") / "project")
    words, few = project.root / "data" / "words", project.root / "data" / "few"
    for split, number in FEW.items():
        lines = (words / f"{split}.jsonl").read_text("utf-8").splitlines()[:number]
        write(few / f"{split}.jsonl", "".join(line + "\n" for line in lines))
    write(few / "words.py", (words / "words.py").read_text("utf-8"))
    smaller = ["env.data=data/few", "env.modules=[data.few.words]", "num_epochs=1", "steps_per_epoch=1", "batch_size=6"]
    project.run("python", "stages/compose.py", "env=skyrl", *smaller)
    project.commit()
    project.repro()
    return project


def rollouts(project: Project, name: str) -> list[Rollout]:
    return read_rows(project.root / "runs" / name, Rollout)


def test_every_episode_is_scored_and_its_rewards_are_metrics_that_add_up(trained: Project) -> None:
    for name, number in (("start/val.jsonl", 3), ("e1s1/rollouts.jsonl", 6), ("test/initial.jsonl", 3)):
        rows = rollouts(trained, name)
        assert len(rows) == number
        for row in rows:
            assert row.metrics["solved"] + row.metrics["guess"] == pytest.approx(row.metrics["reward"])
            assert row.hard == (row.metrics["solved"] == 1)
            assert row.usage.calls == row.metrics["turns"]


def test_a_failed_episode_becomes_a_worked_example_of_the_first_turn(trained: Project) -> None:
    failed = [row for row in rollouts(trained, "e1s1/rollouts.jsonl") if row.status == "failed"]
    candidate = (trained.root / "runs/e1s1/candidate/skill/SKILL.md").read_text("utf-8")
    assert any(f"{row.trajectory[0].content} {row.expected}\n" in candidate for row in failed)


def test_a_change_of_the_game_makes_its_rollouts_stale(trained: Project, tmp_path: Path) -> None:
    project = trained.twin(tmp_path / "twin")
    assert json.loads(project.run("dvc", "status", "--json")) == {}
    game = project.root / "data" / "few" / "words.py"
    game.write_text(game.read_text("utf-8").replace("return -0.1", "return -0.2"), "utf-8")
    project.run("dvc", "repro", "plan")
    assert {"baseline", "rollout@e1s1", "validate@e1s1", "test_initial"} <= json.loads(
        project.run("dvc", "status", "--json")
    ).keys()
