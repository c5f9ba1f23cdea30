"""A folder with params.yaml, toy data and a toy skill, in which stage scripts are run as people type them."""

import io
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from samples import passed, scores
from skillpipe.records import Decision, Edit, EditOutcome, LineageRow, Rollout, Spent, Splice, StepRecord, Tried, Usage
from skillpipe.state import State, Version

STAGES = Path(__file__).resolve().parents[1] / "stages"
UNUSED = Usage()
NOTHING = Splice(0, 0, ())
SKILL = "---\nname: toy\ndescription: Capitals.\n---\n# Toy\n\nUse capitals.\n"


@dataclass
class Ended:
    """How a script ended: its exit code, what it printed, what it said on the error stream."""

    code: int
    out: str
    err: str


@dataclass
class Bench:
    root: Path

    def run(self, script: str, *words: str) -> Ended:
        """`python stages/<script>.py words...`, typed in the folder."""
        command = [sys.executable, STAGES / f"{script}.py", *words]
        done = subprocess.run(command, cwd=self.root, capture_output=True, encoding="utf-8", check=False)
        return Ended(done.returncode, done.stdout, done.stderr)

    def run_here(self, script: str, *words: str) -> Ended:
        """The same without the second that a new process takes to start."""
        out, err, path, code = io.StringIO(), io.StringIO(), str(STAGES / f"{script}.py"), 0
        with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
            patched.chdir(self.root)
            patched.setattr(sys, "argv", [path, *words])
            try:
                runpy.run_path(path, run_name="__main__")
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
                err.write("" if isinstance(end.code, int | None) else f"{end.code}\n")
        return Ended(code, out.getvalue(), err.getvalue())

    def done(self, script: str, *words: str) -> str:
        """What a script prints that must succeed, in a process of its own; progress is left out."""
        ended = self.run(script, *words)
        assert ended.code == 0, ended.err
        return ended.out

    def refused(self, script: str, *words: str) -> str:
        """The one line with which a script must refuse, leaving every file as it was."""
        before = self.files()
        ended = self.run_here(script, *words)
        lines = ended.err.strip().splitlines()
        assert (ended.code, ended.out, len(lines)) == (1, "", 1), ended.err
        assert lines[0].startswith("error: "), lines[0]
        assert self.files() == before
        return lines[0].removeprefix("error: ")

    def files(self) -> dict[str, bytes]:
        """Every file by its path, but for Python's caches and what stages say of themselves."""
        apart = {"__pycache__", "phases"}
        paths = (path for path in sorted(self.root.rglob("*")) if path.is_file() and not apart & set(path.parts))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def write(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def skill(text: str = SKILL) -> dict[str, bytes]:
    return {"SKILL.md": text.encode("utf-8")}


def state(
    *hard: float | None,
    current: str = SKILL,
    history: tuple[StepRecord, ...] = (),
    used: Usage = UNUSED,
) -> State:
    """The state after a baseline with these val scores that used so much; the current skill is also the best."""
    version = Version(skill(current), scores(*hard))
    scored = [value for value in hard if value is not None]
    mean = sum(scored) / len(scored)
    decision = Decision("baseline", "the initial skill", mean, None, len(scored))
    baseline = StepRecord(
        "start", decision, mean, mean, 1.0, None, 0, 0, spent=Spent(target=used), candidate=version.digest
    )
    tried = (Tried(version.digest, "start", "", True, version.val),)
    return State(version, version, (baseline, *history), (), tried)


def val(*hard: float) -> list[Rollout]:
    """Val rollouts of tasks v0, v1, ... with these scores: 1 passes, anything else does not."""
    rows = [passed(f"v{number}") for number in range(len(hard))]
    return [
        Rollout(row.task, "", "passed" if score == 1 else "failed", score, score, "", "yes", row.trajectory, row.usage)
        for row, score in zip(rows, hard, strict=True)
    ]


def outcome(edit: Edit, status: str = "applied") -> EditOutcome:
    return EditOutcome(edit, status, "", None, (5, 5) if status == "applied" else None)


def lineage(step: str, edit: Edit, action: str = "reject", splice: Splice = NOTHING) -> LineageRow:
    return LineageRow(step, 1, edit, None, (5, 5), action, 0.5, 0.5, splice)
