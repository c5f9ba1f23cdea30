"""What must hold for any document and any edits.

The invariants are those of bench/fuzz_edits.py, checked there against a parse of the whole document; here hypothesis
chooses the documents and shrinks what fails.
"""

from __future__ import annotations

import importlib.util
import sys
import unicodedata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillpipe.skill import apply_edits, apply_to_folder, body_for_target, split, validate
from skillpipe.skill.blocks import Node, parse, parse_to_end
from skillpipe.skill.document import Document
from skillpipe.skill.edits import Limits, apply_request
from skillpipe.skill.fold import fold_line, original_span, segments
from skillpipe.skill.lines import split_lines
from skillpipe.skill.request import read_request

BENCH = Path(__file__).resolve().parents[1] / "bench" / "fuzz_edits.py"
BLOCKS = [
    *("# A", "## B", "## B ##", "C\n===", "D\n---", "one\ntwo", "text", "---", "* * *", "    code\n\n    more"),
    *("- a\n- b\n- c", "* a\n* b", "1. a\n2. b", "1) x", "-", "- [ ] do\n- [x] did", "- a\n\n- b", "- - n"),
    *("- a\n  more\n- b", "- a\nlazy\n- b", "- a\n  - b\n  - c\n- d", "- a\n\n  para\n\n- b", "- a\n  # H\n  text"),
    *("- a\n  ```\n  x\n\n  y\n  ```\n- b", "- a\n  > q\n- b", "1. - a\n   - b\n2. c"),
    *("```sh\nrun\n- x\n# y\n```", "~~~\n~~~", "````\n```\n````", "| a | b |\n|---|---|\n| 1 | 2 |", "| a |\n|---|"),
    *("> a\n> b", "> - a\n>   b\n> - c", ">", "> ```\n> x\n> ```", "<div>\nx\n</div>", "<!-- c -->", "<span>x</span>"),
    *("<!--\na\n\nb\n-->", "<details>\n\ntext\n\n</details>", "<script>\nx\n\ny\n</script>", "[r]: /u 't'", "[r]:\n/u"),
    *("<!-- SLOW_UPDATE_START -->\n- s\n<!-- SLOW_UPDATE_END -->", "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"),
    *("x <!-- APPENDIX_START -->y<!-- APPENDIX_END --> z", "cafe\u0301 \u201cq\u201d \u00a0x", "שלום 👩\u200d💻 価格"),
    *("```\nopen", "<!-- open"),
]
CONTENTS = [
    *("- n", "n", "- n\n- m", "  - n", "1. n", "# N", "n\n===", "---", "===", "> n", "| n |\n|---|", "* * *", "|---|"),
    *("```\nn\n```", "```\nn", "~~~", "<!-- n", "<!-- n -->", "<div>", "    n", "- n\n  ```\n  m", "- n\n\n  m", "\tn"),
    *("n <!-- SLOW_UPDATE_END --> m", "---\nn: 1\n---", "[r]: /u 'o", "", " \n", "-", "n\r\nm", "n\n\n\nm"),
    *("n\u2028m", "\ud800", "a\0", "\ufeffn"),
]
FRONTS = [
    *("", "---\nname: a\n---\n", "---\nname: a\n---\n\n", "---\nd: |\n  ---\n---  \n", "---\nname: a\n"),
    "\ufeff---\nname: a\n---\n",
]
STARTS = "-#>`~|<! \t\r\n\u2028\x0c\0\ufeff\ud800ab.1)*_=[]:\u0301"
LETTERS = "ae\u0301\u0327\u1112\u1161\u11ab\u0958 \t\u00a0\u2019\u201c\u200b\u09c7\u09be\U0001f44d\U0001f3fd"
DEEP = ["> " * 400 + "x\n", "- " * 400 + "x\n", "[" * 5000, "`" * 9999, "|" * 3000 + "\n" + "|-" * 3000]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


fuzz = load(BENCH)
steady = settings(deadline=None, derandomize=True, max_examples=150, suppress_health_check=list(HealthCheck))


@st.composite
def documents(draw: st.DrawFn) -> str:
    blocks = draw(st.lists(st.sampled_from(BLOCKS), max_size=5))
    gaps = [draw(st.sampled_from(["\n\n", "\n\n", "\n", "\n\n\n"])) for _ in blocks]
    text = draw(st.sampled_from(FRONTS)) + "".join(block + gap for block, gap in zip(blocks, gaps, strict=True))
    if draw(st.booleans()):
        text = text.rstrip("\n")
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])))


@st.composite
def edits_of(draw: st.DrawFn, text: str, ops: tuple[str, ...]) -> dict[str, Any]:
    lines = split_lines(text) or ["x"]
    at = draw(st.integers(0, len(lines) - 1))
    target = "".join(lines[at : at + draw(st.integers(1, 3))]).strip("\r\n")
    if draw(st.integers(0, 3)) == 0:
        target = draw(st.sampled_from([*target.split(), "a"]))
    return {
        "op": draw(st.sampled_from(ops)),
        "target": unicodedata.normalize("NFC", target).replace("\r\n", "\n"),
        "content": draw(st.sampled_from(CONTENTS)),
        "section": draw(st.sampled_from(["", "", "", "", "# A", "## B"])),
    }


@st.composite
def pairs(
    draw: st.DrawFn, ops: tuple[str, ...] = ("append", "insert_after", "replace", "delete")
) -> tuple[str, list[dict[str, Any]]]:
    text = draw(documents())
    return text, draw(st.lists(edits_of(text, ops), max_size=4))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["op", "target", "content", "section", "file"]), inner, max_size=5)
    ),
    max_leaves=8,
)
any_text = st.text(max_size=60) | st.text(st.sampled_from(STARTS), max_size=60)


