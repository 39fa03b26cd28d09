"""Wallets, balances, positions and test money."""

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
    """The balance of one token on one chain, in minimal units."""

    asset: str
    balance: int
    balance_formatted: Decimal
    decimals: int
    value_usd: float | None


class ChainBalances(Model):
    """The balances of a wallet on one chain."""

    chain: str
    alias: str
    tokens: list[TokenBalance]


class Balances(Model):
    """The balances of a wallet. `lent_usd` is what it has lent besides, None while it is unknown."""

    wallet_id: str
    address: str
    chains: list[ChainBalances]
    total_value_usd: float
    lent_usd: float | None
    positions: str
    unavailable: list[str] | None = None


class Position(Model):
    """Money lent to one protocol on one chain, in whole tokens."""

    chain: str
    alias: str
    protocol: str
    asset: str
    deposited: Decimal
    withdrawn: Decimal
    current_value: Decimal
    earned: Decimal
    apy: float
    closed: bool | None = None


class Positions(Model):
    """The positions of a wallet."""

    wallet_id: str
    address: str
    positions: list[Position]
    unavailable: list[str] | None = None


class FundingError(Model):
    """The failure of a funding."""

    code: str
    message: str


class Funding(Model):
    """A transfer of test money to a wallet."""

    id: str
    wallet_id: str
    status: Literal["pending", "completed", "failed"] | str
    chain: str
    alias: str
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
