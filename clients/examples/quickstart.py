# region quickstart
from steward import Steward

steward = Steward()
wallet = steward.wallets.create(user_id="alice")

funding = steward.demo.fund(wallet.id)
steward.demo.wait_for_completion(funding.id)

intent = steward.intents.lend(wallet_id=wallet.id, amount="1")
done = steward.intents.wait_for_completion(intent.id)
if done.results:
    print(f"{done.status}: {done.results.final_amount} USDC lent at {done.results.apy} %")
# endregion quickstart
