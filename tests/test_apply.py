"""apply.py: the best of the merged edits, as many as the budget allows, applied to the current skill."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apply import Way
from apply import apply as applied
from samples import append
from skillpipe.artifacts import read_record, write_record
from skillpipe.candidate import Limits
from skillpipe.lineage import replay
from skillpipe.optimizers import Rewrite
from skillpipe.records import ApplyReport, Edit, Memory, Merged, Observation, Ranking, Usage
from skillpipe.state import write_state
from workbench import SKILL, skill, state

GONE = Edit("replace", "x", "no such line")
LIMITS = Limits("toy", ("SKILL.md",), 5000, 500)
WORDS = ("step=e1s1", "state=state", "merged=merged.json", "prompts=prompts", "out=candidate", "skill_name=skills/toy")


class Scripted:
    """An optimizer that ranks, rewrites and compacts as it is told. Without a ranking: the order of the merge."""

    def __init__(self, ranking=None, rewrite=None, compacted=()):
        self.ranking, self.rewritten, self.compacted, self.asked = ranking, rewrite, list(compacted), []

    async def rank(self, skill, merged, edit_budget, memory):
        return self.ranking or Ranking(tuple(range(len(merged.edits))))

    async def rewrite(self, skill, edits, memory):
        self.asked.append([edit.content for edit in edits])
        return self.rewritten

    async def compact(self, notes):
        self.asked.append(list(notes))
        return self.compacted, Usage(1, 10, 1)


def merged(*edits: Edit, **more) -> Merged:
    return Merged("e1s1", len(edits), "", edits, **more)


def apply(files, edits: Merged, budget=4, optimizer=None, *, mode="patch", notes=None, **limits):
    """Candidate and report."""
    way = Way(mode, budget, notes, replace(LIMITS, **limits))
    return asyncio.run(applied(files, edits, Memory(), optimizer or Scripted(), way))


def statuses(*edits: Edit, budget: int = 4, **limits) -> list[str]:
    _, report = apply(skill(), merged(*edits), budget, **limits)
    return [outcome.status for outcome in report.outcomes]


def test_the_candidate_holds_the_edits_in_rank_order():
    candidate, report = apply(skill(), merged(append("- b"), append("- a")), 4)
    text = candidate["SKILL.md"].decode()
    assert text.startswith(SKILL)
    assert text.index("- b") < text.index("- a")
    assert (report.step, report.edit_budget, report.changed) == ("e1s1", 4, True)


def test_the_ranking_decides_which_edits_are_tried_first():
    edits = (append("- a"), append("- b"), append("- c"))
    candidate, report = apply(skill(), merged(*edits), 2, Scripted(Ranking((2, 0, 1))))
    assert [outcome.edit.content for outcome in report.outcomes] == ["- c", "- a", "- b"]
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied", "over_budget"]
    assert candidate["SKILL.md"].decode() == f"{SKILL}\n- c\n\n- a\n"


def test_the_report_tells_what_the_optimizer_took_in_this_step_and_where_it_failed():
    made = merged(append("- a"), failures=2, fallback="no merge", usage=Usage(3, 30, 3, 0.5))
    _, report = apply(skill(), made, 4, Scripted(Ranking((0,), "why", "no rank", Usage(1, 10, 1, 0.25))))
    assert report.usage == Usage(4, 40, 4, 0.75)
    assert (report.reply_failures, report.fallbacks) == (2, ("no merge", "no rank"))
    assert report.reasoning == "why"
    assert apply(skill(), merged(append("- a")), 4)[1].fallbacks == ()


def test_edits_apply_to_the_result_of_those_before():
    edits = (append("- one"), Edit("replace", "- two", "- one"))
    candidate, report = apply(skill(), merged(*edits), 4)
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied"]
    assert b"- one" not in candidate["SKILL.md"]
    assert b"- two" in candidate["SKILL.md"]


def test_edits_beyond_the_budget_are_reported_and_not_applied():
    candidate, report = apply(skill(), merged(append("- a"), append("- b"), append("- c")), 2)
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied", "over_budget"]
    assert report.outcomes[2].reason == "the edit budget is 2"
    assert b"- c" not in candidate["SKILL.md"]


def test_an_edit_without_effect_costs_nothing():
    assert statuses(GONE, append("- a"), GONE, append("- b"), append("- c"), budget=2) == [
        "unmatched", "applied", "unmatched", "applied", "over_budget",
    ]  # fmt: skip


def test_without_a_budget_the_candidate_is_the_skill():
    candidate, report = apply(skill(), merged(append("- a")), 0)
    assert candidate == skill()
    assert (report.changed, report.outcomes[0].status) == (False, "over_budget")


@pytest.mark.parametrize("edits", [(), (GONE,), (Edit("delete", "", "no such line"), append(" "))])
def test_when_nothing_takes_effect_the_candidate_is_the_skill(edits):
    candidate, report = apply(skill(), merged(*edits), 4)
    assert (candidate, report.changed) == (skill(), False)


@pytest.mark.parametrize(
    ("edit", "status", "limits"),
    [
        (append("Use capitals."), "duplicate", {}),
        (append("x", "t1"), "invalid", {"max_lines": 7}),
        (append("x" * 400), "invalid", {"max_tokens": 50}),
        (append("x"), "protected", {"editable": ["references/*"]}),
        (Edit("append", "x", file="gone.md"), "invalid", {}),
        (Edit("replace", "name: other", "name: toy"), "protected", {}),
    ],
)
def test_an_edit_that_may_not_be_ends_in_its_status(edit, status, limits):
    assert statuses(edit, **limits) == [status]


def test_an_outcome_tells_the_lines_of_the_document_as_it_was_then():
    _, report = apply(skill(), merged(append("- a"), Edit("replace", "Use small letters.", "Use capitals.")), 4)
    assert [(outcome.old_lines, outcome.lines) for outcome in report.outcomes] == [(None, (9, 9)), ((7, 7), (7, 7))]


def test_other_files_of_the_skill_keep_their_bytes():
    files = skill() | {"scripts/run.sh": b"\xff\r\n"}
    candidate, _ = apply(files, merged(append("- a")), 4)
    assert candidate["scripts/run.sh"] == b"\xff\r\n"
    assert list(candidate) == list(files)


@given(
    st.lists(st.sampled_from([append("- a"), append("- b"), append("Use capitals."), GONE]), max_size=6),
    st.integers(0, 4),
)
def test_every_edit_has_an_outcome_and_no_more_are_applied_than_allowed(edits, budget):
    candidate, report = apply(skill(), merged(*edits), budget)
    assert [outcome.edit for outcome in report.outcomes] == edits
    count = sum(outcome.status == "applied" for outcome in report.outcomes)
    assert count <= budget
    assert report.changed == (count > 0) == (candidate != skill())


def test_an_optimizer_that_chooses_the_budget_has_its_number_of_edits_in_the_report():
    edits = (append("- a"), append("- b"), append("- c"))
    _, report = apply(skill(), merged(*edits), None, Scripted(Ranking((0, 1, 2), "two are enough", chosen=2)))
    assert [outcome.status for outcome in report.outcomes] == ["applied", "applied", "over_budget"]
    assert (report.edit_budget, report.reasoning) == (2, "two are enough")


def test_a_rewrite_is_asked_for_the_chosen_suggestions_and_told_as_edits_with_their_tasks():
    optimizer = Scripted(rewrite=Rewrite("# Toy\n\nUse small letters.\n", "shorter", usage=Usage(1, 5, 5)))
    edits = merged(append("- a", "t1"), append("- b", "t2"), append("- c", "t3"))
    candidate, report = apply(skill(), edits, 2, optimizer, mode="rewrite")
    assert optimizer.asked == [["- a", "- b"]]
    assert candidate["SKILL.md"].decode() == SKILL.replace("Use capitals.", "Use small letters.")
    (row,) = report.outcomes
    assert (row.edit.op, row.status, row.edit.tasks) == ("replace", "applied", ("t1", "t2"))

    assert (report.mode, report.reasoning, report.usage) == ("rewrite", "shorter", Usage(1, 5, 5))


def test_a_rewrite_that_cannot_be_had_falls_back_to_the_edits_and_says_so():
    optimizer = Scripted(rewrite=Rewrite("", failure="no JSON"))
    candidate, report = apply(skill(), merged(append("- a")), 4, optimizer, mode="rewrite")
    assert b"- a" in candidate["SKILL.md"]
    assert report.fallbacks == ("no rewrite, edits instead: no JSON",)


def test_without_suggestions_nothing_is_rewritten():
    optimizer = Scripted()
    candidate, _ = apply(skill(), merged(), 4, optimizer, mode="rewrite")
    assert (candidate, optimizer.asked) == (skill(), [])


def test_a_whole_new_body_takes_the_place_of_the_old_one_and_the_frontmatter_stays():
    candidate, report = apply(skill(), merged(body="# New\n"), mode="full_rewrite")
    assert candidate["SKILL.md"].decode() == SKILL.split("# Toy")[0] + "# New\n"
    assert report.changed


def test_notes_go_into_a_region_of_their_own_and_nothing_is_noted_twice():
    found = (Observation("Answer in one word.", ("t1",)), Observation("answer in one word.", ("t2",)))
    candidate, report = apply(skill(), merged(notes=found), notes=9)
    text = candidate["SKILL.md"].decode()
    assert text.count("one word") == 1
    assert "<!-- APPENDIX_START -->\n- Answer in one word.\n<!-- APPENDIX_END -->" in text
    assert [(row.edit.region, row.status, row.edit.tasks) for row in report.outcomes] == [
        ("appendix", "applied", ("t1", "t2"))
    ]
    again, report = apply(candidate, merged(notes=found[:1]), notes=9)
    assert (again, report.outcomes, report.changed) == (candidate, (), False)


def test_notes_are_left_out_where_they_are_not_wanted():
    candidate, _ = apply(skill(), merged(notes=(Observation("Answer in one word.", ("t1",)),)))
    assert candidate == skill()


def test_more_notes_than_allowed_are_compacted_by_one_call():
    found = tuple(Observation(f"Note {number}.") for number in range(3))
    optimizer = Scripted(compacted=["- Notes 0 to 2."])
    candidate, report = apply(skill(), merged(notes=found), 4, optimizer, notes=2)
    assert optimizer.asked == [["- Note 0.", "- Note 1.", "- Note 2."]]
    assert b"- Notes 0 to 2.\n" in candidate["SKILL.md"]
    assert report.usage == Usage(1, 10, 1)


def test_every_applied_edit_has_the_splice_that_makes_it():
    files, _ = apply(skill(), merged(append("- a"), Edit("replace", "Use small letters.", "Use capitals.")))
    _, report = apply(skill(), merged(append("- a"), Edit("replace", "Use small letters.", "Use capitals.")))
    assert replay(SKILL, [row.splice for row in report.outcomes]) == files["SKILL.md"].decode()


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
        (("edit_budget=-1",), "edit_budget is -1; allowed is 0 or more, or null"),
        (("edit_budget=1", "merged=gone.json"), "gone.json: no such file"),
        (("edit_budget=1", "state=gone"), "gone: no such folder"),
        ((), "edit_budget"),
    ],
)
def test_what_cannot_be_applied_is_refused_in_one_line_and_nothing_is_written(bench, words, said):
    write_state(bench.root / "state", state(1, 0))
    write_record(bench.root / "merged.json", merged(append("- a")))
    assert said in bench.refused("apply", *WORDS, *words)
