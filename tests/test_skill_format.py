"""The SKILL.md format: its parts, its rules, what a target is shown."""

from __future__ import annotations

import pytest

from skillpipe.skill import Parts, body_for_target, count_tokens, split, validate

GOOD = "---\nname: unit-desk\ndescription: Convert units. Use when a measure must be converted.\n---\n# A\n"


def errors(text: str, folder: str | None = "unit-desk") -> list[tuple[int, str]]:
    return [(finding.line, finding.message) for finding in validate(text, folder) if finding.level == "error"]


def warnings(text: str, folder: str | None = "unit-desk") -> list[tuple[int, str]]:
    return [(finding.line, finding.message) for finding in validate(text, folder) if finding.level == "warning"]


def front(yaml: str) -> str:
    return f"---\n{yaml}\n---\n# A\n"


# ---- parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "frontmatter", "body"),
    [
        ("---\nname: a\n---\nb\n", "---\nname: a\n---\n", "b\n"),
        ("---\r\nname: a\r\n--- \r\nb", "---\r\nname: a\r\n--- \r\n", "b"),
        ("---\n---\nb", "---\n---\n", "b"),
        ("---\na: b --- c\n---", "---\na: b --- c\n---", ""),
        ("---\na: |\n  ---\n---\nb", "---\na: |\n  ---\n---\n", "b"),
        ("---\nname: a\n", "", "---\nname: a\n"),
        ("\n---\nname: a\n---\n", "", "\n---\nname: a\n---\n"),
        ("----\na\n---\n", "", "----\na\n---\n"),
        ("# A\n\n---\n\n---\n", "", "# A\n\n---\n\n---\n"),
        ("", "", ""),
    ],
)
def test_frontmatter_stands_between_two_lines_at_the_very_start(text: str, frontmatter: str, body: str) -> None:
    assert split(text) == Parts("", frontmatter, body)
    assert split("\ufeff" + text) == Parts("\ufeff", frontmatter, body)


def test_a_target_is_shown_the_body_alone() -> None:
    text = (
        "\ufeff---\r\nname: a\r\n---\r\n\r\n# A\r\n\r\n<!-- APPENDIX_START -->\r\n- kept\r\n<!-- APPENDIX_END -->\r\n"
    )
    assert body_for_target(text) == "# A\n\n- kept"


@pytest.mark.parametrize("name", ["SLOW_UPDATE", "APPENDIX"])
@pytest.mark.parametrize("text", ["a\n\n{}b\n", "a\n\n{}", "a\n\n{}\nb\n", "{}\na\n", "a\n\n{}\n\nb\n"])
def test_empty_regions_show_nothing_to_the_target(name: str, text: str) -> None:
    region = f"<!-- {name}_START -->\n<!-- {name}_END -->\n"
    assert body_for_target(text.format(region)).split("\n\n") == [each for each in "ab" if each in text]


def test_markers_within_a_line_go_and_the_line_stays() -> None:
    assert body_for_target("a <!-- SLOW_UPDATE_START -->b<!-- SLOW_UPDATE_END --> c\n") == "a b c"


