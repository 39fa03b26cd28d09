"""Waiting for an intent."""

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


class EventLog:
    """Records the events that a waiting client receives, and runs one action per event type."""

    def __init__(self, **actions: Callable[[], Any]) -> None:
        self.types: list[str] = []
        self.ids: list[str] = []
        self._actions = actions

    def __call__(self, event: Event) -> None:
        self.types.append(event.type)
        self.ids.append(event.id)
        action = self._actions.get(event.type.removeprefix("intent."))
        if action:
            action()


def _mover(control: Control, intent_id: str) -> Callable[..., Callable[[], Any]]:
    def later(to: str, **more: Any) -> Callable[[], Any]:
        return lambda: control("move", intentId=intent_id, to=to, **more)

    return later


@pytest.fixture
def intent_id(customer: Customer) -> str:
    return customer.new_intent()


def test_the_callback_receives_each_event_once_until_the_intent_ends(
    customer: Customer, control: Control, intent_id: str
) -> None:
    move = _mover(control, intent_id)
    log = EventLog(planned=move("executing"), executing=move("completed"))
    done = customer.client.intents.wait_for_completion(intent_id, on_event=log, timeout=60)
    assert (done.status, log.types) == ("completed", TIMELINE)
    # A finished intent has the same timeline.
    again = EventLog()
    customer.client.intents.wait_for_completion(intent_id, on_event=again)
    assert again.ids == log.ids


def test_a_restart_of_the_api_does_not_end_the_wait(
    customer: Customer, control: Control, intent_id: str
) -> None:
    move = _mover(control, intent_id)

    def restart_api() -> None:
        control("outage", refusals=2)
        move("executing")()

    log = EventLog(planned=restart_api, executing=move("completed"))
    done = customer.client.intents.wait_for_completion(intent_id, on_event=log, timeout=90)
    assert (done.status, log.types) == ("completed", TIMELINE)
    assert len(set(log.ids)) == len(TIMELINE)


def test_the_error_of_a_failed_intent_contains_its_funds(
    customer: Customer, control: Control, intent_id: str
) -> None:
    funds = [{"chain": "arbitrum-sepolia", "asset": "USDC", "amount": "1"}]
    error = {"code": "DEPOSIT_FAILED", "message": "refused", "step": 1, "funds": funds}
    move = _mover(control, intent_id)
    log = EventLog(planned=move("executing"), executing=move("failed", error=error))
    with pytest.raises(steward.DepositFailedError) as failed:
        customer.client.intents.wait_for_completion(intent_id, on_event=log, timeout=60)
    reported = failed.value.intent.error
    assert reported is not None and reported.funds is not None
    assert (reported.funds[0].chain, reported.funds[0].amount) == ("arbitrum-sepolia", 1)


def test_a_bridge_timeout_is_raised_at_once(
    customer: Customer, control: Control, intent_id: str
) -> None:
    error = {"code": "BRIDGE_TIMEOUT", "message": "late", "step": 1}
    control("move", intentId=intent_id, to="executing")
    control("move", intentId=intent_id, to="failed", error=error)
    with pytest.raises(steward.BridgeTimeoutError):
        customer.client.intents.wait_for_completion(intent_id, timeout=60)


def test_a_wait_can_be_repeated_after_its_timeout(
    customer: Customer, control: Control, intent_id: str
) -> None:
    with pytest.raises(steward.TimeoutError, match="is still planning"):
        customer.client.intents.wait_for_completion(intent_id, timeout=0.3)
    control("move", intentId=intent_id, to="executing")
    control("move", intentId=intent_id, to="completed")
    assert customer.client.intents.wait_for_completion(intent_id).status == "completed"


