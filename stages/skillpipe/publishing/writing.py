"""Write what a run came to into results/: the part that a run which ended and one which failed have in common."""

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from skillpipe.artifacts import write_record, write_rows, write_text
from skillpipe.diff import folder_diff
from skillpipe.publishing.files import RunFiles
from skillpipe.publishing.manifest import PUBLISHED, artifacts_in, manifest
from skillpipe.publishing.result import result, scores_on_test
from skillpipe.skill import write_folder


def write_run(out: str | Path, run: RunFiles) -> None:
    """Write initial/, best/, diff.patch, lineage.jsonl, test.jsonl, result.json, then manifest.json.

    The manifest lists what is there: whatever else is published has to be written before.
    """
    out, lineage = Path(out), run.state.lineage if run.state else ()
    write_folder(out / "initial", run.initial)
    write_folder(out / "best", run.best)
    names = names_in_repository(run.settings.skill, run.initial)
    write_text(out / "diff.patch", folder_diff(run.initial, run.best, names))
    write_rows(out / "lineage.jsonl", lineage)
    write_rows(out / "test.jsonl", scores_on_test(run.test_initial, run.test_best))
    write_record(out / "result.json", result(run))
    write_record(out / "manifest.json", manifest(run, artifacts_in(out)))


def clear(out: str | Path) -> None:
    """Take away what an earlier run published, and nothing else."""
    for name in ("initial", "best", "manifest.json", *PUBLISHED.values()):
        path = Path(out) / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def names_in_repository(skill: str, files: Mapping[str, bytes]) -> dict[str, str]:
    """Where each file of the skill stands in the repository: `skill` is its folder, or its one file."""
    if Path(skill).is_file():
        return {path: PurePosixPath(skill).as_posix() for path in files}
    return {path: (PurePosixPath(skill) / path).as_posix() for path in files}
