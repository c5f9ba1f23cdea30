"""Where an edit lands, and when it is refused: one behaviour per test, documents small enough to read."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from editing import HEAD, done, one, refused

# ---- anchors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("- don\u2019t guess", "- don't guess"),
        ("- don't guess", "- don\u2019t guess"),
        ("- say \u201cyes\u201d", '- say "yes"'),
        ("- 10\u00a0km", "- 10 km"),
        ("- 10\u202fkm", "- 10 km"),
        ("- cafe\u0301", "- caf\u00e9"),
        ("- caf\u00e9", "- cafe\u0301"),
        ("- \u1112\u1161\u11ab", "- 한"),
        ("- x \t", "- x"),
        ("- x", "- x   \n"),
        ("- x", "\n\n- x\n\n"),
        ("- a\tb", "- a b"),
        ("- x\u200by", "- xy"),
    ],
)
def test_spelling_that_models_change_does_not_hide_a_line(line: str, target: str) -> None:
    assert done(f"# A\n\n{line}\n- z\n", "delete", target) == "# A\n\n- z\n"


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("- recheck units", "check units"),
        ("- re-check units", "check units"),
        ("- don't stop", "don"),
        ("- größenwahn", "größe"),
        ("- Прайсы", "Прайс"),
        ("- 1.5 km", "5 km"),
        ("- a_b", "a"),
        ("### Head", "## Head"),
        ("- cafe\u0301", "caf"),
        ("- cafe\u0301", "cafe"),
        ("- 👩\u200d💻 code", "👩"),
        ("- 👍🏽 good", "👍"),
        ("- नमस्ते", "नमस"),
        ("- Check units", "check units"),
        ("- check  units", "check units"),
    ],
)
def test_a_target_never_matches_inside_a_word_or_in_another_spelling(line: str, target: str) -> None:
    assert refused(f"# A\n\n{line}\n", "replace", target, "x").status == "unmatched"


@pytest.mark.parametrize(
    ("line", "target", "expected"),
    [
        ("- use **bold** text", "**bold**", "- use NEW text"),
        ("- use **bold** text", "bold", "- use **NEW** text"),
        ("- (see below).", "(see below).", "- NEW"),
        ("- größe, über 5", "größe", "- NEW, über 5"),
        ("- call `f(x)` now", "`f(x)`", "- call NEW now"),
        ("- caf\u00e9 e\u0301clair ok", "caf\u00e9 \u00e9clair", "- NEW ok"),
        ("- 会議室は三階", "三階", "- 会議室はNEW"),
        ("- اسأل عن السعر", "عن", "- اسأل NEW السعر"),
        ("- 🙂 smile", "🙂", "- NEW smile"),
        ("- keep end  ", "end", "- keep NEW  "),
    ],
)
def test_part_of_a_line_is_replaced_exactly(line: str, target: str, expected: str) -> None:
    assert done(f"{line}\n- z\n", "replace", target, "NEW") == f"{expected}\n- z\n"


def test_positions_are_exact_after_letters_that_fold_to_fewer_or_more() -> None:
    line = "e\u0301 \u0958 \u1112\u1161\u11ab \u200b \u201cq\u201d here and there"
    assert done(line + "\n", "replace", "here", "X") == line.replace("here", "X", 1) + "\n"


def test_a_target_may_span_lines_and_words() -> None:
    text = "Use the tool\r\nwhen asked. Then stop.\r\n"
    assert done(text, "replace", "tool\nwhen asked.", "hammer.") == "Use the hammer. Then stop.\r\n"


def test_a_whole_line_wins_over_the_same_words_in_longer_lines() -> None:
    assert done("- be brief\n- be brief in tables\n", "delete", "- be brief") == "- be brief in tables\n"


def test_overlapping_matches_are_ambiguous() -> None:
    assert refused("x a b a b a y\n", "delete", "a b a").status == "ambiguous"


def test_ambiguity_is_reported_with_its_lines() -> None:
    assert "lines 1, 3" in refused("- a\n- b\n- a\n", "delete", "- a").reason


def test_a_near_miss_is_shown_and_not_taken() -> None:
    report = refused(HEAD + "# A\n\n- check the units\n", "delete", "- check teh units")
    assert report.status == "unmatched"
    assert "line 7" in report.reason
    assert "check the units" in report.reason


def test_text_in_body_and_frontmatter_is_that_in_the_body() -> None:
    assert done(HEAD + "name: a\n", "replace", "name: a", "x") == HEAD + "x\n"


def test_text_once_free_and_once_protected_is_ambiguous() -> None:
    text = "- a\n\n<!-- APPENDIX_START -->\n- a\n<!-- APPENDIX_END -->\n"
    assert refused(text, "delete", "- a").status == "ambiguous"


# ---- sections ----------------------------------------------------------------------------------------------------

SECTIONS = "# A\n\n- x\n\n## B\n\n- x\n\n### C\n\n- y\n\n## D ##\n\n- x\n\nE\n---\n\n- x\n\n# F\n\n- y\n"


@pytest.mark.parametrize(
    ("section", "line"), [("## B", 7), ("B", 7), ("## D", 15), ("E\n---", 20), ("E", 20), ("## E", 20)]
)
def test_a_section_makes_a_target_unique(section: str, line: int) -> None:
    _, report = one(SECTIONS, "replace", "- x", "- new", section=section)
    assert (report.status, report.lines) == ("applied", (line, line))


def test_a_section_reaches_to_the_next_heading_of_its_level_or_above() -> None:
    assert one(SECTIONS, "delete", "- y", section="## B")[1].old_lines == (11, 12)
    assert refused(SECTIONS, "delete", "- x", section="# A").status == "ambiguous"


@pytest.mark.parametrize(
    ("section", "status"), [("## Z", "unmatched"), ("# B", "unmatched"), ("## D", "unmatched"), ("C", "applied")]
)
def test_a_section_that_is_not_there_or_does_not_hold_the_target_is_no_match(section: str, status: str) -> None:
    assert one(SECTIONS, "delete", "- y", section=section)[1].status == status


def test_a_section_that_stands_twice_is_ambiguous() -> None:
    assert refused("## A\n\n- x\n\n## A\n\n- y\n", "delete", "- x", section="## A").status == "ambiguous"


def test_a_heading_in_a_code_fence_is_no_section() -> None:
    text = "```\n## A\n```\n\n- x\n"
    assert refused(text, "delete", "- x", section="## A").status == "unmatched"


def test_an_append_to_a_section_lands_at_its_end() -> None:
    text = "## A\n\n- x\n\n## B\n\n- y\n"
    assert done(text, "append", content="- n", section="## A") == "## A\n\n- x\n\n- n\n\n## B\n\n- y\n"


# ---- insert_after and blocks -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Insert:
    """`text` with `content` inserted after `target` is `result`."""

    what: str
    text: str
    target: str
    content: str
    result: str


INSERTS = [
    Insert("tight list", "- a\n- b\n", "- a", "- n", "- a\n- n\n- b\n"),
    Insert("loose list", "- a\n\n- b\n", "- a", "- n", "- a\n\n- n\n\n- b\n"),
    Insert("last item", "- a\n- b\n\n# H\n", "- b", "- n", "- a\n- b\n- n\n\n# H\n"),
    Insert("continuation", "- a\n  more\n- b\n", "- a", "- n", "- a\n  more\n- n\n- b\n"),
    Insert("lazy continuation", "- a\nmore\n- b\n", "more", "- n", "- a\nmore\n- n\n- b\n"),
    Insert("nested", "- a\n  - b\n  - c\n- d\n", "- b", "- n", "- a\n  - b\n  - n\n  - c\n- d\n"),
    Insert("parent of nested", "- a\n  - b\n- c\n", "- a", "- n", "- a\n  - b\n- n\n- c\n"),
    Insert("child by indent", "- a\n  - b\n- c\n", "- a", "  - n", "- a\n  - b\n  - n\n- c\n"),
    Insert("two items", "- a\n  - b\n- c\n", "- b", "- n\n- m", "- a\n  - b\n  - n\n  - m\n- c\n"),
    Insert("paragraph in a list", "- a\n- b\n", "- a", "Text.", "- a\n\nText.\n\n- b\n"),
    Insert("other list", "1. a\n2. b\n", "1. a", "- n", "1. a\n\n- n\n\n2. b\n"),
    Insert(
        "fence in item", "1. a\n   ```\n   x\n   ```\n2. b\n", "x", "2. n", "1. a\n   ```\n   x\n   ```\n2. n\n2. b\n"
    ),
    Insert("paragraph", "one\ntwo\n\nthree\n", "one", "- n", "one\ntwo\n\n- n\n\nthree\n"),
    Insert("words of a line", "one fine day\n\ntwo\n", "fine", "n", "one fine day\n\nn\n\ntwo\n"),
    Insert("heading", "## H\n\ntext\n", "## H", "- n", "## H\n\n- n\n\ntext\n"),
    Insert("heading tight", "## H\n- a\n", "## H", "- n", "## H\n- n\n- a\n"),
    Insert("heading at end", "## H\n", "## H", "- n", "## H\n\n- n\n"),
    Insert("setext heading", "H\n---\ntext\n", "H", "n", "H\n---\nn\n\ntext\n"),
    Insert("table", "| a |\n|---|\n| 1 |\n| 2 |\n\nend\n", "| 1 |", "n", "| a |\n|---|\n| 1 |\n| 2 |\n\nn\n\nend\n"),
    Insert("html", "<div>\nx\n</div>\n\nend\n", "x", "n", "<div>\nx\n</div>\n\nn\n\nend\n"),
    Insert("comment with blank line", "<!--\nx\n\ny\n-->\nend\n", "x", "n", "<!--\nx\n\ny\n-->\n\nn\n\nend\n"),
    Insert("quote", "> a\n> b\n\nend\n", "a", "n", "> a\n> b\n\nn\n\nend\n"),
    Insert("list in a quote", "> - a\n> - b\n", "- a", "- n", "> - a\n> - n\n> - b\n"),
    Insert("code block", "    x\n\n    y\n\nend\n", "x", "n", "    x\n\n    y\n\nn\n\nend\n"),
    Insert("no line end", "- a", "- a", "- n", "- a\n- n\n"),
    Insert("line end of the line above", "- a\r\n- b\n", "- a", "- n", "- a\r\n- n\r\n- b\n"),
    Insert("several lines", "- a\n- b\n- c\n", "- a\n- b", "- n", "- a\n- b\n- n\n- c\n"),
]


@pytest.mark.parametrize("case", INSERTS, ids=lambda case: case.what)
def test_an_insert_lands_after_the_block_that_holds_its_target(case: Insert) -> None:
    assert done(case.text, "insert_after", case.target, case.content) == case.result


def test_an_item_that_would_adopt_indented_code_is_refused() -> None:
    report = refused("text\n\n    code\n", "insert_after", "text", "- n")
    assert report.status == "invalid"
    assert "line 3" in report.reason
