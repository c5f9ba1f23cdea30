"""A skill is a folder: SKILL.md, and whatever scripts, references and assets stand beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillpipe.skill.document import Document
from skillpipe.skill.edits import Limits, apply_request
from skillpipe.skill.paths import is_editable, path_problem
from skillpipe.skill.report import EditReport, Refusal
from skillpipe.skill.request import SKILL_FILE, Request, read_request
from skillpipe.skill.validate import validate

_MARKDOWN = (".md", ".markdown", ".mdx")


def apply_to_folder(
    files: Mapping[str, bytes],
    edits: Sequence[object],
    *,
    editable: Sequence[str] = (SKILL_FILE,),
    folder_name: str | None = None,
    max_tokens: int | None = None,
    max_lines: int | None = None,
) -> tuple[dict[str, bytes], list[EditReport]]:
    """Apply `edits` in order to the files of a skill, given by relative POSIX path.

    An edit's `file` (SKILL.md if it names none) must be a plain path inside the folder and name a file of
    `files` that is UTF-8 text, else the edit is `invalid`; a file that no glob of `editable` matches is
    `protected`. Edits change files, they never add, remove or rename one. Links cannot be in a mapping:
    `read_folder` refuses those that leave the folder.

    In SKILL.md and other Markdown files an edit means what it means in `apply_edits`. Other text files have
    no frontmatter, sections or blocks: content goes after the line that holds the target, or after one blank
    line at the end, with its indent as it is. The limits bound SKILL.md alone, as in the specification.

    An edit of SKILL.md after which `validate(text, folder_name)` would find an error that it did not find
    before is `invalid`. Returns a new mapping with the keys in the order of `files`, and one report per edit;
    bytes of files that no edit changed are the same objects. Never raises for what stands in edits or files.
    """
    documents: dict[str, Document] = {}
    reports = []
    for index, edit in enumerate(edits):
        op, file, request = read_request(edit)
        if isinstance(request, Request):
            request = _open(files, file, editable, documents) or request
        if isinstance(request, Refusal):
            reports.append(EditReport(index, op, request.status, request.reason, file=file))
            continue
        document, is_skill = documents[file], file == SKILL_FILE
        limits = Limits(max_tokens, max_lines) if is_skill else Limits()
        before, head = (document.text, document.head) if is_skill else ("", "")
        report = apply_request(document, index, op, file, request, limits)
        if is_skill and document.head != head:
            # `apply_request` leaves frontmatter alone, so no error is known that this finds; it is asked because the
            # rules are those of `validate`, whatever they come to be.
            broken = newly_broken(before, document.text, folder_name)
            if broken:
                documents[file] = Document(before)
                report = EditReport(index, op, "invalid", f"would break the format: {broken}", file=file)
        reports.append(report)
    changed = {file: document.text.encode("utf-8") for file, document in documents.items()}
    result = {
        path: changed[path] if path in changed and changed[path] != data else data for path, data in files.items()
    }
    return result, reports


def newly_broken(before: str, after: str, folder_name: str | None) -> str:
    """Return a rule of the format that the SKILL.md `after` breaks and `before` does not, or nothing."""
    known = {finding.message for finding in validate(before, folder_name) if finding.level == "error"}
    found = (finding.message for finding in validate(after, folder_name) if finding.level == "error")
    return next((message for message in found if message not in known), "")


def _open(
    files: Mapping[str, bytes], file: str, editable: Sequence[str], documents: dict[str, Document]
) -> Refusal | None:
    """Make sure that `documents` holds `file`, or say why it may not be edited."""
    problem = path_problem(file)
    if problem:
        return Refusal("invalid", f"{file[:200]!r}: {problem}; name a file inside the skill's folder")
    if file not in files:
        names = ", ".join(sorted(files)[:10]) + (", ..." if len(files) > 10 else "")
        return Refusal("invalid", f"the skill has no file {file[:200]!r}; it has: {names}")
    if not is_editable(file, editable):
        return Refusal("protected", f"{file} may not be edited; editable are: {', '.join(editable) or 'no files'}")
    if file not in documents:
        try:
            text = files[file].decode("utf-8")
        except UnicodeDecodeError:
            return Refusal("invalid", f"{file} is not UTF-8 text")
        if "\0" in text:
            return Refusal("invalid", f"{file} holds NUL characters: it is no text file")
        documents[file] = Document(text, markdown=file.lower().endswith(_MARKDOWN))
    return None
