"""records.py and schemas/: each record has one schema of the same fields, and is read back as it was written."""

import dataclasses
import inspect
import types
import typing
from dataclasses import replace

import pytest

from published import PUBLISHED
from samples import append, attempt, broken, task
from skillpipe import artifacts, records
from skillpipe.records import (
    ApplyReport,
    ChangeRow,
    CurveRow,
    Decision,
    Edit,
    EditOutcome,
    Estimate,
    LineageRow,
    Memory,
    Merged,
    Message,
    Observation,
    Patch,
    PlanSummary,
    Ranking,
    Spent,
    Splice,
    SplitManifest,
    StepMemory,
    StepRecord,
    Summary,
    Task,
    TaskPair,
    Tried,
    TypeScore,
    Usage,
    ValScore,
)

KINDS = [kind for _, kind in inspect.getmembers(records, dataclasses.is_dataclass)]
EDIT = Edit("insert_after", "- be brief", "## Style", "# Top", "references/a.md", ("t1", "t2"), 3, "success")
DECISION = Decision("accept", "better", 0.25, 0.5, 4, ("v1",), ("v2",))
REFUSED = EditOutcome(EDIT, "protected", "frontmatter", None, None)
ESTIMATE = Estimate(100, 4000, 500, 0.25, 12, 6)
STEP = StepMemory("e1s1", "reject", 0.5, 0.25, 8, 3, (Observation("a"),), (EDIT,), (REFUSED,))
SAMPLES = [
    Message("system", ""),
    Usage(1, 2, 3),
    task("t1", task_type="kind"),
    attempt("t1", 0.5, task_type="kind"),
    broken("t2"),
    ValScore("v1", "kind", 0.0, None),
    EDIT,
    Edit("append"),
    Patch("failure", ("t1",), "why", (EDIT, append("x"))),
    Patch("success", ("t1",), "", (), "no JSON", "as it came \ud800\0", 1, 20, Usage(2, 3, 4, 0.25)),
    Merged("e1s1", 2, "", (EDIT,)),
    Merged("e1s1", 2, "", (EDIT,), 1, "1 x no JSON", 3, Usage(2, 3, 4, None)),
    Ranking((1, 0), "why", "", Usage(1)),
    EditOutcome(EDIT, "applied", "", (1, 2), (1, 3)),
    EditOutcome(EDIT, "over_budget", "the edit budget is 0", None, None),
    ApplyReport("e10s12", 4, False, (REFUSED,)),
    ApplyReport("e1s1", 4, True, (), "why", 1, ("no JSON",), Usage(2, 3, 4, 0.25)),
    DECISION,
    Decision("reject", "no val task has a score for both skills", None, None, 0),
    StepRecord("start", DECISION, 0.5, 0.5, 1.0, None, 0, 0),
    StepRecord(
        "e1s1", DECISION, 0.5, 0.75, 0.9, 0.1, 4, 2, (REFUSED,), 1, 2, Spent(Usage(1, 2, 3), Usage(4, 5, 6, None))
    ),
    LineageRow("e1s1", 1, EDIT, None, (3, 3), "reject", None, 0.5),
    Spent(Usage(1, 2, 3, 0.25)),
    ESTIMATE,
    Estimate(100, 4000, None, None, 0, 0),
    PlanSummary(3, 2, 1, 2, ("e1s1", "e1s2"), ESTIMATE, ("a warning",)),
    Summary(0.25, 0.5, 0.25, 0.25, 0.5, None, 1.0, 0.25, 0.5, *[1] * 17, None),
    CurveRow(1, "e1s1", "skip_no_patches", 0.5, 0.75, None, 0.75, 0.25),
    ChangeRow("e1s1", "v1", "gained"),
    Observation("says too much", ("t1",)),
    Splice(3, 1, ("- a\n", "- b\r\n")),
    TypeScore("kind", 4, 0.25, 0.5),
    Decision("reject", "no gain", 0.25, 0.25, 2, (), (), 0.5, 0.3, 2, 0.75, (TypeScore("kind", 2, 0.25, 0.25),)),
    STEP,
    Memory((STEP,), "rules about endings help"),
    Tried("0123456789abcdef", "e1s1", "fedcba9876543210", False, (ValScore("v1", "kind", 0.0, None),)),
    TaskPair("regressed", attempt("t1", 1.0), attempt("t1", 0.0)),
    SplitManifest("data/x", "ratio", "2:1:7", 42, 2, 1, 7),
    SplitManifest("data/x", "own", "", None, 2, 1, 7),
    Task("t1", "Question?", "yes", "kind", "a reference", {"rubric": [1, {"a": None}]}),
    replace(attempt("t1", 0.5), replicate=2, metrics={"reward": 0.25}, reference="x", judge_usage=Usage(1)),
    Patch("failure", ("t1",), "", (), patterns=(Observation("a"),), notes=(Observation("b", ("t1",)),), body="# New"),
    EditOutcome(replace(EDIT, region="appendix"), "applied", "", None, (3, 3), Splice(2, 0, ("- x\n",))),
    *PUBLISHED,
]


