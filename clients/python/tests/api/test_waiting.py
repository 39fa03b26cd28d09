"""Waiting for an intent, whatever happens meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

import steward
from steward.models import Event
from tests.conftest import Control, Customer
from tests.transports import Edited

TIMELINE = ["intent.created", "intent.planned", "intent.executing", "intent.completed"]


class Hand:
    """Moves an intent on when its waiter is told of something: nothing depends on how fast anybody is."""

    def __init__(self, control: Control, **deeds: Callable[[], Any]) -> None:
        self.told: list[str] = []
        self.ids: list[str] = []
        self._deeds = deeds

    def __call__(self, event: Event) -> None:
        self.told.append(event.type)
        self.ids.append(event.id)
        deed = self._deeds.get(event.type.removeprefix("intent."))
        if deed:
            deed()


def _mover(control: Control, intent_id: str) -> Callable[..., Callable[[], Any]]:
    def later(to: str, **more: Any) -> Callable[[], Any]:
        return lambda: control("move", intentId=intent_id, to=to, **more)

    return later


@pytest.fixture
def intent_id(customer: Customer) -> str:
    return customer.new_intent()


def test_it_is_told_each_event_once_and_ends_with_the_intent(
    customer: Customer, control: Control, intent_id: str
) -> None:
    move = _mover(control, intent_id)
    hand = Hand(control, planned=move("executing"), executing=move("completed"))
    done = customer.client.intents.wait_for_completion(intent_id, on_event=hand, timeout=60)
    assert (done.status, hand.told) == ("completed", TIMELINE)
    # An intent that is over already has the same timeline.
    again = Hand(control)
    customer.client.intents.wait_for_completion(intent_id, on_event=again)
    assert again.ids == hand.ids


def test_the_api_ends_and_starts_while_it_waits(
    customer: Customer, control: Control, intent_id: str
) -> None:
    move = _mover(control, intent_id)

    def die() -> None:
        control("outage", refusals=2)
        move("executing")()

    hand = Hand(control, planned=die, executing=move("completed"))
    done = customer.client.intents.wait_for_completion(intent_id, on_event=hand, timeout=90)
    assert (done.status, hand.told) == ("completed", TIMELINE)
    assert len(set(hand.ids)) == len(TIMELINE)


def test_a_failed_intent_is_raised_with_where_its_money_is(
    customer: Customer, control: Control, intent_id: str
) -> None:
    funds = [{"chain": "arbitrum-sepolia", "asset": "USDC", "amount": "1"}]
    error = {"code": "DEPOSIT_FAILED", "message": "refused", "step": 1, "funds": funds}
    move = _mover(control, intent_id)
    hand = Hand(control, planned=move("executing"), executing=move("failed", error=error))
    with pytest.raises(steward.DepositFailedError) as failed:
        customer.client.intents.wait_for_completion(intent_id, on_event=hand, timeout=60)
    told = failed.value.intent.error
    assert told is not None and told.funds is not None
    assert (told.funds[0].chain, told.funds[0].amount) == ("arbitrum-sepolia", 1)


def test_money_that_stays_in_the_bridge_is_told_at_once(
    customer: Customer, control: Control, intent_id: str
) -> None:
    error = {"code": "BRIDGE_TIMEOUT", "message": "late", "step": 1}
    control("move", intentId=intent_id, to="executing")
    control("move", intentId=intent_id, to="failed", error=error)
    with pytest.raises(steward.BridgeTimeoutError):
        customer.client.intents.wait_for_completion(intent_id, timeout=60)


def test_when_it_takes_too_long_it_is_waited_for_again(
    customer: Customer, control: Control, intent_id: str
) -> None:
    with pytest.raises(steward.TimeoutError, match="is still planning"):
        customer.client.intents.wait_for_completion(intent_id, timeout=0.3)
    control("move", intentId=intent_id, to="executing")
    control("move", intentId=intent_id, to="completed")
    assert customer.client.intents.wait_for_completion(intent_id).status == "completed"


@pytest.mark.usefixtures("naps")
def test_where_streams_do_not_pass_it_asks_and_tells_the_same(
    customer: Customer, control: Control, intent_id: str
) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response | None:
        is_stream = request.headers.get("accept") == "text/event-stream"
        return httpx2.Response(501, text="<h1>No</h1>") if is_stream else None

    transport = Edited(refuse=refuse)
    client = customer.another_client(transport=transport)
    move = _mover(control, intent_id)
    hand = Hand(control, planned=move("executing"), executing=move("completed"))
    done = client.intents.wait_for_completion(intent_id, on_event=hand, timeout=60)
    assert (done.status, hand.told) == ("completed", TIMELINE)
    streams = [one for one in transport.seen if one.url.path.endswith(f"{intent_id}/events")]
    assert len(streams) == 2


class HeldBack(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A stream that a proxy gathers instead of passing it on."""

    def __iter__(self) -> Iterator[bytes]:
        raise httpx2.ReadTimeout("nothing came")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in self:
            yield b""


