"""Wait reasons and locations of money."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from .base import Model


class WaitingFor(Model):
    """The reason of a wait. Nothing has failed."""

    code: str
    message: str
    since: datetime
    usual_seconds: float | None = None


class FundsAt(Model):
    """The location of money: on a `chain` or in the `bridge`, in the wallet or lent to a `protocol`."""

    chain: str
    asset: str
    amount: Decimal
    protocol: str | None = None


class HeldFunds(Model):
    """Money that another intent of the wallet reserves."""

    intent_id: str
    step: int
    chain: str
    asset: str
    amount: Decimal
    since: datetime
    why: Literal["open", "not_final"] | str
    until: datetime | None = None


class IncomingFunds(Model):
    """Test money that has not arrived yet."""

    funding_id: str
    chain: str
    asset: str
    amount: Decimal
    since: datetime
