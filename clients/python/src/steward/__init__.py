"""Client of Steward: wallets, yields and DeFi intents, for programs that move money once.

    from steward import Steward

    with Steward() as client:
        wallet = client.wallets.create("alice")
        intent = client.intents.lend(wallet_id=wallet.id, amount="1")
        print(client.intents.wait_for_completion(intent.id).results)
"""

from . import errors, models, webhooks
from ._amounts import Amount
from ._async_client import AsyncSteward
from ._client import Steward
from ._surface import AsyncList, List
from ._version import VERSION as __version__
from .errors import (
    BridgeFailedError,
    BridgeTimeoutError,
    CancelledError,
    ConnectionError,
    DeliveryNotFoundError,
    DepositFailedError,
    ForbiddenError,
    FundingFailedError,
    FundingNotFoundError,
    InsufficientCreditsError,
    InsufficientFundsError,
    IntentFailedError,
    IntentNotFoundError,
    InternalError,
    InvalidAnswerError,
    InvalidRequestError,
    MethodNotAllowedError,
    NetworkError,
    NotFoundError,
    RateLimitedError,
    RpcError,
    StewardError,
    SwapFailedError,
    TimeoutError,
    UnauthorizedError,
    UnavailableError,
    WalletLimitExceededError,
    WalletNotFoundError,
    WebhookNotFoundError,
    WebhookVerificationError,
    WithdrawFailedError,
)

__all__ = [
    "Amount",
    "AsyncList",
    "AsyncSteward",
    "BridgeFailedError",
    "BridgeTimeoutError",
    "CancelledError",
    "ConnectionError",
    "DeliveryNotFoundError",
    "DepositFailedError",
    "ForbiddenError",
    "FundingFailedError",
    "FundingNotFoundError",
    "InsufficientCreditsError",
    "InsufficientFundsError",
    "IntentFailedError",
    "IntentNotFoundError",
    "InternalError",
    "InvalidAnswerError",
    "InvalidRequestError",
    "List",
    "MethodNotAllowedError",
    "NetworkError",
    "NotFoundError",
    "RateLimitedError",
    "RpcError",
    "Steward",
    "StewardError",
    "SwapFailedError",
    "TimeoutError",
    "UnauthorizedError",
    "UnavailableError",
    "WalletLimitExceededError",
    "WalletNotFoundError",
    "WebhookNotFoundError",
    "WebhookVerificationError",
    "WithdrawFailedError",
    "__version__",
    "errors",
    "models",
    "webhooks",
]
