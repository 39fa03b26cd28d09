"""Calls and their responses."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

import steward
from tests.conftest import Control, Customer

NO_WALLET = "svc_wallet_" + "0" * 26


def test_a_wallet_is_created_found_and_listed(customer: Customer) -> None:
    client = customer.client
    made = client.wallets.create("alice / ..?#é", {"tier": "gold", "n": [1, 0.1, None]})
    assert client.wallets.create("alice / ..?#é", {"tier": "gold", "n": [1, 0.1, None]}) == made
    assert client.wallets.get("alice / ..?#é") == made
    assert made.metadata == {"tier": "gold", "n": [1, 0.1, None]}
    assert list(client.wallets.list(user_id="alice / ..?#é")) == [made]
    assert len(list(client.wallets.list(limit=1))) == 2


def test_an_id_with_path_segments_reaches_no_other_endpoint(customer: Customer) -> None:
    for user_id in ("%2e%2e", "a/../../yields"):
        with pytest.raises(steward.WalletNotFoundError):
            customer.client.wallets.get(user_id)
    for user_id in ("", ".", ".."):
        with pytest.raises(ValueError, match="must not be empty"):
            customer.client.wallets.get(user_id)
        with pytest.raises(ValueError, match="must not be empty"):
            customer.client.intents.cancel(user_id)


def test_an_intent_is_created_read_listed_and_cancelled(customer: Customer) -> None:
    client = customer.client
    made = client.intents.lend(wallet_id=customer.wallet_id, amount="1.5", metadata={"a": 1})
    assert (made.status, made.action, made.amount) == ("pending", "lend", Decimal("1.5"))
    assert made.metadata == {"a": 1}
    assert client.intents.get(made.id).created_at == made.created_at
    assert client.intents.get(made.id).created_at.tzinfo is not None
    assert [one.id for one in client.intents.list(status=["pending", "failed"])] == [made.id]
    assert list(client.intents.list(status="completed")) == []
    assert list(client.intents.list(created_before=made.created_at)) == []
    cancelled = client.intents.cancel(made.id)
    assert cancelled.error is not None and cancelled.error.code == "CANCELLED"
    with pytest.raises(steward.UnavailableError):
        client.intents.preview(action="lend", wallet_id=customer.wallet_id, amount=1)


def test_the_preview_of_a_retry_returns_an_existing_retry(
    customer: Customer, control: Control
) -> None:
    intents = customer.client.intents
    intent_id = customer.new_intent()
    error = {"code": "DEPOSIT_FAILED", "message": "The market refused.", "step": 1}
    control("move", intentId=intent_id, to="failed", error=error)
    with pytest.raises(steward.UnavailableError):
        intents.preview_retry(intent_id)
    retry = intents.retry(intent_id)
    before = customer.stored()
    preview = intents.preview_retry(intent_id)
    assert customer.stored() == before
    assert preview == intents.get(retry.id)


def test_a_read_token_names_its_intent(customer: Customer) -> None:
    intent_id = customer.new_intent()
    token = customer.client.intents.create_read_token(intent_id)
    assert token.token not in repr(customer.client)
    reader = customer.another_client().intents.get(intent_id)
    assert reader.id == token.intent_id


def test_credits_yields_and_events_are_typed(customer: Customer) -> None:
    client = customer.client
    assert client.credits.get().plan == "pro"
    assert list(client.yields.history()) == []
    page = client.events.list().page()
    assert (page.has_more, page.next_cursor) == (False, None)
    (event,) = page.data
    assert (event.type, event.wallet_id) == ("wallet.created", customer.wallet_id)
    assert event.intent_id is None


@pytest.mark.parametrize(
    ("amount", "units"),
    [
        (1, "1000000"),
        ("0.5", "500000"),
        (0.1, "100000"),
        (Decimal("2.50"), "2500000"),
        (Decimal("1E+2"), "100000000"),
        (Decimal("98765432109.123457"), "98765432109123457"),
        (98_765_432_109, "98765432109000000"),
    ],
)
def test_an_amount_arrives_with_every_digit(
    customer: Customer, amount: steward.Amount, units: str
) -> None:
    made = customer.client.intents.lend(wallet_id=customer.wallet_id, amount=amount)
    assert customer.stored()["intents"] == [{"id": made.id, "units": units}]
    # The response contains a JSON number, exact up to 15 digits.
    assert float(made.amount) == float(Decimal(units) / 10**6)


@pytest.mark.parametrize("amount", [Decimal("0.0000001"), 0.1 + 0.2, "1,5", -1, "max"])
def test_an_amount_that_needs_rounding_is_rejected(
    customer: Customer, amount: steward.Amount
) -> None:
    with pytest.raises(steward.InvalidRequestError) as rejected:
        customer.client.intents.lend(wallet_id=customer.wallet_id, amount=amount)
    assert rejected.value.issues[0]["path"] == "amount"
    assert customer.stored() == {"intents": [], "charges": []}


def test_errors_have_the_class_of_their_code(
    customer: Customer, new_customer: Callable[..., Customer]
) -> None:
    with pytest.raises(steward.WalletNotFoundError) as missing:
        customer.client.balances.get(NO_WALLET)
    error = missing.value
    assert (error.status, error.code) == (404, "WALLET_NOT_FOUND")
    assert error.request_id is not None and error.request_id.startswith("req_")
    assert error.request_id in str(error)
    with pytest.raises(steward.IntentNotFoundError):
        customer.client.intents.wait_for_completion("intent_x")
    with pytest.raises(steward.ForbiddenError):
        new_customer(scopes=["read"]).client.wallets.create("a")


def test_an_error_has_its_reason(customer: Customer) -> None:
    customer.client.wallets.create("bob", {"a": 1})
    with pytest.raises(steward.InvalidRequestError) as conflict:
        customer.client.wallets.create("bob", {"a": 2})
    assert conflict.value.reason == "user_id_taken"


def test_the_error_of_an_unknown_key_does_not_contain_the_key(
    make_client: Callable[..., steward.Steward],
) -> None:
    secret = "svc_sk_" + "ab" * 32
    with pytest.raises(steward.UnauthorizedError) as rejected:
        make_client(secret).wallets.get("alice")
    assert secret not in str(rejected.value) + repr(rejected.value) + repr(rejected.value.details)
