"""Two versions of a text, line by line, with the words that differ. Pure.

Lines end at a line feed alone, as in diff.py; line ends and a missing last one are not told apart here:
results/diff.patch has them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

CONTEXT = 3  # unchanged lines around a change
ALIKE = 0.4  # below this share of common words a line is shown as another line, not as a changed one

Part = tuple[bool, str]
"""Whether the other version lacks it, and the text."""


@dataclass(frozen=True)
class Side:
    """A line of one version with its number, 1-based; its parts in order are its text."""

    number: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Row:
    """A line of the old version beside one of the new; None where there is none."""

    same: bool
    old: Side | None
    new: Side | None


@dataclass(frozen=True)
class Line:
    """A line of the unified view: a blank, a minus or a plus, and where it stands."""

    sign: Literal[" ", "-", "+"]
    old: int | None
    new: int | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Comparison:
    """What changed in one file. `hunks` are the changed places with context, `removed` and `added` count lines."""

    file: str
    hunks: tuple[tuple[Row, ...], ...]
    removed: int
    added: int

    @property
    def unified(self) -> tuple[tuple[Line, ...], ...]:
        """The same places as git shows them: what was removed, then what was added."""
        return tuple(tuple(_unified(hunk)) for hunk in self.hunks)


def compare(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[Comparison]:
    """The files that differ, by path. A file that is not UTF-8 is shown with replacement characters."""
    paths = [path for path in sorted(new) if old.get(path, b"") != new[path]]
    return [_compare(path, _lines(old.get(path, b"")), _lines(new[path])) for path in paths]


def _compare(path: str, old: list[str], new: list[str]) -> Comparison:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    hunks, removed, added = [], 0, 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        rows: list[Row] = []
        for tag, start, end, first, last in group:
            if tag == "equal":
                pairs = zip(range(start, end), range(first, last), strict=True)
                rows += [Row(True, _plain(i, old[i]), _plain(j, new[j])) for i, j in pairs]
                continue
            removed, added = removed + end - start, added + last - first
            rows += [_pair(old, new, i, j) for i, j in zip_longest(range(start, end), range(first, last))]
        hunks.append(tuple(rows))
    return Comparison(path, tuple(hunks), removed, added)


def _pair(old: Sequence[str], new: Sequence[str], i: int | None, j: int | None) -> Row:
    if i is None or j is None:
        return Row(False, None if i is None else _plain(i, old[i]), None if j is None else _plain(j, new[j]))
    before, after = (re.findall(r"\s+|\w+|[^\w\s]", line) for line in (old[i], new[j]))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < ALIKE:
        return Row(False, _plain(i, old[i]), _plain(j, new[j]))
    codes = matcher.get_opcodes()
    return Row(
        False,
        Side(i + 1, tuple((tag != "equal", "".join(before[a:b])) for tag, a, b, _, _ in codes if b > a)),
        Side(j + 1, tuple((tag != "equal", "".join(after[a:b])) for tag, _, _, a, b in codes if b > a)),
    )


def _unified(rows: Sequence[Row]) -> list[Line]:
    done: list[Line] = []
    added: list[Line] = []
    for row in rows:
        if row.same and row.old and row.new:
            done += [*added, Line(" ", row.old.number, row.new.number, row.new.parts)]
            added = []
            continue
        done += [Line("-", row.old.number, None, row.old.parts)] if row.old else []
        added += [Line("+", None, row.new.number, row.new.parts)] if row.new else []
    return done + added


def _plain(index: int, line: str) -> Side:
    return Side(index + 1, ((False, line),))


def _lines(data: bytes) -> list[str]:
    lines = [line.removesuffix("\r") for line in data.decode("utf-8", "replace").split("\n")]
    return lines if lines[-1] else lines[:-1]
