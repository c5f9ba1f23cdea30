"""The ledger's rows: an answer is found again as it was, and nothing else gets in."""

import sqlite3
import stat
from pathlib import Path

import pytest

from books import ANSWER, a_call, opened, row
from skillpipe.errors import SkillpipeError
from skillpipe.ledger import Call, Ledger, canonical, key_of
from skillpipe.ledger.database import connect
from skillpipe.models import Reply
from skillpipe.records import Usage
from skillpipe.secrets import Secrets


def test_an_answer_is_found_again_as_it_was(path: Path) -> None:
    ledger = opened(path)
    assert ledger.claim(a_call()) == "mine"
    assert ledger.settle(a_call(), ANSWER, attempts=3) == ANSWER
    ledger.close()
    assert opened(path).claim(a_call()) == ANSWER
    found = row(path, a_call())
    assert (found["state"], found["attempts"], found["doubts"], found["cost_usd"]) == ("done", 3, 0, 0.25)
    assert found["request"] == {"model": "m", "number": 1}


def test_an_unknown_price_is_not_zero(path: Path) -> None:
    ledger = opened(path)
    ledger.claim(a_call())
    answer = Reply("yes", Usage(1, 10, 2, None))
    ledger.settle(a_call(), answer, attempts=1)
    assert ledger.claim(a_call()) == answer
    assert row(path, a_call())["cost_usd"] is None


def test_a_failed_call_is_written_down_and_can_be_made_again(path: Path) -> None:
    ledger = opened(path)
    ledger.claim(a_call())
    ledger.fail(a_call(), "overloaded", "the server said 529", attempts=5)
    found = row(path, a_call())
    assert (found["state"], found["error_class"], found["attempts"]) == ("failed", "overloaded", 5)
    assert ledger.claim(a_call()) == "mine"
    ledger.settle(a_call(), ANSWER, attempts=2)
    found = row(path, a_call())
    assert (found["state"], found["error_class"], found["error"], found["attempts"]) == (
        "done",
        None,
        None,
        7,
    )


def test_a_call_under_way_is_busy_for_all_others_even_in_the_same_process(path: Path) -> None:
    ledger, other = opened(path), opened(path)
    assert ledger.claim(a_call()) == "mine"
    assert ledger.claim(a_call()) == "busy"
    assert other.claim(a_call()) == "busy"
    ledger.settle(a_call(), ANSWER, attempts=1)
    assert other.claim(a_call()) == ANSWER


def test_what_was_paid_is_kept_even_when_its_row_was_pruned(path: Path) -> None:
    ledger = opened(path)
    ledger.claim(a_call())
    connect(path, create=False).execute("DELETE FROM calls")
    ledger.settle(a_call(), ANSWER, attempts=1)
    assert row(path, a_call())["attempts"] == 1
    assert ledger.claim(a_call()) == ANSWER


def test_the_first_answer_stays(path: Path) -> None:
    ledger = opened(path)
    for text in ("first", "second"):
        ledger.settle(a_call(), Reply(text, Usage(1)), attempts=1)
    ledger.fail(a_call(), "late", "late", attempts=1)
    found = ledger.claim(a_call())
    assert isinstance(found, Reply)
    assert found.text == "first"


def test_a_hit_writes_nothing(path: Path) -> None:
    ledger = opened(path)
    ledger.claim(a_call())
    ledger.settle(a_call(), ANSWER, attempts=1)
    log = Path(f"{path}-wal")
    before = (log.stat().st_size, log.stat().st_mtime_ns)
    for _ in range(100):
        assert ledger.claim(a_call()) == ANSWER
    assert (log.stat().st_size, log.stat().st_mtime_ns) == before


def test_equal_requests_have_equal_keys_and_others_do_not() -> None:
    assert canonical({"a": 1, "b": [1, "é"]}) == canonical({"b": [1, "é"], "a": 1})
    assert key_of(canonical({"a": 1})) != key_of(canonical({"a": 1.5}))
    with pytest.raises(ValueError, match="JSON"):
        canonical({"a": float("nan")})


def test_no_key_reaches_the_file(path: Path) -> None:
    key = 'pl4nted"key\\é-0123456789'
    ledger = Ledger(path, experiment="e", on_doubt="retry", secrets=Secrets(["API_KEY"], {"API_KEY": key}))
    request = canonical({"messages": f"use {key}"})
    call = Call(key_of(request), "m", request)
    ledger.claim(call)
    settled = ledger.settle(call, Reply(f"you sent {key}", Usage(1, cost_usd=None)), attempts=1)
    assert settled.text == "you sent [secret]"
    assert ledger.claim(call) == settled
    other = a_call(2)
    ledger.claim(other)
    ledger.fail(other, "auth", f"Authorization: Bearer {key} https://u:{key}@h/?key={key}", attempts=1)
    ledger.close()
    for file in path.parent.rglob("*"):
        if file.is_file():
            assert b"pl4nted" not in file.read_bytes()


def test_others_cannot_read_the_ledger(path: Path) -> None:
    opened(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at" * 50)
    with pytest.raises(SkillpipeError, match="cannot be opened as a ledger"):
        opened(tmp_path / "text")
    newer = sqlite3.connect(tmp_path / "newer")
    newer.execute("PRAGMA user_version = 99")
    with pytest.raises(SkillpipeError, match="version 99"):
        opened(tmp_path / "newer")
