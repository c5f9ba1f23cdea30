"""The real pipeline, under real DVC, in a temporary clone, with a toy target that answers at once."""

import json
from pathlib import Path

import pytest

from project import Project, stages_that_ran
from toys import write_toy

STEP = ["rollout", "reflect", "aggregate", "apply", "validate", "gate"]
TOY = ["env=toy", "target=toy", "gate=toy", "steps_per_epoch=1", "batch_size=8", "edit_budget=3"]


def of_steps(names: list[str], *steps: str) -> set[str]:
    return {f"{name}@{step}" for name in names for step in steps}


def experiment(project: Project, *overrides: str) -> list[str]:
    """`dvc exp run` with the toy settings and these on top; the stages that ran."""
    settings = (part for override in [*TOY, *overrides] for part in ("-S", override))
    return stages_that_ran(project.run("dvc", "exp", "run", *settings))


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with toy choices, committed, in which nothing has run."""
    project = Project.copy(tmp_path_factory.mktemp("project") / "started")
    write_toy(project.root)
    project.run("python", "stages/compose.py", *TOY)
    project.commit()
    return project


@pytest.fixture(scope="module")
def finished(started: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A clone in which a run of two epochs of one step has ended."""
    project = started.clone(tmp_path_factory.mktemp("project") / "finished")
    ran = project.repro()
    steps = of_steps(STEP, "e1s1", "e2s1")
    assert sorted(ran) == sorted(
        ["plan", "baseline", "start", *steps, "slow_update@e2", "test_initial", "test_best", "report"]
    )
    project.commit("a run")
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    return finished.twin(tmp_path / "twin")


def test_a_run_improves_the_held_out_score_and_says_so(finished: Project) -> None:
    summary = json.loads((finished.root / "results" / "summary.json").read_text("utf-8"))
    assert summary["test_gain"] > 0
    assert f"({summary['test_gain']:+.3f})" in finished.run("python", "stages/show.py")


def test_the_diff_turns_the_initial_skill_into_the_best_one(project: Project) -> None:
    project.run("git", "apply", "results/diff.patch")
    best = (project.root / "results" / "best" / "SKILL.md").read_bytes()
    assert (project.root / "skills" / "toy" / "SKILL.md").read_bytes() == best


def test_a_second_repro_runs_nothing(project: Project) -> None:
    assert project.repro() == []


def test_killed_in_three_places_and_run_again_in_a_fresh_clone_gives_the_same_bytes(
    started: Project, finished: Project, tmp_path: Path
) -> None:
    project = started.clone(tmp_path / "killed")
    batch = (finished.root / "runs" / "plan" / "batches" / "e1s1.jsonl").read_text("utf-8").splitlines()
    val = (finished.root / "data" / "toy" / "val.jsonl").read_text("utf-8").splitlines()
    # the baseline, a rollout, a validation (its word is asked by the baseline too: that has ended by then), a gate
    for place in (json.loads(val[3])["id"], json.loads(batch[4])["id"], json.loads(val[5])["id"], "gate"):
        (project.root / "die").write_text(place)
        assert project.killed("dvc", "repro")
    project.repro()
    assert project.hashes() == finished.hashes()


def test_another_edit_budget_runs_nothing_before_the_first_apply(project: Project) -> None:
    assert experiment(project, "edit_budget=2")[0] == "apply@e1s1"


def test_one_more_epoch_runs_its_own_stages_and_what_comes_after(project: Project) -> None:
    ran = set(experiment(project, "num_epochs=3"))
    assert ran >= {*of_steps(STEP, "e3s1"), "slow_update@e3"}
    assert ran <= {"plan", *of_steps(STEP, "e3s1"), "slow_update@e3", "test_best", "report"}


def test_another_gate_setting_reruns_validations_and_gates_alone_when_the_decisions_stay(project: Project) -> None:
    ran = set(experiment(project, "gate.rule.min_delta=0.01"))
    assert ran == {*of_steps(["validate", "gate"], "e1s1", "e2s1"), "slow_update@e2", "report"}


def test_where_every_val_task_is_run_another_gate_setting_reruns_no_validation(project: Project) -> None:
    whole = ("stop_early=false", "slow_update.enabled=false")
    experiment(project, *whole)
    ran = set(experiment(project, *whole, "gate.rule.min_delta=0.01"))
    assert ran == {*of_steps(["gate"], "e1s1", "e2s1"), "report"}  # which says how the gate was set


def test_the_last_skill_is_tested_where_that_is_asked_for(project: Project) -> None:
    assert set(experiment(project, "test_last=true")) == {"plan", "test@last", "report"}
    summary = json.loads((project.root / "results" / "summary.json").read_text("utf-8"))
    assert summary["test_last"] is not None


def test_touching_a_module_reruns_the_stages_that_import_it_alone(project: Project) -> None:
    with (project.root / "stages" / "skillpipe" / "merging.py").open("a") as source:
        source.write("# touched\n")
    assert set(project.repro()) == {
        "plan", *of_steps(["reflect", "aggregate", "apply"], "e1s1", "e2s1"), "slow_update@e2",
    }  # fmt: skip


def test_queued_experiments_run_and_are_shown_in_few_columns(project: Project) -> None:
    settings = (part for override in [*TOY, "edit_budget=1,2"] for part in ("-S", override))
    project.run("dvc", "exp", "run", *settings, "--queue")
    project.run("dvc", "exp", "run", "--run-all")
    shown = project.run("dvc", "exp", "show", "--only-changed", "--drop", ".*/|steps", "--csv").splitlines()
    assert len(shown[0].split(",")) < 20
    assert "edit_budget" in shown[0]
    assert [row for row in shown if row.startswith(",branch_base")] or len(shown) == 5  # header, workspace, main, two