def test_other_comments_are_shown() -> None:
    assert (
        body_for_target("<!-- SLOW_UPDATE -->\n<!--APPENDIX_START-->\n")
        == "<!-- SLOW_UPDATE -->\n<!--APPENDIX_START-->"
    )


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é€", 2), ("\ud800", 1)])
def test_a_token_is_estimated_as_four_bytes(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


# ---- validate ----------------------------------------------------------------------------------------------------


def test_a_good_skill_has_no_findings() -> None:
    assert validate(GOOD, "unit-desk") == []
    full = "name: a\ndescription: x\nlicense: MIT\ncompatibility: y\nmetadata:\n  k: v\nallowed-tools: Read Bash(git:*)"
    assert validate(front(full), "a") == []
    assert validate(front("name: a\ndescription: x\nallowed-tools:\n  - Read\n  - Edit"), "a") == []


@pytest.mark.parametrize("name", ["a", "a1", "1-2-3", "a" * 64])
def test_a_name_of_small_letters_digits_and_single_hyphens_is_good(name: str) -> None:
    assert errors(front(f"name: {name}\ndescription: x"), name) == []


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a-", "a--b", "a b", "é", "a" * 65, "''", "a/b"])
def test_any_other_name_is_an_error(name: str) -> None:
    assert [line for line, _ in errors(front(f"name: {name}\ndescription: x"), None)] == [2]


def test_a_name_must_be_that_of_the_folder() -> None:
    assert errors(GOOD, "other") == [(2, "name is 'unit-desk', but the folder is 'other'")]
    assert errors(GOOD, None) == []


@pytest.mark.parametrize(
    ("yaml", "line", "word"),
    [
        ("description: x", 1, "name is missing"),
        ("name: a", 1, "description is missing"),
        ("name: a\ndescription: ''", 3, "description is empty"),
        ("name: a\ndescription: '  '", 3, "description is empty"),
        ("name: a\ndescription: " + "x" * 1025, 3, "1025 characters; at most 1024"),
        ("name: a\ndescription: [x]", 3, "description is not a text"),
        ("name: [a]\ndescription: x", 2, "name is not a text"),
        ("name: a\ndescription: x\ncompatibility: " + "x" * 501, 4, "501 characters; at most 500"),
        ("name: a\ndescription: x\ncompatibility: ''", 4, "compatibility is empty"),
        ("name: a\ndescription: x\nmetadata: v", 4, "metadata is no mapping"),
        ("name: a\ndescription: x\nallowed-tools:\n  k: v", 5, "allowed-tools is neither"),
        ("name: a\ndescription: x\nlicense: [MIT]", 4, "license is not a text"),
        ("name: a\nname: a\ndescription: x", 3, "'name' stands twice"),
        ("name: a\ndescription: x: y", 3, "no YAML"),
        ("name: 'a", 3, "no YAML"),
        ("a\tb: [", 2, "no YAML"),
        ("- name", 2, "no mapping"),
        ("[" * 3000, 2, "no YAML"),
        ("a: \0", 2, "no YAML"),
    ],
)
def test_a_broken_rule_is_an_error_at_its_line(yaml: str, line: int, word: str) -> None:
    found = errors(front(yaml), None)
    assert any(at == line and word in message for at, message in found), found
    assert all("\n" not in message for _, message in found)


def test_description_and_compatibility_may_be_as_long_as_allowed() -> None:
    yaml = "name: a\ndescription: " + "x" * 1024 + "\ncompatibility: " + "y" * 500
    assert validate(front(yaml), "a") == []


def test_an_unclosed_frontmatter_is_an_error_and_none_at_all_a_warning() -> None:
    assert [line for line, _ in errors("---\nname: a\n")] == [1]
    assert validate("# A\n", "a")[0].level == "warning"
    assert errors("# A\n") == []


def test_values_count_as_text_whatever_yaml_makes_of_them() -> None:
    assert errors(front("name: 123\ndescription: yes"), "123") == []


def test_unknown_keys_and_an_empty_body_are_warned_about() -> None:
    found = warnings("---\nname: a\ndescription: x\nversion: 1\n---\n", "a")
    assert [line for line, _ in found] == [4, 5]
    assert "'version'" in found[0][1]
    assert found[1][1] == "the body is empty"


def test_metadata_that_is_not_text_is_warned_about() -> None:
    assert [line for line, _ in warnings(front("name: a\ndescription: x\nmetadata:\n  k: [v]"), "a")] == [5]


def test_more_than_the_recommended_size_is_warned_about() -> None:
    assert any("503 lines" in message for _, message in warnings(front("name: a\ndescription: x") + "\n" * 498, "a"))
    assert any("tokens" in message for _, message in warnings(GOOD + "x" * 20_000))
