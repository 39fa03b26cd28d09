"""The blocking client."""

from __future__ import annotations

from types import TracebackType

import httpx2

from . import webhooks
from ._internal import calls, event_calls
from ._internal.engine import Engine
from ._internal.ports import BlockingPort, run
from ._internal.rules import to_settings
from ._surface import Resource, blocking, listing, streaming
from ._waiting import OnEvent, wait_for_funding, wait_for_intent
from .models import Funding, Intent


class Wallets(Resource):
    create = blocking(calls.create_wallet)
    get = blocking(calls.get_wallet)
    list = listing(calls.list_wallets)


class Balances(Resource):
    get = blocking(calls.get_balances)


class Yields(Resource):
    list = blocking(calls.list_yields)
    history = listing(calls.list_yield_history)


class Positions(Resource):
    get = blocking(calls.get_positions)


class Credits(Resource):
    get = blocking(calls.get_credits)


class Intents(Resource):
    lend = blocking(calls.lend)
    withdraw = blocking(calls.withdraw)
    bridge = blocking(calls.bridge)
    preview = blocking(calls.preview)
    get = blocking(calls.get_intent)
    list = listing(calls.list_intents)
    cancel = blocking(calls.cancel_intent)
    retry = blocking(calls.retry_intent)
    preview_retry = blocking(calls.preview_retry)
    create_read_token = blocking(calls.create_read_token)

    def wait_for_completion(
        self, intent_id: str, *, on_event: OnEvent | None = None, timeout: float | None = None
    ) -> Intent:
        """Returns the completed intent. Any process may wait for any intent of the account.

        `on_event` receives each event once, from the first one. Lost connections and restarts of the
        service do not end the wait.

        Raises:
            IntentFailedError: with the failed intent.
            TimeoutError: when the intent still runs after `timeout` seconds. By default there is no limit.
        """
        return run(wait_for_intent(self._engine, intent_id, on_event=on_event, timeout=timeout))


class Demo(Resource):
    fund = blocking(calls.fund)
    get = blocking(calls.get_funding)

    def wait_for_completion(self, funding_id: str, *, timeout: float | None = None) -> Funding:
        """Returns the funding when its money is in the wallet. Raises FundingFailedError, TimeoutError."""
        return run(wait_for_funding(self._engine, funding_id, timeout=timeout))


class Events(Resource):
    list = listing(event_calls.list_events)
    stream = streaming(event_calls.stream_events)


class Webhooks(Resource):
    create = blocking(event_calls.create_webhook)
    list = listing(event_calls.list_webhooks)
    get = blocking(event_calls.get_webhook)
    update = blocking(event_calls.update_webhook)
    delete = blocking(event_calls.delete_webhook)
    rotate_secret = blocking(event_calls.rotate_webhook_secret)
    test = blocking(event_calls.test_webhook)
    deliveries = listing(event_calls.list_deliveries)
    resend = blocking(event_calls.resend_delivery)
    verify = staticmethod(webhooks.verify)


class Steward:
    """A client of one account. Threads may share it. Close it, or use it in a `with` block."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 60.0,
        max_retries: int = 2,
        http_client: httpx2.Client | None = None,
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
        http = http_client or httpx2.Client()
        self._owned = None if http_client else http
        engine = Engine(settings, BlockingPort(http))
        self.wallets = Wallets(engine)
        self.balances = Balances(engine)
        self.yields = Yields(engine)
        self.intents = Intents(engine)
        self.positions = Positions(engine)
        self.demo = Demo(engine)
        self.credits = Credits(engine)
        self.events = Events(engine)
        self.webhooks = Webhooks(engine)

    def close(self) -> None:
        """Closes the connections of the client."""
        if self._owned:
            self._owned.close()

    def __enter__(self) -> Steward:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
