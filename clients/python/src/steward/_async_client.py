"""The asynchronous client."""

from __future__ import annotations

from types import TracebackType

import httpx2

from . import webhooks
from ._internal import calls, event_calls
from ._internal.engine import Engine
from ._internal.ports import AsyncPort
from ._internal.rules import to_settings
from ._surface import Resource, async_listing, async_streaming, awaiting
from ._waiting import OnEvent, wait_for_funding, wait_for_intent
from .models import Funding, Intent


class AsyncWallets(Resource):
    create = awaiting(calls.create_wallet)
    get = awaiting(calls.get_wallet)
    list = async_listing(calls.list_wallets)


class AsyncBalances(Resource):
    get = awaiting(calls.get_balances)


class AsyncYields(Resource):
    list = awaiting(calls.list_yields)
    history = async_listing(calls.list_yield_history)


class AsyncPositions(Resource):
    get = awaiting(calls.get_positions)


class AsyncCredits(Resource):
    get = awaiting(calls.get_credits)


class AsyncIntents(Resource):
    lend = awaiting(calls.lend)
    withdraw = awaiting(calls.withdraw)
    bridge = awaiting(calls.bridge)
    preview = awaiting(calls.preview)
    get = awaiting(calls.get_intent)
    list = async_listing(calls.list_intents)
    cancel = awaiting(calls.cancel_intent)
    retry = awaiting(calls.retry_intent)
    preview_retry = awaiting(calls.preview_retry)
    create_read_token = awaiting(calls.create_read_token)

    async def wait_for_completion(
        self, intent_id: str, *, on_event: OnEvent | None = None, timeout: float | None = None
    ) -> Intent:
        """Returns the completed intent. Any process may wait for any intent of the account.

        `on_event`, a function or a coroutine function, receives each event once, from the first one.
        Lost connections and restarts of the service do not end the wait.

        Raises:
            IntentFailedError: with the failed intent.
            TimeoutError: when the intent still runs after `timeout` seconds. By default there is no limit.
        """
        return await wait_for_intent(
            self._engine, intent_id, on_event=on_event, timeout=timeout
        )


class AsyncDemo(Resource):
    fund = awaiting(calls.fund)
    get = awaiting(calls.get_funding)

    async def wait_for_completion(self, funding_id: str, *, timeout: float | None = None) -> Funding:
        """Returns the funding when its money is in the wallet. Raises FundingFailedError, TimeoutError."""
        return await wait_for_funding(self._engine, funding_id, timeout=timeout)


class AsyncEvents(Resource):
    list = async_listing(event_calls.list_events)
    stream = async_streaming(event_calls.stream_events)


class AsyncWebhooks(Resource):
    create = awaiting(event_calls.create_webhook)
    list = async_listing(event_calls.list_webhooks)
    get = awaiting(event_calls.get_webhook)
    update = awaiting(event_calls.update_webhook)
    delete = awaiting(event_calls.delete_webhook)
    rotate_secret = awaiting(event_calls.rotate_webhook_secret)
    test = awaiting(event_calls.test_webhook)
    deliveries = async_listing(event_calls.list_deliveries)
    resend = awaiting(event_calls.resend_delivery)
    verify = staticmethod(webhooks.verify)


class AsyncSteward:
    """A client of one account. Close it, or use it in an `async with`."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 2,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        """
        Args:
            api_key: `svc_sk_…`, by default STEWARD_API_KEY of the environment.
            base_url: Address of the service, with or without `/v1`, by default STEWARD_BASE_URL.
            timeout: Seconds that an attempt waits for the connection and for each read or write.
            max_retries: Attempts after the first one.
            http_client: Custom client, such as for proxies and certificates. The caller closes it.

        Raises:
            ValueError: when the key or the address is missing.
        """
        settings = to_settings(api_key, base_url, timeout, max_retries)
        http = http_client or httpx2.AsyncClient()
        self._owned = None if http_client else http
        engine = Engine(settings, AsyncPort(http))
        self.wallets = AsyncWallets(engine)
        self.balances = AsyncBalances(engine)
        self.yields = AsyncYields(engine)
        self.intents = AsyncIntents(engine)
        self.positions = AsyncPositions(engine)
        self.demo = AsyncDemo(engine)
        self.credits = AsyncCredits(engine)
        self.events = AsyncEvents(engine)
        self.webhooks = AsyncWebhooks(engine)

    async def close(self) -> None:
        """Closes the connections of the client."""
        if self._owned:
            await self._owned.aclose()

    async def __aenter__(self) -> AsyncSteward:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
