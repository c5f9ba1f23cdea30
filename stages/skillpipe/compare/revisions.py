"""Find what a run has published: in the working directory, at a revision of git, or in an experiment of DVC.

DVC keeps an experiment as a commit under refs/exps/, so git alone reads it.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillpipe.artifacts import read_rows, read_text
from skillpipe.errors import SkillpipeError
from skillpipe.publishing import read_yaml
from skillpipe.records import TestScore
from skillpipe.skill import read_folder

WORKSPACE = "workspace"
_EXPERIMENT = re.compile(r"refs/exps/[0-9a-f]{2}/[0-9a-f]{38}/(.+)")
_QUEUES = {
    "refs/exps/celery/stash": "is queued or running, and has no results yet; `dvc queue status` shows when it has",
    "refs/exps/celery/failed": "has failed, and has no results; `dvc queue logs {name}` says why",
}


@dataclass(frozen=True)
class Published:
    """What one run has published. `summary` are the figures of summary.json, `best` the files of the best skill."""

    name: str
    revision: str
    params: Mapping[str, Any]
    summary: Mapping[str, float | None]
    tests: tuple[TestScore, ...]
    best: Mapping[str, bytes]


def read_published(name: str) -> Published:
    """The run that `name` stands for: `workspace`, a revision, or an experiment's name. Raises SkillpipeError."""
    if name == WORKSPACE:
        return _read(name, "", Path())
    revision = _resolve(name)
    with tempfile.TemporaryDirectory() as folder:
        for path in _git("ls-tree", "-r", "--name-only", "-z", revision, "--", "results", "params.yaml").split("\0"):
            if path:
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(_bytes("show", f"{revision}:./{path}"))
        try:
            return _read(name, revision[:7], Path(folder))
        except SkillpipeError as error:
            raise SkillpipeError(str(error).replace(f"{folder}/", f"{name}: ")) from None


def _read(name: str, revision: str, root: Path) -> Published:
    results = root / "results"
    if not (results / "test.jsonl").is_file() or not (results / "summary.json").is_file():
        raise SkillpipeError(
            f"{name}: has no results/test.jsonl and results/summary.json: nothing was published there; `dvc repro` (or "
            "`dvc exp run`) publishes a run, and commit it"
        )
    tests = tuple(read_rows(results / "test.jsonl", TestScore))
    return Published(
        name,
        revision,
        read_yaml(root / "params.yaml"),
        _figures(results / "summary.json"),
        tests,
        read_folder(results / "best"),
    )


def _figures(path: Path) -> dict[str, float | None]:
    """The numbers in summary.json, whichever version of skillpipe wrote it."""
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise SkillpipeError(f"{path}: not JSON: {error}; `dvc repro` writes it anew") from None
    return {key: value for key, value in found.items() if value is None or isinstance(value, int | float)}


def _resolve(name: str) -> str:
    """The commit of a revision or an experiment."""
    known = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", missing="").strip()
    if known:
        return known
    refs = _git("for-each-ref", "--format=%(refname)", "refs/exps").split()
    found = [ref for ref in refs if (match := _EXPERIMENT.fullmatch(ref)) and match[1] == name]
    if len(found) > 1:
        raise SkillpipeError(f"{name}: {len(found)} experiments have this name; name one of {', '.join(found)}")
    if found:
        return _git("rev-parse", f"{found[0]}^{{commit}}").strip()
    for ref, told in _QUEUES.items():
        if ref in refs and name in _stashed(ref):
            raise SkillpipeError(f"{name}: the experiment {told.format(name=name)}")
    raise SkillpipeError(
        f"{name}: neither a revision of git nor an experiment; `dvc exp show` and `git log` list them, and `workspace` "
        "is what lies in this folder"
    )


def _stashed(ref: str) -> set[str]:
    """The names of the experiments in one of DVC's queues: its entries say dvc-exp:<revision>:<baseline>:<name>."""
    lines = _git("reflog", "show", "--format=%gs", ref, missing="").splitlines()
    return {line.split(":")[4 if line.startswith("commit:") else 3] for line in lines if line.count(":") >= 3}


def _git(*words: str, missing: str | None = None) -> str:
    return _bytes(*words, missing=missing).decode()


def _bytes(*words: str, missing: str | None = None) -> bytes:
    """What git prints; `missing` when it ends with an error, where that is an answer."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607 - words are git's own
    except FileNotFoundError:
        raise SkillpipeError("git: not found; install it, or compare within a folder by `workspace` alone") from None
    if done.returncode and missing is None:
        told = " ".join(done.stderr.decode(errors="replace").split())
        raise SkillpipeError(f"git {words[0]}: {told}; run this in the project's folder")
    return (missing or "").encode() if done.returncode else done.stdout
