"""Folding: the spelling in which a target and a document are compared, and the way back to exact positions.

Models retype what they quote: LF for CR LF, straight quotes for curly ones, plain spaces for no-break spaces,
composed letters for decomposed ones, no trailing blanks. Two lines that differ only so are the same line
here. Nothing else is folded: case, punctuation, dashes and runs of spaces stay significant, since a near miss
is reported and never guessed.

A folded line is only ever used to find a place; the document keeps its own characters. `original_span` maps a
place in folded lines back to the lines they came from, exactly.
"""

from __future__ import annotations

import unicodedata

from skillpipe.skill.lines import body_of, split_lines, strip_blank_edges

_SPACES = "\t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u02bc"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033"
_INVISIBLE = "\u200b\u2060\ufeff"
_TABLE: dict[int, str] = {
    **{ord(char): " " for char in _SPACES},
    **{ord(char): "'" for char in _SINGLE_QUOTES},
    **{ord(char): '"' for char in _DOUBLE_QUOTES},
    **{ord(char): "" for char in _INVISIBLE},
}

# Letters of category Lo that NFC joins to the letter before them: Hangul vowels and final consonants, and the
# vowel signs of Kirat Rai (Unicode 16). Every other such character has a combining class or category M.
_JOINING_LETTERS = ((0x1160, 0x11FF), (0x16D60, 0x16D6F))

# Scripts that put no space between words: each character may begin or end a word.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_TRAILING = " " + _SPACES
_JOINERS = "\u200c\u200d"
_SKIN_TONES = ("\U0001f3fb", "\U0001f3ff")


def fold_line(line: str) -> str:
    """Return `line` folded, without its line end."""
    if line.isascii():
        return line.rstrip(" \t\r\n").replace("\t", " ")
    return unicodedata.normalize("NFC", body_of(line)).translate(_TABLE).rstrip(" ")


def fold(text: str) -> str:
    """Return `text` folded line by line, lines joined by LF, blank lines at either end taken off."""
    return "\n".join(strip_blank_edges([fold_line(line) for line in split_lines(text)]))


def segments(line: str) -> list[tuple[int, int, int, int]]:
    """Map `fold_line(line)` back to `line`, in the smallest pieces that fold independently of each other.

    Returns (start, end, raw_start, raw_end) in order: `line[raw_start:raw_end]` folds to that part of the
    folded line. Invisible characters, which fold to nothing, and trailing blanks are in no piece.
    """
    raw = body_of(line)
    folded = fold_line(line)
    pieces: list[tuple[int, int, int, int]] = []
    start = at = 0
    while start < len(raw) and at < len(folded):
        stop = start + 1
        while stop < len(raw) and _joins_back(raw[stop]):
            stop += 1
        end = min(at + len(unicodedata.normalize("NFC", raw[start:stop]).translate(_TABLE)), len(folded))
        if end > at:
            pieces.append((at, end, start, stop))
        start, at = stop, end
    return pieces


def original_span(first: str, start: int, last: str, end: int) -> tuple[int, int] | None:
    """Return where the folded span from `start` on line `first` to `end` on line `last` stands in those
    lines.

    `start` is an offset of a character, `end` one past a character. None when either cuts through a letter.
    """
    head = start if _folds_in_place(first) else {piece[0]: piece[2] for piece in segments(first)}.get(start)
    tail = end if _folds_in_place(last) else {piece[1]: piece[3] for piece in segments(last)}.get(end)
    return None if head is None or tail is None else (head, tail)


def is_word_edge(text: str, at: int) -> bool:
    """Return whether a word may begin or end at offset `at` of the folded `text`.

    Not inside a word of any script that spaces its words, not inside a hyphenated word, a contraction or a
    decimal number, not inside a run of the same sign (`##` is no part of `###`), nor inside an emoji
    sequence.
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\n" or after == "\n":
        return True
    if _extends(after) or before == "\u200d":
        return False
    if _is_word(before) and _is_word(after):
        return _is_unspaced(before) or _is_unspaced(after)
    if before == after != " ":
        return False
    beyond = text[at + 1] if at + 1 < len(text) else "\n"
    behind = text[at - 2] if at >= 2 else "\n"
    return not (_binds(before, after, beyond) or _binds(behind, before, after))


def _folds_in_place(line: str) -> bool:
    """Return whether every character of `line` that shows folds to one character, at the same offset."""
    raw = body_of(line)
    return len(raw.rstrip(_TRAILING)) == len(fold_line(line)) and unicodedata.is_normalized("NFC", raw)


def _binds(left: str, middle: str, right: str) -> bool:
    if middle in "-'":
        return _is_word(left) and _is_word(right)
    return middle in ".," and left.isdigit() and right.isdigit()


def _is_word(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char == "_"
    return char.isalnum() or char in _JOINERS or unicodedata.category(char)[0] == "M"


def _is_unspaced(char: str) -> bool:
    return not char.isascii() and any(low <= ord(char) <= high for low, high in _UNSPACED)


def _extends(char: str) -> bool:
    """Return whether `char` belongs to the character before it."""
    if char.isascii():
        return False
    in_tones = _SKIN_TONES[0] <= char <= _SKIN_TONES[1]
    return char in _JOINERS or in_tones or unicodedata.category(char)[0] == "M"


def _joins_back(char: str) -> bool:
    if char.isascii():
        return False
    if unicodedata.combining(char) or unicodedata.category(char)[0] == "M":
        return True
    return any(low <= ord(char) <= high for low, high in _JOINING_LETTERS)
