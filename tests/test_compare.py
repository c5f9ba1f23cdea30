"""compare: what differs between published runs, and whether it could be luck."""

from dataclasses import replace
from html.parser import HTMLParser
from itertools import product

import pytest
from scipy.stats import binomtest

from skillpipe.compare import Published, as_html, as_text, compare, significance
from skillpipe.compare.comparison import differing, flat
from skillpipe.errors import SkillpipeError
from skillpipe.records import publish

FIGURES = {"test_initial": 0.25, "test_best": 0.5, "test_gain": 0.25, "val_best": 0.75}


def published(name: str, best: str, *, initial: str = "", skill: str = "# A\n", **params: object) -> Published:
    """A run whose best skill passed (1), failed (0) or has no score (-) for tasks t0, t1, ..."""
    hard = {"0": 0.0, "1": 1.0, "-": None, "h": 0.5}
    rows = [
        publish.TestScore(f"t{number}", "", hard[old], hard[old], hard[new], hard[new])
        for number, (old, new) in enumerate(zip(initial or "0" * len(best), best, strict=True))
    ]
    return Published(name, "abc1234", params, FIGURES, tuple(rows), {"SKILL.md": skill.encode()})


def numbers(text: str) -> list[float]:
    return [float(letter) for letter in text]


@pytest.mark.parametrize(("gained", "lost"), [(7, 1), (1, 7), (5, 5), (6, 0), (0, 1)])
def test_of_passed_and_failed_tasks_the_p_value_is_mcnemars_exact_one_as_scipy_has_it(gained, lost):
    before = numbers("0" * gained + "1" * lost + "0011")
    after = numbers("1" * gained + "0" * lost + "0011")
    found = significance(before, after)
    assert found.p_value == pytest.approx(binomtest(min(gained, lost), gained + lost, 0.5).pvalue, abs=1e-12)
    assert found.test.startswith("exact McNemar")


def test_of_fractional_scores_the_p_value_is_that_of_all_exchanges():
    before, after = [0.0, 0.5, 0.25, 1.0, 0.5, 0.0], [0.5, 0.75, 0.5, 0.75, 0.5, 1.0]
    changes = [new - old for old, new in zip(before, after, strict=True)]
    observed = abs(sum(changes))
    signs = list(product((1, -1), repeat=len(changes)))
    as_large = sum(abs(sum(s * c for s, c in zip(row, changes, strict=True))) >= observed - 1e-12 for row in signs)
    found = significance(before, after)
    assert found.p_value == pytest.approx(as_large / len(signs))
    assert found.test.startswith("paired permutation")


def test_with_more_exchanges_than_can_be_made_the_p_value_is_still_the_same_every_time():
    before, after = [number / 50 for number in range(40)], [number / 49 for number in range(1, 41)]
    assert significance(before, after) == significance(before, after)


def test_no_difference_at_all_is_a_p_value_of_1():
    assert significance([1, 0, 0.5], [1, 0, 0.5]).p_value == 1.0


def test_tasks_that_flipped_are_named_by_the_way_they_went():
    [found] = compare([published("a", "0011"), published("b", "0110")]).against
    assert (found.gained, found.lost, found.n) == (("t1",), ("t3",), 4)


def test_only_tasks_that_both_have_a_score_for_count():
    [found] = compare([published("a", "01-1"), published("b", "011-")]).against
    assert (found.n, found.before, found.after) == (2, 0.5, 0.5)


def test_runs_without_a_common_task_are_not_given_a_p_value():
    found = compare([published("a", "--"), published("b", "11")])
    assert found.against[0].significance is None
    assert "b against a: no test task has a score in both" in as_text(found)


def test_every_other_run_is_compared_to_the_first():
    found = compare([published("a", "0000"), published("b", "1000"), published("c", "1111")])
    assert [(row.name, row.after) for row in found.against] == [("b", 0.25), ("c", 1.0)]


def test_the_gain_of_each_run_has_a_p_value_too():
    found = compare([published("a", "111111", initial="000000"), published("b", "000000")])
    assert [gain.p_value for gain in found.gains] == [binomtest(0, 6, 0.5).pvalue, 1.0]


def test_fewer_than_two_runs_are_refused():
    with pytest.raises(SkillpipeError, match="name two or more"):
        compare([published("a", "01")])


def test_parameters_that_differ_are_named_once_though_sections_repeat_them():
    env = {"data": "data/a", "prompt": "p"}
    one = {"env": env, "plan": {"env": env, "seed": 1}, "seed": 1, "steps": {"e1s1": {"edit_budget": 2}}}
    other_env = {"data": "data/b", "prompt": "p"}
    two = {"env": other_env, "plan": {"env": other_env, "seed": 1}, "seed": 1, "steps": {"e1s1": {"edit_budget": 3}}}
    assert differing([flat(one), flat(two)]) == {
        "env.data": ("data/a", "data/b"),
        "steps.e1s1.edit_budget": ("2", "3"),
    }


def test_a_parameter_that_one_run_has_not_is_shown_as_nothing():
    assert differing([flat({"a": 1}), flat({"b": {}})]) == {"a": ("1", ""), "b": ("", "{}")}


def test_skills_are_compared_file_by_file():
    one, two = published("a", "0"), published("b", "0", skill="# A\n- be brief\n")
    two = replace(two, best={**two.best, "logo.png": b"\xff\xfe"})
    [found] = compare([one, two]).against
    assert "+- be brief" in found.diff
    assert "logo.png: differs, and is no text" in found.diff


def test_the_text_has_scores_flips_significance_parameters_and_skills():
    text = as_text(compare([published("a", "000000", seed=1), published("b", "111111", skill="# B\n", seed=2)]))
    assert "b against a: 0.000 -> 1.000 on 6 test tasks, 6 gained, 0 lost; p = 0.031 (exact McNemar" in text
    assert "  gained: t0, t1, t2, t3, t4, t5" in text
    assert ["seed", "1", "2"] in [line.split() for line in text.splitlines()]
    assert "-# A\n+# B" in text


class Page(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [
            f"{name}={value}" for name, value in attrs if name in ("src", "href", "style") or name[:2] == "on"
        ]

    def handle_data(self, data):
        self.text += data


def test_the_page_says_what_the_text_says_and_nothing_of_a_run_becomes_markup():
    evil = '<script>alert("x")</script>'
    runs = [published(evil, "01", seed=evil, skill=f"# A\n<b>{evil}</b>\n"),
            published("b", "10", skill=f"# B\n<b>{evil}</b>\n<img src=x onerror=y>\n")]  # fmt: skip
    found = compare(runs)
    page = Page()
    html = as_html(found)
    page.feed(html)
    assert not {"script", "img", "link", "iframe", "b"} & set(page.tags)
    assert page.links == []
    assert "prefers-color-scheme: dark" in html
    for line in as_text(found).splitlines():
        assert all(word in page.text for word in line.split())
