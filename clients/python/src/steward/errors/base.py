"""What all errors have in common, and those of this package itself."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

Reason = Literal[
    "user_id_taken",
    "idempotency_key_reused",
    "event_gone",
    "already_signed",
    "already_over",
    "not_failed",
    "not_final",
    "funds_in_bridge",
    "nothing_left",
    "no_route",
    "above_maximum",
    "above_fee_limit",
    "below_fee",
    "no_swap",
    "market_busy",
    "webhook_url_refused",
    "too_many_webhooks",
    "webhook_disabled",
    "preview_unknown",
    "preview_differs",
    "no_liquidity",
    "capability_disabled",
]
"""The special cases that `reason` names. New ones may come."""


class StewardError(Exception):
    """Anything that goes wrong in a call; this class itself for a code that is newer than this client.

    Attributes:
        status: HTTP status of the answer; None when there was none.
        code: Code of the answer, such as `INSUFFICIENT_FUNDS`.
        message: For a person: what is wrong, and what to do.
        details: Facts that belong to the code, as the API answered them.
        request_id: Names the request; quote it when you ask for help.
        reason: Names a special case of the code.
        retry_after: Seconds after which the call may succeed, when the API returned them.
        idempotency_key: Of a POST that may have been done all the same: sent again with this key, it is done
            once and charged once.
    """

    default_code: ClassVar[str] = "UNKNOWN"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.status = status
        self.details: dict[str, Any] = dict(details or {})
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key

    @property
    def request_id(self) -> str | None:
        found = self.details.get("requestId")
        return found if isinstance(found, str) else None

    @property
    def reason(self) -> Reason | str | None:
        found = self.details.get("reason")
        return found if isinstance(found, str) else None

    def __str__(self) -> str:
        named = f" ({self.request_id})" if self.request_id else ""
        return f"{self.code}: {self.message}{named}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (type(self), self.message, self.__dict__.copy()))


def _restore(kind: type[StewardError], message: str, state: dict[str, Any]) -> StewardError:
    """An error as another process raised it."""
    error = kind(message)
    error.__dict__.update(state)
    return error


class ConnectionError(StewardError, builtins.ConnectionError):
    """No connection, or it was lost before the answer had come."""

    default_code = "CONNECTION"


class TimeoutError(StewardError, builtins.TimeoutError):
    """No answer came in time, or what was waited for is not over: it goes on, wait for it again."""

    default_code = "TIMEOUT"


class InvalidAnswerError(StewardError):
    """An answer came that is none of this API: a proxy's, say, or one of another service."""

    default_code = "INVALID_ANSWER"


class WebhookVerificationError(StewardError):
    """What came is not from the service, too old, or was changed on its way: answer it with 400."""

    default_code = "WEBHOOK_VERIFICATION"