@steady
@given(pairs())
def test_every_invariant_holds_for_shapes_of_real_skills(pair: tuple[str, list[dict[str, Any]]]) -> None:
    assert fuzz.broken(*pair) == ""


@steady
@given(any_text, any_text, any_text)
def test_every_invariant_holds_for_any_text(text: str, target: str, content: str) -> None:
    made: list[object] = [
        {"op": "insert_after", "target": target, "content": content},
        {"op": "append", "content": content},
        {"op": "replace", "target": text[3:9], "content": content},
        {"op": "delete", "target": text[:5]},
    ]
    assert fuzz.broken(text, made) == ""


@steady
@given(any_text | documents())
def test_no_edits_is_the_identity(text: str) -> None:
    assert apply_edits(text, []) == (text, [])


@steady
@given(documents(), st.lists(anything, max_size=5))
def test_no_edit_however_malformed_raises_and_each_has_a_report(text: str, edits: list[object]) -> None:
    _, reports = apply_edits(text, edits)
    assert [report.index for report in reports] == list(range(len(edits)))
    _, reports = apply_to_folder({"SKILL.md": text.encode("utf-8", "replace")}, edits, editable=["**"])
    assert [report.index for report in reports] == list(range(len(edits)))


@steady
@given(pairs(("append",)))
def test_the_same_appends_change_nothing_the_second_time(pair: tuple[str, list[dict[str, Any]]]) -> None:
    text, edits = pair
    once, _ = apply_edits(text, edits)
    assert apply_edits(once, edits)[0] == once


@steady
@given(pairs())
def test_no_edit_newly_breaks_a_rule_of_the_format(pair: tuple[str, list[dict[str, Any]]]) -> None:
    def errors(text: str) -> set[str]:
        return {finding.message for finding in validate(text, "a") if finding.level == "error"}

    text, edits = pair
    assert errors(apply_edits(text, edits)[0]) <= errors(text)


@steady
@given(pairs(), st.integers(0, 40), st.integers(0, 12))
def test_no_document_grows_over_its_limits(pair: tuple[str, list[dict[str, Any]]], tokens: int, lines: int) -> None:
    text, edits = pair
    after, _ = apply_edits(text, edits, max_tokens=tokens, max_lines=lines)
    assert len(split_lines(after)) <= max(lines, len(split_lines(text)))
    assert len(after.encode("utf-8")) <= max(4 * tokens, 4 * -(-len(text.encode("utf-8")) // 4))


@steady
@given(pairs())
def test_an_outline_kept_up_to_date_is_that_of_a_fresh_parse(pair: tuple[str, list[dict[str, Any]]]) -> None:
    text, edits = pair
    document = Document(text)
    for index, edit in enumerate(edits):
        op, file, request = read_request(edit)
        apply_request(document, index, op, file, request, Limits())
        fresh = Document(document.text)
        assert document.outline is not None
        assert fresh.outline is not None
        assert (document.lines, document.folded, document.body) == (fresh.lines, fresh.folded, fresh.body)
        assert (document.regions, document.size) == (fresh.regions, fresh.size)
        assert document.outline.starts == fresh.outline.starts
        assert document.outline.open_end == fresh.outline.open_end
        assert document.outline.headings() == fresh.outline.headings()
        for line in range(len(document.lines)):
            assert document.outline.nodes_at(line) == fresh.outline.nodes_at(line)


@steady
@given(documents(), st.integers(0, 5))
def test_parsing_from_where_a_unit_begins_gives_what_parsing_all_gives(text: str, skip: int) -> None:
    lines = split_lines(text)
    whole, _ = parse_to_end(lines)
    starts = [node.start for node in whole if not node.chain][skip:]
    for start in starts:
        rest: list[Node] = parse(lines[start:], start)
        assert rest == [node for node in whole if (node.chain[0][1] if node.chain else node.start) >= start]


@steady
@given(any_text | documents())
def test_a_document_splits_into_parts_that_make_it_up(text: str) -> None:
    parts = split(text)
    assert parts.bom + parts.frontmatter + parts.body == text
    body = body_for_target(text)
    assert body == body.strip()
    assert "\r" not in body
    assert all(finding.line >= 1 for finding in validate(text, "a"))


@steady
@given(st.text(st.sampled_from(LETTERS)))
def test_the_pieces_of_a_folded_line_are_the_folded_pieces_of_the_line(line: str) -> None:
    folded = fold_line(line)
    pieces = segments(line)
    assert "".join(fold_line(line[a:b] + ".")[:-1][: end - at] for at, end, a, b in pieces) == folded
    for at, _, _, _ in pieces:
        for _, end, _, _ in pieces:
            if end > at:
                span = original_span(line, at, line, end)
                assert span is not None
                assert fold_line(line[span[0] : span[1]] + ".")[:-1] == folded[at:end]


def test_no_letter_that_normalisation_joins_to_the_one_before_begins_a_piece() -> None:
    for code in range(0x30000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            pair = "".join(chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", pair) == chr(code):
                assert len(segments(pair)) == 1, hex(code)
    assert [len(segments(pair)) for pair in ("\u1112\u1161", "\ud55c", "\ud558\u11ab")] == [1, 1, 1]


@pytest.mark.parametrize("text", DEEP)
def test_deep_and_long_inputs_do_not_raise(text: str) -> None:
    edits = [{"op": "append", "content": text}, {"op": "insert_after", "target": "x", "content": "- y"}]
    assert len(apply_edits("a\n\n" + text, edits)[1]) == 2
