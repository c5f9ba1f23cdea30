"""page.curve, page.tasks, page.compare, page.document: what the parts of the report are made of."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from runs import SKILL, a_run, a_step, replay
from samples import attempt, broken
from skillpipe.page import LineOrigin
from skillpipe.page.compare import compare
from skillpipe.page.curve import NARROW, WIDE, curve
from skillpipe.page.document import blocks, rendered, tell
from skillpipe.page.tasks import changes, task_map


def shapes(*rows):
    return [mark.shape for mark in curve([a_step("start", "baseline"), *rows], None, WIDE).marks[1:]]


def test_accepted_and_rejected_steps_have_marks_of_their_own():
    assert shapes(a_step("a", "accept_new_best", candidate=0.7), a_step("b", "reject", candidate=0.3)) == [
        "accepted",
        "rejected",
    ]


def test_a_candidate_that_was_stopped_early_is_hollow_and_stands_at_the_most_it_could_reach():
    row = a_step("a", "reject", candidate=0.1, not_needed=20, at_most=0.45)
    chart = curve([a_step("start", "baseline"), row], None, WIDE)
    assert chart.marks[1].shape == "hollow"
    places = {word: place for place, word in chart.ticks}
    assert chart.marks[1].y == pytest.approx((places["0.4"] + places["0.5"]) / 2, abs=0.1)
    assert "at most 0.450" in chart.marks[1].says


@pytest.mark.parametrize("action", ["no_change", "skip_no_patches", "stopped"])
def test_a_step_without_a_candidate_has_no_mark(action):
    assert shapes(a_step("a", action)) == [""]


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("steps", [1, 4, 40])
def test_everything_stands_inside_the_chart_and_labels_have_room(size, steps):
    chart = curve(a_run(steps=steps).state.history, None, size)
    assert all(0 < mark.x < size.width and 0 < mark.y < size.height for mark in chart.marks)
    labelled = [mark.x for mark in chart.marks if mark.label]
    assert all(right - left >= size.label_every - 0.2 for left, right in pairwise(labelled))


def test_the_lines_end_where_training_stopped():
    rows = [a_step("start", "baseline"), a_step("a", "reject", candidate=0.4), a_step("b", "stopped")]
    chart = curve(rows, None, WIDE)
    assert float(re.search(r"H([\d.]+)$", chart.best)[1]) == pytest.approx(chart.marks[2].left, abs=0.2)


def test_a_map_has_the_hardest_task_first_and_a_cell_for_every_status():
    run = a_run(steps=0)
    skipped = replace(attempt("v3", 1), status="skipped", hard=None)
    first = [attempt("v0", 1), attempt("v1", 0), attempt("v2", 1), attempt("v3", 1), broken("v4")]
    then = [attempt("v0", 1), attempt("v1", 0.5), attempt("v2", 0), skipped]
    found = task_map(replace(run, baseline=first, steps=[replace(a_run(steps=1).steps[0], val=then)]))
    assert dict(found.rows) == {
        "v1": ("f", "h"),
        "v4": ("x", "o"),
        "v2": ("p", "f"),
        "v3": ("p", "n"),
        "v0": ("p", "p"),
    }
    assert [task for task, _ in found.rows] == ["v1", "v4", "v2", "v3", "v0"]
    assert [(column.passed, column.tasks) for column in found.columns] == [(3, 4), (1, 3)]


def test_tasks_are_told_by_what_the_best_skill_changed():
    run = a_run(steps=1, tasks=4)
    before = [attempt(f"v{n}", hard) for n, hard in enumerate((0, 1, 0, 1))]
    after = [attempt(f"v{n}", hard) for n, hard in enumerate((1, 0, 0, 1))]
    best = replace(
        run.state.best,
        skill={"SKILL.md": b"x"},
        val=tuple(
            replace(v, task=f"v{n}", hard=row.hard)
            for n, (v, row) in enumerate(zip(run.state.best.val, after, strict=True))
        ),
    )
    history = (run.state.history[0], a_step("e1s1", "accept_new_best"))
    steps = (replace(run.steps[0], val=tuple(after)),)
    found = changes(replace(run, baseline=before, steps=steps, state=replace(run.state, best=best, history=history)))
    assert {name: [item.task for item in items] for name, items in found.items()} == {
        "Newly passed": ["v0"],
        "Newly failed": ["v1"],
        "Still not passed": ["v2"],
    }
    assert (found["Newly passed"][0].before, found["Newly passed"][0].after) == ("no idea", "yes")


def test_a_changed_line_stands_beside_its_old_self_with_the_words_that_differ():
    [file] = compare({"a": b"keep\nAnswer with one word.\n"}, {"a": b"keep\nAnswer with two words.\n"})
    row = file.hunks[0][1]
    assert [text for differs, text in row.old.parts if differs] == ["one", "word"]
    assert [text for differs, text in row.new.parts if differs] == ["two", "words"]
    assert "".join(text for _, text in row.new.parts) == "Answer with two words."


def test_the_unified_view_has_removed_lines_before_added_ones_and_both_numbers():
    [file] = compare({"a": b"1\n2\n3\n"}, {"a": b"1\nx\ny\n3\n"})
    assert [(line.sign, line.old, line.new) for line in file.unified[0]] == [
        (" ", 1, 1), ("-", 2, None), ("+", None, 2), ("+", None, 3), (" ", 3, 4),
    ]  # fmt: skip
    assert (file.removed, file.added) == (1, 2)


def test_only_files_that_differ_are_compared_and_bytes_that_are_no_text_do_no_harm():
    assert [file.file for file in compare({"a": b"x", "b": b"\xff"}, {"a": b"x", "b": b"\xfe\n"})] == ["b"]


def test_a_rendered_skill_is_the_body_with_headings_below_the_sections_own():
    page = rendered(SKILL.encode())
    assert "<h3>Parcels</h3>" in page
    assert "<h4>How to answer</h4>" in page
    assert "description:" not in page


@pytest.mark.parametrize("planted", ["<b>x</b>", "[x](javascript:alert(1))", "![x](http://a/b.png)", "<!-- x -->"])
def test_a_rendered_skill_has_no_html_of_its_own_no_script_and_no_image(planted):
    page = rendered(f"# A\n\n{planted}\n".encode())
    assert not re.search(r"<b>|<img|<!--|href=\"javascript", page)


def test_lines_of_one_origin_are_one_block_and_carry_the_whole_chain():
    run = a_run(steps=1, early=False, seed=1)
    rows = run.state.lineage
    found = blocks(replay(SKILL, rows))
    told = [(block.first, block.last, [row.rank for row in block.rows]) for block in found]
    assert told == [(1, 12, []), (13, 14, [1]), (15, 15, [2]), (16, 16, [2, 3])]


def test_origins_of_another_text_are_not_believed():
    origins = [LineOrigin("one\n"), LineOrigin("two\n")]
    assert tell(b"one\r\ntwo\r\n", origins)
    assert not tell(b"one\nthree\n", origins)
    assert not tell(b"one\n", ())
