"""From the records of a run to its page."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from skillpipe.page import words
from skillpipe.page.compare import compare
from skillpipe.page.curve import NARROW, WIDE, curve
from skillpipe.page.document import Block, blocks, rendered, tell
from skillpipe.page.heading import facts, ranges, verdict
from skillpipe.page.scores import scores, warnings
from skillpipe.page.steps import steps
from skillpipe.page.tasks import CELLS, changes, task_map
from skillpipe.page.view import LineOrigin, RunView
from skillpipe.skill.lines import split_lines

_TEMPLATES = Path(__file__).parent / "templates"


def render(run: RunView) -> str:
    """The page of a run, complete or not. Pure; the text can be written as UTF-8 whatever the run's texts hold."""
    found, listed = scores(run), steps(run)
    history = run.state.history if run.state else ()
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            style=_style(),
            script=_asset("page.js"),
            policy=_policy(),
            verdict=verdict(run, found),
            ranges=ranges(found),
            facts=facts(run, found),
            warnings=[*warnings(run, found), *(run.plan.warnings if run.plan else ())],
            curves=[curve(history, found.val_initial, size) for size in (WIDE, NARROW)] if history else [],
            steps=listed,
            map=task_map(run),
            cell_words=CELLS,
            changes=changes(run),
            comparisons=compare(run.initial, run.best),
            rendered=rendered(run.best["SKILL.md"]),
            sources=_sources(run),
            rejected=[step for step in listed if step.kind == "rejected"],
            refused=[step for step in listed if step.refused],
        )
    )
    return page.encode("utf-8", "backslashreplace").decode("utf-8")  # a model's text may hold half a surrogate pair


def _sources(run: RunView) -> list[tuple[str, bool, list[Block]]]:
    """SKILL.md and every other file that has origins: its path, whether they are its own, its blocks of lines."""
    paths = ["SKILL.md", *sorted(path for path in run.origins if path != "SKILL.md")]
    found = []
    for path in paths:
        origins = run.origins.get(path, ())
        known = tell(run.best[path], origins)
        plain = [LineOrigin(line) for line in split_lines(run.best[path].decode("utf-8", "replace"))]
        found.append((path, known, blocks(origins if known else plain)))
    return found


def _policy() -> str:
    """A Content-Security-Policy under which the page's own style and script work and nothing else is loaded or run."""
    style, script = (_digest(text) for text in (_style(), _asset("page.js")))
    return f"default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"


def _style() -> Markup:
    return _asset("page.css") + _asset("parts.css")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


@cache
def _asset(name: str) -> Markup:
    """A file of the package, put into the page as it is: what the policy's digest is of."""
    return Markup((_TEMPLATES / name).read_text("utf-8"))  # noqa: S704 - ours


@cache
def _environment() -> Environment:
    found = Environment(
        autoescape=True,
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = ("clip", "count", "first_line", "lines", "p_value", "plural", "signed", "three", "usage", "what")
    found.filters.update({name: getattr(words, name) for name in names})
    return found
