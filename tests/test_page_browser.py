"""The report in a real browser: on a phone and a desk, light and dark, by mouse and by keyboard."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from browser import browser, visit
from runs import a_run
from skillpipe.page import render
from test_page import evil_run

RUNS = {
    "whole": lambda: a_run(steps=6, tasks=40),
    "failed": lambda: a_run(steps=6, tasks=40, done=3),
    "long": lambda: a_run(steps=40, tasks=200),
    "planted": evil_run,
}
OPEN_ALL = "for (const each of document.querySelectorAll('details')) each.open = true"
CHOICES = (("change", "Unified"), ("change", "Side by side"), ("skill", "Lines and origins"), ("skill", "Rendered"))


@pytest.fixture(scope="module")
def opened():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in RUNS.items():
        (folder / f"{name}.html").write_text(render(make()), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in RUNS}


def choose(page, word: str) -> None:
    page.get_by_role("radio", name=word, exact=True).check()


def wide(page) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("width", [390, 1280])
def test_it_opens_without_an_error_a_request_or_a_sideways_scroll(opened, files, tmp_path, name, width):
    with visit(opened, files[name], width=width) as seen:
        assert wide(seen.page) <= 0
        assert len(seen.shoot(f"{name}-{width}", tmp_path, whole=name != "long")) > 20_000
        seen.page.evaluate(OPEN_ALL)
        for _, word in CHOICES:
            choose(seen.page, word)
            assert wide(seen.page) <= 0, f"with {word}"
        assert (seen.said, seen.asked) == ([], [])


# Each run, width and scheme twice, and not all eight of them together: axe-core takes seconds.
@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("whole", 390, "light"), ("whole", 1280, "dark"), ("failed", 390, "dark"), ("failed", 1280, "light")],
)
def test_axe_finds_no_serious_fault(opened, files, tmp_path, name, width, scheme):
    with visit(opened, files[name], width=width, scheme=scheme) as seen:
        seen.page.evaluate(OPEN_ALL)
        for word in ("Side by side", "Rendered"):
            choose(seen.page, word)
        seen.shoot(f"{name}-{width}-{scheme}-open", tmp_path)
        assert seen.faults() == []


def test_light_and_dark_are_two_pages_of_paper(opened, files):
    papers = set()
    for scheme in ("light", "dark"):
        with visit(opened, files["whole"], scheme=scheme) as seen:
            papers.add(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2


def test_a_step_opens_by_a_click_and_tells_its_edits_evidence_and_decision(opened, files):
    run = RUNS["whole"]()
    row, outcome = run.state.history[1], run.steps[0].report.outcomes[0]
    with visit(opened, files["whole"]) as seen:
        step = seen.page.locator("#step-e1s1")
        assert not step.locator(".inside").is_visible()
        step.locator("summary").first.click()
        told = step.locator(".inside").inner_text()
    assert row.decision.reason in told
    assert outcome.edit.content in told
    assert all(task in told for task in outcome.edit.tasks)
    assert "whole sentences" in told, "the optimizer's reasoning"
    assert "target not found" in told, "why an edit was refused"


def test_a_step_opens_by_the_keyboard(opened, files):
    with visit(opened, files["whole"]) as seen:
        seen.page.locator("#step-e1s2 > summary").focus()
        seen.page.keyboard.press("Enter")
        assert seen.page.locator("#step-e1s2 .inside").is_visible()


@pytest.mark.parametrize(("width", "chart"), [(390, "narrow"), (1280, "wide")])
def test_a_mark_of_the_curve_names_its_step_and_leads_to_it(opened, files, width, chart):
    with visit(opened, files["whole"], width=width) as seen:
        link = seen.page.get_by_role("link", name=re.compile("^e1s2: accepted, new best, candidate 0"))
        assert link.count() == 1, "one of the two charts is shown"
        assert seen.page.locator(f"svg.{chart}").is_visible()
        link.focus()
        seen.page.keyboard.press("Enter")
        seen.page.locator("#step-e1s2 .inside").wait_for()
        assert seen.page.evaluate("document.activeElement.closest('details').id") == "step-e1s2"


def test_a_lines_origin_is_told_by_a_click_on_the_line(opened, files):
    run = RUNS["whole"]()
    row = next(origin.rows[-1] for origin in run.origins["SKILL.md"] if origin.line.startswith("Example of e1s2"))
    with visit(opened, files["whole"]) as seen:
        line = seen.page.locator("span.text", has_text="Example of e1s2")
        block = seen.page.locator("details.block", has=line)
        assert "e1s2, edit 3" in block.inner_text()
        assert not block.locator(".origin").is_visible()
        line.click()
        told = block.locator(".origin").inner_text()
    assert all(task in told for task in row.edit.tasks)
    assert f"{row.score_before:.3f} → {row.score_after:.3f}" in re.sub(r"\s+to\s+", " ", told)
    assert told.index("edit 2: append") < told.index("edit 3: replace"), "the chain, newest last"


def test_a_lines_origin_is_told_by_the_keyboard(opened, files):
    with visit(opened, files["whole"], width=390) as seen:
        block = seen.page.locator("details.block").first
        block.locator("summary").focus()
        seen.page.keyboard.press("Enter")
        assert block.locator(".origin").is_visible()


def test_lines_of_the_initial_skill_are_told_as_such(opened, files):
    with visit(opened, files["whole"]) as seen:
        first = seen.page.locator(".source .block").first.inner_text()
    assert "initial skill" in first
    assert "name: parcels" in first


def test_the_map_is_a_table_that_a_screen_reader_can_read(opened, files):
    run = RUNS["whole"]()
    passed = sum(row.status == "passed" for row in run.baseline)
    with visit(opened, files["whole"]) as seen:
        table = seen.page.get_by_role("table", name="The result of each val task at each step")
        rows = table.get_by_role("row")
        assert rows.count() == len(run.baseline) + 2, "a row per task, a head and a foot"
        column = [rows.nth(n).get_by_role("cell").first.inner_text() for n in range(1, rows.count() - 1)]
        assert column.count("passed") == passed
        assert rows.nth(1).get_by_role("cell", name="failed").count() > 0, "the word is in the tree, not only the sign"


def test_the_choice_of_a_view_moves_by_arrow_keys(opened, files):
    with visit(opened, files["whole"]) as seen:
        seen.page.get_by_role("radio", name="Unified").focus()
        seen.page.keyboard.press("ArrowRight")
        assert seen.page.locator("table.side").is_visible()
        assert not seen.page.locator("table.unified").is_visible()


def test_all_steps_open_and_close_with_one_button(opened, files):
    with visit(opened, files["whole"]) as seen:
        seen.page.get_by_role("button", name="Open all").click()
        assert seen.page.locator("details.step[open]").count() == 6
        seen.page.get_by_role("button", name="Close all").click()
        assert seen.page.locator("details.step[open]").count() == 0


def test_without_scripts_the_page_still_opens_its_steps_and_shows_no_dead_button(opened, files):
    with visit(opened, files["whole"], script=False) as seen:
        assert not seen.page.locator("#open-all").is_visible()
        seen.page.locator("#step-e1s1 > summary").click()
        assert seen.page.locator("#step-e1s1 .inside").is_visible()


def test_a_planted_script_is_read_and_does_not_run(opened, files):
    with visit(opened, files["planted"]) as seen:
        alerts = []
        seen.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
        seen.page.reload()
        assert "<script>alert('planted')</script>" in seen.page.locator("h1").inner_text()
        choose(seen.page, "Rendered")
        assert "<script>alert('planted')</script>" in seen.page.locator(".prose").inner_text()
        assert alerts == []


def test_what_no_one_escaped_would_still_not_run(opened, tmp_path):
    page = render(replace(a_run(steps=1))).replace("</main>", "<script>window.ran = 1</script></main>")
    (tmp_path / "broken.html").write_text(page, encoding="utf-8")
    with visit(opened, tmp_path / "broken.html") as seen:
        assert seen.page.evaluate("window.ran") is None
        assert any("Content Security Policy" in line for line in seen.said)
