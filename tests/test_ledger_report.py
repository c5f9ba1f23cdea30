"""What the ledger says of itself, and what may be taken out of it."""

import json
from pathlib import Path

import pytest

from books import a_call, opened
from skillpipe.ledger import report
from skillpipe.ledger.__main__ import main
from skillpipe.ledger.database import connect
from skillpipe.models import Reply
from skillpipe.records import Usage


@pytest.fixture
def filled(path: Path) -> Path:
    """Two models and two experiments: three answers (one without a price), one failure, one in doubt."""
    first, second = opened(path, experiment="one"), opened(path, experiment="two")
    for number, cost in ((1, 0.5), (2, 0.25)):
        first.claim(a_call(number, "big"))
        first.settle(a_call(number, "big"), Reply("x", Usage(1, 100, 10, cost)), attempts=1)
    second.claim(a_call(1, "big"))
    second.claim(a_call(3, "small"))
    second.settle(a_call(3, "small"), Reply("x", Usage(1, 7, 3, None)), attempts=2)
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
