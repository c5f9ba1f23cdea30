"""Whole training runs over seeds: gains and calls, and whether stopping validation early decides as full validation.


    python bench/seeds.py reviews inbox                     (five seeds each; about 20 minutes on two cores)
    python bench/seeds.py reviews --seeds 1 2 -- slow_update.enabled=false

Each run is the pipeline's own: the commands of dvc.yaml, in DVC's order, in a copy of the project; all in one process,
so that neither DVC nor Python's start is paid for again. Prints Markdown tables.
"""

import argparse
import contextlib
import io
import os
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "stages"))

from dvc.repo import Repo  # noqa: E402

from skillpipe import config  # noqa: E402
from skillpipe.artifacts import read_record, read_rows  # noqa: E402
from skillpipe.records import StepRecord, Summary  # noqa: E402


@dataclass(frozen=True)
class Ran:
    """What a run came to."""

    summary: Summary
    history: list[StepRecord]
    best: bytes

    @property
    def decisions(self) -> list[str]:
        return [f"{row.step} {row.decision.action}" for row in self.history]


def train(environment: str, seed: int, *overrides: str) -> Ran:
    """One whole run in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="seeds.") as name:
        root = Path(name)
        for part in ("conf", "data", "prompts", "skills", "stages"):
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "dvc.yaml", root)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        with contextlib.redirect_stdout(None):
            Repo.init(str(root)).close()
        with contextlib.chdir(root) if sys.version_info >= (3, 11) else _chdir(root):
            Path("params.yaml").write_text(config.compose([f"env={environment}", f"seed={seed}", *overrides]), "utf-8")
            for command in _commands(root):
                _run(command)
            last = config.read_params()["last_state"]
            return Ran(
                read_record("results/summary.json", Summary),
                read_rows(f"runs/{last}/state/history.jsonl", StepRecord),
                Path("results/best/SKILL.md").read_bytes(),
            )


def _commands(root: Path) -> list[list[str]]:
    """The commands of all stages, each after those that it depends on."""
    with Repo(str(root)) as repo:
        graph = repo.index.graph
        order: list[str] = []
        waiting = list(graph.nodes)
        done: set[object] = set()
        while waiting:
            ready = [stage for stage in waiting if all(before in done for before in graph.successors(stage))]
            order += [stage.cmd for stage in ready]
            done.update(ready)
            waiting = [stage for stage in waiting if stage not in done]
    return [command.split() for command in order]


def _run(command: list[str]) -> None:
    _, script, *words = command
    told, before = io.StringIO(), sys.argv
    sys.argv = [script, *words]
    try:
        with contextlib.redirect_stderr(told):
            runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            sys.exit(f"{' '.join(command)}: {end.code}\n{told.getvalue()}")
    finally:
        sys.argv = before


@contextlib.contextmanager
def _chdir(path: Path):
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("environments", nargs="+")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--full", action="store_true", help="also run without stopping early, and compare")
    args, overrides = parser.parse_known_args()
    overrides = [word for word in overrides if word != "--"]
    for environment in args.environments:
        print(f"\n`{environment}`" + (f", {' '.join(overrides)}" if overrides else ""))
        print("\n| seed | test | gain | val | accepted | train + val calls | val not needed | decides as in full |")

        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        rows = []
        for seed in args.seeds:
            ran = train(environment, seed, *overrides)
            same = "not run"
            if args.full:
                full = train(environment, seed, *overrides, "stop_early=false")
                same = "yes" if (full.decisions, full.best) == (ran.decisions, ran.best) else "NO"
            one = ran.summary
            rows.append(one)
            share = one.val_not_needed / max(1, one.val_not_needed + _val_calls(ran))
            print(
                f"| {seed} | {one.test_initial:.3f} -> {one.test_best:.3f} | {one.test_gain:+.3f} "
                f"| {one.val_initial:.3f} -> {one.val_best:.3f} | {one.steps_accepted} of {one.steps} "
                f"| {one.training_calls} | {one.val_not_needed} ({share:.0%}) | {same} |",
                flush=True,
            )
        gains, tests = [row.test_gain for row in rows], [row.test_best for row in rows]
        calls = [row.training_calls for row in rows]
        print(
            f"\nTest: mean {statistics.mean(tests):.3f}, median gain {statistics.median(gains):+.3f}, lowest gain "
            f"{min(gains):+.3f}; calls: {min(calls)} to {max(calls)}."
        )


def _val_calls(ran: Ran) -> int:
    """Val rollouts of candidates that were made."""
    return sum(row.decision.n for row in ran.history if row.decision.candidate is not None and not row.same_as)


if __name__ == "__main__":
    main()
