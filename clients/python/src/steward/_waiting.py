"""Waits until an intent has ended, with a stream of its events, or with polls when streams do not work."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import cast

from ._internal import calls, event_calls
from ._internal.call import StreamCall
from ._internal.engine import Engine, Listening, ask, listen, pages, perform, to_event
from ._internal.rules import has_ended, jitter, may_pass, read_model
from .errors import (
    ConnectionError,
    FundingFailedError,
    RateLimitedError,
    StewardError,
    TimeoutError,
    failure_of,
)
from .models import Event, Funding, Intent

OnEvent = Callable[[Event], "Awaitable[None] | None"]

# The service sends a heartbeat every 15 s. A silent stream is behind a buffering proxy.
SILENCE_S = 20.0
SILENT_STREAMS = 2
# Seconds of a long poll, which returns at the next change.
POLL_S = 10
# Minimum interval of polls without a change.
SHORTEST_POLL_S = 5.0
FUNDING_POLL_S = 1.0
LATE_LISTS = 10
LATE_LIST_S = 0.3
# A stream is not reopened for less remaining time; the timeout may be exceeded by this much.
LEEWAY_S = 1.0
LAST_EVENTS = ("intent.completed", "intent.failed", "intent.cancelled")


class CallerFailed(Exception):
    """The callback of the caller raised an exception, which ends the wait."""


@dataclass
class Watch:
    """The state of one wait for an intent."""

    engine: Engine
    intent_id: str
    on_event: OnEvent | None
    deadline: float
    timeline: StreamCall
    can_stream: bool = True
    """Whether streams reach this client."""
    can_long_poll: bool = True
    """Whether the service accepts long polls."""
    has_last_event: bool = False
    silent: int = 0
    """Number of failed streams since the last message."""
    empty: int = 0
    """Number of consecutive streams without an event."""
    version: str | None = None

    def left(self) -> float:
        return self.deadline - time.monotonic()

    async def look(self) -> tuple[Intent, float]:
        """The current intent, and the seconds until the next look."""
        if self.can_stream and self.left() > 0:
            await self._follow()
        if self.can_stream:
            answer = await ask(self.engine, calls.get_intent(self.intent_id), max_retries=0)
            return read_model(answer, Intent), jitter(self.empty) if self.empty else 0
        return await self._poll()

    async def _follow(self) -> None:
        """Follows the stream to the last event or its end, and detects whether streams work."""
        before = self.timeline.after
        self.has_last_event = False
        try:
            while not await self._follow_once():
                pass
        except ConnectionError:
            # The service is unreachable for polls as well.
            raise
        except StewardError as error:
            # The stream was rejected, buffered or interrupted. A poll shows whether only the stream fails.
            self.silent += self.timeline.after == before
            self.can_long_poll = not _has_too_many_streams(error)
            self.can_stream = self.can_long_poll and may_pass(error) and self.silent < SILENT_STREAMS
        self.empty = self.empty + 1 if self.timeline.after == before else 0

    async def _follow_once(self) -> bool:
        """Returns False to reopen the stream with a shorter read timeout."""
        read_timeout = min(SILENCE_S, max(self.left(), 0.001))
        async with listen(self.engine, self.timeline, read_timeout) as listening:
            while True:
                try:
                    if await self._deliver_next(listening):
                        return True
                except ConnectionError:
                    return True
                # Each heartbeat restarts the timeout of the next one.
                if read_timeout > self.left() + LEEWAY_S:
                    return self.left() <= 0

    async def _deliver_next(self, listening: Listening) -> bool:
        """Delivers the next events; True at the end of the intent or of the stream."""
        messages = await listening.read()
        if messages is None:
            return True
        self.silent = 0
        for message in messages:
            if message.data is not None:
                await self._deliver(to_event(message.data))
            self.timeline = replace(self.timeline, after=message.id or self.timeline.after)
        return self.has_last_event

    async def _poll(self) -> tuple[Intent, float]:
        begun = time.monotonic()
        wait = round(min(POLL_S, self.left())) if self.can_long_poll and self.version else 0
        long_poll = wait if wait > 0 else None
        call = calls.get_intent(self.intent_id, wait=long_poll, version=self.version)
        answer = await ask(self.engine, call, max_retries=0)
        version = answer.headers.get("x-intent-version")
        is_changed = version != self.version
        self.version = version
        intent = read_model(answer, Intent)
        if self.on_event and is_changed:
            await self._catch_up(intent)
        rest = 0 if is_changed else SHORTEST_POLL_S - (time.monotonic() - begun)
        return intent, rest

    async def _catch_up(self, intent: Intent) -> None:
        """Delivers missed events from the list, which is free and may lag behind the intent."""
        await self._list()
        for _ in range(LATE_LISTS):
            if self.has_last_event or not has_ended(intent):
                return
            await self.engine.port.sleep(LATE_LIST_S)
            await self._list()

    async def _list(self) -> None:
        past = event_calls.list_events(intent_id=self.intent_id, after=self.timeline.after)
        async for page in pages(self.engine, past):
            for event in page.data:
                await self._deliver(event)
                self.timeline = replace(self.timeline, after=event.id)

    async def _deliver(self, event: Event) -> None:
        # A reorg may reopen an ended intent, so later events are delivered too.
        self.has_last_event = event.type in LAST_EVENTS
        if self.on_event is None:
            return
        try:
            pending = self.on_event(event)
            if pending is not None:
                await pending
        except Exception as error:
            raise CallerFailed from error


async def wait_for_intent(
    engine: Engine, intent_id: str, *, on_event: OnEvent | None, timeout: float | None
) -> Intent:
    """Returns the completed intent. Restarts of the service and lost connections do not end the wait.

    Raises:
        IntentFailedError: with the failed intent.
        TimeoutError: when the intent still runs after `timeout` seconds.
        StewardError: for an error that waiting cannot resolve.
    """
    deadline = _deadline(timeout)
    watch = Watch(engine, intent_id, on_event, deadline, event_calls.follow_intent(intent_id))
    failures = 0
    while True:
        try:
            intent, rest = await watch.look()
        except CallerFailed as failed:
            raise cast(Exception, failed.__cause__) from None
        except StewardError as error:
            if not may_pass(error) or watch.left() <= 0:
                raise
            failures += 1
            rest = (error.retry_after or 0) + jitter(failures)
        else:
            failures = 0
            if has_ended(intent):
                return _completed(intent)
            if watch.left() <= 0:
                raise TimeoutError(f"{intent.id} is still {intent.status}. Wait again.")
        await engine.port.sleep(min(rest, watch.left()))


async def wait_for_funding(engine: Engine, funding_id: str, *, timeout: float | None) -> Funding:
    """Returns the funding when its money is in the wallet.

    Raises:
        FundingFailedError: when the money was not sent.
        TimeoutError: when the money has not arrived after `timeout` seconds.
    """
    deadline = _deadline(timeout)
    while True:
        funding = await perform(engine, calls.get_funding(funding_id))
        if funding.status == "completed":
            return funding
        if funding.status == "failed":
            raise FundingFailedError(funding)
        if time.monotonic() + FUNDING_POLL_S > deadline:
            raise TimeoutError(f"{funding.id} has not arrived yet. Wait again.")
        await engine.port.sleep(FUNDING_POLL_S)


def _completed(intent: Intent) -> Intent:
    if intent.status == "failed" or intent.error is not None:
        raise failure_of(intent)
    return intent


def _has_too_many_streams(error: StewardError) -> bool:
    """Whether the account has reached its limit of open streams."""
    return isinstance(error, RateLimitedError) and error.details.get("window") == "open streams"


def _deadline(timeout: float | None) -> float:
    return float("inf") if timeout is None else time.monotonic() + timeout
