"""Rows from files: JSONL, JSON and CSV; and which file holds which split."""

import csv
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from skillpipe.artifacts import read_json, read_jsonl, read_text
from skillpipe.errors import SkillpipeError
from skillpipe.records import Split

# A row and its place, for messages.
Row = tuple[str, dict[str, Any]]

# What a split's file or folder may be called.
NAMES: dict[Split, tuple[str, ...]] = {
    "train": ("train",),
    "val": ("val", "validation", "valid", "selection", "valid_seen"),
    "test": ("test", "valid_unseen"),
}


def shown(value: object) -> str:
    """A value as it stands in a message: its repr, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def read_rows(path: Path, id_field: str) -> list[Row]:
    """The rows of a file in file order, by the ending of its name. Raises SkillpipeError that says where.

    A JSON file holds a list of rows, {"data": [rows]}, or an object of rows, in which a row without `id_field` takes
    its key for it. Cells of a CSV are texts; its first line names the fields.
    """
    if path.suffix not in _READERS:
        raise SkillpipeError(f"{path}: unknown kind of file; allowed are {', '.join(_READERS)}")
    rows = []
    for where, value in _READERS[path.suffix](path, id_field):
        if not isinstance(value, dict):
            raise SkillpipeError(f"{where}: {type(value).__name__} found; each row is an object with id, input, answer")
        rows.append((where, value))
    return rows


def _jsonl(path: Path, id_field: str) -> Iterable[tuple[str, Any]]:
    return read_jsonl(path)


def _json(path: Path, id_field: str) -> Iterable[tuple[str, Any]]:
    value = read_json(path)
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    if isinstance(value, list):
        return [(f"{path}: row {number}", row) for number, row in enumerate(value, start=1)]
    if isinstance(value, dict):
        return [
            (f"{path}: {shown(key)}", {id_field: key} | row if isinstance(row, dict) else row)
            for key, row in value.items()
        ]
    raise SkillpipeError(
        f"{path}: {type(value).__name__} found; "
        'a JSON file holds a list of rows, {"data": [rows]} or an object of rows'
    )


def _csv(path: Path, id_field: str) -> Iterable[tuple[str, Any]]:
    csv.field_size_limit(2**31 - 1)  # the standard limit, 128 KiB a cell, is less than a long document
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    rows: list[tuple[str, Any]] = []
    names: list[str] = []
    try:
        for cells in reader:
            where = f"{path}:{reader.line_num}"  # the last line of the row
            if not cells:
                continue
            if not names:
                names = cells
                if "" in names or len(set(names)) < len(names):
                    raise SkillpipeError(f"{where}: the first line is {shown(cells)}; it names each field, once")
                continue
            if len(cells) != len(names):
                raise SkillpipeError(
                    f"{where}: {len(cells)} cells in this row and {len(names)} in the first line; quote cells that "
                    "hold a comma, a quote or a line break"
                )
            rows.append((where, dict(zip(names, cells, strict=True))))
    except csv.Error as error:
        raise SkillpipeError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    return rows


_READERS: dict[str, Callable[[Path, str], Iterable[tuple[str, Any]]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": _csv,
}


def file_of_split(folder: Path, split: Split) -> Path:
    """The one file of a split: <folder>/<split>.jsonl (.json, .csv), or the one such file in <folder>/<split>/.

    A split may go by each of its NAMES. Raises SkillpipeError where there is no such file, or more than one.
    """
    found = [path for name in NAMES[split] for path in _files(folder, name)]
    if not found:
        others = ", ".join(NAMES[split][1:])
        raise SkillpipeError(
            f"{folder / split}.jsonl: no such file; env.data must name a folder with train, val and test: a file each "
            f"({', '.join(_READERS)}) or a folder each with one such file"
            + (f"; {split} may also be called {others}" if others else "")
        )
    if len(found) > 1:
        raise SkillpipeError(f"{folder}: {split} stands in {_listed(found)}; keep one of them")
    return found[0]


def only_file(path: Path) -> Path:
    """The file that is to be cut into splits: `path`, or the one data file in the folder `path`."""
    if not path.is_dir():
        return path
    split = [name for names in NAMES.values() for name in names if _files(path, name)]
    if split:
        raise SkillpipeError(f"{path}: already split, it holds {', '.join(split)}; leave out env.split, or name a file")
    found = sorted(entry for entry in path.iterdir() if entry.suffix in _READERS)
    if len(found) != 1:
        raise SkillpipeError(
            f"{path}: {len(found)} data files ({_listed(found) or 'none'}); to cut it into splits, it must hold one"
        )
    return found[0]


def _files(folder: Path, name: str) -> list[Path]:
    files = [folder / f"{name}{suffix}" for suffix in _READERS]
    if (folder / name).is_dir():
        files += sorted((folder / name).iterdir())
    return [path for path in files if path.suffix in _READERS and path.is_file()]


def _listed(paths: list[Path]) -> str:
    return ", ".join(path.name if path.parent == paths[0].parent else str(path) for path in paths[:5])
