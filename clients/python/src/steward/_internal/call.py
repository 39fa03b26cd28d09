"""Calls of the API, independent of the transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote, urlencode

from ..models import Model, Page

Body = TypeVar("Body", bound=Model)
Item = TypeVar("Item", bound=Model)

QueryValue = str | int | bool | datetime | Sequence[str] | None

LONGEST_PAGE = 100
"""Maximum entries of a page. The cost of a page does not depend on its length."""


@dataclass(frozen=True)
class Call(Generic[Body]):
    """One call of the API and the model of its response."""

    method: Literal["GET", "POST"]
    path: str
    """Path with `/v1`."""
    answer: type[Body]
    query: Mapping[str, QueryValue] = field(default_factory=dict[str, QueryValue])
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    is_keyed: bool = False
    """Whether the call gets an Idempotency-Key when the caller passes none."""
    long_poll_s: float = 0
    """Seconds of a long poll, added to the timeout."""


@dataclass(frozen=True)
class ListCall(Generic[Item]):
    """A list that is read page by page."""

    path: str
    page: type[Page[Item]]
    query: Mapping[str, QueryValue]
    cursor: str | None = None
    limit: int | None = None

    def first(self) -> Call[Page[Item]]:
        limit = self.limit or LONGEST_PAGE
        query = {**self.query, "limit": limit, "cursor": self.cursor}
        return Call("GET", self.path, self.page, query)

    def after(self, page: Page[Item]) -> ListCall[Item] | None:
        """The rest of the list after a page; None after the last page."""
        if not page.has_more or page.next_cursor is None:
            return None
        # The API accepts either a cursor or `after`.
        query = {k: v for k, v in self.query.items() if k != "after"}
        return replace(self, query=query, cursor=page.next_cursor)


@dataclass(frozen=True)
class StreamCall:
    """A stream of the events of one intent or of the account."""

    path: str
    query: Mapping[str, QueryValue] = field(default_factory=dict[str, QueryValue])
    after: str | None = None


def target_of(path: str, query: Mapping[str, QueryValue]) -> str:
    """The encoded path and query."""
    search = urlencode({k: _query_text(v) for k, v in query.items() if v is not None})
    return f"{path}?{search}" if search else path


def segment(value: str) -> str:
    """A value encoded as one path segment.

    Raises:
        ValueError: for an empty text, `.` and `..`, with which the URL would name another endpoint.
    """
    if value in ("", ".", ".."):
        raise ValueError('An id must not be empty, "." or "..". Pass the id that the service returned.')
    return quote(value, safe="")


def write(
    path: str, answer: type[Body], body: Mapping[str, Any], key: str | None
) -> Call[Body]:
    """A POST with an idempotency key: repeated sends are executed once."""
    return Call("POST", path, answer, body=body, idempotency_key=key, is_keyed=True)


def given(**fields: Any) -> dict[str, Any]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _query_text(value: QueryValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        # As in `datetime`, a time without a zone is local time.
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, (str, int)):
        return str(value)
    return ",".join(value or ())
