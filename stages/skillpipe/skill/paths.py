"""Paths inside a skill's folder, as an edit or a configuration names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache


def path_problem(path: str) -> str:
    """Return why `path` is no plain relative POSIX path inside a folder, or nothing if it is one.

    Judged by the text alone and for every system at once, so that a skill which is carried from one machine
    to another means the same on both: no `..` or `.`, no leading `/`, no backslash, no drive, no empty
    segment, no control character.
    """
    if not path:
        return "the path is empty"
    if path.startswith("/"):
        return "the path is absolute"
    if "\\" in path:
        return "the path holds a backslash; folders are parted by /"
    if re.match(r"[A-Za-z]:", path):
        return "the path names a drive"
    if any(ord(char) < 32 or ord(char) == 127 for char in path):
        return "the path holds a control character"
    segments = path.split("/")
    if ".." in segments:
        return "the path leaves the folder by .."
    if "." in segments or "" in segments:
        return "the path has an empty segment or ."
    return ""


def is_editable(path: str, globs: Sequence[str]) -> bool:
    """Return whether any of `globs` matches all of `path`.

    `*` and `?` stand for characters of one segment, `**/` for any number of folders, `**` at the end for
    everything below; upper and lower case differ.
    """
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@lru_cache(maxsize=64)
def _pattern(glob: str) -> re.Pattern[str]:
    pieces = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(pieces.get(token, re.escape(token)) for token in tokens), re.DOTALL)
