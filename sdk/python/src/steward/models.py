"""What the API answers with.

Fields have the names of the API in snake_case. Decimal text is `Decimal`, minimal units are `int`; figures
in USD and percent are estimates and stay `float`. A model is frozen, keeps fields that are newer than this
client (`model_extra`), and takes values of an enumeration that are newer as text.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")

Action = Literal["lend", "withdraw", "bridge"] | str
IntentStatus = Literal["pending", "planning", "executing", "completed", "failed"] | str
StepStatus = (
    Literal["pending", "waiting", "executing", "completed", "failed", "cancelled"] | str
)
IntentFailureCode = (
    Literal[
        "BRIDGE_FAILED",
        "BRIDGE_TIMEOUT",
        "SWAP_FAILED",
        "WITHDRAW_FAILED",
        "DEPOSIT_FAILED",
        "NETWORK_ERROR",
        "RPC_ERROR",
        "INSUFFICIENT_FUNDS",
        "INVALID_REQUEST",
        "INTERNAL",
        "CANCELLED",
    ]
    | str
)


class Model(BaseModel):
    """What all answers have in common."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", frozen=True
    )


AnyModel = TypeVar("AnyModel", bound=Model)


class Page(Model, Generic[Item]):
    """A part of a list."""

    data: list[Item]
    has_more: bool
    next_cursor: str | None


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


class YieldRate(Model):
    """What a market pays now: `apy` in percent."""

    chain: str
    protocol: str
    asset: str
    apy: float


class BestYield(Model):
    """The rate with the highest APY."""

    chain: str
    protocol: str | None = None
    asset: str
    apy: float
    reasoning: str


class DisabledMarket(Model):
    """A market that cannot be used now."""

    chain: str
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
    """What a market paid at a moment."""

    chain: str
    protocol: str
    asset: str
    apy: float
    taken_at: datetime


class WaitingFor(Model):
    """What is waited for. Nothing has failed."""

    code: str
    message: str
    since: datetime
    usual_seconds: float | None = None


class StepPart(Model):
    """A part of a bridge step."""

    type: Literal["burn", "attestation", "mint"] | str
    status: StepStatus
    chain: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tx_hash: str | None = None


class Step(Model):
    """One step of a plan. Amounts in whole tokens; after a bridge or a swap they are forecasts."""

    type: Literal["bridge", "deposit", "withdraw", "swap"] | str
    sequence: int
    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    chain: str | None = None
    protocol: str | None = None
    asset: str
    amount: Decimal
    speed: Literal["fast", "standard"] | str | None = None
    max_fee: Decimal | None = None
    to_asset: str | None = None
    arrives: Decimal | None = None
    minimum: Decimal | None = None
    status: StepStatus | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tx_hash: str | None = None
    waiting_for: WaitingFor | None = None
    operations: list[StepPart] | None = None


class PlanWarning(Model):
    """What to know before a plan is executed."""

    code: str
    message: str


class PlanAlternative(Model):
    """A market that was not chosen, and why."""

    chain: str
    protocol: str
    asset: str
    apy: float
    net_usd: float | None = None
    why: str


class ExecutionPlan(Model):
    """What the service does for an intent."""

    strategy: str
    target_chain: str
    target_protocol: str | None = None
    expected_apy: float | None = None
    steps: list[Step]
    estimated_gas_usd: float
    estimated_time: str
    reasoning: str
    warnings: list[PlanWarning] | None = None
    alternatives: list[PlanAlternative] | None = None


class Transaction(Model):
    """One operation on a chain."""

    type: str
    step: int | None = None
    tx_hash: str
    chain: str
    block_number: int | None = None
    timestamp: datetime | None = None
    explorer_url: str | None = None
    gas_used: int
    gas_cost_usd: float
    failed: bool | None = None


class Results(Model):
    """What has been done so far: `final_amount` is what the last step moved, in whole tokens."""

    completed_steps: int
    transactions: list[Transaction]
    total_gas_used: int
    total_gas_cost_usd: float
    final_amount: Decimal | None = None
    apy: float | None = None


