"""Which suites in a folder belong together: <prefix>_train with <prefix>_verification, and <prefix>_test if any."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillpipe.artifacts import read_json
from skillpipe.errors import SkillpipeError

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_HELD_OUT = ("verification", "validation")
_OLD_HELD_OUT = (*_HELD_OUT, "selection")


@dataclass(frozen=True)
class Pair:
    """Suites for one skill: train, val, and test, which is None where val is to be cut in two.

    Counts are of tasks, 0 for a file that cannot be read.
    """

    id: str
    skill: str
    name: str
    train: Path
    val: Path
    test: Path | None
    train_tasks: int
    val_tasks: int


def find_pairs(folder: Path) -> list[Pair]:
    """The pairs in a folder, which bears its skill's name, by prefix; files without a partner are passed over.

    A pair's id is the skill's where the prefix is its name (with _ for -), else <skill>-<prefix>. Where no names pair
    up, one file with "train" in its name and one with verification, validation or selection are a pair. Raises
    SkillpipeError for a folder that does not exist, a name that is not safe, and a prefix with two files to hold out.
    """
    if not folder.is_dir():
        raise SkillpipeError(f"{folder}: no such folder; env.data must name a folder of suites, or one suite")
    skill = safe_name(folder.resolve().name, "folder of suites")
    files = {path.stem: path for path in sorted(folder.glob("*.json"))}
    pairs = []
    for stem, train in files.items():
        prefix = stem.removesuffix("_train")
        held_out = [files[f"{prefix}_{word}"] for word in _HELD_OUT if f"{prefix}_{word}" in files]
        if prefix == stem or not held_out:
            continue
        if len(held_out) > 1:
            raise SkillpipeError(f"{folder}: {held_out[0].name} and {held_out[1].name}; keep one of them")
        safe_name(prefix, "suite")
        own = prefix == skill.replace("-", "_")
        title = prefix.replace("_", " ").replace("-", " ").title()
        test = files.get(f"{prefix}_test")
        pairs.append(_pair(skill if own else f"{skill}-{prefix}", skill, title, train, held_out[0], test))
    return pairs or _old_form(skill, files)


def safe_name(name: str, what: str) -> str:
    """The name, if it is a plain one. Raises SkillpipeError for `.`, `..` and any with other than A-Z a-z 0-9 _ . -"""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise SkillpipeError(f"{what} {name!r}: allowed in its name are A-Z, a-z, 0-9, _, . and -")
    return name


def _old_form(skill: str, files: dict[str, Path]) -> list[Pair]:
    train = [path for stem, path in files.items() if "train" in stem]
    held_out = [path for stem, path in files.items() if any(word in stem for word in _OLD_HELD_OUT)]
    if len(train) != 1 or len(held_out) != 1 or train == held_out:
        return []
    test = [path for stem, path in files.items() if stem == "test" or stem.endswith("_test")]
    title = skill.replace("-", " ").title()
    return [_pair(skill, skill, title, train[0], held_out[0], test[0] if len(test) == 1 else None)]


def _pair(name: str, skill: str, title: str, train: Path, val: Path, test: Path | None) -> Pair:
    return Pair(name, skill, f"{skill}: {title}", train, val, test, _tasks(train), _tasks(val))


def _tasks(path: Path) -> int:
    try:
        value: Any = read_json(path)
    except SkillpipeError:  # it is told when the suite is read; a list of pairs shows all of them
        return 0
    tasks = value.get("tasks") if isinstance(value, dict) else None
    return len(tasks) if isinstance(tasks, list) else 0
