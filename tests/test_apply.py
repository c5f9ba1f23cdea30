"""apply.py: the best of the merged edits, as many as the budget allows, applied to the current skill."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apply import apply as applied
from samples import append
from skillpipe.artifacts import read_record, write_record
from skillpipe.records import ApplyReport, Edit, Merged, Ranking, Usage
from skillpipe.state import write_state
from workbench import SKILL, skill, state

GONE = Edit("replace", "x", "no such line")
LIMITS = {"skill_name": "toy", "editable": ["SKILL.md"], "max_skill_tokens": 5000, "max_skill_lines": 500}
WORDS = ("step=e1s1", "state=state", "merged=merged.json", "prompts=prompts", "out=candidate", "skill_name=skills/toy")


def merged(*edits: Edit) -> Merged:
    return Merged("e1s1", len(edits), "", edits)


def apply(files, edits: Merged, budget: int, **limits):
    """Candidate and report, with the edits tried in the order in which they were merged."""
    return applied(files, edits, Ranking(tuple(range(len(edits.edits)))), budget, **limits)


def statuses(*edits: Edit, budget: int = 4, **limits) -> list[str]:
    _, report = apply(skill(), merged(*edits), budget, **LIMITS | limits)
    return [outcome.status for outcome in report.outcomes]


def test_the_candidate_holds_the_edits_in_rank_order():
    candidate, report = apply(skill(), merged(append("- b"), append("- a")), 4, **LIMITS)
    text = candidate["SKILL.md"].decode()
    assert text.startswith(SKILL)
    assert text.index("- b") < text.index("- a")
    assert (report.step, report.edit_budget, report.changed) == ("e1s1", 4, True)


def test_the_ranking_decides_which_edits_are_tried_first():
    edits = (append("- a"), append("- b"), append("- c"))
    candidate, report = applied(skill(), merged(*edits), Ranking((2, 0, 1)), 2, **LIMITS)
    assert [outcome.edit.content for outcome in report.outcomes] == ["- c", "- a", "- b"]
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied", "over_budget"]
    assert candidate["SKILL.md"].decode() == f"{SKILL}\n- c\n\n- a\n"


def test_the_report_tells_what_the_optimizer_took_in_this_step_and_where_it_failed():
    made = Merged("e1s1", 1, "", (append("- a"),), failures=2, fallback="no merge", usage=Usage(3, 30, 3, 0.5))
    _, report = applied(skill(), made, Ranking((0,), "why", "no rank", Usage(1, 10, 1, 0.25)), 4, **LIMITS)
    assert report.usage == Usage(4, 40, 4, 0.75)
    assert (report.reply_failures, report.fallbacks) == (2, ("no merge", "no rank"))
    assert report.reasoning == "why"
    assert apply(skill(), merged(append("- a")), 4, **LIMITS)[1].fallbacks == ()


def test_edits_apply_to_the_result_of_those_before():
    edits = (append("- one"), Edit("replace", "- two", "- one"))
    candidate, report = apply(skill(), merged(*edits), 4, **LIMITS)
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied"]
    assert b"- one" not in candidate["SKILL.md"]
    assert b"- two" in candidate["SKILL.md"]


def test_edits_beyond_the_budget_are_reported_and_not_applied():
    candidate, report = apply(skill(), merged(append("- a"), append("- b"), append("- c")), 2, **LIMITS)
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied", "over_budget"]
    assert report.outcomes[2].reason == "the edit budget is 2"
    assert b"- c" not in candidate["SKILL.md"]


def test_an_edit_without_effect_costs_nothing():
    assert statuses(GONE, append("- a"), GONE, append("- b"), append("- c"), budget=2) == [
        "unmatched", "applied", "unmatched", "applied", "over_budget",
    ]  # fmt: skip


def test_without_a_budget_the_candidate_is_the_skill():
    candidate, report = apply(skill(), merged(append("- a")), 0, **LIMITS)
    assert candidate == skill()
    assert (report.changed, report.outcomes[0].status) == (False, "over_budget")


@pytest.mark.parametrize("edits", [(), (GONE,), (Edit("delete", "", "no such line"), append(" "))])
def test_when_nothing_takes_effect_the_candidate_is_the_skill(edits):
    candidate, report = apply(skill(), merged(*edits), 4, **LIMITS)
    assert (candidate, report.changed) == (skill(), False)


@pytest.mark.parametrize(
    ("edit", "status", "limits"),
    [
        (append("Use capitals."), "duplicate", {}),
        (append("x", "t1"), "invalid", {"max_skill_lines": 7}),
        (append("x" * 400), "invalid", {"max_skill_tokens": 50}),
        (append("x"), "protected", {"editable": ["references/*"]}),
        (Edit("append", "x", file="gone.md"), "invalid", {}),
        (Edit("replace", "name: other", "name: toy"), "protected", {}),
    ],
)
def test_an_edit_that_may_not_be_ends_in_its_status(edit, status, limits):
    assert statuses(edit, **limits) == [status]


def test_an_outcome_tells_the_lines_of_the_document_as_it_was_then():
    _, report = apply(
        skill(), merged(append("- a"), Edit("replace", "Use small letters.", "Use capitals.")), 4, **LIMITS
    )
    assert [(outcome.old_lines, outcome.lines) for outcome in report.outcomes] == [(None, (9, 9)), ((7, 7), (7, 7))]


def test_other_files_of_the_skill_keep_their_bytes():
    files = skill() | {"scripts/run.sh": b"\xff\r\n"}
    candidate, _ = apply(files, merged(append("- a")), 4, **LIMITS)
    assert candidate["scripts/run.sh"] == b"\xff\r\n"
    assert list(candidate) == list(files)


@given(
    st.lists(st.sampled_from([append("- a"), append("- b"), append("Use capitals."), GONE]), max_size=6),
    st.integers(0, 4),
)
def test_every_edit_has_an_outcome_and_no_more_are_applied_than_allowed(edits, budget):
    candidate, report = apply(skill(), merged(*edits), budget, **LIMITS)
    assert [outcome.edit for outcome in report.outcomes] == edits
    count = sum(outcome.status == "applied" for outcome in report.outcomes)
    assert count <= budget
    assert report.changed == (count > 0) == (candidate != skill())


def test_the_script_writes_the_candidate_and_what_became_of_each_edit(bench):
    write_state(bench.root / "state", state(1, 0))
    write_record(bench.root / "merged.json", merged(append("- a"), append("- b")))
    bench.done("apply", *WORDS, "edit_budget=1")
    report = read_record(bench.root / "candidate" / "report.json", ApplyReport)
    assert [outcome.status for outcome in report.outcomes] == ["applied", "over_budget"]
    assert (bench.root / "candidate" / "skill" / "SKILL.md").read_text("utf-8") == f"{SKILL}\n- a\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("edit_budget=-1",), "edit_budget is -1; allowed is 0 or more"),
        (("edit_budget=1", "merged=gone.json"), "gone.json: no such file"),
        (("edit_budget=1", "state=gone"), "gone: no such folder"),
        ((), "edit_budget"),
    ],
)
def test_what_cannot_be_applied_is_refused_in_one_line_and_nothing_is_written(bench, words, said):
    write_state(bench.root / "state", state(1, 0))
    write_record(bench.root / "merged.json", merged(append("- a")))
    assert said in bench.refused("apply", *WORDS, *words)
