"""Formats amounts in whole tokens for the API."""

from __future__ import annotations

from decimal import Decimal

Amount = int | str | Decimal | float


def amount_text(amount: Amount) -> str:
    """The amount as decimal text, without rounding.

    A `float` is sent as its shortest decimal text: `0.1` is sent as `0.1`. Text is sent unchanged; the API
    validates it and accepts `max` for withdrawals.

    Raises:
        TypeError: for another type.
        ValueError: for infinity and NaN.
    """
    _assert_amount(amount)
    if isinstance(amount, str):
        return amount
    exact = Decimal(repr(amount)) if isinstance(amount, float) else Decimal(amount)
    if not exact.is_finite():
        raise ValueError("amount must be a finite number.")
    return format(exact, "f")


def _assert_amount(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, str, Decimal, float)):
        raise TypeError(f"amount must be int, str, Decimal or float, not {type(value).__name__}.")
