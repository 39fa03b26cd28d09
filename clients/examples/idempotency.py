from steward import Steward

steward = Steward()
wallet = steward.wallets.create("frank")
funding = steward.demo.fund(wallet.id)
steward.demo.wait_for_completion(funding.id)


# region key
def place():
    return steward.intents.lend(wallet_id=wallet.id, amount="1", idempotency_key="order-1")


first = place()
again = place()
print("one intent" if again.id == first.id else "two intents")
# endregion key
