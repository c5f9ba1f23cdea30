"""The ledger: nothing is paid twice, whoever dies, and what is in doubt is known."""

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from skillpipe.errors import SkillpipeError
from skillpipe.ledger import Answer, Call, InDoubt, Ledger, canonical, key_of, report
from skillpipe.ledger.__main__ import main
from skillpipe.ledger.database import connect, owners_folder
from skillpipe.ledger.owner import Owner, forget_dead, is_alive
from skillpipe.models import Reply
from skillpipe.records import Usage
from skillpipe.secrets import Secrets

STAGES = Path(__file__).parent.parent / "stages"
ENVIRON = {**os.environ, "PYTHONPATH": os.pathsep.join([str(STAGES), str(Path(__file__).parent)])}
HEAD = "import sys, test_ledger as t; from pathlib import Path; ledger = t.opened(Path(sys.argv[1]))\n"
NO_SECRETS = Secrets([], {})
ANSWER = Answer(Reply("yes\n \x00 é", Usage(1, 10, 2, 0.25), "length"), 0.25)


def a_call(number: int = 1, model: str = "m") -> Call:
    request = canonical({"model": model, "number": number})
    return Call(key_of(request), model, request)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "calls.sqlite"


def opened(path: Path, on_doubt: Literal["retry", "stop"] = "retry", experiment: str = "e") -> Ledger:
    return Ledger(path, experiment=experiment, on_doubt=on_doubt, secrets=NO_SECRETS)


def row(path: Path, call: Call) -> dict[str, Any]:
    db = connect(path, create=False)
    found = [record for record in report.export(db) if record["key"] == call.key]
    db.close()
    assert len(found) == 1
    return found[0]


@pytest.fixture
def elsewhere(path: Path) -> Iterator[Any]:
    """Start another process that runs some lines with a ledger and then waits; it has said "ready"."""
    running: list[subprocess.Popen[str]] = []

    def start(lines: str) -> subprocess.Popen[str]:
        script = HEAD + textwrap.dedent(lines) + "\nprint('ready', flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", script, str(path)]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, env=ENVIRON, text=True, stdin=pipe, stdout=pipe)
        running.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        return child

    yield start
    for child in running:
        child.kill()
        child.communicate()


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
    answer = Answer(Reply("yes", Usage(1, 10, 2, None)), None)
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


def test_another_process_that_lives_keeps_its_call(path: Path, elsewhere: Any) -> None:
    elsewhere("ledger.claim(t.a_call())")
    assert opened(path).claim(a_call()) == "busy"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_dies_leaves_its_call_in_doubt(path: Path, elsewhere: Any, end: signal.Signals) -> None:
    child = elsewhere(
        """
        ledger.claim(t.a_call())
        ledger.claim(t.a_call(2))
        ledger.settle(t.a_call(2), t.ANSWER, 1)
        """
    )
    child.send_signal(end)
    child.wait()
    db = connect(path, create=False)
    assert [doubt.key for doubt in report.doubts(db, path)] == [a_call().key]
    with pytest.raises(InDoubt, match="on_doubt: retry"):
        opened(path, "stop").claim(a_call())
    assert row(path, a_call())["attempts"] == 1
    ledger = opened(path)
    assert ledger.claim(a_call(2)) == ANSWER
    assert ledger.claim(a_call()) == "mine"
    assert report.doubts(db, path) == []
    ledger.settle(a_call(), ANSWER, attempts=1)
    found = row(path, a_call())
    assert (found["attempts"], found["doubts"]) == (2, 1)


def test_nobody_comes_between_the_look_and_the_reservation(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, other = opened(path), opened(path)
    other._db.execute("PRAGMA busy_timeout = 0")
    look, looks = ledger._known, []

    def known(call: Call) -> Any:
        looks.append(look(call))
        if len(looks) == 2:  # the second look is inside the transaction
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.claim(call)
        return looks[-1]

    monkeypatch.setattr(ledger, "_known", known)
    assert ledger.claim(a_call()) == "mine"
    assert looks == [None, None]


def test_a_copy_of_the_ledger_has_no_owners_that_live(path: Path, tmp_path: Path) -> None:
    ledger = opened(path)
    ledger.claim(a_call())
    connect(path, create=False).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, tmp_path / "copy.sqlite")
    with pytest.raises(InDoubt):
        opened(tmp_path / "copy.sqlite", "stop").claim(a_call())


def test_a_wait_given_up_leaves_the_call_in_doubt_while_the_process_lives(path: Path) -> None:
    ledger = opened(path, "stop")
    ledger.claim(a_call())
    ledger.abandon(a_call(), attempts=2)
    assert row(path, a_call())["attempts"] == 2
    with pytest.raises(InDoubt):
        ledger.claim(a_call())


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
        ledger.settle(a_call(), Answer(Reply(text, Usage()), 0.0), attempts=1)
    ledger.fail(a_call(), "late", "late", attempts=1)
    found = ledger.claim(a_call())
    assert isinstance(found, Answer)
    assert found.reply.text == "first"


