"""One class for each error code of the API."""

from __future__ import annotations

from decimal import Decimal
from typing import cast

from ..models import HeldFunds, IncomingFunds
from .base import StewardError


class InvalidRequestError(StewardError):
    """The request is not valid. `issues` contains the problems."""

    default_code = "INVALID_REQUEST"

    @property
    def issues(self) -> list[dict[str, str]]:
        """`path` and `message` of each problem."""
        return cast("list[dict[str, str]]", self.details.get("issues", []))


class InsufficientFundsError(StewardError):
    """The wallet has less money than the intent needs."""

    default_code = "INSUFFICIENT_FUNDS"

    @property
    def required(self) -> Decimal | None:
        """Whole tokens that the intent needs; None for a withdrawal of `max`."""
        return _decimal(self.details.get("required"))

    @property
    def available(self) -> Decimal | None:
        """Whole tokens that the intent can use, on one chain."""
        return _decimal(self.details.get("available"))

    @property
    def held(self) -> list[HeldFunds]:
        """Money that other intents of the wallet reserve."""
        return [HeldFunds.model_validate(one) for one in self.details.get("held", [])]

    @property
    def on_its_way(self) -> list[IncomingFunds]:
        """Test money that has not arrived yet."""
        return [IncomingFunds.model_validate(one) for one in self.details.get("onItsWay", [])]


class UnauthorizedError(StewardError):
    """The API key is missing, malformed, unknown, revoked or expired."""

    default_code = "UNAUTHORIZED"


class InsufficientCreditsError(StewardError):
    """The call costs more credits than the account has."""

    default_code = "INSUFFICIENT_CREDITS"


class ForbiddenError(StewardError):
    """The key has no such scope, or the account or wallet is frozen."""

    default_code = "FORBIDDEN"


class WalletLimitExceededError(StewardError):
    """The account has as many wallets as its plan allows."""

    default_code = "WALLET_LIMIT_EXCEEDED"


class NotFoundError(StewardError):
    """The resource or path does not exist. Base class of the errors for unknown ids."""

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
    """The webhook has no delivery with this id. Deliveries are kept for 30 days."""

    default_code = "DELIVERY_NOT_FOUND"


class MethodNotAllowedError(StewardError):
    """The endpoint exists, but not for this HTTP method."""

    default_code = "METHOD_NOT_ALLOWED"


class RateLimitedError(StewardError):
    """The account exceeds its rate limit. `retry_after` is in seconds."""

    default_code = "RATE_LIMITED"


class InternalError(StewardError):
    """The service failed unexpectedly. Report `request_id`."""

    default_code = "INTERNAL"


class UnavailableError(StewardError):
    """A part of the service, or every requested chain, does not respond."""

    default_code = "UNAVAILABLE"


class NetworkError(StewardError):
    """The service cannot reach a system that it needs."""

    default_code = "NETWORK_ERROR"


class RpcError(StewardError):
    """A node of a chain does not respond."""

    default_code = "RPC_ERROR"


_answered = (
    *(InvalidRequestError, InsufficientFundsError, UnauthorizedError, InsufficientCreditsError),
    *(ForbiddenError, WalletLimitExceededError, NotFoundError, WalletNotFoundError),
    *(IntentNotFoundError, FundingNotFoundError, WebhookNotFoundError, DeliveryNotFoundError),
    *(MethodNotAllowedError, RateLimitedError, InternalError, UnavailableError, NetworkError, RpcError),
)

error_classes: dict[str, type[StewardError]] = {one.default_code: one for one in _answered}
"""The class of each error code."""


def _decimal(text: object) -> Decimal | None:
    return Decimal(text) if isinstance(text, str) and text[:1].isdigit() else None
