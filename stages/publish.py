"""Publish what a run has come to, when the report stage could not: `make report`, or `python stages/publish.py`.

DVC runs no stage after one that failed. This reads runs/ as it stands and writes results/ anew: the best skill so far,
its diff, report.html, and manifest.json and result.json, which say where the run failed and why. What an earlier run
published goes (git has it). Of a run that ended it writes nothing: results/ is as the report stage wrote it.

Reads: dvc.yaml, params.yaml, the initial skill, what the run has left in runs/. Writes: results/. Model calls: none.
"""

import subprocess
import sys
from pathlib import Path

from skillpipe.artifacts import write_text
from skillpipe.errors import SkillpipeError
from skillpipe.page import render
from skillpipe.publishing import RunFiles, clear, read_chain, read_run, read_yaml, result, view, write_run
from skillpipe.schedule import is_step


def publish(run: RunFiles) -> str:
    """How far the run came, in one line, for people."""
    told = result(run)
    before, after = (("?" if score is None else f"{score:.3f}") for score in (told.initial_score, told.best_score))
    decided = sum(is_step(step.step) and step.action != "undecided" for step in told.steps)
    return f"{run.status} after {decided} steps, val {before} -> {after}: {told.stop_reason}"


def revision() -> str:
    """Git's name for what the run was made from, with `-dirty` where files have changed since; empty without git."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.CalledProcessError):  # no git here, or no commit yet: the page says nothing of it
        return ""


def main() -> None:
    results = Path("results")
    try:
        run = read_run(read_chain(), read_yaml("params.yaml"))
        if run.status != "completed":
            clear(results)
            write_text(results / "report.html", render(view(run, revision())))
            write_run(results, run)
    except SkillpipeError as error:
        sys.exit(f"error: {error}")
    print(f"{publish(run)}\nsee {results}/report.html, {results}/manifest.json and {results}/result.json")


if __name__ == "__main__":
    main()
