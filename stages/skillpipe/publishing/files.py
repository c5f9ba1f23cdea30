"""A run as its files tell it, as far as it came."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillpipe.artifacts import read_record, read_rows
from skillpipe.phases import read_phases
from skillpipe.publishing.chain import Link, could_run, done, last_state
from skillpipe.records import ApplyReport, PhaseRecord, PlanSummary, Rollout, RunStatus
from skillpipe.skill import read_folder
from skillpipe.state import State, read_state


@dataclass(frozen=True)
class Settings:
    """What a run was told: the path of its skill, and its choices as they stand in params.yaml."""

    skill: str
    environment: Mapping[str, Any]
    target: Mapping[str, Any]
    optimizer: Mapping[str, Any]
    gate: Mapping[str, Any]
    judge: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class StepFiles:
    """What a step left beside its state, as far as it came. `files` are the paths, by what they are."""

    step: str
    rollouts: tuple[Rollout, ...] = ()
    report: ApplyReport | None = None
    val: tuple[Rollout, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFiles:
    """One run. `state` is the last that was written, None before the first; `steps` are in the order of the run.

    `test_best` is empty when the best skill is the initial one, `test_last` unless the last current skill was tested.
    `phases` are records of this run's stages: their times
    are published, so there are none in a run that DVC publishes. `failed_phase` and `error` are empty unless it failed.
    """

    settings: Settings
    initial: Mapping[str, bytes]
    state: State | None = None
    baseline: Sequence[Rollout] = ()
    steps: Sequence[StepFiles] = ()
    test_initial: Sequence[Rollout] = ()
    test_best: Sequence[Rollout] = ()
    test_last: Sequence[Rollout] = ()
    plan: PlanSummary | None = None
    phases: Sequence[PhaseRecord] = ()
    status: RunStatus = "completed"
    failed_phase: str = ""
    error: str = ""

    @property
    def best(self) -> Mapping[str, bytes]:
        """The files of the best skill so far."""
        return self.state.best.skill if self.state else self.initial


def settings_of(params: Mapping[str, Any]) -> Settings:
    """The settings of a composed params.yaml."""
    return Settings(
        params["skill"], params["env"], params["target"], params["optimizer"], params["gate"], params.get("judge")
    )


def read_run(chain: Sequence[Link], params: Mapping[str, Any]) -> RunFiles:
    """What the run in the working directory has come to, whether it ended, failed, or was broken off.

    Only outputs that belong to this run are read (see `done`). Raises SkillpipeError for one that is malformed.
    """
    made = done(chain)
    outs = {out for link in made for out in link.outs}
    phases = phases_of(chain, made)
    failures = [record for record in phases if record.status == "failed"]
    failed = max(failures, key=lambda record: record.finished_at, default=None)
    written = last_state(made)
    keys = dict.fromkeys(link.step for link in made if link.step)
    settings = settings_of(params)
    return RunFiles(
        settings=settings,
        initial=read_folder(settings.skill),
        state=read_state(written) if written else None,
        baseline=_rollouts("runs/start/val.jsonl", outs),
        steps=read_steps("runs", tuple(keys), outs),
        test_initial=_rollouts("runs/test/initial.jsonl", outs),
        test_best=_rollouts("runs/test/best.jsonl", outs),
        test_last=_rollouts("runs/test/last.jsonl", outs),
        plan=read_record("runs/plan/summary.json", PlanSummary) if "runs/plan" in outs else None,
        phases=phases,
        status="failed" if failed else "completed" if len(made) == len(chain) else "unfinished",
        failed_phase=failed.phase if failed else "",
        error=failed.error if failed else "",
    )


def phases_of(chain: Sequence[Link], made: Sequence[Link]) -> list[PhaseRecord]:
    """The records of this run's phases, in its order: of stages that are done, and of those that could run now.

    Others are of an earlier run, and so is a failure of a stage that is done.
    """
    names, able = {link.phase for link in made}, {link.phase for link in could_run(chain, made)}
    records = (record for record in read_phases() if record.phase in names | able)
    return [record for record in records if record.status != "failed" or record.phase in able]


def read_steps(runs: str | Path, keys: Sequence[str], outs: Collection[str] | None = None) -> tuple[StepFiles, ...]:
    """What each step of `keys` left, in that order; a file that is not there is left out.

    With `outs`, only files that are among these or inside them: others are of an earlier run.
    """
    return tuple(_read_step(Path(runs) / key, key, outs) for key in keys)


def _read_step(folder: Path, key: str, outs: Collection[str] | None) -> StepFiles:
    paths = {
        "rollouts": folder / "rollouts.jsonl",
        "patches": folder / "patches.jsonl",
        "merged": folder / "merged.json",
        "candidate": folder / "candidate",
        "report": folder / "candidate" / "report.json",
        "val": folder / "val.jsonl",
        "state": folder / "state",
    }
    files = {
        name: path.as_posix()
        for name, path in paths.items()
        if path.exists() and (outs is None or {path.as_posix(), path.parent.as_posix()} & set(outs))
    }
    return StepFiles(
        key,
        tuple(read_rows(files["rollouts"], Rollout)) if "rollouts" in files else (),
        read_record(files["report"], ApplyReport) if "report" in files else None,
        tuple(read_rows(files["val"], Rollout)) if "val" in files else (),
        files,
    )


def _rollouts(path: str, outs: Collection[str]) -> tuple[Rollout, ...]:
    return tuple(read_rows(path, Rollout)) if path in outs else ()
