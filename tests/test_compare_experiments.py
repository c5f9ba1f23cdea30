"""compare: real experiments of a real DVC, told by their names in git alone."""

import json
from pathlib import Path

import pytest

from project import Project
from toys import write_toy

TOY = ["env=toy", "target=toy", "gate=toy", "steps_per_epoch=1", "num_epochs=1", "batch_size=8"]


def words(*overrides: str) -> list[str]:
    return [part for override in [*TOY, *overrides] for part in ("-S", override)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with a committed run and two experiments on it, one that failed and one that waits in the queue."""
    project = Project.copy(tmp_path_factory.mktemp("project") / "compared")
    write_toy(project.root)
    project.run("python", "stages/compose.py", *TOY, "edit_budget=1")
    project.commit()
    project.run("dvc", "repro")
    project.commit("a run")
    project.run("dvc", "exp", "run", "-n", "two-edits", *words("edit_budget=2"))
    project.run("git", "reset", "-q", "--hard")
    project.run("dvc", "exp", "run", "-n", "five-edits", *words("edit_budget=5"))
    project.run("git", "reset", "-q", "--hard")
    project.run("dvc", "exp", "run", "--queue", "-n", "doomed", *words("gate.rule.min_delta=2"))
    project.run("dvc", "exp", "run", "--run-all", ok=False)
    project.run("dvc", "exp", "run", "--queue", "-n", "waiting", *words("edit_budget=4"))
    return project


def compare(project: Project, *names: str, ok: bool = True) -> str:
    """The command, typed where the project is installed: here a path does it."""
    return project.run("env", "PYTHONPATH=stages", "python", "-m", "skillpipe.compare", *names, ok=ok)


def test_two_experiments_are_compared_by_name(project: Project) -> None:
    text = compare(project, "two-edits", "five-edits")
    assert "five-edits against two-edits: " in text
    assert " on 10 test tasks, " in text
    [row] = [line for line in text.splitlines() if line.startswith("edit_budget")]
    assert row.split() == ["edit_budget", "2", "5"]
    assert "--- two-edits/SKILL.md\n+++ five-edits/SKILL.md" in text


def test_a_revision_and_the_workspace_are_compared_as_well(project: Project) -> None:
    text = compare(project, "HEAD", "workspace", "two-edits")
    assert "workspace against HEAD: " in text
    assert "skills: workspace has the same as HEAD" in text
    assert "two-edits against HEAD: " in text


def test_the_scores_are_those_that_the_run_has_published(project: Project) -> None:
    summary = json.loads((project.root / "results" / "summary.json").read_text("utf-8"))
    [row] = [line for line in compare(project, "workspace", "HEAD").splitlines() if line.startswith("workspace ")]
    assert f"{summary['test_initial']:.3f}  " in row
    assert f"{summary['test_gain']:+.3f}  " in row


def test_nothing_of_the_cache_is_needed(project: Project, tmp_path: Path) -> None:
    clone = Project(project.root).twin(tmp_path / "twin")
    for name in ("cache", "tmp"):
        clone.run("rm", "-rf", f".dvc/{name}", "runs")
    assert compare(clone, "two-edits", "five-edits") == compare(project, "two-edits", "five-edits")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("waiting", "waiting: the experiment is queued or running, and has no results yet"),
        ("doomed", "doomed: the experiment has failed, and has no results; `dvc queue logs doomed` says why"),
        ("nowhere", "nowhere: neither a revision of git nor an experiment"),
        ("HEAD~1", "HEAD~1: has no results/test.jsonl and results/summary.json"),
    ],
)
def test_what_has_no_results_is_refused_in_one_line_that_says_why(project: Project, name: str, told: str) -> None:
    [line] = compare(project, "workspace", name, ok=False).splitlines()
    assert line.startswith(f"error: {told}")


def test_one_name_for_two_experiments_is_refused_with_their_full_names(project: Project, tmp_path: Path) -> None:
    twin = Project(project.root).twin(tmp_path / "twin")
    commit = twin.run("git", "rev-parse", "HEAD").strip()
    twin.run("git", "update-ref", f"refs/exps/aa/{'b' * 38}/two-edits", commit)
    text = compare(twin, "workspace", "two-edits", ok=False)
    assert "2 experiments have this name" in text
    full = f"refs/exps/aa/{'b' * 38}/two-edits"
    assert full in text
    assert f"{full} against workspace" in compare(twin, "workspace", full)
