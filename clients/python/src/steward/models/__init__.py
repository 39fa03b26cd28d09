"""Models of the responses.

Fields have the names of the API in snake_case. Decimal text is `Decimal`, minimal units are `int`; figures
in USD and percent are estimates and stay `float`. A model is frozen, keeps fields that are newer than this
client (`model_extra`), and takes values of an enumeration that are newer as text.
"""

from .base import AnyModel, Model, Page
from .events import (
    CreatedWebhook,
    DeletedWebhook,
    Delivery,
    DeliveryAttempt,
    Event,
    RotatedSecret,
    Webhook,
)
from .intents import (
    Action,
    Delay,
    ExecutionPlan,
    FollowUp,
    Intent,
    IntentError,
    IntentFailureCode,
    IntentStatus,
    PlanAlternative,
    PlanWarning,
    Preview,
    ReadToken,
    Recovery,
    Results,
    Step,
    StepPart,
    StepStatus,
    Transaction,
)
from .timeline import FundsAt, HeldFunds, IncomingFunds, WaitingFor
from .wallets import (
    Balances,
    ChainBalances,
    CreditAccount,
    Funding,
    FundingError,
    Position,
    Positions,
    TokenBalance,
    Wallet,
)
from .yields import BestYield, DisabledMarket, YieldRate, YieldSnapshot, Yields

__all__ = [
    "Action",
    "AnyModel",
    "Balances",
    "BestYield",
    "ChainBalances",
    "CreatedWebhook",
    "CreditAccount",
    "Delay",
    "DeletedWebhook",
    "Delivery",
    "DeliveryAttempt",
    "DisabledMarket",
    "Event",
    "ExecutionPlan",
    "FollowUp",
    "Funding",
    "FundingError",
    "FundsAt",
    "HeldFunds",
    "IncomingFunds",
    "Intent",
    "IntentError",
    "IntentFailureCode",
    "IntentStatus",
    "Model",
    "Page",
    "PlanAlternative",
    "PlanWarning",
    "Position",
    "Positions",
    "Preview",
    "ReadToken",
    "Recovery",
    "Results",
    "RotatedSecret",
    "Step",
    "StepPart",
    "StepStatus",
    "TokenBalance",
    "Transaction",
    "WaitingFor",
    "Wallet",
    "Webhook",
    "YieldRate",
    "YieldSnapshot",
    "Yields",
]
