"""Faults told apart, waits, prices, and one call from reservation to settlement: without a network."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skillpipe.ledger import Call, Ledger, canonical, key_of, report
from skillpipe.ledger.database import connect
from skillpipe.models import Reply
from skillpipe.models.api.calling import GivenUp, answered
from skillpipe.models.api.faults import PERMANENT, CallFailed, Fault, Kind, advice, classify, fault_of
from skillpipe.models.api.pricing import Price, list_price
from skillpipe.models.api.retry import Retry
from skillpipe.records import Usage
from skillpipe.secrets import Secrets

ANSWER = Reply("yes", Usage(1, 2, 3, None))
CALL = Call(key_of(canonical({"a": 1})), "m", canonical({"a": 1}))
AT_ONCE = Retry(3, 0.0, 0.0)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, "Unknown parameter", "bad_request"),
        (400, "input length exceeds: prompt is too long: 9 tokens", "context_length"),
        (400, "This model's maximum context length is 8192", "context_length"),
        (400, "triggering Azure OpenAI's content management policy", "content_filter"),
        (401, "no", "auth"),
        (402, "Payment Required", "quota"),
        (403, "forbidden", "auth"),
        (404, "no such model", "unknown_model"),
        (405, "method", "bad_request"),
        (408, "", "timeout"),
        (413, "too large", "bad_request"),
        (413, "prompt is too long", "context_length"),
        (422, "unprocessable", "bad_request"),
        (429, "slow down", "rate_limit"),
        (429, "Rate limit reached, add a payment method at host/account/billing", "rate_limit"),
        (429, "insufficient_quota", "quota"),
        (400, "Your credit balance is too low to access the API", "quota"),
        (500, "oops", "server_error"),
        (500, "Connection error.", "connection"),
        (500, "Overloaded", "overloaded"),
        (502, "bad gateway", "server_error"),
        (503, "unavailable", "overloaded"),
        (504, "gateway time-out", "server_error"),
        (529, "overloaded_error", "overloaded"),
    ],
)
def test_a_fault_is_told_by_status_and_text(status: int, text: str, kind: Kind) -> None:
    assert fault_of(status, text, {}).kind == kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("after 1.234 s"), "timeout"),
        (asyncio.TimeoutError(), "timeout"),
        (ValueError("what is this"), "bad_reply"),
    ],
)
def test_an_exception_without_a_status_is_told_by_its_class(error: Exception, kind: Kind) -> None:
    assert classify(error).kind == kind
    assert not classify(error).permanent


@pytest.mark.parametrize(
    ("header", "seconds"), [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None)]
)
def test_retry_after_is_read_from_the_response(header: str, seconds: float | None) -> None:
    error = Exception("slow down")
    vars(error).update(status_code=429, response=SimpleNamespace(headers={"retry-after": header}))
    assert classify(error) == Fault("rate_limit", 429, "slow down", seconds)


@pytest.mark.parametrize("kind", Kind.__args__)  # type: ignore[attr-defined]
def test_every_fault_has_advice_that_names_who_failed(kind: Kind) -> None:
    line = advice(Fault(kind, 418, "detail"), provider="p", model="p/m", api_key_env="P_KEY", attempts=2)
    assert line.startswith("p ")
    assert "HTTP 418" in line
    assert "after 2 tries" in line
    assert line.endswith("it said: detail")
    assert "\n" not in line
    assert ("P_KEY" in line) == (kind in ("auth", "quota"))


@pytest.mark.parametrize(("number", "backoff"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (9, 10.0), (5000, 10.0)])
@pytest.mark.parametrize("asked", [None, 0.1, 5.0, 60.0])
def test_waits_grow_with_jitter_and_heed_the_server(number: int, backoff: float, asked: float | None) -> None:
    retry = Retry(9, 1.0, 10.0)
    failed = SimpleNamespace(exception=lambda: CallFailed(Fault("rate_limit", 429, "", asked)))
    state: Any = SimpleNamespace(attempt_number=number, outcome=failed)
    waits = {retry._wait(state) for _ in range(200)}
    least = min(10.0, max(asked or 0.0, backoff / 2))
    assert least <= min(waits) <= max(waits) <= min(10.0, max(backoff, 1.1 * (asked or 0.0)))
    assert len(waits) > 20 or asked == 60.0


def test_prices_come_from_the_list_or_are_unknown() -> None:
    listed = list_price("openai/gpt-4o-mini")
    assert listed is not None
    assert listed.input_per_mtok == pytest.approx(0.15)
    assert listed.output_per_mtok == pytest.approx(0.6)
    assert list_price("openai/no-such-model") is None
    assert Price(2.0, 8.0).of(1_000_000, 500_000) == 6.0


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "l", experiment="e", on_doubt="stop", secrets=Secrets([], {}))


def row(tmp_path: Path) -> dict[str, Any]:
    [found] = report.export(connect(tmp_path / "l", create=False))
    return found


Send = Callable[[], Coroutine[Any, Any, Reply]]


def sender(*outcomes: Reply | Exception) -> Send:
    """A `send` whose tries have these outcomes."""
    todo = iter(outcomes)

    async def send() -> Reply:
        outcome = next(todo)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return send


def failure(kind: Kind) -> CallFailed:
    return CallFailed(Fault(kind, None, "said"))


@pytest.mark.parametrize("kind", [kind for kind in Kind.__args__ if kind not in PERMANENT])  # type: ignore[attr-defined]
def test_transient_failures_are_tried_until_the_last_try(tmp_path: Path, ledger: Ledger, kind: Kind) -> None:
    send = sender(*[failure(kind)] * 3, ANSWER)
    with pytest.raises(GivenUp) as caught:
        asyncio.run(answered(ledger, CALL, send, AT_ONCE))
    assert (caught.value.fault.kind, caught.value.attempts) == (kind, 3)
    assert caught.value.__cause__ is None
    assert row(tmp_path)["attempts"] == 3
    assert asyncio.run(answered(ledger, CALL, send, AT_ONCE)) == ANSWER
    assert (row(tmp_path)["state"], row(tmp_path)["attempts"]) == ("done", 4)


@pytest.mark.parametrize("kind", PERMANENT)
def test_permanent_failures_are_not_tried_again(tmp_path: Path, ledger: Ledger, kind: Kind) -> None:
    with pytest.raises(GivenUp):
        asyncio.run(answered(ledger, CALL, sender(failure(kind), ANSWER), AT_ONCE))
    found = row(tmp_path)
    assert (found["state"], found["error_class"], found["attempts"]) == ("failed", kind, 1)


def test_a_defect_is_passed_on_and_leaves_the_call_in_doubt(tmp_path: Path, ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(answered(ledger, CALL, sender(failure("timeout"), ZeroDivisionError()), AT_ONCE))
    assert (row(tmp_path)["state"], row(tmp_path)["owner"], row(tmp_path)["attempts"]) == ("reserved", "", 2)


def test_a_call_is_written_down_before_it_is_sent(tmp_path: Path, ledger: Ledger) -> None:
    seen: list[str] = []

    async def send() -> Reply:
        seen.append(row(tmp_path)["state"])
        return ANSWER

    asyncio.run(answered(ledger, CALL, send, AT_ONCE))
    assert seen == ["reserved"]
    assert row(tmp_path)["state"] == "done"
