"""The real pipeline, under real DVC, with models that cost: what a bad key, a kill and a second run come to."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from paid import PaidServer, clone, must_fail, requests, run_files, target, toy_project, write_words
from project import Project

KEY = "-".join(["pl4nted", "paid", "key"])  # in one piece it stands in no file of the copy
NO_LITELLM = "raise ImportError('litellm must not be imported')\n"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return toy_project(tmp_path_factory.mktemp("project") / "started")


@pytest.mark.parametrize("choice", ["chat_server", "litellm"])
def test_when_the_key_is_refused_the_run_ends_soon_says_how_to_mend_it_and_decides_nothing(
    started: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    with PaidServer(lambda: f"401 {KEY}") as server:
        settings = target(server, tmp_path / "calls.sqlite", choice, "openai/toy")
        project = clone(started, tmp_path / "work", *settings, "target.api_key_env=TOY_KEY")
        project.run("dvc", "repro", "plan")
        begun = time.monotonic()
        said = must_fail(project, "dvc", "repro")
        assert time.monotonic() - begun < 15
    assert "the first 4 tasks all failed to run" in said
    assert ("127.0.0.1" if choice == "chat_server" else "openai") in said
    assert "refused the key in TOY_KEY: put a valid key into that variable (HTTP 401)" in said
    assert "Traceback" not in said
    assert 4 <= len(server.seen) <= 8  # the first four, and what was under way by then
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in server.seen)
    assert not [name for name in run_files(project.root) if not name.startswith("runs/plan/")]
    assert KEY not in said
    assert (tmp_path / "calls.sqlite").exists()
    holders = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holders == []


def test_killed_during_rollouts_a_run_pays_again_for_no_more_than_was_under_way_and_ends_in_the_same_bytes(
    started: Project, tmp_path: Path
) -> None:
    larger = started.clone(tmp_path / "larger")
    write_words(larger.root, train=120, val=30, test=10)
    larger.commit()
    with PaidServer() as server:
        settings = [*target(server, tmp_path / "one.sqlite"), "batch_size=60", "num_epochs=2"]
        undisturbed = clone(larger, tmp_path / "undisturbed", *settings)
        undisturbed.repro()
        expected, paid = undisturbed.hashes(), requests(server.seen)
        assert set(paid.values()) == {1}
        server.seen.clear()
        # In the baseline (30 calls), twice in the first rollout (60) and in its validation (30).
        server.kill_at, killed, concurrency = [9, 47, 71, 110], 4, 4
        project = clone(larger, tmp_path / "killed", *settings, f"execution.target.ledger={tmp_path / 'two.sqlite'}")
        for _ in range(killed):
            running = subprocess.Popen(
                ["dvc", "repro"], cwd=project.root, env=project.environment(), start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            server.victim = running.pid
            assert running.wait() == -signal.SIGKILL
        project.repro()
        again = requests(server.seen)
    assert project.hashes() == expected
    assert set(again) == set(paid)
    assert max(again.values()) <= 1 + killed
    assert killed <= again.total() - len(again) <= killed * concurrency


def test_a_second_run_with_the_same_ledger_asks_nobody_and_imports_no_litellm(started: Project, tmp_path: Path) -> None:
    with PaidServer() as server:
        settings = [*target(server, tmp_path / "calls.sqlite", "litellm", "openai/toy"), "num_epochs=1"]
        first = clone(started, tmp_path / "first", *settings)
        first.repro()
        paid = len(server.seen)
        assert set(requests(server.seen).values()) == {1}
        second = clone(started, tmp_path / "second", *settings)  # a cache of its own, which is empty
        (second.root / "stages" / "litellm.py").write_text(NO_LITELLM)
        ran = second.repro()
        assert "baseline" in ran
        assert len(server.seen) == paid > 20
    assert second.hashes() == first.hashes()


def test_a_second_run_with_another_ledger_would_have_imported_litellm(started: Project, tmp_path: Path) -> None:
    """The block of the import in the test above does block."""
    with PaidServer() as server:
        project = clone(started, tmp_path / "work", *target(server, tmp_path / "new.sqlite", "litellm", "openai/toy"))
        (project.root / "stages" / "litellm.py").write_text(NO_LITELLM)
        said = must_fail(project, "dvc", "repro", "baseline")
    assert "litellm must not be imported" in said
    assert server.seen == []
