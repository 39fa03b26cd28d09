"""Lending rates."""

from __future__ import annotations

from datetime import datetime

from .base import Model


class YieldRate(Model):
    """The current rate of a market. `apy` is in percent."""

    chain: str
    alias: str
    protocol: str
    asset: str
    apy: float


class BestYield(Model):
    """The rate with the highest APY."""

    chain: str
    alias: str
    protocol: str | None = None
    asset: str
    apy: float
    reasoning: str


class DisabledMarket(Model):
    """A market without a current rate."""

    chain: str
    alias: str
    protocol: str
    asset: str | None = None
    reason: str


class Yields(Model):
    """Lending rates, read from the chains. `best` is None when no rate matches."""

    rates: list[YieldRate]
    best: BestYield | None
    unavailable: list[str] | None = None
    disabled: list[DisabledMarket] | None = None


class YieldSnapshot(Model):
    """A past rate of a market. `apy` is in percent."""

    chain: str
    alias: str
    protocol: str
    asset: str
    apy: float
    taken_at: datetime
