"""Read a skill's folder from disk and write it back."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from skillpipe.errors import SkillpipeError
from skillpipe.skill.paths import path_problem
from skillpipe.skill.request import SKILL_FILE


def read_folder(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the files of the skill at `path` by relative POSIX path, in order, with their exact bytes.

    `path` is a folder that holds SKILL.md, or a single .md file, which is then the SKILL.md of a skill
    without other files. A link to a file inside the folder is read as that file. Empty folders and file modes
    are not carried.

    Raises:
        SkillpipeError: no such folder; no SKILL.md, or one that is not UTF-8; a link that leads out of the
            folder, to a folder, or nowhere; something that is neither file nor folder; a name that is no
            portable path.
    """
    root = Path(path)
    if root.is_file():
        if root.suffix.lower() != ".md":
            raise SkillpipeError(f"{root}: no .md file; a skill is a folder or one .md file; name one of these")
        return {SKILL_FILE: _utf8(root, root.read_bytes())}
    if not root.is_dir():
        raise SkillpipeError(f"{root}: no such folder; a skill is a folder with a SKILL.md; check the path")
    files = {name: file.read_bytes() for name, file in sorted(_walk(root, root))}
    if SKILL_FILE not in files:
        other = next((name for name in files if name.lower() == "skill.md"), "")
        mend = f"rename {other}" if other else "add it, or name a single .md file"
        raise SkillpipeError(f"{root}: no SKILL.md; a skill is a folder that holds one; {mend}")
    _utf8(root / SKILL_FILE, files[SKILL_FILE])
    return files


def write_folder(path: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Make the folder `path` hold exactly `files`, all of them or none.

    They are written to a temporary folder beside it, which is then renamed to `path`; a folder that was there
    is moved aside first, and put back should the rename fail. A file that begins with `#!` is made
    executable.

    Raises:
        SkillpipeError: `path` is a link or a file; a key is no plain relative path, or names both a file and a
            folder; no SKILL.md among the files.
    """
    root = Path(path)
    if root.is_symlink():
        raise SkillpipeError(f"{root}: is a link, which is not followed; write to the folder that it leads to")
    if root.exists() and not root.is_dir():
        raise SkillpipeError(f"{root}: is a file; a skill is written to a folder; choose another path")
    _check_names(root, files)
    root.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{root.name}.", dir=root.parent))
    try:
        fresh = scratch / "new"
        for name, data in files.items():
            file = fresh.joinpath(*name.split("/"))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            if data.startswith(b"#!"):
                file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        _swap(root, fresh, scratch / "old")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _swap(root: Path, fresh: Path, aside: Path) -> None:
    if not root.exists():
        fresh.rename(root)
        return
    root.rename(aside)
    try:
        fresh.rename(root)
    except OSError:
        with suppress(OSError):
            aside.rename(root)
        raise


def _walk(root: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield every file below `folder` with its path relative to `root`; follow no link out of `root`."""
    for entry in folder.iterdir():
        name = entry.relative_to(root).as_posix()
        problem = path_problem(name)
        if problem:
            raise SkillpipeError(f"{entry}: {problem}; a name must be good on every system; rename it")
        if entry.is_symlink():
            target = entry.resolve()
            if not target.is_relative_to(root.resolve()):
                raise SkillpipeError(f"{entry}: a link out of the skill's folder; copy it in")
            if not target.is_file():
                raise SkillpipeError(f"{entry}: a link to no file; a skill holds files; replace it by a copy")
            yield name, target
        elif entry.is_dir():
            yield from _walk(root, entry)
        elif entry.is_file():
            yield name, entry
        else:
            raise SkillpipeError(f"{entry}: neither a file nor a folder; a skill holds only these; remove it")


def _utf8(path: Path, data: bytes) -> bytes:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillpipeError(
            f"{path}: not UTF-8 (byte {error.start}); a SKILL.md is UTF-8 text; save it in that encoding"
        ) from None
    return data


def _check_names(root: Path, files: Mapping[str, bytes]) -> None:
    if SKILL_FILE not in files:
        raise SkillpipeError(f"{root}: no SKILL.md among the files; a skill holds one; add it")
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    for name in files:
        problem = path_problem(name)
        if problem:
            raise SkillpipeError(f"{root}: {name!r}: {problem}; use plain relative paths; rename the file")
        if name in folders:
            raise SkillpipeError(f"{root}: {name!r} is both a file and a folder; rename one of them")
