"""What is decided alike for blocking and asynchronous clients: no input or output here."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast

from pydantic import ValidationError

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
# A window of the rate limit is a minute. What asks for more, such as a daily limit, is the caller's to decide.
LONGEST_RETRY_AFTER_S = 60.0


@dataclass(frozen=True)
class Settings:
    """Whose client it is, and how patient."""

    api_key: str = field(repr=False)
    origin: str
    """Where the service is: without `/v1`, without a slash at its end."""
    timeout: float
    max_retries: int


def to_settings(
    api_key: str | None, base_url: str | None, timeout: float, max_retries: int
) -> Settings:
    """What the caller has given, else the environment.

    Raises:
        ValueError: when key or address are missing, or cannot be what they should be.
    """
    key = api_key or os.environ.get("STEWARD_API_KEY")
    url = base_url or os.environ.get("STEWARD_BASE_URL")
    if not key:
        raise ValueError("Pass api_key, or set STEWARD_API_KEY.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("api_key has characters that no key has.")
    if not url:
        raise ValueError("Pass base_url, or set STEWARD_BASE_URL.")
    if not url.startswith(("http://", "https://")):
        raise ValueError("base_url must begin with https:// or http://.")
    return Settings(key, url.rstrip("/").removesuffix("/v1"), timeout, max_retries)


@dataclass(frozen=True)
class Request:
    """An HTTP request. `timeout` in seconds, for each time that something is waited for."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None
    timeout: float


@dataclass(frozen=True)
class Answer:
    """An HTTP answer. Names of headers are in lower case."""

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
    """What the API has answered.

    Raises:
        StewardError: of the class that belongs to the code of the answer.
    """
    if not answer.is_ok:
        raise error_of(answer)
    try:
        return kind.model_validate(json.loads(answer.content))
    except ValidationError as error:
        places = {".".join(map(str, one["loc"])) for one in error.errors(include_input=False)}
        message = f"The answer is none of this API: see {', '.join(sorted(places)[:5])}."
    except ValueError:
        message = f"The answer is not JSON (HTTP {answer.status}). Does base_url name the service?"
    # Outside the handlers: what they have caught quotes the answer.
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
    """Whether the same call may succeed later. A POST has a key by which it is done once."""
    if isinstance(error, IntentFailedError) or not isinstance(error, StewardError):
        return False
    if error.status is None:
        return isinstance(error, (ConnectionError, TimeoutError))
    return error.status in (408, 429) or error.status >= 500


def delay_after(error: BaseException, failures: int) -> float | None:
    """Seconds to wait before a call is made again; None when another try makes no sense.

    What the answer asks for wins over full jitter, as long as it is no more than a minute.

    Args:
        failures: So many tries have failed, this one included.
    """
    if not may_pass(error):
        return None
    asked = cast(StewardError, error).retry_after
    if asked is None:
        return jitter(failures)
    return asked if asked <= LONGEST_RETRY_AFTER_S else None


def jitter(failures: int) -> float:
    """Full jitter: many clients that failed together do not come back together."""
    return random.uniform(0, min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(failures - 1, 10)))


def is_over(intent: Intent) -> bool:
    """Whether an intent has ended. An unknown status has not, unless `ended_at` is set."""
    return intent.status in ("completed", "failed") or intent.ended_at is not None


def _retry_after(answer: Answer, details: Mapping[str, Any]) -> float | None:
    """In seconds: as header, a number or a date, or as detail."""
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
