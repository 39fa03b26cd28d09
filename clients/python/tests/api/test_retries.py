"""What is tried again, and done once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import steward
from steward._internal import ports
from tests.conftest import Control, Customer
from tests.transports import Edited


def test_an_answer_to_lend_that_is_lost_twice_makes_one_intent_and_one_charge(
    customer: Customer, control: Control, naps: list[float]
) -> None:
    before = control("lost")
    control("loseAnswers", start="POST /v1/intents", count=2)
    made = customer.client.intents.lend(wallet_id=customer.wallet_id, amount=1)
    assert control("lost") - before == 2
    assert len(naps) == 2
    assert customer.indexes() == {
        "intents": [{"id": made.id, "units": "1000000"}],
        "charges": [-5],
    }


def test_an_answer_that_is_lost_for_good_is_had_later_by_its_key(
    customer: Customer, control: Control, naps: list[float]
) -> None:
    control("loseAnswers", start="POST /v1/intents", count=3)
    wish: dict[str, Any] = {"wallet_id": customer.wallet_id, "amount": 1}
    with pytest.raises(steward.ConnectionError) as lost:
        customer.client.intents.lend(**wish)
    key = lost.value.idempotency_key
    assert key
    made = customer.another_client().intents.lend(**wish, idempotency_key=key)
    indexes = customer.indexes()
    assert [one["id"] for one in indexes["intents"]] == [made.id]
    assert indexes["charges"] == [-5]


def test_two_calls_are_two_intents(customer: Customer) -> None:
    for _ in range(2):
        customer.client.intents.lend(wallet_id=customer.wallet_id, amount=1)
    assert customer.indexes()["charges"] == [-5, -5]


def test_above_the_rate_it_waits_as_long_as_it_is_told(
    new_customer: Callable[..., Customer], control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer = new_customer(rpm=1)
    naps: list[float] = []

    async def nap(self: object, seconds: float) -> None:
        naps.append(seconds)
        control("openWindow", walletId=customer.wallet_id)

    monkeypatch.setattr(ports.BlockingPort, "sleep", nap)
    monkeypatch.setattr(ports.AsyncPort, "sleep", nap)
    told: list[float] = []
    transport = Edited(lambda _, body: told.extend(_retry_after(body)))
    client = customer.another_client(transport=transport)
    # A minute may end between two calls.
    while not naps:
        client.credits.get()
    assert naps == told
    assert 1 <= naps[0] <= 60


def _retry_after(body: dict[str, Any]) -> list[float]:
    return [body["details"]["retryAfter"]] if body.get("error") == "RATE_LIMITED" else []


def test_without_retries_the_refusal_is_told(new_customer: Callable[..., Customer]) -> None:
    customer = new_customer(rpm=1)
    client = customer.another_client(max_retries=0)
    with pytest.raises(steward.RateLimitedError) as refused:
        while True:
            client.credits.get()
    assert refused.value.retry_after is not None
    assert refused.value.details["limit"] == 1


def test_over_an_outage_a_call_comes_through(
    customer: Customer, control: Control, naps: list[float]
) -> None:
    client = customer.another_client(max_retries=20_000)
    control("outage", refusals=3)
    assert client.wallets.create("alice").user_id == "alice"
    assert len(naps) >= 3


def test_what_is_wrong_is_not_tried_again(customer: Customer) -> None:
    transport = Edited()
    client = customer.another_client(transport=transport)
    with pytest.raises(steward.InvalidRequestError):
        client.intents.lend(wallet_id=customer.wallet_id, amount="x")
    assert len(transport.seen) == 1
