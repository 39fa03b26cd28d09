"""Wallets: what they hold, what they have lent, and test money."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from .base import Model
from .timeline import WaitingFor


class Wallet(Model):
    """A wallet of one end user, on every supported chain."""

    id: str
    user_id: str
    address: str
    chain_type: str
    chains: list[str]
    metadata: dict[str, Any]
    created_at: datetime


class TokenBalance(Model):
    """What a wallet holds of one token on one chain: `balance` in minimal units."""

    asset: str
    balance: int
    balance_formatted: Decimal
    decimals: int
    value_usd: float


class ChainBalances(Model):
    """What a wallet holds on one chain."""

    chain: str
    tokens: list[TokenBalance]


class Balances(Model):
    """What a wallet holds. `unavailable`: chains that do not answer now."""

    wallet_id: str
    address: str
    chains: list[ChainBalances]
    total_value_usd: float
    unavailable: list[str] | None = None


class Position(Model):
    """What a wallet has lent to one protocol on one chain, in whole tokens."""

    chain: str
    protocol: str
    asset: str
    deposited: Decimal
    withdrawn: Decimal
    current_value: Decimal
    earned: Decimal
    apy: float
    closed: bool | None = None


class Positions(Model):
    """What a wallet has lent."""

    wallet_id: str
    address: str
    positions: list[Position]
    unavailable: list[str] | None = None


class FundingError(Model):
    """Why test money was not sent."""

    code: str
    message: str


class Funding(Model):
    """Test money for a wallet."""

    id: str
    wallet_id: str
    status: Literal["pending", "completed", "failed"] | str
    chain: str
    asset: str
    amount: Decimal
    waiting_for: WaitingFor | None = None
    tx_hash: str | None = None
    explorer_url: str | None = None
    error: FundingError | None = None
    created_at: datetime
    ended_at: datetime | None = None


class CreditAccount(Model):
    """Credits of the account."""

    balance: int
    total_purchased: int
    total_used: int
    plan: str
