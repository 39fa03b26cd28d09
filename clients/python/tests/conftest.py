"""Fixtures for tests of both clients. The environment contains the addresses of the API and of the test control."""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack
from typing import Any, cast

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from steward import AsyncList, AsyncSteward, Steward
from steward._internal import ports

Control = Callable[..., Any]


class Driven:
    """Makes an asynchronous client callable like the blocking one, on its own event loop."""

    def __init__(self, portal: BlockingPortal, target: Any) -> None:
        self._portal = portal
        self._target = target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return self._method(value) if callable(value) else Driven(self._portal, value)

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            if inspect.iscoroutine(result):
                return self._portal.call(_settle, result)
            if isinstance(result, AsyncList):
                return Driven(self._portal, result)
            return self._drain(cast(Any, result)) if inspect.isasyncgen(result) else result

        return call

    def __iter__(self) -> Iterator[Any]:
        return self._drain(aiter(self._target))

    def _drain(self, source: AsyncGenerator[Any, None]) -> Iterator[Any]:
        async def next_value() -> Any:
            return await anext(source, None)

        try:
            while (value := self._portal.call(next_value)) is not None:
                yield value
        finally:
            self._portal.call(source.aclose)


async def _settle(result: Any) -> Any:
    return await result


@pytest.fixture(scope="session")
def control() -> Control:
    """Runs a command in the test process: `control("move", intentId=…, to="completed")`."""
    url = os.environ["CONTROL_URL"]

    def run_command(command: str, **options: Any) -> Any:
        answer = httpx2.post(f"{url}/{command}", json=options, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return run_command


class Customer:
    """An account with a key, a wallet and a client."""

    def __init__(self, control: Control, make: Callable[..., Steward], **options: Any) -> None:
        made = control("account", **options)
        self.key: str = made["key"]
        self.wallet_id: str = made["walletId"]
        self.client = make(self.key)
        self._make = make
        self._control = control

    def another_client(self, **options: Any) -> Steward:
        return self._make(self.key, **options)

    def new_intent(self) -> str:
        return self._control("intent", walletId=self.wallet_id)

    def stored(self) -> dict[str, Any]:
        """The stored `intents` of the account and its `charges` in credits."""
        return self._control("stored", walletId=self.wallet_id)


@pytest.fixture(params=["blocking", "asyncio"])
def make_client(request: pytest.FixtureRequest) -> Iterator[Callable[..., Steward]]:
    """Creates blocking and asynchronous clients. `transport` replaces the HTTP transport."""
    if request.param == "blocking":
        with ExitStack() as stack:

            def make(key: str, transport: Any = None, **options: Any) -> Steward:
                http = httpx2.Client(transport=transport)
                stack.callback(http.close)
                return Steward(key, http_client=http, **options)

            yield make
        return
    with start_blocking_portal() as portal, ExitStack() as stack:

        def make_driven(key: str, transport: Any = None, **options: Any) -> Steward:
            http = httpx2.AsyncClient(transport=transport)
            stack.callback(portal.call, http.aclose)
            client = AsyncSteward(key, http_client=http, **options)
            return cast(Steward, Driven(portal, client))

        yield make_driven


@pytest.fixture
def new_customer(control: Control, make_client: Callable[..., Steward]) -> Callable[..., Customer]:
    def make(**options: Any) -> Customer:
        return Customer(control, make_client, **options)

    return make


@pytest.fixture
def customer(new_customer: Callable[..., Customer]) -> Customer:
    return new_customer()


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The retry delays of the clients in seconds. The clients do not sleep."""
    recorded: list[float] = []

    async def record(self: object, seconds: float) -> None:
        recorded.append(seconds)

    monkeypatch.setattr(ports.BlockingPort, "sleep", record)
    monkeypatch.setattr(ports.AsyncPort, "sleep", record)
    return recorded
