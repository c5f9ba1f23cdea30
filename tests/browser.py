"""A real browser for the report: Chromium, driven by playwright, with everything that it says and asks for.

The tests that need it skip where it is missing; SKILLPIPE_BROWSER=1, which CI sets, turns that into a failure. The
rules of accessibility are axe-core's, a script that SKILLPIPE_AXE names. SKILLPIPE_SHOTS names a folder to keep the
screenshots in.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # CI is root, which Chromium's sandbox refuses; the pages are ours
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Visit:
    """One page that is open: what its console said, and every request but the one for the file itself."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def shoot(self, name: str, folder: Path, *, whole: bool = True) -> bytes:
        """A screenshot of the whole page, or of what the window shows, also as a file."""
        kept = Path(os.environ.get("SKILLPIPE_SHOTS") or folder)
        kept.mkdir(parents=True, exist_ok=True)
        return self.page.screenshot(path=kept / f"{name}.png", full_page=whole)

    def faults(self) -> list[str]:
        """What axe-core finds that is serious or critical: the rule and the elements."""
        self.page.evaluate(axe())
        found = self.page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
        serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
        return [f"{rule['id']}: {[node['target'] for node in rule['nodes'][:5]]}" for rule in serious]


def need(found: object, what: str) -> None:
    """Skip the test for want of `what`, or fail it where a browser was promised."""
    if found:
        return
    if os.environ.get("SKILLPIPE_BROWSER") == "1":
        pytest.fail(f"SKILLPIPE_BROWSER=1 and no {what}")
    pytest.skip(f"no {what}")


def axe() -> str:
    """The script of axe-core."""
    path = os.environ.get("SKILLPIPE_AXE", "")
    need(path and Path(path).is_file(), "axe-core; `npm install axe-core`, and SKILLPIPE_AXE=path/to/axe.min.js")
    return Path(path).read_text("utf-8")


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a window and with a profile of its own, which goes with it."""
    need(find_spec("playwright"), "playwright; `pip install -e '.[dev]'`")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    need(program, f"browser: none of {', '.join(NAMES)} is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        yield opened
        opened.close()


@contextmanager
def visit(opened: Any, file: Path, *, width: int = 1280, scheme: str = "light", script: bool = True) -> Iterator[Visit]:
    """The file, opened from disk in a window of that width."""
    context = opened.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, java_script_enabled=script
    )
    seen = Visit(context.new_page())
    seen.page.set_default_timeout(10_000)
    seen.page.on("console", lambda message: seen.said.append(message.text))
    seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
    seen.page.on("request", lambda request: seen.asked.append(request.url))
    seen.page.goto(file.as_uri())
    seen.asked.remove(file.as_uri())
    yield seen
    context.close()
