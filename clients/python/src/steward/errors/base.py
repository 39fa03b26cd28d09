"""The base class of all errors, and the errors without a code of the API."""

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
    "below_minimum",
    "no_swap",
    "market_busy",
    "webhook_url_refused",
    "too_many_webhooks",
    "webhook_disabled",
    "preview_unknown",
    "preview_differs",
    "no_liquidity",
    "capability_disabled",
    "outcome_unknown",
]
"""Values of `reason`. A newer API may return others."""


class StewardError(Exception):
    """The base class of all errors, also raised for codes that this version does not know.

    Attributes:
        status: HTTP status of the response; None without a response.
        code: Code of the error, such as `INSUFFICIENT_FUNDS`.
        message: The problem and the action, for people.
        details: Facts of the error, as the API returned them.
        request_id: Id of the request, for support.
        reason: Special case of the code.
        retry_after: Seconds after which the call may succeed; None when the API returned none.
        idempotency_key: Key of a failed POST, which the service may have executed. A repeated call with this key
            is executed and charged once.
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
    """Restores a pickled error."""
    error = kind(message)
    error.__dict__.update(state)
    return error


class ConnectionError(StewardError, builtins.ConnectionError):
    """The connection failed, or was lost before the response arrived."""

    default_code = "CONNECTION"


class TimeoutError(StewardError, builtins.TimeoutError):
    """The response, or the end of an intent or funding, did not arrive in time. Its execution continues; wait again."""

    default_code = "TIMEOUT"


class InvalidAnswerError(StewardError):
    """The response is not from this API, but for example from a proxy."""

    default_code = "INVALID_ANSWER"


class WebhookVerificationError(StewardError):
    """The webhook has no valid signature or is too old. Respond with 400."""

    default_code = "WEBHOOK_VERIFICATION"
