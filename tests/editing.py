"""Make an edit of a small document, and what must come of it."""

from __future__ import annotations

from typing import Any

from skillpipe.skill import EditReport, apply_edits

HEAD = "---\nname: a\ndescription: b\n---\n"


def edit(op: str, target: str = "", content: str = "", **more: Any) -> dict[str, Any]:
    return {"op": op, "target": target, "content": content, **more}


def one(text: str, op: str, target: str = "", content: str = "", **more: Any) -> tuple[str, EditReport]:
    after, reports = apply_edits(text, [edit(op, target, content, **more)])
    return after, reports[0]


def done(text: str, op: str, target: str = "", content: str = "", **more: Any) -> str:
    after, report = one(text, op, target, content, **more)
    assert report.status == "applied", report
    return after


def refused(text: str, op: str, target: str = "", content: str = "", **more: Any) -> EditReport:
    after, report = one(text, op, target, content, **more)
    assert after == text
    assert report.status != "applied"
    return report
