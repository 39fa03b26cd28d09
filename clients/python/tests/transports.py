"""HTTP transports that edit or replace responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2

Edit = Callable[[httpx2.Request, dict[str, Any]], None]
Refuse = Callable[[httpx2.Request], httpx2.Response | None]


class Edited(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Sends requests to the API and edits the JSON of its responses, or returns other responses."""

    def __init__(self, edit: Edit | None = None, refuse: Refuse | None = None) -> None:
        self._edit = edit
        self._refuse = refuse
        self._blocking = httpx2.HTTPTransport()
        self._async = httpx2.AsyncHTTPTransport()
        self.seen: list[httpx2.Request] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        refusal = self._refuse(request) if self._refuse else None
        if refusal:
            return refusal
        response = self._blocking.handle_request(request)
        if not self._is_edited(response):
            return response
        return self._changed(request, response, response.read())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        refusal = self._refuse(request) if self._refuse else None
        if refusal:
            return refusal
        response = await self._async.handle_async_request(request)
        if not self._is_edited(response):
            return response
        return self._changed(request, response, await response.aread())

    def close(self) -> None:
        self._blocking.close()

    async def aclose(self) -> None:
        await self._async.aclose()

    def _is_edited(self, response: httpx2.Response) -> bool:
        kind = response.headers.get("content-type", "")
        return self._edit is not None and kind.startswith("application/json")

    def _changed(
        self, request: httpx2.Request, response: httpx2.Response, content: bytes
    ) -> httpx2.Response:
        body = json.loads(content)
        if self._edit:
            self._edit(request, body)
        headers = [(k, v) for k, v in response.headers.items() if k != "content-length"]
        return httpx2.Response(response.status_code, headers=headers, json=body)
