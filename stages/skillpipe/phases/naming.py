"""How a stage is called at its place in the run, and in which order they come."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillpipe.records import PhaseKind

_IN_STEP = ("rollout", "reflect", "aggregate", "apply", "validate", "gate")
_OF_RUN = ("plan", "baseline", "start", "", "test_initial", "test_best", "test_last", "report")  # "": the steps


@dataclass(frozen=True)
class Phase:
    """A stage at its place in the run, by what it writes. See PhaseRecord."""

    name: str
    kind: PhaseKind
    suite_name: str
    out: str


def phase_of(script: str, out: str, tasks: str = "") -> Phase | None:
    """The phase that a script is when it writes `out`, as dvc.yaml names it; None for a path that is no run's.

    `tasks` is the file of tasks of a round of rollouts, empty for other scripts.
    """
    parts = PurePosixPath(out).parts
    if script == "report" and parts == ("results",):
        return Phase("report", "stage", "", out)
    if parts[:1] != ("runs",) or len(parts) < (2 if script in ("plan", "slow_update") else 3):
        return None
    key, stem = parts[1], PurePosixPath(parts[-1]).stem
    if script in ("plan", "start"):
        return Phase(script, "stage", "", out)
    if script not in ("rollout", "validate"):
        return Phase(f"{script}-{key}", "stage", "", out)
    stage = {"val": "validate", "rollouts": "rollout"}.get(stem, stem)
    name = {"start": "baseline", "test": f"test_{stem}"}.get(key, f"{stage}-{key}")
    split = PurePosixPath(tasks).stem
    return Phase(name, "val" if split == "val" else "test" if split == "test" else "train", tasks, out)


def place(phase: str) -> tuple[int, int, int, int, str]:
    """A key that sorts phases by name as a run comes to them: plan, baseline, start, each step, the tests, report."""
    stage, _, key = phase.partition("-")
    of = re.fullmatch(r"e(\d+)(?:s(\d+))?", key)
    if of is None:
        return (_OF_RUN.index(stage) if stage in _OF_RUN else len(_OF_RUN), 0, 0, 0, phase)
    in_step = _IN_STEP.index(stage) if stage in _IN_STEP else len(_IN_STEP)
    last = 10**9  # what belongs to a whole epoch comes after its steps
    return (_OF_RUN.index(""), int(of[1]), int(of[2]) if of[2] else last, in_step, phase)
