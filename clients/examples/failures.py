from steward import InsufficientFundsError, IntentFailedError, Steward, StewardError

steward = Steward()
wallet = steward.wallets.create("bob")
funding = steward.demo.fund(wallet.id)
steward.demo.wait_for_completion(funding.id)

# region refused
try:
    steward.intents.lend(wallet_id=wallet.id, amount="1000")
except InsufficientFundsError as error:
    print(f"refused: this needs {error.required} USDC, the wallet has {error.available}")
except StewardError as error:
    print(error.code, error.reason, error.request_id, error.details.get("docs"))
    raise
# endregion refused

# region simulate
intent = steward.intents.lend(
    wallet_id=wallet.id,
    amount="1",
    metadata={"simulate": "DEPOSIT_FAILED"},
)
# endregion simulate

# region failed
try:
    steward.intents.wait_for_completion(intent.id)
except IntentFailedError as error:
    for at in (error.intent.error and error.intent.error.funds) or []:
        print(f"{error.code}: the money, {at.amount} {at.asset}, is on {at.chain}")
# endregion failed

# region retry
retry = steward.intents.retry(intent.id)
done = steward.intents.wait_for_completion(retry.id)
if done.results:
    print(f"{done.status}: {done.results.final_amount} USDC")
# endregion retry
