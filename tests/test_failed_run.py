"""A run that fails under real DVC, is reported, mended and gone on with."""

import json
from pathlib import Path

import pytest

from project import Project
from toys import write_toy

TOY = ["env=toy", "target=toy", "gate=toy", "steps_per_epoch=1", "num_epochs=1", "batch_size=8", "edit_budget=3"]


def told(project: Project, name: str) -> dict:
    return json.loads((project.root / "results" / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """A project whose gate refused its setting, and what `dvc repro` said."""
    project = Project.copy(tmp_path_factory.mktemp("project") / "failed")
    write_toy(project.root)
    project.run("python", "stages/compose.py", *TOY, "stop_early=false", "gate.rule.min_delta=2")
    project.commit()
    return project, project.run("dvc", "repro", ok=False)


@pytest.fixture(scope="module")
def mended(failed: tuple[Project, str]) -> Project:
    """The same, reported, then mended and run to its end."""
    project, _ = failed
    project.run("python", "stages/publish.py")
    project.reported = told(project, "manifest.json"), told(project, "result.json")
    project.run("python", "stages/compose.py", *TOY)
    project.repro()
    return project


def test_the_error_says_how_to_see_what_the_run_came_to(failed: tuple[Project, str]) -> None:
    lines = [line.strip() for line in failed[1].splitlines()]
    at = next(number for number, line in enumerate(lines) if line.startswith("error: gate.rule.min_delta is 2"))
    assert "`make report`" in lines[at + 1]


def test_the_published_files_say_where_it_failed_and_why(mended: Project) -> None:
    manifest, result = mended.reported
    assert (manifest["status"], manifest["failed_phase"]) == ("failed", "gate-e1s1")
    assert manifest["error"].startswith("gate.rule.min_delta is 2")
    assert [step["action"] for step in result["steps"]] == ["undecided"]
    assert [row["phase"] for row in manifest["phases"]] == ["baseline", "rollout-e1s1", "validate-e1s1", "gate-e1s1"]
    assert all(row["started_at"] for row in manifest["phases"])
    assert all(Path(path).name for path in manifest["phase_records"])


def test_once_mended_the_run_goes_on_and_is_published_by_dvc_with_no_trace_of_the_failure(mended: Project) -> None:
    manifest = told(mended, "manifest.json")
    assert (manifest["status"], manifest["error"]) == ("completed", "")
    assert {"summary", "curve", "test"} <= set(manifest["artifacts"])
    assert mended.repro() == []
    assert "completed after 1 steps" in mended.run("python", "stages/publish.py")


def test_phase_records_are_no_outputs_of_dvc_and_not_in_git(mended: Project) -> None:
    assert (mended.root / "runs" / "phases" / "validate-e1s1.json").is_file()
    assert not any("phases" in path for path in mended.hashes())
    assert "phases" not in mended.run("git", "status", "--short", "--untracked-files=all")


def test_each_line_of_the_best_skill_of_a_real_run_is_traced(mended: Project) -> None:
    found = json.loads(
        mended.run("env", "PYTHONPATH=stages", "python", "-m", "skillpipe.blame", "results/best/SKILL.md", "--json")
    )
    best = (mended.root / "results" / "best" / "SKILL.md").read_text("utf-8")
    assert "".join(line["text"] for line in found["lines"]) == best
    assert (
        {name for line in found["lines"] for name in line["edits"]}
        == {edit["name"] for edit in found["edits"]}
        != set()
    )
