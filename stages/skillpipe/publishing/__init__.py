"""What a run publishes for programs: results/manifest.json, results/result.json and results/test.jsonl.

For a run that ended, by the report stage; for one that failed, by `python stages/publish.py`, from what runs/ holds.
docs/artifacts.md has every field.
"""

from skillpipe.publishing.chain import Link, done, last_state, read_chain, read_yaml
from skillpipe.publishing.files import RunFiles, Settings, StepFiles, phases_of, read_run, read_steps, settings_of
from skillpipe.publishing.manifest import artifacts_in, manifest
from skillpipe.publishing.page import view
from skillpipe.publishing.result import phase_summaries, result, scores_on_test
from skillpipe.publishing.writing import clear, names_in_repository, write_run

__all__ = [
    "Link",
    "RunFiles",
    "Settings",
    "StepFiles",
    "artifacts_in",
    "clear",
    "done",
    "last_state",
    "manifest",
    "names_in_repository",
    "phase_summaries",
    "phases_of",
    "read_chain",
    "read_run",
    "read_steps",
    "read_yaml",
    "result",
    "scores_on_test",
    "settings_of",
    "view",
    "write_run",
]
