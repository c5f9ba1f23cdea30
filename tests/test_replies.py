"""A model's reply becomes one object that fits the schema, or a failure that says why."""

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpipe.replies import ReplyError, parse_reply

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["edits"],
    "additionalProperties": False,
    "properties": {
        "reasoning": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["op"],
                "additionalProperties": False,
                "properties": {
                    "op": {"enum": ["append", "insert_after", "replace", "delete"]},
                    "content": {"type": "string"},
                    "target": {"type": "string"},
                    "support_count": {"type": "integer"},
                },
            },
        },
    },
}
HERE = Path(__file__).parent
CASE_FILES = [HERE / "data" / "replies.jsonl", HERE.parent.parent / "shared" / "cases" / "replies.jsonl"]
GOOD = '{"edits":[{"op":"append","content":"- x"}]}'
DRAFT = '{"edits":[{"op":"append","content":"- draft"}]}'
X = [{"op": "append", "content": "- x"}]


def cases() -> list[Any]:
    found = []
    for path in CASE_FILES:
        if not path.exists():
            reason = f"{path} is not on this machine"
            found.append(pytest.param(None, id=path.parent.name, marks=pytest.mark.skip(reason=reason)))
            continue
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found += [pytest.param(row, id=f"{path.parent.name}-{row['id']}") for row in rows]
    return found


def reason(text: str | None, **options: Any) -> str:
    with pytest.raises(ReplyError) as caught:
        parse_reply(text, SCHEMA, **options)
    assert caught.value.raw == (text or "")
    assert caught.value.reason == str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize("case", cases())
def test_a_case_from_the_field(case: dict[str, Any]) -> None:
    if "expect_failure" in case:
        assert case["expect_failure"] in reason(case.get("text"))
        return
    edits = parse_reply(case["text"], SCHEMA)["edits"]
    assert len(edits) == len(case["expect_edits"])
    for edit, expected in zip(edits, case["expect_edits"], strict=True):
        assert expected.items() <= edit.items()


READ = {
    "thinking-tag": f"<thinking>{DRAFT}</thinking>{GOOD}",
    "capital-tag": f"<THINK>\n{DRAFT}\n</Think>\n{GOOD}",
    "opening-tag-lost": f"First I thought of {DRAFT}, but no.\n</think>\n\n{GOOD}",
    "opening-tag-lost-and-draft-cut": f'Maybe {{"edits":[{{"op":"append","content":"- dr\n</think>\n{GOOD}',
    "opening-tag-lost-and-odd-brace": f"Use {{ here </think> {GOOD}",
    "two-blocks": f"<think>a {DRAFT}</think> so <think>b</think> {GOOD}",
    "closing-tag-quoted-inside-reasoning": f'<think>it wrote "</think>" {DRAFT} hm</think>{GOOD}',
    "channels": f"<|channel|>analysis<|message|>try {DRAFT}<|end|><|start|>assistant"
    f"<|channel|>final<|message|>{GOOD}<|return|>",
    "channels-closed-by-end": f"<|channel|>analysis<|message|>{DRAFT}<|end|>{GOOD}<|end|>",
    "channel-opening-lost": f"try {DRAFT}<|channel|>final <|constrain|>json<|message|>{GOOD}",
    "bracket-tags": f"[THINK]{DRAFT}[/THINK]{GOOD}",
    "tag-named-in-prose": f"I kept the `<think>` advice.\n{GOOD}",
    "answer-then-reasoning": f"{GOOD}\n<think>was that right",
    "tilde-fence": f"~~~json\n{GOOD}\n~~~",
    "fence-without-end": f"```json\n{GOOD}",
    "several-fences": f'```json\n{{"note": 1}}\n```\nand\n```json\n{GOOD}\n```\nthen\n```bash\nls {{a}}\n```',
    "braces-in-prose-after": f"{GOOD}\nI left {{name}} alone, and {{ too.",
    "apostrophes-in-prose": f"It's what you'd want: {GOOD} - that's all",
    "inches-in-prose": f'A 6" pipe {{or so}}: {GOOD}',
    "single-quotes": "{'edits':[{'op':'append','content':'- x'}]}",
    "smart-quotes": "{“edits”:[{“op”:“append”,“content”:“- x”}]}",
    "bare-keys-and-comments": '{ // the patch, it\'s short\n edits: [ /* one */ {op: "append", # add\n'
    ' "content": "- x",},], }',
    "comma-forgotten": '{"edits":[{"op":"append"\n "content":"- x"}]}',
    "extra-closing-brace": GOOD + "}",
    "list-of-edits": '[{"op":"append","content":"- x"}]',
    "list-in-a-fence": '```\n[{"op":"append","content":"- x"},]\n```',
    "list-of-one-patch": f"[{GOOD}]",
    "wrapper": f'{{"patch": {GOOD}}}',
    "wrapper-with-siblings": f'{{"name": "propose", "arguments": {GOOD}, "n": 1}}',
    "wrapper-of-a-string": json.dumps({"arguments": GOOD}),
    "string-of-json": json.dumps(GOOD),
    "byte-order-mark": "\ufeff" + GOOD,
    "nul-around": "\x00" + GOOD + "\x00",
    "draft-then-answer": f"Draft: {DRAFT}\nFinal: {GOOD}",
    "misfit-after-answer": f'{GOOD}\n{{"edits": "none more"}}',
}


