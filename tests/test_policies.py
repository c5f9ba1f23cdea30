"""gating/policies.py: what may refuse a candidate that scores better, and how decide asks."""

from pathlib import Path

import pytest
import yaml

from pairing import decide
from samples import scores
from skillpipe import config
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Off, Review
from skillpipe.gating.policies import CopiedTrainText, ForbiddenText, Length
from skillpipe.records import Decision, Message, Rollout, Usage
from workbench import skill

ROOT = Path(__file__).resolve().parents[1]
ACCEPTED = Decision("accept", "a gain", 0.0, 1.0, 1)
REVIEW = "the battery died after a single week of use"


def review(before="# Skill\n", after="# Skill\n", train=()) -> Review:
    return Review(skill(before), skill(after), ACCEPTED, (), train)


def attempt(asked: str, expected: str = "negative", task: str = "t1") -> Rollout:
    said = (Message("user", asked), Message("assistant", "what the target said, at some length"))
    return Rollout(task, "", "failed", 0.0, 0.0, "", expected, said, Usage())


def refuses(reason):
    return lambda seen: reason


def judged(*policies, candidate=(1, 0), rule=None, **seen) -> Decision:
    return decide(scores(0, 0), scores(*candidate), rule=rule, policies=policies, **seen)


def test_a_policy_can_refuse_what_the_rule_accepts_and_the_scores_stay_on_record():
    decision = judged(refuses("not on a Friday"))
    assert (decision.action, decision.reason) == ("reject_policy", "policy: not on a Friday")
    assert (decision.current, decision.candidate, decision.gained) == (0.0, 0.5, ("v0",))


def test_a_policy_can_refuse_where_there_is_no_gate():
    assert judged(refuses("no"), rule=Off()).action == "reject_policy"


def test_the_first_policy_that_refuses_is_named():
    assert judged(refuses(""), refuses("second"), refuses("third")).reason == "policy: second"


def test_policies_are_not_asked_about_a_candidate_that_the_rule_rejects():
    asked = []
    assert judged(asked.append, candidate=(0, 0)).action == "reject"
    assert asked == []


def test_a_policy_sees_both_skills_the_acceptance_and_all_rollouts():
    seen = []

    def look(shown):
        seen.append(shown)
        return ""

    val, train = [attempt("v")], [attempt("t")]
    decision = judged(look, skill_before=skill("a"), skill=skill("b"), val=val, train=train)
    assert seen == [Review(skill("a"), skill("b"), decision, val, train)]
    assert decision.action == "accept_new_best"


@pytest.mark.parametrize("word", [None, True, False])
def test_a_policy_that_gives_no_text_is_an_error_not_a_word(word):
    with pytest.raises(SkillpipeError, match=rf"gate.policies\[0\] gave {word}; it must give a text"):
        judged(refuses(word))


def test_a_policy_of_conf_is_built_by_its_target():
    node = {"_target_": "skillpipe.gating.policies.ForbiddenText", "texts": ["TODO"], "patterns": []}
    policy = config.build(node, "gate.policies[0]")
    assert policy(review(after="one\nTODO two\n")) == "SKILL.md line 2 holds the forbidden 'TODO'"


def test_every_policy_in_the_example_of_conf_can_be_built_and_passes_a_plain_skill():
    choice = yaml.safe_load((ROOT / "conf" / "gate" / "guarded.yaml").read_text("utf-8"))
    policies = [config.build(node, "gate.policies") for node in choice["policies"]]
    assert {type(policy) for policy in policies} == {Length, ForbiddenText, CopiedTrainText}
    assert [policy(review(train=[attempt(REVIEW)])) for policy in policies] == ["", "", ""]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ((2, None, None), "the skill has 3 tokens, max_tokens is 2"),
        ((None, 1, None), "the skill has 2 lines, max_lines is 1"),
        ((None, None, 0.4), "the skill grew from 2 to 3 tokens, max_growth is 0.4"),
    ],
)
def test_a_skill_over_a_limit_of_length_is_refused_with_the_numbers(limits, said):
    assert Length(*limits)(review("# Skill\n", "# Skill\nabc")) == said


def test_a_skill_at_every_limit_of_length_passes():
    assert Length(3, 2, 0.5)(review("# Skill\n", "# Skill\nabc")) == ""


