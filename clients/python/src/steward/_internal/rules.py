"""Pure rules of both clients, without input or output."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from .._version import VERSION
from ..errors import (
    ConnectionError,
    IntentFailedError,
    InvalidAnswerError,
    StewardError,
    TimeoutError,
    error_classes,
)
from ..models import AnyModel, Intent

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 8.0
# The rate limit resets every minute. Longer delays, such as of a daily limit, are raised to the caller.
LONGEST_RETRY_AFTER_S = 60.0


@dataclass(frozen=True)
class Settings:
    """Key, address and limits of a client."""

    api_key: str = field(repr=False)
    origin: str
    """Address of the service without `/v1` and without a trailing slash."""
    timeout: float
    max_retries: int


def to_settings(
    api_key: str | None, base_url: str | None, timeout: float, max_retries: int
) -> Settings:
    """The arguments of the caller, by default the environment.

    Raises:
        ValueError: when the key or the address is missing or malformed.
    """
    key = api_key or os.environ.get("STEWARD_API_KEY")
    url = base_url or os.environ.get("STEWARD_BASE_URL")
    if not key:
        raise ValueError("The API key is missing. Pass api_key or set STEWARD_API_KEY.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("api_key contains invalid characters. Pass the key as the dashboard shows it.")
    if not url:
        raise ValueError("The address is missing. Pass base_url or set STEWARD_BASE_URL.")
    if not url.startswith(("http://", "https://")):
        raise ValueError("base_url must start with https:// or http://.")
    return Settings(key, url.rstrip("/").removesuffix("/v1"), timeout, max_retries)


@dataclass(frozen=True)
class Request:
    """An HTTP request. `timeout` in seconds, for the connection and for each read or write."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None
    timeout: float


@dataclass(frozen=True)
class Answer:
    """An HTTP response. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_ok(self) -> bool:
        return 200 <= self.status < 300


def headers_of(settings: Settings) -> dict[str, str]:
    """The headers of every request."""
    return {
        "authorization": f"Bearer {settings.api_key}",
        "user-agent": f"steward-sdk-python/{VERSION}",
        "accept": "application/json",
    }


def read_model(answer: Answer, kind: type[AnyModel]) -> AnyModel:
    """The model of a response.

    Raises:
        StewardError: for a response without a 2xx status, in the class of its code.
    """
    if not answer.is_ok:
        raise error_of(answer)
    try:
        return TypeAdapter(kind).validate_python(json.loads(answer.content))
    except ValidationError as error:
        places = {".".join(map(str, one["loc"])) for one in error.errors(include_input=False)}
        message = f"The response does not match the API. Check {', '.join(sorted(places)[:5])}."
    except ValueError:
        message = f"The response is not JSON (HTTP {answer.status}). Check base_url."
    # Raised outside the handlers, because the caught exceptions quote the response.
    raise InvalidAnswerError(message, status=answer.status, details=_named(answer))


def error_of(answer: Answer) -> StewardError:
    """The error of a response without a 2xx status; `HTTP_<status>` for another server, such as a proxy."""
    body = _as_object(_parse(answer.content))
    code, message = body.get("error"), body.get("message")
    details = {**_named(answer), **_as_object(body.get("details"))}
    known = code if isinstance(code, str) else f"HTTP_{answer.status}"
    kind = error_classes.get(known, StewardError)
    return kind(
        message if isinstance(message, str) else f"HTTP status {answer.status}.",
        code=known,
        status=answer.status,
        details=details,
        retry_after=_retry_after(answer, details),
    )


def may_pass(error: BaseException) -> bool:
    """Whether the same call may succeed later. The idempotency key of a POST makes its retry safe."""
    if isinstance(error, IntentFailedError) or not isinstance(error, StewardError):
        return False
    if error.status is None:
        return isinstance(error, (ConnectionError, TimeoutError))
    return error.status in (408, 429) or error.status >= 500


def delay_after(error: BaseException, failures: int) -> float | None:
    """Seconds until the next attempt; None without another attempt.

    `Retry-After` up to one minute wins over full jitter.

    Args:
        failures: Number of failed attempts, including this one.
    """
    if not may_pass(error):
        return None
    retry_after = cast(StewardError, error).retry_after
    if retry_after is None:
        return jitter(failures)
    return retry_after if retry_after <= LONGEST_RETRY_AFTER_S else None


def jitter(failures: int) -> float:
    """A delay in seconds with full jitter, which spreads the retries of many clients."""
    return random.uniform(0, min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(failures - 1, 10)))


def has_ended(intent: Intent) -> bool:
    """Whether an intent has ended. An unknown status has not, unless `ended_at` is set."""
    return intent.status in ("completed", "failed") or intent.ended_at is not None


def _retry_after(answer: Answer, details: Mapping[str, Any]) -> float | None:
    """Seconds from the header, a number or a date, or from the details."""
    header = answer.headers.get("retry-after", "")
    if header.isascii() and header.isdecimal():
        return float(header)
    try:
        until = parsedate_to_datetime(header) - datetime.now(timezone.utc)
        return max(0.0, until.total_seconds())
    except (TypeError, ValueError):
        seconds = details.get("retryAfter")
        return float(seconds) if isinstance(seconds, (int, float)) else None


def _named(answer: Answer) -> dict[str, Any]:
    request_id = answer.headers.get("x-request-id")
    return {"requestId": request_id} if request_id else {}


def _parse(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _as_object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
