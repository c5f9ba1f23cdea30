"""Lines and sizes of a text: the one place that says what ends a line.

Only CR LF, LF and CR end a line, as in CommonMark 0.31 section 2.1. `str.splitlines` also breaks at form
feeds, U+0085 and U+2028, which are ordinary characters of a Markdown line, so it is not used anywhere in this
package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

BLANKS = " \t"
"""What indents or trails a line. Other white space is content."""


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` with their line ends; joined, they are `text` again."""
    return _LINE.findall(text)


def body_of(line: str) -> str:
    """Return `line` without its line end."""
    return line.rstrip("\r\n")


def end_of(line: str) -> str:
    """Return the line end of `line`: CR LF, LF, CR, or nothing for the last line of some texts."""
    return line[len(body_of(line)) :]


def is_blank(line: str) -> bool:
    """Return whether `line` holds nothing but blanks, as CommonMark counts a blank line."""
    return not line.strip(" \t\r\n")


def indent_of(line: str) -> str:
    """Return the blanks that `line` begins with."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def dominant_end(lines: Iterable[str]) -> str:
    """Return the commonest line end of `lines`, LF when there is none; a tie goes to the one seen first."""
    counts = Counter(end for end in map(end_of, lines) if end)
    return counts.most_common(1)[0][0] if counts else "\n"


def byte_length(text: str) -> int:
    """Return the size of `text` in UTF-8; a lone surrogate, which UTF-8 cannot hold, counts 3 bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def tokens_in(size: int) -> int:
    """Return the estimate of tokens in `size` bytes."""
    return -(-size // 4)


def count_tokens(text: str) -> int:
    """Estimate how many tokens a model reads in `text`: its UTF-8 bytes divided by four, rounded up.

    Four bytes per token is the usual rule of thumb for English in byte-pair vocabularies. It needs no
    tokenizer, so the same text has the same count on every machine and for every target. It is an estimate:
    for code and for scripts outside Latin a real tokenizer may differ by a factor of two.
    """
    return tokens_in(byte_length(text))


def strip_blank_edges(lines: Sequence[str]) -> list[str]:
    """Return `lines` without the blank ones at either end."""
    first, last = 0, len(lines)
    while first < last and is_blank(lines[first]):
        first += 1
    while last > first and is_blank(lines[last - 1]):
        last -= 1
    return list(lines[first:last])


def dedent(lines: Sequence[str]) -> list[str]:
    """Return `lines` without the blanks that all their non-blank ones begin with."""
    margin: str | None = None
    for line in lines:
        if is_blank(line):
            continue
        indent = indent_of(line)
        if margin is None:
            margin = indent
        while not indent.startswith(margin):
            margin = margin[:-1]
    if not margin:
        return list(lines)
    return [line if is_blank(line) else line[len(margin) :] for line in lines]
