"""Transports of the API: one blocks, the other runs in the event loop."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar, cast

import anyio
import httpx2

from ..errors import ConnectionError, InvalidAnswerError, TimeoutError
from .rules import Answer, Request

Result = TypeVar("Result")


class Stream(Protocol):
    """A streamed response. The `answer` of an event stream has no content."""

    answer: Answer

    async def chunk(self) -> bytes | None:
        """The next bytes; None at the end."""
        ...

    async def close(self) -> None: ...


class Port(Protocol):
    """Transport of the engine. Its methods raise ConnectionError and TimeoutError."""

    async def send(self, request: Request) -> Answer: ...
    async def open(self, request: Request) -> Stream: ...
    async def sleep(self, seconds: float) -> None: ...


def run(awaitable: Awaitable[Result]) -> Result:
    """The result of a coroutine that never suspends, because its port blocks."""
    try:
        awaitable.__await__().send(None)
    except StopIteration as end:
        return cast(Result, end.value)
    raise RuntimeError("A blocking client cannot run a coroutine that suspends.")


class BlockingPort:
    """Blocks in each method, so its coroutines never suspend."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    async def send(self, request: Request) -> Answer:
        with _own_errors():
            response = self._client.send(_build(self._client, request), follow_redirects=False)
            return _answer(response, response.content)

    async def open(self, request: Request) -> Stream:
        with _own_errors():
            built = _build(self._client, request)
            response = self._client.send(built, stream=True, follow_redirects=False)
            content = b"" if _is_stream(response) else response.read()
        return BlockingStream(response, content)

    async def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))


class BlockingStream:
    def __init__(self, response: httpx2.Response, content: bytes) -> None:
        self.answer = _answer(response, content)
        self._response = response
        self._chunks: Iterator[bytes] = response.iter_bytes()

    async def chunk(self) -> bytes | None:
        with _own_errors():
            return next(self._chunks, None)

    async def close(self) -> None:
        self._response.close()


class AsyncPort:
    """Runs in the event loop."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def send(self, request: Request) -> Answer:
        with _own_errors():
            response = await self._client.send(
                _build(self._client, request), follow_redirects=False
            )
            return _answer(response, response.content)

    async def open(self, request: Request) -> Stream:
        with _own_errors():
            built = _build(self._client, request)
            response = await self._client.send(built, stream=True, follow_redirects=False)
            content = b"" if _is_stream(response) else await response.aread()
        return AsyncStream(response, content)

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(max(0.0, seconds))


class AsyncStream:
    def __init__(self, response: httpx2.Response, content: bytes) -> None:
        self.answer = _answer(response, content)
        self._response = response
        self._chunks: AsyncIterator[bytes] = response.aiter_bytes()

    async def chunk(self) -> bytes | None:
        with _own_errors():
            return await anext(self._chunks, None)

    async def close(self) -> None:
        await self._response.aclose()


def _build(client: httpx2.Client | httpx2.AsyncClient, request: Request) -> httpx2.Request:
    return client.build_request(
        request.method,
        request.url,
        headers=request.headers,
        content=request.content,
        timeout=request.timeout,
    )


def _answer(response: httpx2.Response, content: bytes) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, content)


def _is_stream(response: httpx2.Response) -> bool:
    kind = response.headers.get("content-type", "")
    return response.status_code == 200 and kind.startswith("text/event-stream")


@contextmanager
def _own_errors() -> Generator[None, None, None]:
    """Converts errors of httpx2 to errors of this package."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise TimeoutError("The service did not respond in time. Try again.") from error
    except httpx2.TransportError as error:
        raise ConnectionError("The service cannot be reached. Check base_url and the network.") from error
    except httpx2.RequestError as error:
        raise InvalidAnswerError("The response cannot be read.") from error
