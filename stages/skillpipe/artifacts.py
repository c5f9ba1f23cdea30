"""Read and write records: checked against their JSON Schema on both sides, atomic, byte-stable.

JSON has sorted keys, UTF-8 and a newline at the end; a JSONL file holds one record a line. The same records always
give the same bytes. A file appears whole or not at all: it is written beside its place and renamed.
"""

import csv
import io
import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import cattrs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from skillpipe.errors import SkillpipeError

SCHEMAS = Path(__file__).parent / "schemas"

Record = TypeVar("Record")
_converter = cattrs.Converter(forbid_extra_keys=True)


def schema_name(kind: type) -> str:
    """The schema's file name for a record class: StepRecord -> step_record.json."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower() + ".json"


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file atomically, with parents, keeping line ends as they are."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        Path(temporary).chmod(0o644)  # mkstemp makes it private; DVC and git keep modes
        Path(temporary).replace(path)
    except BaseException:  # whatever it was, it leaves no half file behind, and goes on
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A fresh folder to fill, which takes the place of `path` when the block ends without an exception."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as temporary:
        fresh = Path(temporary) / path.name
        fresh.mkdir()
        yield fresh
        if path.exists():
            path.rename(Path(temporary) / "old")
        fresh.rename(path)


def write_record(path: str | Path, record: object) -> None:
    """Write one record as indented JSON. Raises SkillpipeError when it does not fit its schema."""
    plain = _checked(record, str(path))
    write_text(path, _dump(plain, indent=1) + "\n")


def write_rows(path: str | Path, rows: Iterable[object]) -> None:
    """Write records as JSONL, in the order given; no rows give an empty file."""
    lines = [_dump(_checked(row, f"{path}:{number}")) + "\n" for number, row in enumerate(rows, start=1)]
    write_text(path, "".join(lines))


def write_csv(path: str | Path, kind: type, rows: Iterable[object]) -> None:
    """Write records of flat values as CSV with a header; None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [field.name for field in fields(kind)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(_checked(row, str(path)) for row in rows)
    write_text(path, buffer.getvalue())


def read_record(path: str | Path, kind: type[Record]) -> Record:
    """Read one record. Raises SkillpipeError that names the file and the field."""
    return _structure(_parse(read_text(path), str(path)), kind, str(path))


def read_rows(path: str | Path, kind: type[Record]) -> list[Record]:
    """Read a JSONL file, in file order. Raises SkillpipeError that names file:line and the field."""
    return [_structure(value, kind, where) for where, value in read_jsonl(path)]


def read_json(path: str | Path) -> Any:
    """The value of a JSON file. Raises SkillpipeError that names the file."""
    return _parse(read_text(path), str(path))


def read_jsonl(path: str | Path) -> list[tuple[str, Any]]:
    """The values of a JSONL file with the place of each, `file:line`; blank lines are passed over.

    Lines end at a line feed alone: other separators (U+2028, form feed) may stand inside a string.
    """
    lines = enumerate(read_text(path).split("\n"), start=1)
    return [(f"{path}:{number}", _parse(line, f"{path}:{number}")) for number, line in lines if line.strip()]


def read_text(path: str | Path) -> str:
    """A whole UTF-8 file, line ends kept, a byte order mark dropped. Raises SkillpipeError."""
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise SkillpipeError(f"{path}: no such file; run `dvc repro`, or correct the path") from None
    except IsADirectoryError:
        raise SkillpipeError(f"{path}: is a folder, a file is needed") from None
    except UnicodeDecodeError as error:
        raise SkillpipeError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise SkillpipeError(f"{where}: not JSON: {error}; each record is one JSON object") from None
    except RecursionError:
        raise SkillpipeError(f"{where}: not usable JSON: nested too deeply") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _structure(value: Any, kind: type[Record], where: str) -> Record:
    _validate(value, kind, where)
    return _converter.structure(value, kind)


def _checked(record: object, where: str) -> Mapping[str, Any]:
    # Through JSON once, so that what is validated is what a reader will see: tuples are lists there.
    plain = json.loads(json.dumps(_converter.unstructure(record)))
    if path := _not_finite(plain):
        raise SkillpipeError(f"{where}: {path}: no finite number; JSON has none but finite ones")
    _validate(plain, type(record), where)
    # And through the record once, so that equal records are equal bytes: a score of 1 is 1.0.
    return _converter.unstructure(_converter.structure(plain, type(record)))  # type: ignore[no-any-return]


def _not_finite(value: Any) -> str:
    """The path of the first NaN or infinity, fields joined by dots; empty when all numbers are finite."""
    if isinstance(value, float):
        return "" if math.isfinite(value) else "value"
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = (f"{key}.{path}" for key, item in items if (path := _not_finite(item)))
    return next(found, "").removesuffix(".value")


def _validate(value: Any, kind: type, where: str) -> None:
    error = best_match(_validator(kind).iter_errors(value))
    if error is not None:
        field = ".".join(str(part) for part in error.absolute_path) or "record"
        message = error.message if len(error.message) <= 200 else error.message[:200] + "..."
        raise SkillpipeError(f"{where}: {field}: {message} (schema {schema_name(kind)})")


@cache
def _validator(kind: type) -> Draft202012Validator:
    return Draft202012Validator(_registry()[schema_name(kind)].contents, registry=_registry())


@cache
def _registry() -> Registry[Any]:
    schemas = ((path.name, json.loads(path.read_text("utf-8"))) for path in sorted(SCHEMAS.glob("*.json")))
    return Registry().with_resources((name, DRAFT202012.create_resource(schema)) for name, schema in schemas)


def _dump(value: Mapping[str, Any], indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate in a model's text: keep it, escaped
        text = json.dumps(value, sort_keys=True, allow_nan=False, indent=indent)
    return text
