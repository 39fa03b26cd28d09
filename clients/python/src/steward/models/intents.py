"""Intents, their plans and their results."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from .base import Model
from .timeline import WaitingFor, FundsAt

Action = Literal["lend", "withdraw", "bridge"] | str
IntentStatus = Literal["pending", "planning", "executing", "completed", "failed"] | str
FollowUp = Literal["cancel", "retry"] | str
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


class StepPart(Model):
    """A part of a bridge step."""

    type: Literal["burn", "attestation", "mint"] | str
    status: StepStatus
    chain: str
    started_at: datetime | None = None
    ended_at: datetime | None = None
    tx_hash: str | None = None


class Step(Model):
    """One step of a plan. Amounts are in whole tokens. After a bridge or a swap they are estimates."""

    type: Literal["bridge", "deposit", "withdraw", "swap"] | str
    sequence: int
    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    from_alias: str | None = None
    to_alias: str | None = None
    chain: str | None = None
    alias: str | None = None
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
    """A warning about a plan."""

    code: str
    message: str


class PlanAlternative(Model):
    """A market that the plan does not use, and the reason."""

    chain: str
    alias: str
    protocol: str
    asset: str
    apy: float
    net_usd: float | None = None
    why: str


class ExecutionPlan(Model):
    """The steps of an intent."""

    strategy: str
    target_chain: str
    target_alias: str
    target_protocol: str | None = None
    expected_apy: float | None = None
    steps: list[Step]
    estimated_gas_usd: float | None
    estimated_time: str
    reasoning: str
    warnings: list[PlanWarning] | None = None
    alternatives: list[PlanAlternative] | None = None


class Transaction(Model):
    """One on-chain operation of an intent."""

    type: str
    step: int | None = None
    tx_hash: str
    chain: str
    block_number: int | None = None
    timestamp: datetime | None = None
    explorer_url: str | None = None
    gas_used: int
    gas_cost_usd: float | None
    failed: bool | None = None


class Results(Model):
    """Results so far. `final_amount` is the amount of the last step in whole tokens."""

    completed_steps: int
    transactions: list[Transaction]
    total_gas_used: int
    total_gas_cost_usd: float | None
    final_amount: Decimal | None = None
    apy: float | None = None


class Recovery(Model):
    """Money that left the bridge after its intent had failed."""

    tx_hash: str
    chain: str
    asset: str
    amount: Decimal
    at: datetime


class IntentError(Model):
    """The failure of an intent: reason, step and location of the money."""

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
    user_id: str | None = None
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
    actions: list[FollowUp]
    retry_from: datetime | None = None
    request_id: str | None = None
    created_at: datetime
    updated_at: datetime | None = None
    completed_at: datetime | None = None
    cancelled_at: datetime | None = None
    ended_at: datetime | None = None


class Preview(Model):
    """The plan of an intent that is not created. Nothing is stored or charged."""

    dry_run: bool
    wallet_id: str
    action: Action
    amount: Decimal
    asset: str
    execution_plan: ExecutionPlan


class ReadToken(Model):
    """A token for browsers that reads one intent for some minutes."""

    token: str
    intent_id: str
    expires_at: datetime