@pytest.mark.usefixtures("naps")
def test_where_streams_are_held_back_it_asks_and_tells_the_same(
    customer: Customer, control: Control, intent_id: str
) -> None:
    def hold_back(request: httpx2.Request) -> httpx2.Response | None:
        is_stream = request.headers.get("accept") == "text/event-stream"
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=HeldBack()) if is_stream else None

    move = _mover(control, intent_id)
    hand = Hand(control, planned=move("executing"), executing=move("completed"))
    client = customer.another_client(transport=Edited(refuse=hold_back))
    done = client.intents.wait_for_completion(intent_id, on_event=hand)
    assert (done.status, hand.told) == ("completed", TIMELINE)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_coroutine_is_told_and_waited_for(control: Control) -> None:
    made = control("account")
    intent_id: str = control("intent", walletId=made["walletId"])
    moves = {"intent.planned": "executing", "intent.executing": "completed"}
    told: list[str] = []

    async def hear(event: Event) -> None:
        told.append(event.type)
        to = moves.get(event.type)
        if to:
            await anyio.to_thread.run_sync(
                lambda: control("move", intentId=intent_id, to=to)
            )

    async with steward.AsyncSteward(made["key"]) as client:
        await client.intents.wait_for_completion(intent_id, on_event=hear, timeout=60)
    assert told == TIMELINE


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_waiting_that_is_cancelled_ends_at_once(control: Control) -> None:
    made = control("account")
    intent_id: str = control("intent", walletId=made["walletId"])
    async with steward.AsyncSteward(made["key"]) as client, anyio.create_task_group() as group:

        def cancel(_: Event) -> None:
            group.cancel_scope.cancel()

        await client.intents.wait_for_completion(intent_id, on_event=cancel)
        pytest.fail("It went on.")


def test_an_exception_of_whoever_is_told_ends_the_waiting(
    customer: Customer, intent_id: str
) -> None:
    def fail(_: Event) -> None:
        raise steward.ConnectionError("mine")

    with pytest.raises(steward.ConnectionError, match="mine"):
        customer.client.intents.wait_for_completion(intent_id, on_event=fail, timeout=60)


WAITER = """
import sys
from steward import Steward
told = lambda event: print(event.type, flush=True)
print(Steward(sys.argv[1]).intents.wait_for_completion(sys.argv[2], on_event=told).status, flush=True)
"""


@contextmanager
def _waiter(
    order: list[str], env: dict[str, str]
) -> Generator[subprocess.Popen[str], None, None]:
    """A process that is killed in the end, wherever it is then."""
    with subprocess.Popen(order, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_another_process_waits_on_where_one_was_killed(control: Control) -> None:
    made = control("account")
    intent_id: str = control("intent", walletId=made["walletId"])
    order = [sys.executable, "-c", WAITER, made["key"], intent_id]
    env = {**os.environ, "PYTHONPATH": "src"}
    with _waiter(order, env) as first:
        assert first.stdout is not None
        assert [first.stdout.readline().strip() for _ in range(2)] == TIMELINE[:2]
    control("move", intentId=intent_id, to="executing")
    with _waiter(order, env) as second:
        assert second.stdout is not None
        assert [second.stdout.readline().strip() for _ in range(3)] == TIMELINE[:3]
        control("move", intentId=intent_id, to="completed")
        assert second.stdout.read().split() == [TIMELINE[3], "completed"]