class FundsAt(Model):
    """Where money is: on a `chain` or in the `bridge`, in the wallet or lent to a `protocol`."""

    chain: str
    asset: str
    amount: Decimal
    protocol: str | None = None


class HeldFunds(Model):
    """Money that another intent of the wallet holds."""

    intent_id: str
    step: int
    chain: str
    asset: str
    amount: Decimal
    since: datetime
    why: Literal["open", "not_final"] | str


class IncomingFunds(Model):
    """Test money that is on its way to the wallet."""

    funding_id: str
    chain: str
    asset: str
    amount: Decimal
    since: datetime


class Recovery(Model):
    """Money that came out of the bridge after its intent had failed."""

    tx_hash: str
    chain: str
    asset: str
    amount: Decimal
    at: datetime


class IntentError(Model):
    """Why an intent failed, at which step, and where its money is."""

    code: IntentFailureCode
    message: str
    step: int | None = None
    funds: list[FundsAt] | None = None
    recovery: Recovery | None = None


class Delay(Model):
    """Why an intent is late, and where its money is."""

    code: str
    since: datetime
    message: str
    funds: list[FundsAt]


class Intent(Model):
    """A DeFi operation that the service plans and executes.

    `amount` in whole tokens is a JSON number of the API: exact to 15 digits. What moves money is decimal text,
    with all digits: `execution_plan.steps[].amount` and `results.final_amount`.
    """

    id: str
    status: IntentStatus
    wallet_id: str
    action: Action
    amount: Decimal
    asset: str
    chain: str | None = None
    from_chain: str | None = None
    to_chain: str | None = None
    metadata: dict[str, Any] | None = None
    retry_of: str | None = None
    retried_by: str | None = None
    execution_plan: ExecutionPlan | None = None
    current_step: int | None = None
    waiting_for: WaitingFor | None = None
    results: Results | None = None
    funds: list[FundsAt] | None = None
    delay: Delay | None = None
    error: IntentError | None = None
    created_at: datetime
    updated_at: datetime | None = None
    completed_at: datetime | None = None
    cancelled_at: datetime | None = None
    ended_at: datetime | None = None


class Preview(Model):
    """What an intent would do now. Nothing is stored or charged."""

    dry_run: bool
    wallet_id: str
    action: Action
    amount: Decimal
    asset: str
    execution_plan: ExecutionPlan


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


class ReadToken(Model):
    """Opens one intent to read, for some minutes: for browsers."""

    token: str
    intent_id: str
    expires_at: datetime


class Event(Model):
    """Something that has happened, as lists, streams and webhooks tell it alike.

    `intent_id` is None of what has happened beside intents.
    """

    id: str
    type: str
    intent_id: str | None = None
    wallet_id: str | None = None
    timestamp: datetime
    data: dict[str, Any]


class Webhook(Model):
    """Where events of the account are sent: those in `events`, or all for `*`."""

    id: str
    url: str
    events: list[str]
    description: str
    status: Literal["enabled", "disabled"] | str
    disabled_reason: str | None = None
    disabled_at: datetime | None = None
    created_at: datetime


class CreatedWebhook(Webhook):
    """A new webhook. `secret` is shown once: it is None where a lost answer was asked for again; rotate it then."""

    secret: str | None = None


class RotatedSecret(Model):
    """A new secret, shown once. The one before signs, too, until `previous_until`."""

    secret: str | None = None
    previous_until: datetime


class DeletedWebhook(Model):
    """A webhook that is no more."""

    id: str
    deleted: bool


class DeliveryAttempt(Model):
    """One try to deliver, and the beginning of what was answered."""

    at: datetime
    ms: int
    status: int | None = None
    error: str | None = None
    body: str | None = None


class Delivery(Model):
    """An event on its way to a webhook."""

    id: str
    webhook_id: str
    event_id: str
    type: str
    status: Literal["pending", "delivered", "failed"] | str
    attempts: list[DeliveryAttempt]
    next_attempt_at: datetime | None = None
    created_at: datetime
