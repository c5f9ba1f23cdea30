"""artifacts.py: records on disk, checked on both sides, whole or not at all, the same bytes every time."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from samples import attempt, task, tasks
from skillpipe.artifacts import (
    new_folder,
    read_record,
    read_rows,
    read_text,
    write_csv,
    write_record,
    write_rows,
    write_text,
)
from skillpipe.errors import SkillpipeError
from skillpipe.records import CurveRow, Merged, Rollout, Task

GOOD = {"id": "t1", "input": "?", "answer": "a", "task_type": "", "reference": "", "data": {}}
ANY_TEXT = st.text(st.characters(exclude_categories=()), min_size=1)  # lone surrogates included


@pytest.fixture
def file(tmp_path) -> Path:
    return tmp_path / "rows.jsonl"


def line(**changes) -> str:
    return json.dumps(GOOD | changes) + "\n"


def refusal(path: Path, kind: type = Task) -> str:
    """The message with which reading is refused: always one line."""
    with pytest.raises(SkillpipeError) as caught:
        read_rows(path, kind)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_json_has_sorted_keys_readable_letters_and_a_newline_at_the_end(tmp_path):
    write_record(tmp_path / "one.json", task("t1", text="É?", answer="ü"))
    expected = (
        '{\n "answer": "ü",\n "data": {},\n "id": "t1",\n "input": "É?",\n "reference": "",\n "task_type": ""\n}\n'
    )
    assert (tmp_path / "one.json").read_bytes() == expected.encode("utf-8")


def test_jsonl_has_a_record_a_line_in_the_order_given(file):
    write_rows(file, [task("b"), task("a")])
    assert [json.loads(row)["id"] for row in file.read_text("utf-8").split("\n")[:-1]] == ["b", "a"]


def test_no_rows_give_an_empty_file_and_back(file):
    write_rows(file, [])
    assert file.read_bytes() == b""
    assert read_rows(file, Task) == []


def test_what_was_read_is_written_as_the_same_bytes(file, tmp_path):
    write_rows(file, [attempt("t1", 0.1), attempt("t2", 1.0), attempt("t3", 0.0)])
    write_rows(tmp_path / "again.jsonl", read_rows(file, Rollout))
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()


def test_equal_records_give_equal_bytes(file, tmp_path):
    one, two = attempt("t1", 1.0), replace(attempt("t1", 1.0), hard=1, soft=1)
    assert one == two
    write_rows(file, [one])
    write_rows(tmp_path / "two.jsonl", [two])
    assert (tmp_path / "two.jsonl").read_bytes() == file.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_TEXT)
def test_any_text_at_all_comes_back_as_it_was_on_one_line(file, text):
    row = task("t1", text=text, answer=text)
    write_rows(file, [row, row])
    assert file.read_bytes().count(b"\n") == 2
    assert read_rows(file, Task) == [row, row]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\f", "\v", "\x1c", "\r"])
def test_what_python_takes_for_a_line_end_may_stand_raw_inside_a_string(file, odd):
    file.write_bytes(json.dumps(GOOD | {"input": f"a{odd}b"}, ensure_ascii=ord(odd) < 32).encode() + b"\n")
    assert [row.input for row in read_rows(file, Task)] == [f"a{odd}b"]


def test_a_lone_surrogate_is_kept_escaped(file):
    write_rows(file, [task("t1", answer="a\ud800")])
    assert rb"\ud800" in file.read_bytes()


def test_a_byte_order_mark_windows_line_ends_and_a_missing_last_newline_are_read(file):
    file.write_bytes(b"\xef\xbb\xbf" + line().replace("\n", "\r\n").encode() + line(id="t2").strip().encode())
    assert [row.id for row in read_rows(file, Task)] == ["t1", "t2"]


def test_blank_lines_are_passed_over_and_counted(file):
    file.write_text(line() + "\n  \n" + "{", "utf-8")
    assert refusal(file).startswith(f"{file}:4: not JSON")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("{", "not JSON"),
        ("[1]\n", "record: [1] is not of type 'object'"),
        (line(input=""), "input: "),
        (line(answer=3), "answer: 3 is not of type 'string'"),
        (line(extra=1), "record: Additional properties are not allowed ('extra' was unexpected)"),
        (json.dumps({"id": "t1"}) + "\n", "is a required property"),
        ('{"id": NaN}\n', "not JSON: NaN is no JSON number"),
        ("[" * 100_000 + "\n", "nested too deeply"),
        (line(answer={"x": "y" * 5000}), "answer: {'x': 'yyy"),
    ],
)
def test_a_bad_line_is_refused_with_its_place_and_its_field(file, second, said):
    file.write_text(line() + second, "utf-8")
    message = refusal(file)
    assert message.startswith(f"{file}:2: ")
    assert said in message
    assert len(message) < 400 + len(str(file))


def test_a_field_deep_inside_is_named_by_its_path(tmp_path):
    edit = {"op": "append", "content": "", "target": "", "section": "", "file": "SKILL.md", "tasks": [], "support": 0}
    write_record(tmp_path / "merged.json", Merged("e1s1", 1, "", ()))
    whole = json.loads(read_text(tmp_path / "merged.json")) | {"edits": [edit | {"source": "failure", "region": ""}]}
    (tmp_path / "merged.json").write_text(json.dumps(whole), "utf-8")
    with pytest.raises(SkillpipeError, match=r"merged\.json: edits\.0\.support: 0 is less than the minimum of 1"):
        read_record(tmp_path / "merged.json", Merged)


@pytest.mark.parametrize("value", ["1e999", "-0.1", "true", '"1"'])
def test_a_score_that_is_none_is_refused_on_reading(file, value):
    write_rows(file, [attempt("t1", 1.0)])
    file.write_text(file.read_text("utf-8").replace('"hard": 1.0', f'"hard": {value}'), "utf-8")
    assert refusal(file, Rollout).startswith(f"{file}:1: hard: ")


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, "1"])
def test_a_score_that_is_none_is_refused_on_writing_with_row_and_field(file, value):
    with pytest.raises(SkillpipeError, match=r"rows\.jsonl:2: .*hard") as caught:
        write_rows(file, [attempt("t1", 1.0), replace(attempt("t2", 1.0), hard=value)])
    assert len(str(caught.value).splitlines()) == 1


def test_a_bad_row_leaves_the_folder_as_it_was(file):
    write_rows(file, tasks(1))
    before = file.read_bytes()
    with pytest.raises(SkillpipeError):
        write_rows(file, [task("t1"), task("")])
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == before


def test_a_write_that_fails_at_the_very_end_leaves_nothing_beside(tmp_path):
    (tmp_path / "taken" / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        write_text(tmp_path / "taken", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_text_is_written_with_its_own_line_ends_into_a_new_folder(tmp_path):
    write_text(tmp_path / "a" / "b" / "x.txt", "one\r\ntwo\né")
    assert (tmp_path / "a" / "b" / "x.txt").read_bytes() == "one\r\ntwo\né".encode()


def test_text_is_read_with_its_own_line_ends(tmp_path):
    (tmp_path / "x").write_bytes(b"one\r\ntwo\rthree")
    assert read_text(tmp_path / "x") == "one\r\ntwo\rthree"


@pytest.mark.parametrize(
    ("name", "said"),
    [("gone", "gone: no such file"), ("folder", "folder: is a folder"), ("latin", "latin: not UTF-8 at byte 3")],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path, name, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(SkillpipeError, match=said):
        read_text(tmp_path / name)


def test_a_new_folder_takes_the_place_of_the_old_one_whole(tmp_path):
    (tmp_path / "out" / "stale").mkdir(parents=True)
    with new_folder(tmp_path / "out") as out:
        (out / "fresh").write_text("x")
        assert (tmp_path / "out" / "stale").exists()
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["out", "out/fresh"]


def test_a_folder_that_fails_half_way_leaves_the_old_one_and_nothing_else(tmp_path):
    (tmp_path / "out" / "old").mkdir(parents=True)

    def fail_half_way():
        with new_folder(tmp_path / "out") as out:
            (out / "half").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["out", "out/old"]


def test_csv_has_a_header_in_the_records_order_and_an_empty_cell_for_none(tmp_path):
    write_csv(tmp_path / "c.csv", CurveRow, [CurveRow(0, "start", "baseline", 0.5, 0.75, None, None, None)])
    text = (tmp_path / "c.csv").read_bytes().decode()
    assert text == "index,step,action,current,best,candidate,at_most,train\n0,start,baseline,0.5,0.75,,,\n"
    assert list(csv.reader(text.splitlines()))[1][5] == ""


def test_csv_refuses_a_row_that_does_not_fit_and_writes_nothing(tmp_path):
    with pytest.raises(SkillpipeError, match=r"c\.csv: step: 'e0s1' does not match"):
        write_csv(tmp_path / "c.csv", CurveRow, [CurveRow(0, "e0s1", "baseline", 0.5, 0.5, None, None, None)])
    assert list(tmp_path.iterdir()) == []