@pytest.mark.parametrize("text", READ.values(), ids=READ.keys())
def test_reads_the_answer(text: str) -> None:
    assert parse_reply(text, SCHEMA)["edits"] == X


def test_a_list_is_the_one_array_that_is_required_whatever_other_arrays_there_are() -> None:
    several = {**SCHEMA, "required": ["edits"]}
    several["properties"] = {"notes": {"type": "array"}, **SCHEMA["properties"], "patterns": {"type": "array"}}
    assert parse_reply('[{"op":"append","content":"- x"}]', several) == {"edits": X}
    with pytest.raises(ReplyError, match="schema"):
        parse_reply('[{"op":"append","content":"- x"}]', {**several, "required": []})


REFUSED = {
    "none": (None, "empty"),
    "blank": (" \n\t\ufeff\x00", "empty"),
    "only-reasoning": (f"<think>{DRAFT}</think>\n", "reasoning"),
    "only-lost-reasoning": (f"so {DRAFT} </think>", "reasoning"),
    "channel-never-ends": (f"<|channel|>analysis<|message|>{DRAFT}", "reasoning"),
    "list-cut": ('[{"op":"append","content":"- x"},{"op"', "truncated"),
    "cut-in-first-key": ('Here: {"edi', "truncated"),
    "cut-after-first-key": ('{"edits"', "truncated"),
    "cut-in-string": ('{"edits":[{"op":"append","content":"- x and', "truncated"),
    "cut-after-an-edit": (GOOD[:-2], "truncated"),
    "cut-before-last-brace": (GOOD[:-1], "truncated"),
    "cut-in-fence": (f"```json\n{GOOD[:-9]}\n```", "truncated"),
    "cut-after-whole-object": (f"{GOOD}\nand also {GOOD[:-9]}", "truncated"),
    "cut-wrapper": (f'{{"patch": {GOOD}, "notes": "and', "truncated"),
    "cut-json5": ("{edits:[{op:'append',content:'- x'},{op:'app", "truncated"),
    "cut-after-tag-in-string": ('{"edits":[{"op":"append","content":"</think>"},{"op":"app', "truncated"),
    "infinity": ('{"edits":[{"op":"append","support_count":-Infinity}]}', "schema"),
    "overflow": ('{"edits":[{"op":"append","support_count":1e999}]}', "schema"),
    "nan-in-json5": ("{edits:[{op:'append',support_count:NaN}]}", "schema"),
    "duplicate-key": (f'{{"edits":[],{GOOD[1:]}', "schema"),
    "duplicate-key-in-json5": ("{edits:[],'edits':[{op:'append',},]}", "schema"),
    "lone-surrogate": (r'{"edits":[{"op":"append","content":"\ud800"}]}', "schema"),
    "raw-lone-surrogate": ('{"edits":[{"op":"append","content":"\ud800"}]}', "schema"),
    "nul-inside": (r'{"edits":[{"op":"append","content":"a\u0000"}]}', "schema"),
    "bare-word-value": ('{"edits":[{"op":append}]}', "malformed"),
    "mismatched-brackets": ('{"edits":[{"op":"append"],"reasoning":"r"}', "malformed"),
    "part-without-a-place": ('{"edits":[],"reasoning":"a":"b"}', "malformed"),
    "unknown-op": ('{"edits":[{"op":"frobnicate"}]}', "$.edits[0].op"),
    "rejected-list-is-no-answer": ('{"rejected":[{"op":"append","content":"- x"}]}', "schema"),
    "example-inside-a-misfit": (f'{{"edits":"see example","example":{GOOD}}}', "schema"),
    "two-patches-in-a-wrapper": (f'{{"first":{GOOD},"second":{DRAFT}}}', "schema"),
    "two-patches-in-a-list": (f"[{GOOD},{DRAFT}]", "schema"),
    "bare-number": ("42", "no JSON"),
    "string-of-prose": ('"nothing to do"', "no JSON"),
}


