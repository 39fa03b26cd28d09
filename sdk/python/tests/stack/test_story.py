"""The whole service: what readers do first, on chains."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

import steward
from steward import AsyncSteward, Steward
from steward.models import Event
from tests.conftest import Control

FOLDER = Path(__file__).parents[2]


def test_the_ten_lines_of_the_readme_come_to_a_completed_intent() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```python\n(from steward import Steward\n.*?)```", text, re.DOTALL)
    assert len(lines.strip().splitlines()) <= 10
    env = {**os.environ, "PYTHONPATH": "src"}
    order = [sys.executable, "-c", lines]
    done = subprocess.run(order, env=env, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0] == "intent.created" and told[-2] == "intent.completed"
    assert told[-1].startswith("completed [Position(")


def test_the_api_is_killed_and_starts_again_while_an_intent_is_waited_for(control: Control) -> None:
    told: list[Event] = []

    def hear(event: Event) -> None:
        told.append(event)
        if event.type == "intent.created":
            control("killApi")

    with Steward() as client:
        wallet = client.wallets.create("killed")
        client.demo.wait_for_completion(client.demo.fund(wallet.id).id)
        made = client.intents.lend(wallet_id=wallet.id, amount=Decimal("0.75"))
        done = client.intents.wait_for_completion(made.id, on_event=hear, timeout=120)
        listed = list(client.events.list(intent_id=made.id))
        (position,) = client.positions.get(wallet.id).positions
    assert [one.id for one in told] == [one.id for one in listed]
    assert done.results is not None and done.results.final_amount is not None
    # A bridge keeps its fee; Aave counts in units that may round down.
    assert Decimal("0.74") < done.results.final_amount <= Decimal("0.75")
    assert Decimal("0.74") < position.current_value <= Decimal("0.75")


@pytest.mark.anyio
async def test_a_failure_on_demand_says_where_the_money_is() -> None:
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
        (funds,) = failed.value.intent.funds or []
        assert (funds.chain, funds.protocol) == (plan.execution_plan.target_chain, None)
        with pytest.raises(steward.InsufficientFundsError) as short:
            await client.intents.lend(wallet_id=wallet.id, amount="250")
        assert short.value.required == 250 and short.value.available == funds.amount


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
