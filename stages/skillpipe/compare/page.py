"""A comparison as one HTML file that needs nothing beside it. Pure."""

from collections.abc import Sequence
from html import escape

from skillpipe.compare.comparison import Comparison
from skillpipe.compare.text import HEADER, against, scores

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --new: #1a7f37; --old: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --new: #56d364; --old: #ff7b72; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .2em 1em .2em 0; border-bottom: 1px solid var(--line); }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
pre { overflow-x: auto; border: 1px solid var(--line); padding: .7em; } ins, del { text-decoration: none; }
ins { color: var(--new); } del { color: var(--old); }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(found: Comparison) -> str:
    """All that the text has; every word of a run is escaped, and the page may load and run nothing."""
    first, names = found.runs[0].name, [run.name for run in found.runs]
    title = escape(f"{', '.join(names)}: compared")
    parts = [f"<h1>{title}</h1>", "<h2>Scores</h2>", _table(HEADER, scores(found))]
    for row in found.against:
        figures, *tasks = against(first, row)
        parts += [f"<p>{escape(figures)}</p>", *(f"<p>{escape(line.strip())}</p>" for line in tasks)]
    rows = [[name, *values] for name, values in found.params.items()]
    parts += ["<h2>Parameters</h2>", _table(["parameter", *names], rows) if rows else "<p>the same</p>"]
    for row in found.against:
        parts.append(f"<h2>Skills: {escape(first)} to {escape(row.name)}</h2>")
        parts.append(_diff(row.diff) if row.diff else "<p>the same</p>")
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def _diff(diff: str) -> str:
    marks = {"+": "ins", "-": "del"}
    told = []
    for line in diff.split("\n"):
        tag = marks.get(line[:1])
        told.append(f"<{tag}>{escape(line)}</{tag}>" if tag else escape(line))
    return "<pre>" + "\n".join(told) + "</pre>"
