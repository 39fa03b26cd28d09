from steward import Steward

steward = Steward()

# region create
webhook = steward.webhooks.create(
    url="http://127.0.0.1:8787/hooks",
    events=["intent.completed", "intent.failed"],
)
print(webhook.id, webhook.secret)
# endregion create

# region enable
steward.webhooks.update(webhook.id, status="enabled")
# endregion enable

# region deliveries
steward.webhooks.test(webhook.id)
for delivery in steward.webhooks.deliveries(webhook.id):
    print(delivery.type, delivery.status, delivery.attempts)
# endregion deliveries

# region rotate
rotated = steward.webhooks.rotate_secret(webhook.id, grace_hours=24)
print(rotated.secret, rotated.previous_until)
# endregion rotate

steward.webhooks.delete(webhook.id)