def test_many_processes_make_each_call_once(path: Path, elsewhere: Any, tmp_path: Path) -> None:
    """Eight processes that start at once want the same 60 calls: each is made by one, and known to all."""
    made = tmp_path / "made"
    children = [
        elsewhere(
            f"""
            open({str(made)!r}, "a").close()
            print("ready", flush=True); sys.stdin.readline()
            for number in range(60):
                while (found := ledger.claim(t.a_call(number))) == "busy":
                    pass
                if found == "mine":
                    with open({str(made)!r}, "a") as file:
                        file.write(f"{{number}}\\n")
                    ledger.settle(t.a_call(number), t.ANSWER, attempts=1)
                else:
                    assert found == t.ANSWER
            ledger.close()
            """
        )
        for _ in range(8)
    ]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        assert child.stdout.readline() == "ready\n"
    assert sorted(map(int, made.read_text().split())) == list(range(60))
    db = connect(path, create=False)
    [spent] = report.spend(db, path, "model")
    assert (spent.done, spent.attempts, spent.resent, spent.in_doubt) == (60, 60, 0, 0)
    assert spent.hit_rate == pytest.approx(420 / 480)


def test_processes_that_start_on_a_missing_ledger_at_once_share_it(path: Path) -> None:
    command = [sys.executable, "-c", HEAD + "ledger.claim(t.a_call())", str(path)]
    children = [subprocess.Popen(command, env=ENVIRON) for _ in range(6)]
    assert [child.wait() for child in children] == [0] * 6


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
    settled = ledger.settle(call, Answer(Reply(f"you sent {key}", Usage(1, cost_usd=None)), None), attempts=1)
    assert settled.reply.text == "you sent [secret]"
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


def test_an_owner_lives_until_it_is_closed_and_dead_ones_are_swept(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    (tmp_path / "dead").touch()
    assert is_alive(tmp_path, owner.id)
    assert not is_alive(tmp_path, "dead")
    assert not is_alive(tmp_path, "")
    forget_dead(tmp_path)
    assert (tmp_path / "dead").exists()
    forget_dead(tmp_path, older_than_s=-1)
    assert [file.name for file in tmp_path.iterdir()] == [owner.id]
    owner.close()
    assert not is_alive(tmp_path, owner.id)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def filled(path: Path) -> Path:
    """Two models and two experiments: three answers (one without a price), one failure, one in doubt."""
    first, second = opened(path, experiment="one"), opened(path, experiment="two")
    for number, cost in ((1, 0.5), (2, 0.25)):
        first.claim(a_call(number, "big"))
        first.settle(a_call(number, "big"), Answer(Reply("x", Usage(1, 100, 10)), cost), attempts=1)
    second.claim(a_call(1, "big"))
    second.claim(a_call(3, "small"))
    second.settle(a_call(3, "small"), Answer(Reply("x", Usage(1, 7, 3)), None), attempts=2)
    second.claim(a_call(4, "small"))
    second.fail(a_call(4, "small"), "auth", "refused", attempts=1)
    second.claim(a_call(5, "small"))
    first.close()
    second.close()
    return path


def test_spend_by_model_and_by_experiment(filled: Path) -> None:
    db = connect(filled, create=False)
    big, small = report.spend(db, filled, "model")
    assert (big.name, big.done, big.input_tokens, big.output_tokens, big.cost_usd) == (
        "big",
        2,
        200,
        20,
        0.75,
    )
    assert (big.unpriced, big.in_doubt) == (0, 0)
    assert big.hit_rate == pytest.approx(1 / 3)
    assert (small.done, small.failed, small.in_doubt, small.attempts, small.unpriced) == (1, 1, 1, 4, 1)
    one, two = report.spend(db, filled, "experiment")
    assert (one.name, one.cost_usd, one.hit_rate) == ("one", 0.75, 0.0)
    assert (two.name, two.cost_usd, two.hit_rate) == ("two", 0.0, 0.25)


@pytest.mark.parametrize(("what", "left"), [("doubts", 4), ("failed", 4), ("done", 2)])
def test_prune_takes_only_what_is_named_and_old_enough(
    filled: Path, capsys: pytest.CaptureFixture[str], what: str, left: int
) -> None:
    for days, rows in (("1", 5), ("0", left)):
        assert main(["--ledger", str(filled), "prune", what, "--older-than", days]) == 0
        assert f"{0 if days == '1' else 5 - left} calls deleted" in capsys.readouterr().out
        assert len(list(report.export(connect(filled, create=False)))) == rows


def test_prune_leaves_calls_under_way(path: Path) -> None:
    ledger = opened(path)
    ledger.claim(a_call())
    assert report.prune(connect(path, create=False), path, "doubts", 0) == 0
    assert ledger.claim(a_call()) == "busy"


def test_the_command_shows_and_exports(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ledger", str(filled), "spend"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][:3] == ["model", "done", "failed"]
    assert ["big", "2", "0", "0", "2", "0", "200", "20", "0.7500", "0", "0.3333"] in lines
    assert main(["--ledger", str(filled), "doubts"]) == 0
    assert a_call(5, "small").key in capsys.readouterr().out
    assert main(["--ledger", str(filled), "export"]) == 0
    exported = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["request"]["number"] for record in exported] == [1, 2, 3, 4, 5]


def test_the_command_makes_no_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ledger", str(tmp_path / "none"), "spend"]) == 1
    assert "no ledger there" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ends_in_order_leaves_no_owner(path: Path) -> None:
    ledger = opened(path)
    assert len(list(owners_folder(path).iterdir())) == 1
    ledger.close()
    assert list(owners_folder(path).iterdir()) == []