def test_length_counts_all_files_of_the_folder():
    two = Review(skill("a"), skill("a") | {"notes.md": b"12345678"}, ACCEPTED, (), ())
    assert Length(2, None, None)(two) == "the skill has 3 tokens, max_tokens is 2"


@pytest.mark.parametrize("limits", [(-1, None, None), (None, -1, None), (None, None, -0.5), (None, None, None)])
def test_length_without_a_limit_or_with_a_wrong_one_is_refused(limits):
    with pytest.raises(SkillpipeError, match=r"gate\.policies: Length: "):
        Length(*limits)


@pytest.mark.parametrize(("text", "found"), [("ab TODO", "TODO"), ("x\ncall 555-1234\nor not", "555-1234")])
def test_forbidden_text_is_refused_with_its_place(text, found):
    said = ForbiddenText(["TODO"], [r"\d{3}-\d{4}$"])(review(after=text))
    assert said == f"SKILL.md line {2 if text.startswith('x') else 1} holds the forbidden {found!r}"


def test_a_forbidden_text_is_no_pattern_and_its_case_counts():
    assert ForbiddenText(["a.c", "Todo"], [])(review(after="abc todo")) == ""


def test_forbidden_text_is_found_in_every_file():
    noted = Review(skill(), skill() | {"notes.md": b"TODO"}, ACCEPTED, (), ())
    assert ForbiddenText(["TODO"], [])(noted) == "notes.md line 1 holds the forbidden 'TODO'"


@pytest.mark.parametrize(
    ("texts", "patterns", "said"),
    [([], [], "both empty"), ([""], [], "a text is empty"), ([], ["("], r"'\(' is no pattern")],
)
def test_a_forbidden_text_that_can_not_be_searched_is_refused(texts, patterns, said):
    with pytest.raises(SkillpipeError, match=said):
        ForbiddenText(texts, patterns)


@pytest.mark.parametrize("text", [REVIEW, f"- {REVIEW}!", REVIEW.replace(" ", "\n  ")])
def test_a_long_piece_of_a_train_task_is_refused_however_its_lines_are_broken(text):
    said = CopiedTrainText(30)(review(after=f"# Skill\n{text}\n", train=[attempt(REVIEW)]))
    assert said == f"text of training task 't1' stands in the skill: {REVIEW[:30]!r}"


def test_the_whole_of_a_text_and_its_end_are_found_too():
    for copied in (REVIEW, REVIEW[-30:]):
        assert CopiedTrainText(len(copied))(review(after=copied, train=[attempt(REVIEW)]))


def test_a_long_answer_is_refused_as_an_input_is():
    assert CopiedTrainText(30)(review(after=REVIEW, train=[attempt("What?", REVIEW)]))


def test_a_piece_that_is_one_character_short_passes():
    policy, train = CopiedTrainText(30), [attempt(REVIEW)]
    assert policy(review(after=f"{REVIEW[:29]}#", train=train)) == ""
    assert policy(review(after=f"{REVIEW[:30]}#", train=train)) != ""


def test_what_the_skill_held_before_is_no_copy():
    assert CopiedTrainText(30)(review(REVIEW, f"{REVIEW}\nBe brief.\n", [attempt(REVIEW)])) == ""


def test_what_all_tasks_of_the_batch_share_is_the_prompt_and_no_copy():
    prompt = "Say whether this review is positive or negative, in one word"
    train = [attempt(f"{prompt}: {word}", task=word) for word in ("good", "bad")]
    assert CopiedTrainText(30)(review(after=f"# Skill\n{prompt}\n", train=train)) == ""
    assert CopiedTrainText(30)(review(after=f"# Skill\n{prompt}: bad\n", train=train)) != ""


def test_what_the_target_said_is_no_task_text():
    said = attempt(REVIEW).trajectory[1].content
    assert CopiedTrainText(30)(review(after=said, train=[attempt(REVIEW)])) == ""


def test_without_train_rollouts_there_is_nothing_to_compare():
    assert CopiedTrainText(30)(review(after=REVIEW)) == ""


def test_a_length_of_copies_below_one_is_refused():
    with pytest.raises(SkillpipeError, match="min_chars is 0; allowed is 1 or more"):
        CopiedTrainText(0)