@pytest.mark.parametrize(("text", "word"), REFUSED.values(), ids=REFUSED.keys())
def test_refuses_and_says_why(text: str | None, word: str) -> None:
    assert word in reason(text)


@pytest.mark.parametrize("text", [GOOD, "", None, f"<think>{DRAFT}"])
def test_the_token_limit_is_named_whatever_was_read(text: str | None) -> None:
    assert "truncated" in reason(text, finish="length")
    assert "max_tokens" in reason(text, finish="length")


@pytest.mark.parametrize("text", ['{"a":' + "[" * 70 + "]" * 70 + "}", "{a:" + "[" * 70 + "]" * 70 + "}"])
def test_a_value_too_deep_to_be_an_answer_is_refused_under_any_schema(text: str) -> None:
    with pytest.raises(ReplyError, match="deeper than 64"):
        parse_reply(text, {})


TEXTS = {
    "think-tags": "Write <think>plan</think> first, never </think> alone",
    "fences": 'Run:\n```json\n{"edits": []}\n```\n~~~\nend\n~~~\n',
    "trailing-lines": "- x\n\n \t",
    "braces": '{{a}} {"edits":[]} }}] [[',
    "comment-like": "see http://x.org/#top // not /* a */ comment",
    "quotes": 'it\'s “smart” and \u2018odd\u2019 and "plain"',
    "backslashes": "C:\\new\\table \\d+ \\u0041",
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("damage", ["@", "Sure: @", "```json\n@\n```", "<think>{</think>@"])
@pytest.mark.parametrize("comma", ["", ","])
def test_the_text_of_an_edit_is_never_touched(content: str, damage: str, comma: str) -> None:
    edit = json.dumps({"op": "append", "content": content})
    text = damage.replace("@", f'{{"edits":[{edit}{comma}]}}')
    assert parse_reply(text, SCHEMA)["edits"] == [json.loads(edit)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('say "hi" to them', 'say "hi" to them'),
        ("a regex \\d+ and \\w", "a regex \\d+ and \\w"),
        ("two\nraw\n\nlines \n", "two\nraw\n\nlines \n"),
        ("tab\there", "tab\there"),
    ],
)
def test_a_string_written_almost_right_is_read_as_meant(written: str, meant: str) -> None:
    text = f'{{"edits":[{{"op":"append","content":"{written}"}},]}}'
    assert parse_reply(text, SCHEMA)["edits"][0]["content"] == meant


@pytest.mark.parametrize(
    "text",
    [
        "{" * 10_000,
        '{"a":' * 10_000,
        "[" * 100_000,
        '[{"a":' * 20_000,
        "{a:" * 20_000,
        '{"' * 20_000,
        "{/*" * 20_000,
        "{//\n" * 20_000,
        '{"a": "' * 10_000,
        '{"a":{}},' * 10_000,
        "<think>" * 10_000,
        "</think>" * 10_000,
        "{" + '"a":"b" ' * 10_000,
        '{"a":"' + '"' * 50_000,
        '{"a":"' + '" ' * 50_000,
        '{"a":"' + "\\" * 50_000,
        '{"a": ' + "9" * 50_000 + "}",
        "{" + " " * 50_000,
        "{'a':" + "[1," * 10_000,
    ],
    ids=range(19),
)
def test_refuses_in_well_under_a_second(text: str) -> None:
    begin = time.perf_counter()
    reason(text)
    assert time.perf_counter() - begin < 0.9


@given(st.text(alphabet="{}[]\":,\\/*#' \n<>think`~|abe1.-“”\ud800\x00", max_size=80))
@settings(max_examples=600, deadline=None)
def test_no_text_raises_anything_else(text: str) -> None:
    for whole in (text, GOOD[:-9] + text, text + GOOD):
        with contextlib.suppress(ReplyError):
            parse_reply(whole, SCHEMA)


@given(st.integers(1, 200), st.lists(st.text(max_size=12), min_size=2, max_size=4))
@settings(max_examples=300, deadline=None)
def test_a_cut_anywhere_never_yields_fewer_edits(cut: int, contents: list[str]) -> None:
    whole = json.dumps({"edits": [{"op": "append", "content": text} for text in contents]})
    if cut >= len(whole):
        return
    reason(whole[:-cut])
    reason("```json\n" + whole[:-cut])
