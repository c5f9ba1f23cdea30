"""Read what the phases of a run say of themselves, and put it in figures and words."""

from collections.abc import Sequence
from pathlib import Path

from skillpipe.artifacts import read_record
from skillpipe.errors import SkillpipeError
from skillpipe.phases.naming import place
from skillpipe.records import PhaseRecord

FOLDER = Path("runs/phases")
_FAILED = ("failed", "timeout", "judge_error", "infra_error")


def read_phases(folder: str | Path = FOLDER) -> list[PhaseRecord]:
    """Every record in the folder, in the order of the run; what is no record of this schema is passed over."""
    found = [record for path in Path(folder).glob("*.json") if (record := read_phase(path))]
    return sorted(found, key=lambda record: place(record.phase))


def read_phase(path: Path) -> PhaseRecord | None:
    """One record; None if there is none, or one of another schema or version."""
    try:
        return read_record(path, PhaseRecord)
    except (SkillpipeError, OSError):
        return None


def in_one_line(record: PhaseRecord) -> str:
    """For people: `validate-e1s1: 2/3 completed, 1 running (x), 1 failed (y)`; of the ids the first three."""
    counts = record.counts
    told = [f"{record.phase}: {counts.completed}/{counts.total} completed" if counts.total else f"{record.phase}"]
    failed = [task.id for task in record.tasks if task.status in _FAILED]
    running = [task.id for task in record.tasks if task.status == "running"]
    told += [f"{len(ids)} {word} ({_first(ids)})" for word, ids in (("running", running), ("failed", failed)) if ids]
    return ", ".join(told) + (f"; {record.status}: {record.error}" if record.error else "")


def _first(ids: Sequence[str]) -> str:
    return ", ".join(ids[:3]) + (f", +{len(ids) - 3} more" if len(ids) > 3 else "")
