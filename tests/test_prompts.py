"""prompts.py: placeholders are checked and filled; prompts/: what the optimizer is told."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripted import PROMPTS
from skillpipe.asking import reply_schema
from skillpipe.errors import SkillpipeError
from skillpipe.prompts import Template, read_template
from skillpipe.replies import parse_reply
from skillpipe.skill import REGION_MARKERS, apply_edits, editable_body, rewrite_body

REFLECTING = ("skill", "memory", "attempts")
REWRITING = ("body", "protected", "memory")
SHIPPED = {
    "reflect_failures": ((*REFLECTING, "notes"), "reply_patch"),
    "reflect_successes": (REFLECTING, "reply_patch"),
    "reflect_rewrite": ((*REWRITING, "attempts", "notes"), "reply_body"),
    "reflect_notes": ((), None),
    "merge": (("skill", "memory", "reasoning", "proposals"), "reply_merge"),
    "merge_rewrite": ((*REWRITING, "candidates"), "reply_body"),
    "rank": (("skill", "memory", "proposals", "edit_budget"), "reply_ranking"),
    "rank_freely": (("skill", "memory", "proposals"), "reply_ranking"),
    "rewrite": ((*REWRITING, "suggestions"), "reply_body"),
    "compare": (("skill", "guidance", "memory", "pairs"), "reply_compare"),
    "compact": (("notes", "most"), "reply_notes"),
    "repair": (("error",), None),
    "judge": (("evidence",), "reply_verdicts"),
}
WITH_EDITS = ("reflect_failures", "reflect_successes", "merge")
WITH_BODIES = ("reflect_rewrite", "merge_rewrite", "rewrite")


@pytest.fixture
def prompt(tmp_path):
    def write(text: str, *names: str) -> Template:
        (tmp_path / "p.md").write_bytes(text.encode())
        return read_template(tmp_path / "p.md", names)

    return write


def refusal(prompt, text: str, *names: str) -> str:
    with pytest.raises(SkillpipeError) as caught:
        prompt(text, *names)
    assert len(str(caught.value).splitlines()) == 1
    assert "p.md: " in str(caught.value)
    return str(caught.value).partition("p.md: ")[2]


def test_every_place_of_a_placeholder_gets_the_value(prompt):
    assert prompt("{{a}}, {{ b }}, {{a}}!", "a", "b").render(a="1", b="2") == "1, 2, 1!"


def test_what_is_put_in_is_not_searched_for_placeholders(prompt):
    assert prompt("{{a}} {{b}}", "a", "b").render(a="{{b}}", b=r"{{a}} \1 \g<0>") == r"{{b}} {{a}} \1 \g<0>"


@given(st.text(), st.text())
def test_any_value_comes_through_as_it_is(one, two):
    assert Template("{{a}}|{{b}}").render(a=one, b=two) == f"{one}|{two}"


def test_an_unknown_placeholder_is_refused_with_what_is_allowed(prompt):
    said = refusal(prompt, "{{a}} {{skil}}", "a", "skill")
    assert said == "{{skil}} is no placeholder of this prompt; allowed are {{a}}, {{skill}}"


def test_a_missing_placeholder_is_refused_with_what_must_be_there(prompt):
    assert refusal(prompt, "{{a}}", "a", "b") == "{{b}} is missing; this prompt must hold {{a}}, {{b}}"


@pytest.mark.parametrize("text", ["{{a}", "{a}", "{ {a} }", "{{a", "a"])
def test_a_placeholder_that_is_not_well_formed_is_missing(prompt, text):
    assert "{{a}} is missing" in refusal(prompt, text, "a")


@pytest.mark.parametrize("text", ["{{A}}", "{{}}", "{{a b}}", "{{a\nb}}", "{{{a}}}"])
def test_a_name_that_is_not_exactly_right_is_unknown(prompt, text):
    assert "is no placeholder" in refusal(prompt, text + "{{a}}", "a")


def test_single_braces_and_nested_json_are_text(prompt):
    text = '{"x": {"y": [{"z": 1}]}} '
    assert prompt(text + "{{a}}", "a").render(a="") == text


def test_line_ends_of_another_system_give_the_same_prompt(prompt):
    assert prompt("one\r\n{{a}}\r\n", "a") == prompt("one\n{{a}}\n", "a")


def test_a_prompt_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(SkillpipeError, match=r"merge\.md: no such file"):
        read_template(tmp_path / "merge.md", ())


def test_every_prompt_of_the_project_is_tried_here():
    assert {path.stem for path in PROMPTS.glob("*.md")} == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_prompts_of_the_project_hold_what_they_must(name):
    read_template(PROMPTS / f"{name}.md", SHIPPED[name][0])


def example(name: str) -> tuple[str, dict]:
    (block,) = re.findall(r"```json\n(.*?)```", (PROMPTS / f"{name}.md").read_text("utf-8"), re.DOTALL)
    return block, reply_schema(SHIPPED[name][1])


@pytest.mark.parametrize("name", [name for name in SHIPPED if SHIPPED[name][1]])
def test_the_example_of_a_reply_fits_its_schema(name):
    block, schema = example(name)
    assert parse_reply(block, schema) == json.loads(block)


@pytest.mark.parametrize("name", WITH_EDITS)
def test_the_edits_of_the_example_can_be_applied(name):
    skill = "# Toy\n\n## Style\n\n- a line of the skill\n"
    _, reports = apply_edits(skill, json.loads(example(name)[0])["edits"])
    assert {report.status for report in reports} == {"applied"}


@pytest.mark.parametrize("name", WITH_EDITS)
def test_every_op_and_every_protected_region_is_explained(name):
    text = (PROMPTS / f"{name}.md").read_text("utf-8")
    items = reply_schema(SHIPPED[name][1])["properties"]["edits"]["items"]
    for word in (*items["properties"]["op"]["enum"], *(marker for pair in REGION_MARKERS for marker in pair)):
        assert word in text


@pytest.mark.parametrize("name", WITH_EDITS)
def test_how_edits_work_is_told_in_the_same_words_everywhere(name):
    def told(other: str) -> str:
        return (PROMPTS / f"{other}.md").read_text("utf-8").split("## How edits work")[1].split("## Reply")[0]

    assert told(name) == told("merge")


@pytest.mark.parametrize("name", [*WITH_BODIES, "compare"])
def test_no_prompt_that_asks_for_text_leaves_out_a_marker_that_must_not_be_written(name):
    text = (PROMPTS / f"{name}.md").read_text("utf-8")
    assert all(f"`{marker}`" in text for pair in REGION_MARKERS for marker in pair)


@pytest.mark.parametrize("name", WITH_BODIES)
def test_what_a_body_is_is_told_in_the_same_words_everywhere(name):
    def told(other: str) -> str:
        return (PROMPTS / f"{other}.md").read_text("utf-8").split("## What the body is")[1].split("## Reply")[0]

    assert told(name) == told("rewrite")


@pytest.mark.parametrize("name", WITH_BODIES)
def test_the_body_of_the_example_can_be_put_into_a_skill(name):
    after, outcomes = rewrite_body("# Toy\n\n- a line of the skill\n", json.loads(example(name)[0])["body"])
    assert {outcome.status for outcome in outcomes} == {"applied"}
    assert editable_body(after) == json.loads(example(name)[0])["body"]


def test_the_example_of_a_note_is_of_the_form_that_is_asked_for():
    (line,) = re.findall(r'^    ("notes": .*)$', (PROMPTS / "reflect_notes.md").read_text("utf-8"), re.MULTILINE)
    given = json.loads(f'{{"edits": [], {line}}}')
    assert parse_reply(json.dumps(given), reply_schema("reply_patch")) == given


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "repair" and SHIPPED[name][0]])
def test_what_never_changes_comes_first_so_that_providers_can_cache_it(name):
    fixed = (PROMPTS / f"{name}.md").read_text("utf-8").split("{{")[0]
    assert "## Reply" in fixed
    assert fixed.rstrip().endswith(f"<{SHIPPED[name][0][0]}>")
