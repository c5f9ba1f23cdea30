"""judging/assertions.py and trace.py: each hard assertion by itself, on attempts made up for it."""

import pytest

from skillpipe.judging import Assertions, ToolCall, failed_assertions, final_response, tool_calls
from skillpipe.judging.assertions import RequiredCall, chosen_option
from skillpipe.records import Message
from suites import trajectory

TAP = ToolCall("tap", {"x": 1, "at": {"name": "Send button"}}, "ok")
TYPE = ToolCall("type", {"text": "Hello Ana", "enter": True})
SHOP = ToolCall("buy", {"item": "tea", "count": 2})


def failed(asserted: Assertions, *calls: ToolCall, response: str | None = "Done.", seconds: float = 1.0) -> list[str]:
    return [str(one) for one in failed_assertions(asserted, trajectory(*calls, response=response), seconds)]


def need(*calls: RequiredCall) -> Assertions:
    return Assertions(required_tool_calls=calls)


def test_nothing_is_asserted_of_tools_by_default():
    assert failed(Assertions()) == failed(Assertions(), TAP, TYPE) == []


@pytest.mark.parametrize(
    ("asserted", "calls", "said"),
    [
        (Assertions(min_tool_calls=2), [TAP], "min_tool_calls: at least 2, found 1"),
        (Assertions(max_tool_calls=1), [TAP, TAP], "max_tool_calls: at most 1, found 2"),
        (Assertions(required_tools=("type",)), [TAP], "required_tools: type, found tap"),
        (Assertions(required_tools=("type",)), [], "required_tools: type, found no tool"),
        (Assertions(forbidden_tools=("buy",)), [TAP, SHOP], "forbidden_tools: no buy, found buy"),
        (Assertions(prohibited_actions=("send",)), [TAP], "prohibited_actions: no 'send', found a call of tap"),
        (Assertions(prohibited_actions=("BUY",)), [SHOP], "prohibited_actions: no 'BUY', found a call of buy"),
        (need(RequiredCall("tap")), [], "required_tool_calls: call 1 of 1: tap {}, found no such call"),
    ],
)
def test_an_assertion_that_does_not_hold_says_what_was_asked_and_what_was_found(asserted, calls, said):
    assert failed(asserted, *calls) == [said]


@pytest.mark.parametrize(
    ("asserted", "calls"),
    [
        (Assertions(min_tool_calls=2), [TAP, TYPE]),
        (Assertions(max_tool_calls=2), [TAP, TYPE]),
        (Assertions(required_tools=("type", "tap")), [TAP, TYPE]),
        (Assertions(forbidden_tools=("buy",)), [TAP, TYPE]),
        (Assertions(prohibited_actions=("send",)), [TYPE]),
        (need(RequiredCall("tap"), RequiredCall("buy")), [TAP, TYPE, SHOP]),
    ],
)
def test_an_assertion_that_holds_says_nothing(asserted, calls):
    assert failed(asserted, *calls) == []


def test_required_calls_must_come_in_their_order():
    assert failed(need(RequiredCall("buy"), RequiredCall("tap")), TAP, SHOP) == [
        "required_tool_calls: call 2 of 2: tap {}, found none after the one before"
    ]


def test_one_call_does_not_stand_for_two():
    assert failed(need(RequiredCall("tap"), RequiredCall("tap")), TAP)
    assert not failed(need(RequiredCall("tap"), RequiredCall("tap")), TAP, TAP)


@pytest.mark.parametrize("wanted", [{}, {"text": "Ana"}, {"enter": True}, {"text": "Hello", "enter": True}])
def test_an_input_that_contains_what_is_wanted_counts(wanted):
    assert failed(need(RequiredCall("type", wanted)), TYPE) == []


@pytest.mark.parametrize(
    "wanted", [{"text": "Bea"}, {"enter": False}, {"enter": 1}, {"speed": 1}, {"text": {"a": "b"}}]
)
def test_an_input_that_lacks_what_is_wanted_does_not_count(wanted):
    assert failed(need(RequiredCall("type", wanted)), TYPE)


def test_objects_inside_an_input_are_looked_into():
    assert failed(need(RequiredCall("tap", {"at": {"name": "Send"}})), TAP) == []
    assert failed(need(RequiredCall("tap", {"at": {"name": "Back"}})), TAP)


@pytest.mark.parametrize(("seconds", "count"), [(180.0, 0), (180.1, 1)])
def test_an_attempt_that_took_too_long_fails(seconds, count):
    assert len(failed(Assertions(), seconds=seconds)) == count


@pytest.mark.parametrize(("response", "count"), [("Done.", 0), ("", 1), (" \n", 1), (None, 1)])
def test_a_response_is_required_unless_it_is_not(response, count):
    assert len(failed(Assertions(), TAP, response=response)) == count
    assert failed(Assertions(response_required=False), TAP, response=response) == []


@pytest.mark.parametrize(
    ("response", "passes"), [("Paris", True), (" paris\n", True), ("It is Paris", False), ("", False)]
)
def test_an_expected_answer_must_be_the_whole_response_case_apart(response, passes):
    found = failed(Assertions(expected_answer="Paris", response_required=False), response=response)
    assert (found == []) == passes


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B", "B"), ("(B)", "B"), ("B. Paris", "B"), ("**B**", "B"), ("b", ""), ("The answer is (B).", "B"),
        ("Answer: b", "B"), ("First I took option A, but the answer is C", "C"), ("A dog barks.", ""), ("", ""),
        ("It rains.\nSo:\nD", "D"), ("I think so", ""), ("The answer is a dog", ""), ("My choice: (c)", "C"),
    ],
)  # fmt: skip
def test_the_option_that_a_response_chooses(response, letter):
    assert chosen_option(response) == letter


def test_a_letter_is_compared_and_not_the_whole_response():
    asserted = Assertions(expected_answer="B", option_letter=True)
    assert failed(asserted, response="The answer is (B).") == []
    assert failed(asserted, response="C. Rome") == ["expected_answer: 'B', found 'C'"]
    assert failed(asserted, response="I do not know.") == ["expected_answer: 'B', found no option"]


def test_all_that_fails_is_told_in_the_order_of_the_assertions():
    asserted = Assertions(min_tool_calls=3, forbidden_tools=("tap",))
    names = [text.split(":")[0] for text in failed(asserted, TAP, response="")]
    assert names == ["min_tool_calls", "response_required", "forbidden_tools"]


def test_calls_come_out_of_a_trajectory_as_they_went_in():
    assert tool_calls(trajectory(TAP, TYPE)) == [TAP, TYPE]


def test_equal_calls_are_equal_bytes():
    assert trajectory(ToolCall("t", {"a": 1, "b": 2})) == trajectory(ToolCall("t", {"b": 2, "a": 1}))


def test_the_last_word_is_the_response_and_only_the_targets():
    assert final_response(trajectory(TAP, response="Bye.")) == "Bye."
    assert final_response(trajectory(TAP, response=None)) == final_response(()) == ""


@pytest.mark.parametrize("content", ["tapped", "{}", '{"tool": 1, "input": {}}', '{"tool": "tap", "input": "x"}', "[]"])
def test_a_tool_message_that_holds_no_call_is_a_defect_and_not_an_attempt_without_tools(content):
    with pytest.raises(ValueError, match="it must be a JSON object with tool"):
        failed_assertions(Assertions(), (Message("tool", content), Message("assistant", "Done.")), 1.0)