def item_type(hint):
    """What a tuple holds, optional or not; None for what is no tuple."""
    inner = next((part for part in typing.get_args(hint) if part is not type(None)), hint) if is_union(hint) else hint
    return typing.get_args(inner)[0] if typing.get_origin(inner) is tuple else None


def is_union(hint) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


FIELDS = [
    pytest.param(kind, field.name, typing.get_type_hints(kind)[field.name], id=f"{kind.__name__}.{field.name}")
    for kind in KINDS
    for field in dataclasses.fields(kind)
]
LISTS = [field for field in FIELDS if item_type(field.values[2])]


def schema(kind: type) -> dict:
    return dict(artifacts._validator(kind).schema)


def test_every_record_has_a_schema_and_every_schema_a_record():
    names = {path.name for path in artifacts.SCHEMAS.glob("*.json")}
    names = {name for name in names if not name.startswith("reply_")}  # what models are asked for: no record
    assert names == {artifacts.schema_name(kind) for kind in KINDS}


def test_every_record_is_tried_here():
    assert {type(sample) for sample in SAMPLES} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_record_and_schema_have_the_same_fields_in_the_same_order_all_required(kind):
    names = [field.name for field in dataclasses.fields(kind)]
    assert list(schema(kind)["properties"]) == names
    assert schema(kind)["required"] == names


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_closed_and_of_one_dialect(kind):
    assert schema(kind)["additionalProperties"] is False
    assert schema(kind)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    artifacts._validator(kind).check_schema(schema(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_records_cannot_be_changed_once_made(kind):
    sample = next(sample for sample in SAMPLES if type(sample) is kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(sample, dataclasses.fields(kind)[0].name, None)


@pytest.mark.parametrize(("kind", "name", "hint"), FIELDS)
def test_schema_and_record_agree_on_what_a_field_holds(kind, name, hint):
    found = schema(kind)["properties"][name]
    if is_union(hint):
        inner = next(part for part in typing.get_args(hint) if part is not type(None))
        if dataclasses.is_dataclass(inner):
            assert found == {"anyOf": [{"$ref": artifacts.schema_name(inner)}, {"type": "null"}]}
        else:
            assert found["type"] == [json_type(inner), "null"]
    elif typing.get_origin(hint) is typing.Literal:
        assert found == {"enum": list(typing.get_args(hint))}
    elif dataclasses.is_dataclass(hint):
        assert found == {"$ref": artifacts.schema_name(hint)}
    else:
        assert found["type"] == json_type(hint)


@pytest.mark.parametrize(("kind", "name", "hint"), LISTS)
def test_schema_and_record_agree_on_what_a_list_holds(kind, name, hint):
    items, inner = schema(kind)["properties"][name]["items"], item_type(hint)
    if dataclasses.is_dataclass(inner):
        assert items == {"$ref": artifacts.schema_name(inner)}
    else:
        assert items["type"] == json_type(inner)


def json_type(hint) -> str:
    return {str: "string", int: "integer", float: "number", bool: "boolean"}.get(
        hint, "object" if typing.get_origin(hint) is dict else "array"
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_record_is_read_back_as_it_was_written(tmp_path, sample):
    artifacts.write_record(tmp_path / "one.json", sample)
    assert artifacts.read_record(tmp_path / "one.json", type(sample)) == sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_row_is_read_back_as_it_was_written(tmp_path, sample):
    artifacts.write_rows(tmp_path / "rows.jsonl", [sample, sample])
    assert artifacts.read_rows(tmp_path / "rows.jsonl", type(sample)) == [sample, sample]


def test_usage_adds_up_field_by_field():
    assert Usage(1, 2, 3, 0.25) + Usage(10, 20, 30, 0.5) == Usage(11, 22, 33, 0.75)
    assert sum([Usage(1)] * 3, Usage()) == Usage(3)


@pytest.mark.parametrize(("one", "other"), [(None, 1.0), (1.0, None), (None, None)])
def test_a_cost_with_an_unknown_in_it_is_unknown(one, other):
    assert Usage(1, cost_usd=one) + Usage(1, cost_usd=other) == Usage(2, cost_usd=None)


def test_a_val_score_holds_no_text_of_the_task():
    """What a state keeps of val may reach an optimizer; neither question, answer nor response may be in it."""
    assert [field.name for field in dataclasses.fields(ValScore)] == ["task", "task_type", "hard", "soft"]
