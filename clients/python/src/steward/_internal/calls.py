"""The calls of every endpoint except events and webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast

from .. import models
from .._amounts import Amount, amount_text
from .call import Call, ListCall, given, segment, write

Moment = datetime | str
Metadata = Mapping[str, Any]


def create_wallet(
    user_id: str, metadata: Metadata | None = None, *, idempotency_key: str | None = None
) -> Call[models.Wallet]:
    """Creates the wallet of an end user, or returns the existing one."""
    body = given(userId=user_id, metadata=metadata)
    return write("/v1/wallets", models.Wallet, body, idempotency_key)


def get_wallet(user_id: str) -> Call[models.Wallet]:
    """The wallet of an end user. Raises WalletNotFoundError."""
    return Call("GET", f"/v1/wallets/{segment(user_id)}", models.Wallet)


def list_wallets(
    *, user_id: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ListCall[models.Wallet]:
    """Wallets of the account, newest first."""
    page = models.Page[models.Wallet]
    return ListCall("/v1/wallets", page, {"userId": user_id}, cursor, limit)


def get_balances(wallet_id: str) -> Call[models.Balances]:
    """The balances of a wallet on every chain. Raises WalletNotFoundError."""
    return Call("GET", f"/v1/balances/{segment(wallet_id)}", models.Balances)


def list_yields(
    *, chain: str | None = None, asset: str | None = None, protocol: str | None = None
) -> Call[models.Yields]:
    """Current lending rates, and the best one."""
    query = {"chain": chain, "asset": asset, "protocol": protocol}
    return Call("GET", "/v1/yields", models.Yields, query)


def list_yield_history(
    *,
    chain: str | None = None,
    asset: str | None = None,
    protocol: str | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ListCall[models.YieldSnapshot]:
    """Past lending rates from `start` until before `end`, newest first."""
    query = {"chain": chain, "asset": asset, "protocol": protocol, "from": start, "to": end}
    page = models.Page[models.YieldSnapshot]
    return ListCall("/v1/yields/history", page, query, cursor, limit)


def get_positions(wallet_id: str, *, closed: bool | None = None) -> Call[models.Positions]:
    """The positions of a wallet and their earnings. `closed` includes closed positions."""
    path = f"/v1/positions/{segment(wallet_id)}"
    return Call("GET", path, models.Positions, {"closed": closed})


def get_credits() -> Call[models.CreditAccount]:
    """Credits of the account. Free."""
    return Call("GET", "/dashboard/credits", models.CreditAccount)


def fund(wallet_id: str, *, idempotency_key: str | None = None) -> Call[models.Funding]:
    """Requests 1 test USDC on arbitrum-sepolia, only on test networks. It arrives after a delay."""
    return write("/v1/demo/fund", models.Funding, {"walletId": wallet_id}, idempotency_key)


def get_funding(funding_id: str) -> Call[models.Funding]:
    """The state of a funding. Raises FundingNotFoundError."""
    return Call("GET", f"/v1/demo/fund/{segment(funding_id)}", models.Funding)


def lend(
    *,
    wallet_id: str,
    amount: Amount,
    chain: str | None = None,
    asset: str | None = None,
    optimize: Literal["apy", "net"] | None = None,
    horizon_days: int | None = None,
    metadata: Metadata | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Intent]:
    """Lends at the best rate, or on `chain`. Raises InsufficientFundsError.

    `optimize="net"` counts bridge, swap and gas over `horizon_days`.
    """
    body = given(action="lend", walletId=wallet_id, amount=amount_text(amount), chain=chain)
    options = given(asset=asset, optimize=optimize, horizonDays=horizon_days, metadata=metadata)
    return write("/v1/intents", models.Intent, {**body, **options}, idempotency_key)


def withdraw(
    *,
    wallet_id: str,
    amount: Amount,
    chain: str,
    asset: str | None = None,
    metadata: Metadata | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Intent]:
    """Withdraws lent money on `chain`. The amount `"max"` is everything, including interest."""
    body = given(action="withdraw", walletId=wallet_id, amount=amount_text(amount), chain=chain)
    options = given(asset=asset, metadata=metadata)
    return write("/v1/intents", models.Intent, {**body, **options}, idempotency_key)


def bridge(
    *,
    wallet_id: str,
    amount: Amount,
    from_chain: str,
    to_chain: str,
    asset: str | None = None,
    metadata: Metadata | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Intent]:
    """Moves money from one chain to another. Raises InsufficientFundsError."""
    body = given(action="bridge", walletId=wallet_id, amount=amount_text(amount))
    way = given(fromChain=from_chain, toChain=to_chain, asset=asset, metadata=metadata)
    return write("/v1/intents", models.Intent, {**body, **way}, idempotency_key)


def preview(
    *,
    action: Literal["lend", "withdraw", "bridge"],
    wallet_id: str,
    amount: Amount,
    chain: str | None = None,
    from_chain: str | None = None,
    to_chain: str | None = None,
    asset: str | None = None,
    optimize: Literal["apy", "net"] | None = None,
    horizon_days: int | None = None,
    metadata: Metadata | None = None,
) -> Call[models.Preview]:
    """The plan of an intent. Nothing is stored or charged."""
    body = given(action=action, walletId=wallet_id, amount=amount_text(amount), asset=asset)
    way = given(chain=chain, fromChain=from_chain, toChain=to_chain)
    options = given(optimize=optimize, horizonDays=horizon_days, metadata=metadata)
    query = {"dryRun": True}
    return Call("POST", "/v1/intents", models.Preview, query, {**body, **way, **options})


def get_intent(
    intent_id: str, *, wait: int | None = None, version: str | None = None
) -> Call[models.Intent]:
    """The state of an intent. Raises IntentNotFoundError.

    `wait`: answer at the next change, or after so many seconds, at most 60.
    """
    query = {"wait": wait, "version": version}
    path = f"/v1/intents/{segment(intent_id)}"
    return Call("GET", path, models.Intent, query, long_poll_s=wait or 0)


def list_intents(
    *,
    wallet_id: str | None = None,
    user_id: str | None = None,
    error_code: str | None = None,
    status: str | Sequence[str] | None = None,
    action: str | None = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ListCall[models.Intent]:
    """Intents of the account, newest first, filtered by one or several `status` values."""
    query = {
        **{"walletId": wallet_id, "userId": user_id, "errorCode": error_code},
        **{"status": status, "action": action},
        **{"createdAfter": created_after, "createdBefore": created_before},
    }
    return ListCall("/v1/intents", models.Page[models.Intent], query, cursor, limit)


def cancel_intent(intent_id: str, *, idempotency_key: str | None = None) -> Call[models.Intent]:
    """Cancels an intent. Raises InvalidRequestError (`already_signed`) while a step is open."""
    path = f"/v1/intents/{segment(intent_id)}/cancel"
    return write(path, models.Intent, {}, idempotency_key)


def retry_intent(intent_id: str, *, idempotency_key: str | None = None) -> Call[models.Intent]:
    """Creates an intent that finishes a failed one."""
    path = f"/v1/intents/{segment(intent_id)}/retry"
    return write(path, models.Intent, {}, idempotency_key)


def preview_retry(intent_id: str) -> Call[models.Preview | models.Intent]:
    """The plan of a retry, or the existing retry of the intent. Nothing is stored or charged."""
    path = f"/v1/intents/{segment(intent_id)}/retry"
    answer = cast("type[models.Preview | models.Intent]", models.Preview | models.Intent)
    return Call("POST", path, answer, {"dryRun": True}, {})


def create_read_token(
    intent_id: str, *, idempotency_key: str | None = None
) -> Call[models.ReadToken]:
    """Creates a token that may read one intent for some minutes, for browsers."""
    path = f"/v1/intents/{segment(intent_id)}/read-token"
    return write(path, models.ReadToken, {}, idempotency_key)
