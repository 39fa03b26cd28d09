"""What goes wrong: one class for each code that the API answers with.

See `/docs/errors` of a deployment for what each code means and what to do.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, Literal, cast

from .models import Funding, HeldFunds, IncomingFunds, Intent

Reason = Literal[
    "user_id_taken",
    "idempotency_key_reused",
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
        retry_after: Seconds after which the call may succeed, where the API says so.
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


class IntentFailedError(StewardError):
    """An intent that was waited for has failed: `code` says why, `intent.error.funds` where the money is."""

    def __init__(self, intent: Intent) -> None:
        error = intent.error
        message = error.message if error else f"It ended as {intent.status}."
        super().__init__(f"{intent.id} failed: {message}", code=error.code if error else None)
        self.intent = intent

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.intent,))


class BridgeFailedError(IntentFailedError):
    """The money stayed in the wallet on the source chain."""

    default_code = "BRIDGE_FAILED"


class BridgeTimeoutError(IntentFailedError):
    """The money is in the bridge and will come out: `intent.error.recovery` tells when it has."""

    default_code = "BRIDGE_TIMEOUT"


class SwapFailedError(IntentFailedError):
    """The money is in the wallet, not swapped."""

    default_code = "SWAP_FAILED"


class WithdrawFailedError(IntentFailedError):
    """The money is still in the market."""

    default_code = "WITHDRAW_FAILED"


class DepositFailedError(IntentFailedError):
    """The money is in the wallet on the chain of the deposit."""

    default_code = "DEPOSIT_FAILED"


class CancelledError(IntentFailedError):
    """The intent was cancelled before anything of it was signed."""

    default_code = "CANCELLED"


class FundingFailedError(StewardError):
    """Test money that was waited for was not sent."""

    default_code = "FUNDING_FAILED"

    def __init__(self, funding: Funding) -> None:
        super().__init__(funding.error.message if funding.error else "It was not sent.")
        self.funding = funding

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.funding,))


class InvalidRequestError(StewardError):
    """The request cannot be done as it was sent: `issues` says what is wrong."""

    default_code = "INVALID_REQUEST"

    @property
    def issues(self) -> list[dict[str, str]]:
        """`path` and `message` of each part that is wrong."""
        return cast("list[dict[str, str]]", self.details.get("issues", []))


class InsufficientFundsError(StewardError):
    """The wallet lacks the money where the intent needs it."""

    default_code = "INSUFFICIENT_FUNDS"

    @property
    def required(self) -> Decimal | None:
        """Whole tokens that the intent needs; None when all of a position was asked for."""
        return _decimal(self.details.get("required"))

    @property
    def available(self) -> Decimal | None:
        """Whole tokens that it may use, on one chain."""
        return _decimal(self.details.get("available"))

    @property
    def held(self) -> list[HeldFunds]:
        """What other intents of the wallet hold of the money."""
        return [HeldFunds.model_validate(one) for one in self.details.get("held", [])]

    @property
    def on_its_way(self) -> list[IncomingFunds]:
        """Test money that has not arrived yet."""
        return [IncomingFunds.model_validate(one) for one in self.details.get("onItsWay", [])]


class UnauthorizedError(StewardError):
    """The API key is missing, malformed, unknown, revoked or expired."""

    default_code = "UNAUTHORIZED"


class InsufficientCreditsError(StewardError):
    """The call costs more credits than the account has left."""

    default_code = "INSUFFICIENT_CREDITS"


class ForbiddenError(StewardError):
    """The key lacks the scope that the call needs, or account or wallet are stopped."""

    default_code = "FORBIDDEN"


class WalletLimitExceededError(StewardError):
    """The account has as many wallets as its plan allows."""

    default_code = "WALLET_LIMIT_EXCEEDED"


class NotFoundError(StewardError):
    """There is no such thing; also the base class of what is not found by its id."""

    default_code = "NOT_FOUND"


class WalletNotFoundError(NotFoundError):
    """The account has no wallet with this id or user id."""

    default_code = "WALLET_NOT_FOUND"


class IntentNotFoundError(NotFoundError):
    """The account has no intent with this id."""

    default_code = "INTENT_NOT_FOUND"


class FundingNotFoundError(NotFoundError):
    """The account has no funding with this id."""

    default_code = "FUNDING_NOT_FOUND"


class WebhookNotFoundError(NotFoundError):
    """The account has no webhook with this id."""

    default_code = "WEBHOOK_NOT_FOUND"


class DeliveryNotFoundError(NotFoundError):
    """The webhook has no delivery with this id. They are kept for 30 days."""

    default_code = "DELIVERY_NOT_FOUND"


class MethodNotAllowedError(StewardError):
    """The endpoint exists, but not for this HTTP method."""

    default_code = "METHOD_NOT_ALLOWED"


class RateLimitedError(StewardError):
    """More was asked than the account may: `retry_after` says when there is room again."""

    default_code = "RATE_LIMITED"


class InternalError(StewardError):
    """Something went wrong in the service: report `request_id`."""

    default_code = "INTERNAL"


class UnavailableError(StewardError):
    """A part of the service, or every chain that was asked, does not answer now."""

    default_code = "UNAVAILABLE"


class NetworkError(StewardError):
    """The network between the service and what it needs does not work."""

    default_code = "NETWORK_ERROR"


class RpcError(StewardError):
    """A node of a chain does not answer."""

    default_code = "RPC_ERROR"


_answered = (
    *(InvalidRequestError, InsufficientFundsError, UnauthorizedError, InsufficientCreditsError),
    *(ForbiddenError, WalletLimitExceededError, NotFoundError, WalletNotFoundError),
    *(IntentNotFoundError, FundingNotFoundError, WebhookNotFoundError, DeliveryNotFoundError),
    *(MethodNotAllowedError, RateLimitedError, InternalError, UnavailableError, NetworkError, RpcError),
)
_failures = (
    *(BridgeFailedError, BridgeTimeoutError, SwapFailedError),
    *(WithdrawFailedError, DepositFailedError, CancelledError),
)

error_classes: dict[str, type[StewardError]] = {one.default_code: one for one in _answered}
"""The class of each code that an answer can have."""

failure_classes: dict[str, type[IntentFailedError]] = {one.default_code: one for one in _failures}
"""The class of each code that belongs to failed intents alone."""


def failure_of(intent: Intent) -> IntentFailedError:
    """Why an intent has failed; IntentFailedError itself for a code that answers have, too."""
    code = intent.error.code if intent.error else ""
    return failure_classes.get(code, IntentFailedError)(intent)


def _decimal(text: object) -> Decimal | None:
    return Decimal(text) if isinstance(text, str) and text[:1].isdigit() else None
