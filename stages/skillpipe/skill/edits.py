"""Apply edits to a skill's text: each lands exactly where it was meant, or is reported with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillpipe.skill.anchors import Place, Scope, find, find_section
from skillpipe.skill.change import deletions, replacements
from skillpipe.skill.content import Content, close_fence, read_content, stays_open
from skillpipe.skill.document import Document, Splice
from skillpipe.skill.fold import fold
from skillpipe.skill.insert import appends, inserts
from skillpipe.skill.lines import body_of, tokens_in
from skillpipe.skill.outline import Change
from skillpipe.skill.report import EditReport, Refusal
from skillpipe.skill.request import SKILL_FILE, Request, read_request


@dataclass(frozen=True)
class Limits:
    """The most that a document may grow to; None is no limit. A document beyond them may still shrink."""

    max_tokens: int | None = None
    max_lines: int | None = None


def apply_edits(
    text: str, edits: Sequence[object], *, max_tokens: int | None = None, max_lines: int | None = None
) -> tuple[str, list[EditReport]]:
    """Apply `edits` to the SKILL.md `text` in order, each to the result of the one before.

    Args:
        text: The document: optional frontmatter and a Markdown body. Any string.
        edits: Mappings or objects with `op`, `target`, `content`, `section`, `file`. Anything may be in them.
        max_tokens: An edit that makes the whole document larger than this by `count_tokens` is `invalid`.
        max_lines: The same for its lines.

    Returns:
        The new text, and one report per edit in the order given. Without an applied edit the text is `text`.

    What holds, for any input:
        - Nothing is raised, and the result depends on the arguments alone.
        - Frontmatter, protected regions and all lines that no edit touched keep their bytes (a last line
          without a line end gains one when something follows it). New lines take the line end of the line
          they follow.
        - A target is found once, by whole lines or whole words after folding (see docs/skills.md), or not at
        all.
        - Blocks that an edit does not touch parse as before: same kind, same lines, inside the same list
          items and quotes. An edit for which no way to do that is found is `invalid`.
        - An applied edit changed the document.

    Not handled: inline Markdown (an edit may leave `**` unpaired), and whether the content makes sense.
    """
    document = Document(text)
    limits = Limits(max_tokens, max_lines)
    reports = []
    for index, edit in enumerate(edits):
        op, file, request = read_request(edit)
        if isinstance(request, Request) and file != SKILL_FILE:
            request = Refusal("invalid", f"the edit is for the file {file[:200]!r}; only {SKILL_FILE} is at hand here")
        reports.append(apply_request(document, index, op, file, request, limits))
    return document.text, reports


def apply_request(
    document: Document, index: int, op: str, file: str, request: Request | Refusal, limits: Limits
) -> EditReport:
    """Apply one edit to `document`, which changes only if the report says `applied`."""
    found = request if isinstance(request, Refusal) else _choose(document, request)
    if isinstance(found, Refusal):
        return EditReport(index, op, found.status, found.reason, file=file)
    splice, change = found
    refusal = _too_large(document, splice, limits)
    if refusal:
        return EditReport(index, op, refusal.status, refusal.reason, file=file)
    exact = _exact(document, splice)
    replaced = (splice.start + 1, splice.end) if op in ("replace", "delete") else None
    document.commit(splice, change)
    first = splice.start + splice.first + 1
    lines = (first, first + splice.count - 1) if splice.count else None
    return EditReport(index, op, "applied", splice.note, lines, file, replaced, exact)


def _choose(document: Document, request: Request) -> tuple[Splice, Change | None] | Refusal:
    """Return the first way to do `request` that leaves the document sound, or why there is none."""
    ways = _ways(document, request)
    if isinstance(ways, Refusal):
        return ways
    refusal: Refusal | None = None
    for splice in ways:
        if list(splice.lines) == document.lines[splice.start : splice.end]:
            return Refusal("duplicate", "the document says this already")
        checked = document.check(splice)
        if not isinstance(checked, Refusal):
            return splice, checked
        refusal = refusal or checked
    return refusal or Refusal("invalid", "the document ends inside an HTML comment or block that never closes")


def _ways(document: Document, request: Request) -> Iterable[Splice] | Refusal:
    scope = _scope(document, request.section)
    if isinstance(scope, Refusal):
        return scope
    content = Content((), ())
    if request.op != "delete":
        content = read_content(request.content)
        if not content.raw:
            return Refusal("empty", "the content holds nothing but blanks and region markers")
    if request.op == "append":
        section = scope if request.section else None
        return _not_new(document, content) or appends(document, content, section)
    place = _find(document, scope, request.target)
    if isinstance(place, Refusal):
        return place
    if request.op == "insert_after":
        return _not_new(document, content) or inserts(document, content, place.last)
    return deletions(document, place) if request.op == "delete" else replacements(document, place, content)


def _scope(document: Document, section: str) -> Scope | Refusal:
    if not section:
        return Scope(document.body, len(document.lines))
    if document.outline is None:
        return Refusal("invalid", "a section can only be named in a Markdown file")
    return find_section(document.lines, document.folded, document.outline.headings(), section)


def _find(document: Document, scope: Scope, target: str) -> Place | Refusal:
    if not fold(target):
        return Refusal("invalid", "the target holds nothing that can be seen")
    return find(document.lines, document.folded, document.body, document.regions, scope, target)


def _not_new(document: Document, content: Content) -> Refusal | None:
    """Return why `content` may not be added anywhere: it is there, or would swallow whatever came after
    it."""
    lines = close_fence(content.flush)[0] if document.outline else content.raw
    line = document.says(lines)
    if line is not None:
        return Refusal("duplicate", f"the body says this already, at line {line + 1}")
    if document.outline and stays_open(lines):
        return Refusal("invalid", "the content opens an HTML comment or block that it does not close")
    return None


def _too_large(document: Document, splice: Splice, limits: Limits) -> Refusal | None:
    """Return why the document may not grow by `splice`, None if it may or does not grow."""
    lines = len(document.lines)
    size = document.size + document.growth(splice)
    measures = (
        ("tokens", limits.max_tokens, tokens_in(document.size), tokens_in(size)),
        ("lines", limits.max_lines, lines, lines + len(splice.lines) - (splice.end - splice.start)),
    )
    for unit, limit, before, after in measures:
        if limit is not None and after > limit and after > before:
            return Refusal("invalid", f"the document would have {after} {unit}; at most {limit} are allowed")
    return None


def _exact(document: Document, splice: Splice) -> tuple[int, int, int]:
    """Return how `splice` moves line numbers, a first line that it keeps left out."""
    kept = int(
        splice.first > 1
        and splice.end > splice.start
        and body_of(splice.lines[0]) == body_of(document.lines[splice.start])
    )
    return splice.start + kept, splice.end - splice.start - kept, len(splice.lines) - kept