@pytest.mark.usefixtures("delays")
def test_polls_deliver_the_same_events_when_streams_are_rejected(
    customer: Customer, control: Control, intent_id: str
) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response | None:
        is_stream = request.headers.get("accept") == "text/event-stream"
        return httpx2.Response(501, text="<h1>No</h1>") if is_stream else None

    transport = Edited(refuse=refuse)
    client = customer.another_client(transport=transport)
    move = _mover(control, intent_id)
    log = EventLog(planned=move("executing"), executing=move("completed"))
    done = client.intents.wait_for_completion(intent_id, on_event=log, timeout=60)
    assert (done.status, log.types) == ("completed", TIMELINE)
    streams = [one for one in transport.seen if one.url.path.endswith(f"{intent_id}/events")]
    assert len(streams) == 2


class BufferedStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A stream that a proxy buffers."""

    def __iter__(self) -> Iterator[bytes]:
        raise httpx2.ReadTimeout("nothing arrived")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in self:
            yield b""


@pytest.mark.usefixtures("delays")
def test_polls_deliver_the_same_events_when_streams_are_buffered(
    customer: Customer, control: Control, intent_id: str
) -> None:
    def buffer(request: httpx2.Request) -> httpx2.Response | None:
        is_stream = request.headers.get("accept") == "text/event-stream"
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=BufferedStream()) if is_stream else None

    move = _mover(control, intent_id)
    log = EventLog(planned=move("executing"), executing=move("completed"))
    client = customer.another_client(transport=Edited(refuse=buffer))
    done = client.intents.wait_for_completion(intent_id, on_event=log)
    assert (done.status, log.types) == ("completed", TIMELINE)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_callback_may_be_a_coroutine(control: Control) -> None:
    made = control("account")
    intent_id: str = control("intent", walletId=made["walletId"])
    moves = {"intent.planned": "executing", "intent.executing": "completed"}
    types: list[str] = []

    async def on_event(event: Event) -> None:
        types.append(event.type)
        to = moves.get(event.type)
        if to:
            await anyio.to_thread.run_sync(
                lambda: control("move", intentId=intent_id, to=to)
            )

    async with steward.AsyncSteward(made["key"]) as client:
        await client.intents.wait_for_completion(intent_id, on_event=on_event, timeout=60)
    assert types == TIMELINE


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_wait_ends_at_once(control: Control) -> None:
    made = control("account")
    intent_id: str = control("intent", walletId=made["walletId"])
    async with steward.AsyncSteward(made["key"]) as client, anyio.create_task_group() as group:

        def cancel(_: Event) -> None:
            group.cancel_scope.cancel()

        await client.intents.wait_for_completion(intent_id, on_event=cancel)
        pytest.fail("The wait continued after its cancellation.")


def test_an_exception_of_the_callback_ends_the_wait(
    customer: Customer, intent_id: str
) -> None:
    def fail(_: Event) -> None:
        raise steward.ConnectionError("mine")

    with pytest.raises(steward.ConnectionError, match="mine"):
        customer.client.intents.wait_for_completion(intent_id, on_event=fail, timeout=60)


WAITER = """
import sys
from steward import Steward
show = lambda event: print(event.type, flush=True)
print(Steward(sys.argv[1]).intents.wait_for_completion(sys.argv[2], on_event=show).status, flush=True)
"""


@contextmanager
def _waiter(
    command: list[str], env: dict[str, str]
) -> Generator[subprocess.Popen[str], None, None]:
    """Runs a waiting process and kills it at the end."""
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_another_process_continues_the_wait_of_a_killed_one(control: Control) -> None:
    made = control("account")
    intent_id: str = control("intent", walletId=made["walletId"])
    command = [sys.executable, "-c", WAITER, made["key"], intent_id]
    env = {**os.environ, "PYTHONPATH": "src"}
    with _waiter(command, env) as first:
        assert first.stdout is not None
        assert [first.stdout.readline().strip() for _ in range(2)] == TIMELINE[:2]
    control("move", intentId=intent_id, to="executing")
    with _waiter(command, env) as second:
        assert second.stdout is not None
        assert [second.stdout.readline().strip() for _ in range(3)] == TIMELINE[:3]
        control("move", intentId=intent_id, to="completed")
        assert second.stdout.read().split() == [TIMELINE[3], "completed"]
