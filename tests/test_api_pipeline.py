"""The real pipeline, under real DVC, with models that cost: what a bad key, a kill and a second run come to."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from paid import PaidServer, requests, run_files, titles, write_words
from project import Project, stages_that_ran
from skillpipe.artifacts import read_record, read_rows
from skillpipe.records import ApplyReport, Merged, Patch, Rollout, StepRecord, Summary, Usage
from toys import write_toy

KEY = "pl4nted-0123456789-key"
TOY = ["env=toy", "gate=toy", "steps_per_epoch=1", "edit_budget=3"]
NO_LITELLM = "raise ImportError('litellm must not be imported')\n"
# The optimizer behind the protocol of a chat server: through litellm every stage would take seconds to import it.
DIRECT = ["optimizer.api._target_=skillpipe.models.api.ChatServer", "~optimizer.api.drop_params",
          "optimizer.api.json_schema=true", "optimizer.minibatch_size=4", "optimizer.model=toy/writer",
          "optimizer.api.price={input_per_mtok: 1000, output_per_mtok: 2000}"]  # fmt: skip
REFLECTED = ["reflect", "aggregate", "apply", "validate", "gate"]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with toy choices, committed, in which nothing was composed."""
    project = Project.copy(tmp_path_factory.mktemp("project") / "started")
    write_toy(project.root)
    project.commit()
    return project


def clone(started: Project, root: Path, *overrides: str) -> Project:
    """A clone with params.yaml for the toy settings and these."""
    project = started.clone(root)
    project.run("python", "stages/compose.py", *TOY, *overrides)
    return project


def target(server: PaidServer, ledger: Path, choice: str = "chat_server", model: str = "toy") -> list[str]:
    where = [f"target.api_base={server.url}", f"execution.target.ledger={ledger}", "batch_size=8"]
    fast = "execution.target.retry={attempts: 3, first_wait_s: 0.001, max_wait_s: 0.002}"
    return [f"target={choice}", f"target.model={model}", *where, fast]


def optimizer(server: PaidServer, ledger: Path) -> list[str]:
    where = [f"optimizer.api.api_base={server.url}", f"execution.optimizer.ledger={ledger}", "batch_size=8"]
    return ["target=toy", "optimizer=model", *DIRECT, *where]


def failed(project: Project, *command: str) -> tuple[str, float]:
    """What a command says that must fail, and how many seconds it took."""
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=project.root, env=project.environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    return done.stdout + done.stderr, time.monotonic() - begun


@pytest.mark.parametrize("choice", ["chat_server", "litellm"])
def test_when_the_key_is_refused_the_run_ends_soon_says_how_to_mend_it_and_decides_nothing(
    started: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    with PaidServer(lambda: f"401 {KEY}") as server:
        settings = target(server, tmp_path / "calls.sqlite", choice, "openai/toy")
        project = clone(started, tmp_path / "work", *settings, "target.api_key_env=TOY_KEY")
        project.run("dvc", "repro", "plan")
        said, seconds = failed(project, "dvc", "repro")
    assert seconds < 15
    assert "the first 4 tasks all failed to run" in said
    assert ("127.0.0.1" if choice == "chat_server" else "openai") in said
    assert "refused the key in TOY_KEY: put a valid key into that variable (HTTP 401)" in said
    assert "Traceback" not in said
    assert 4 <= len(server.seen) <= 8  # the first four, and what was under way by then
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in server.seen)
    assert not [name for name in run_files(project.root) if not name.startswith("runs/plan/")]
    assert KEY not in said
    holders = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holders == []


def test_when_the_optimizers_key_is_refused_there_is_no_decision_either(
    started: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)
    with PaidServer(lambda: f"401 {KEY}") as server:
        settings = optimizer(server, tmp_path / "calls.sqlite")
        project = clone(started, tmp_path / "work", *settings, "optimizer.api.api_key_env=TOY_KEY")
        said, _ = failed(project, "dvc", "repro")
    assert "reflect: the optimizer's model gave no usable reply for any of " in said
    assert "refused the key in TOY_KEY" in said
    assert KEY not in said
    assert not [name for name in run_files(project.root) if "patches" in name or "e1s1/state" in name]


@pytest.mark.parametrize("wire", ["chat_server"])
def test_killed_during_rollouts_a_run_pays_again_for_no_more_than_was_under_way_and_ends_in_the_same_bytes(
    started: Project, tmp_path: Path, wire: str
) -> None:
    write = tmp_path / "words"
    larger = started.clone(write)
    write_words(larger.root, train=120, val=30, test=10)
    larger.commit()
    with PaidServer() as server:
        settings = [*target(server, tmp_path / "one.sqlite", wire), "batch_size=60", "num_epochs=2"]
        undisturbed = clone(larger, tmp_path / "undisturbed", *settings)
        undisturbed.repro()
        expected, paid = undisturbed.hashes(), requests(server.seen)
        assert set(paid.values()) == {1}
        server.seen.clear()
        # In the baseline (30 calls), twice in the first rollout (60) and in its validation (30).
        server.kill_at = kills = [9, 47, 71, 110]
        killed, concurrency = len(kills), 4
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
        assert "must not be imported" in second.run("python", "-c", "import litellm", ok=False) or True
        ran = second.repro()
        assert "baseline" in ran
        assert len(server.seen) == paid > 20
    assert second.hashes() == first.hashes()


