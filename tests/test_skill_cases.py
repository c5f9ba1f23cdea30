"""The cases from the field: what is in tests/data/edits.jsonl, and the shared file it was copied from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillpipe.skill import apply_edits

HERE = Path(__file__).resolve().parent
OWN = HERE / "data" / "edits.jsonl"
SHARED = HERE.parents[1] / "shared" / "cases" / "edits.jsonl"


def cases(path: Path) -> list[Any]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def check(case: dict[str, Any]) -> None:
    text, reports = apply_edits(case["skill"], case["edits"])
    assert [report.status for report in reports] == case["expect_status"], reports
    if "expect_skill" in case:
        assert text == case["expect_skill"]
    for piece in case.get("expect_contains", []):
        assert piece in text
    for piece in case.get("expect_absent", []):
        assert piece not in text


@pytest.mark.parametrize("case", cases(OWN))
def test_a_case_from_the_field_ends_as_it_should(case: dict[str, Any]) -> None:
    check(case)


@pytest.mark.parametrize("case", cases(SHARED))
def test_a_shared_case_ends_as_it_should(case: dict[str, Any]) -> None:
    check(case)


def test_the_shared_cases_are_at_hand() -> None:
    if not SHARED.is_file():
        pytest.skip(f"the shared cases are missing: {SHARED} is not there; only tests/data/edits.jsonl was read")
    assert len(cases(SHARED)) >= len(cases(OWN)), "tests/data/edits.jsonl is newer than the shared file"


def test_the_copied_cases_are_all_there() -> None:
    assert len(cases(OWN)) == 18
