"""Errors of failed intents and fundings."""

from __future__ import annotations

from typing import Any

from ..models import Funding, Intent
from .base import StewardError


class IntentFailedError(StewardError):
    """The intent failed. `code` is the reason; `intent.error.funds` shows where the money is."""

    def __init__(self, intent: Intent) -> None:
        error = intent.error
        message = error.message if error else f"its status is {intent.status}."
        super().__init__(f"{intent.id} failed: {message}", code=error.code if error else None)
        self.intent = intent

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.intent,))


class BridgeFailedError(IntentFailedError):
    """The money stayed in the wallet on the source chain."""

    default_code = "BRIDGE_FAILED"


class BridgeTimeoutError(IntentFailedError):
    """The money is in the bridge and arrives later. `intent.error.recovery` is set then."""

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
    """The intent was cancelled. Its completed steps stand."""

    default_code = "CANCELLED"


class FundingFailedError(StewardError):
    """The test money was not sent."""

    default_code = "FUNDING_FAILED"

    def __init__(self, funding: Funding) -> None:
        super().__init__(funding.error.message if funding.error else "It was not sent.")
        self.funding = funding

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.funding,))


_failures = (
    *(BridgeFailedError, BridgeTimeoutError, SwapFailedError),
    *(WithdrawFailedError, DepositFailedError, CancelledError),
)

failure_classes: dict[str, type[IntentFailedError]] = {one.default_code: one for one in _failures}
"""The class of each code that only failed intents have."""


def failure_of(intent: Intent) -> IntentFailedError:
    """The error of a failed intent; IntentFailedError for codes without their own class."""
    code = intent.error.code if intent.error else ""
    return failure_classes.get(code, IntentFailedError)(intent)
