"""Amounts of money, in whole tokens, on their way to the API."""

from __future__ import annotations

from decimal import Decimal

Amount = int | str | Decimal | float


def amount_text(amount: Amount) -> str:
    """The amount as decimal text, digit by digit: nothing is rounded on the way.

    A `float` stands for the shortest text that names it, so that `0.1` is sent as `0.1`. Text is sent as it
    is: the API judges it, and knows `max` for withdrawals.

    Raises:
        TypeError: for what is no number and no text.
        ValueError: for infinity and for what is not a number.
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