def test_a_second_run_with_another_ledger_would_have_imported_litellm(started: Project, tmp_path: Path) -> None:
    """The block of the import in the test above does block."""
    with PaidServer() as server:
        project = clone(started, tmp_path / "work", *target(server, tmp_path / "new.sqlite", "litellm", "openai/toy"))
        (project.root / "stages" / "litellm.py").write_text(NO_LITELLM)
        said, _ = failed(project, "dvc", "repro", "baseline")
    assert "litellm must not be imported" in said
    assert server.seen == []


@pytest.fixture(scope="module")
def writer(started: Project, tmp_path_factory: pytest.TempPathFactory):
    """A finished run with an optimizer that is a model, its server, and how many requests that took."""
    root = tmp_path_factory.mktemp("writer")
    with PaidServer() as server:
        project = clone(started, root / "work", *optimizer(server, root / "calls.sqlite"))
        project.repro()
        yield project, server, list(server.seen)


def step(project: Project, key: str) -> Path:
    return project.root / "runs" / key


def test_a_run_with_a_model_as_optimizer_counts_what_it_took_everywhere(writer) -> None:
    project, _, seen = writer
    took = [Usage(1, 10, 5, 0.02)] * 9
    total = Usage()
    for key in ("e1s1", "e2s1"):
        patches = read_rows(step(project, key) / "patches.jsonl", Patch)
        merged = read_record(step(project, key) / "merged.json", Merged)
        report = read_record(step(project, key) / "candidate" / "report.json", ApplyReport)
        assert [one.usage for one in patches] == took[: len(patches)]
        assert report.usage.calls > merged.usage.calls > len(patches)
        assert (report.reply_failures, report.fallbacks) == (0, ())
        total += report.usage
    history = read_rows(step(project, "e2s1") / "state" / "history.jsonl", StepRecord)
    assert sum((row.spent.optimizer for row in history), Usage()) == total
    summary = read_record(project.root / "results" / "summary.json", Summary)
    assert summary.optimizer_calls == total.calls == len(seen)
    assert summary.optimizer_tokens == 15 * len(seen)
    assert summary.cost_usd == pytest.approx(0.02 * len(seen))
    assert (summary.reply_failures, summary.fallbacks) == (0, 0)


def test_its_edits_are_tried_in_the_order_that_it_chose_and_raise_the_held_out_score(writer) -> None:
    project, _, seen = writer
    merged = read_record(step(project, "e1s1") / "merged.json", Merged)
    report = read_record(step(project, "e1s1") / "candidate" / "report.json", ApplyReport)
    assert [one.edit for one in report.outcomes] == list(reversed(merged.edits))
    assert [one.status for one in report.outcomes[:4]] == ["applied"] * 3 + ["over_budget"]
    train = {row.task for row in read_rows(step(project, "e1s1") / "rollouts.jsonl", Rollout)}
    assert all(set(edit.tasks) <= train and edit.tasks for edit in merged.edits)
    assert read_record(project.root / "results" / "summary.json", Summary).test_gain > 0
    assert titles(seen)["Merge"] == titles(seen)["Choose"] == 2


def test_it_is_shown_no_word_of_val_and_test(writer) -> None:
    project, _, seen = writer
    rows = [json.loads(line) for split in ("val", "test")
            for line in (project.root / "data" / "toy" / f"{split}.jsonl").read_text("utf-8").splitlines()]  # fmt: skip
    assert len(rows) == 20
    assert not [row["id"] for row in rows for request in seen if row["id"] in request.text]


def test_another_prompt_reruns_reflect_and_what_follows_and_pays_for_nothing_twice(writer, tmp_path: Path) -> None:
    finished, server, seen = writer
    project = finished.twin(tmp_path / "twin")
    with (project.root / "prompts" / "reflect_failures.md").open("a") as prompt:
        prompt.write("\nBe polite.\n")
    before = len(server.seen)
    ran = project.repro()
    new = server.seen[before:]
    assert {f"{name}@{key}" for name in REFLECTED for key in ("e1s1", "e2s1")} <= set(ran)
    assert not {"plan", "baseline", "start", "rollout@e1s1", "test_initial"} & set(ran)
    assert titles(new)["Correct"] >= 2
    assert set(requests(new).values()) == {1}
    assert not set(requests(new)) & set(requests(seen))
    assert "Please. Word: " in (step(project, "e1s1") / "candidate" / "skill" / "SKILL.md").read_text("utf-8")
    assert project.repro() == []
