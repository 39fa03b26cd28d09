from steward import Steward

steward = Steward()
wallet = steward.wallets.create("dora")
funding = steward.demo.fund(wallet.id)
steward.demo.wait_for_completion(funding.id)
intent = steward.intents.lend(wallet_id=wallet.id, amount="1")

# region follow
steward.intents.wait_for_completion(
    intent.id,
    on_event=lambda event: print(event.id, event.type),
)
# endregion follow

# region list
for event in steward.events.list(
    intent_id=intent.id,
    type=["intent.completed", "intent.failed"],
):
    print(event.type, event.timestamp)
# endregion list

# region token
read = steward.intents.create_read_token(intent.id)
print(f"{read.token[:8]}… until {read.expires_at}")
# endregion token
