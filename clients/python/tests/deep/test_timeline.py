"""The whole service: an API outage, and a simulated failure."""

from __future__ import annotations

from decimal import Decimal

import pytest

import steward
from steward import AsyncSteward, Steward
from steward.models import Event, Preview
from tests.conftest import Control


def test_an_outage_of_the_api_does_not_end_the_wait(control: Control) -> None:
    received: list[Event] = []

    def on_event(event: Event) -> None:
        received.append(event)
        if event.type == "intent.created":
            control("cutApi")

    with Steward() as client:
        wallet = client.wallets.create("cut")
        client.demo.wait_for_completion(client.demo.fund(wallet.id).id)
        made = client.intents.lend(wallet_id=wallet.id, amount=Decimal("0.75"))
        done = client.intents.wait_for_completion(made.id, on_event=on_event, timeout=120)
        listed = list(client.events.list(intent_id=made.id))
        (position,) = client.positions.get(wallet.id).positions
    assert [one.id for one in received] == [one.id for one in listed]
    assert done.results is not None and done.results.final_amount is not None
    # The bridge charges a fee, and Aave may round down.
    assert Decimal("0.74") < done.results.final_amount <= Decimal("0.75")
    assert Decimal("0.74") < position.current_value <= Decimal("0.75")


@pytest.mark.anyio
async def test_a_simulated_failure_contains_its_funds() -> None:
    async with AsyncSteward() as client:
        wallet = await client.wallets.create("unlucky")
        funding = await client.demo.fund(wallet.id)
        await client.demo.wait_for_completion(funding.id)
        plan = await client.intents.preview(action="lend", wallet_id=wallet.id, amount="1")
        assert [step.type for step in plan.execution_plan.steps] == ["bridge", "deposit"]
        made = await client.intents.lend(
            wallet_id=wallet.id, amount="1", metadata={"simulate": "DEPOSIT_FAILED"}
        )
        with pytest.raises(steward.DepositFailedError) as failed:
            await client.intents.wait_for_completion(made.id, timeout=120)
        rest = await client.intents.preview_retry(made.id)
        assert isinstance(rest, Preview)
        assert [step.type for step in rest.execution_plan.steps] == ["deposit"]
        (funds,) = failed.value.intent.funds or []
        assert (funds.chain, funds.protocol) == (plan.execution_plan.target_chain, None)
        with pytest.raises(steward.InsufficientFundsError) as short:
            await client.intents.lend(wallet_id=wallet.id, amount="250")
        assert short.value.required == 250 and short.value.available == funds.amount


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
