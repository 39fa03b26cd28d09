"""Makes calls with retries, reads pages, and follows streams.

Written once for both clients. A blocking client runs these coroutines with a port that blocks, so that they
never wait (`ports.run`).
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

from ..errors import InvalidAnswerError, StewardError
from ..models import Event, Page
from .call import Body, Call, Item, ListCall, StreamCall, target_of
from .ports import Port, Stream
from .rules import (
    Answer,
    Request,
    Settings,
    delay_after,
    error_of,
    headers_of,
    jitter,
    may_pass,
    read_model,
)
from .sse import Message, SseParser

log = logging.getLogger("steward")

# The service sends a comment every 15 s.
SILENCE_S = 45.0


@dataclass(frozen=True)
class Engine:
    """Settings and transport of a client."""

    settings: Settings
    port: Port


async def perform(engine: Engine, call: Call[Body]) -> Body:
    """The parsed response of a call, with retries. Raises StewardError."""
    return read_model(await ask(engine, call), call.answer)


async def ask(engine: Engine, call: Call[Body], *, max_retries: int | None = None) -> Answer:
    """The response with its headers. Raises StewardError without a 2xx status."""
    retries = engine.settings.max_retries if max_retries is None else max_retries
    request = to_request(engine.settings, call)
    failures = 0
    while True:
        try:
            return await _try_once(engine.port, call, request)
        except StewardError as error:
            failures += 1
            error.idempotency_key = request.headers.get("idempotency-key")
            delay = delay_after(error, failures) if failures <= retries else None
            if delay is None:
                raise
            log.info("%s %s: %s, retry in %.1f s", call.method, call.path, error.code, delay)
        await engine.port.sleep(delay)


def to_request(settings: Settings, call: Call[Body]) -> Request:
    """All attempts of a call share one idempotency key, so the call is executed once."""
    headers = headers_of(settings)
    if call.is_keyed:
        headers["idempotency-key"] = call.idempotency_key or str(uuid.uuid4())
    content = None
    if call.body is not None:
        headers["content-type"] = "application/json"
        content = json.dumps(call.body, ensure_ascii=False, allow_nan=False).encode()
    url = settings.origin + target_of(call.path, call.query)
    return Request(call.method, url, headers, content, settings.timeout + call.long_poll_s)


async def _try_once(port: Port, call: Call[Body], request: Request) -> Answer:
    begun = time.monotonic()
    answer = await port.send(request)
    ms = (time.monotonic() - begun) * 1000
    request_id = answer.headers.get("x-request-id", "")
    log.debug("%s %s: %d in %d ms %s", call.method, call.path, answer.status, ms, request_id)
    if not answer.is_ok:
        raise error_of(answer)
    return answer


async def pages(engine: Engine, call: ListCall[Item]) -> AsyncGenerator[Page[Item], None]:
    """The pages of a list, one call each."""
    rest: ListCall[Item] | None = call
    while rest is not None:
        page = await perform(engine, rest.first())
        yield page
        rest = rest.after(page)


async def items(engine: Engine, call: ListCall[Item]) -> AsyncGenerator[Item, None]:
    """The entries of a list, over all its pages."""
    async with aclosing(pages(engine, call)) as all_pages:
        async for page in all_pages:
            for item in page.data:
                yield item


class Listening:
    """An open stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._parser = SseParser()
        self.is_settled = stream.answer.status == 204
        """The stream is complete and has no more events."""

    async def read(self) -> list[Message] | None:
        """The next messages, possibly only a heartbeat; None when the stream has ended."""
        if self.is_settled:
            return None
        chunk = await self._stream.chunk()
        return None if chunk is None else self._parser.feed(chunk)


@asynccontextmanager
async def listen(engine: Engine, call: StreamCall, silence: float) -> AsyncGenerator[Listening, None]:
    """Opens a stream behind `call.after`.

    Args:
        silence: Seconds without any sign of life after which hearing raises TimeoutError.

    Raises:
        StewardError: of an answer that is an error; InvalidAnswerError of one that is no stream.
    """
    headers = {**headers_of(engine.settings), "accept": "text/event-stream"}
    if call.after:
        headers["last-event-id"] = call.after
    url = engine.settings.origin + target_of(call.path, call.query)
    stream = await engine.port.open(Request("GET", url, headers, None, silence))
    try:
        if not stream.answer.is_ok:
            raise error_of(stream.answer)
        kind = stream.answer.headers.get("content-type", "")
        if stream.answer.status != 204 and not kind.startswith("text/event-stream"):
            raise InvalidAnswerError("The response is not a stream of events.", status=stream.answer.status)
        log.debug("%s: stream opened", call.path)
        yield Listening(stream)
    finally:
        await stream.close()


def to_event(data: str) -> Event:
    """The event of a message."""
    return read_model(Answer(200, {}, data.encode()), Event)


async def events(engine: Engine, call: StreamCall) -> AsyncGenerator[Event, None]:
    """Yields events and reopens a broken stream. Raises StewardError for an error that a retry cannot resolve.

    The first connection has the retries of any call. After it, retries have no limit.
    """
    failures = 0
    was_open = False
    while True:
        try:
            async with listen(engine, call, SILENCE_S) as listening:
                was_open = True
                while (messages := await listening.read()) is not None:
                    failures = 0
                    for message in messages:
                        call = replace(call, after=message.id or call.after)
                        if message.data is not None:
                            yield to_event(message.data)
                if listening.is_settled:
                    return
            failures += 1
            delay = jitter(failures)
        except StewardError as error:
            failures += 1
            can_retry = was_open or failures <= engine.settings.max_retries
            if not (can_retry and may_pass(error)):
                raise
            delay = (error.retry_after or 0) + jitter(failures)
        await engine.port.sleep(delay)
