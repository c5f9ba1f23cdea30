"""One ledger for many processes: nothing is paid twice, whoever dies, and what is in doubt is known."""

import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from books import ANSWER, ENVIRON, HEAD, a_call, opened, row
from skillpipe.ledger import Call, InDoubt, report
from skillpipe.ledger.database import connect, owners_folder
from skillpipe.ledger.owner import Owner, forget_dead, is_alive


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
    with pytest.raises(InDoubt, match=r"execution\.target\.on_doubt=retry"):
        opened(path, "stop").claim(a_call())
    assert row(path, a_call())["attempts"] == 1
    ledger = opened(path)
    assert ledger.claim(a_call(2)) == ANSWER
    assert ledger.claim(a_call()) == "mine"
    assert report.doubts(db, path) == []
    ledger.settle(a_call(), ANSWER, attempts=1)
    found = row(path, a_call())
    assert (found["attempts"], found["doubts"]) == (2, 1)


def test_what_was_in_doubt_is_told_alike_to_who_sends_it_again_and_to_who_finds_it(path: Path) -> None:
    for _ in range(2):
        dead = opened(path)
        dead.claim(a_call())
        dead.close()
    ledger = opened(path)
    assert ledger.doubts == 0
    ledger.claim(a_call())
    ledger.claim(a_call(2))
    assert ledger.doubts == 2
    for number in (1, 2):
        ledger.settle(a_call(number), ANSWER, attempts=1)
    later = opened(path)
    for _ in range(2):
        assert (later.find(a_call(2)), later.find(a_call(1))) == (ANSWER, ANSWER)
    assert (ledger.doubts, later.doubts) == (2, 2)


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


def test_a_process_that_ends_in_order_leaves_no_owner(path: Path) -> None:
    ledger = opened(path)
    assert len(list(owners_folder(path).iterdir())) == 1
    ledger.close()
    assert list(owners_folder(path).iterdir()) == []
