"""Retries: a call is executed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import steward
from steward._internal import ports
from tests.conftest import Control, Customer
from tests.transports import Edited


def test_lend_with_two_lost_responses_creates_one_intent_and_one_charge(
    customer: Customer, control: Control, delays: list[float]
) -> None:
    before = control("lost")
    control("loseAnswers", start="POST /v1/intents", count=2)
    made = customer.client.intents.lend(wallet_id=customer.wallet_id, amount=1)
    assert control("lost") - before == 2
    assert len(delays) == 2
    assert customer.stored() == {
        "intents": [{"id": made.id, "units": "1000000"}],
        "charges": [-5],
    }


def test_a_repeated_call_with_the_key_of_the_error_returns_the_created_intent(
    customer: Customer, control: Control, delays: list[float]
) -> None:
    control("loseAnswers", start="POST /v1/intents", count=3)
    options: dict[str, Any] = {"wallet_id": customer.wallet_id, "amount": 1}
    with pytest.raises(steward.ConnectionError) as lost:
        customer.client.intents.lend(**options)
    key = lost.value.idempotency_key
    assert key
    made = customer.another_client().intents.lend(**options, idempotency_key=key)
    stored = customer.stored()
    assert [one["id"] for one in stored["intents"]] == [made.id]
    assert stored["charges"] == [-5]


def test_two_calls_create_two_intents(customer: Customer) -> None:
    for _ in range(2):
        customer.client.intents.lend(wallet_id=customer.wallet_id, amount=1)
    assert customer.stored()["charges"] == [-5, -5]


def test_a_rate_limited_call_waits_for_retry_after(
    new_customer: Callable[..., Customer], control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = new_customer(rpm=1)
    delays: list[float] = []

    async def record(self: object, seconds: float) -> None:
        delays.append(seconds)
        control("resetRateLimit", walletId=customer.wallet_id)

    monkeypatch.setattr(ports.BlockingPort, "sleep", record)
    monkeypatch.setattr(ports.AsyncPort, "sleep", record)
    retry_after: list[float] = []
    transport = Edited(lambda _, body: retry_after.extend(_retry_after(body)))
    client = customer.another_client(transport=transport)
    # The rate limit may reset between two calls.
    while not delays:
        client.credits.get()
    assert delays == retry_after
    assert 1 <= delays[0] <= 60


def _retry_after(body: dict[str, Any]) -> list[float]:
    return [body["details"]["retryAfter"]] if body.get("error") == "RATE_LIMITED" else []


def test_without_retries_a_rate_limit_is_raised(new_customer: Callable[..., Customer]) -> None:
    customer = new_customer(rpm=1)
    client = customer.another_client(max_retries=0)
    with pytest.raises(steward.RateLimitedError) as rejected:
        while True:
            client.credits.get()
    assert rejected.value.retry_after is not None
    assert rejected.value.details["limit"] == 1


def test_a_call_survives_an_outage(
    customer: Customer, control: Control, delays: list[float]
) -> None:
    client = customer.another_client(max_retries=20_000)
    control("outage", refusals=3)
    assert client.wallets.create("alice").user_id == "alice"
    assert len(delays) >= 3


def test_an_invalid_request_is_not_retried(customer: Customer) -> None:
    transport = Edited()
    client = customer.another_client(transport=transport)
    with pytest.raises(steward.InvalidRequestError):
        client.intents.lend(wallet_id=customer.wallet_id, amount="x")
    assert len(transport.seen) == 1
