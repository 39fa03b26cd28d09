"""The calls of events and webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .. import models
from .call import Call, ListCall, StreamCall, given, segment, write


def list_events(
    *,
    type: str | Sequence[str] | None = None,
    wallet_id: str | None = None,
    intent_id: str | None = None,
    after: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ListCall[models.Event]:
    """Events of the account, oldest first. `after` is the id of the last known event. Free."""
    query = _event_query(type, wallet_id, intent_id)
    page = models.Page[models.Event]
    return ListCall("/v1/events", page, {**query, "after": after}, cursor, limit)


def stream_events(
    *,
    type: str | Sequence[str] | None = None,
    wallet_id: str | None = None,
    intent_id: str | None = None,
    after: str | None = None,
) -> StreamCall:
    """Events from now on, or after the event `after`, without an end. Free.

    A broken stream is reopened after its last event, so each event is delivered once.
    """
    return StreamCall("/v1/events", _event_query(type, wallet_id, intent_id), after)


def follow_intent(intent_id: str) -> StreamCall:
    """The timeline of an intent from its beginning until it has ended."""
    return StreamCall(f"/v1/intents/{segment(intent_id)}/events")


def create_webhook(
    *,
    url: str,
    events: Sequence[str] | None = None,
    description: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.CreatedWebhook]:
    """Creates an endpoint for all events or for the types in `events`. `secret` is returned only here."""
    named = None if events is None else list(events)
    body = given(url=url, events=named, description=description)
    return write("/v1/webhooks", models.CreatedWebhook, body, idempotency_key)


def list_webhooks(
    *, limit: int | None = None, cursor: str | None = None
) -> ListCall[models.Webhook]:
    """Webhooks of the account, newest first."""
    return ListCall("/v1/webhooks", models.Page[models.Webhook], {}, cursor, limit)


def get_webhook(webhook_id: str) -> Call[models.Webhook]:
    """A webhook. Raises WebhookNotFoundError."""
    return Call("GET", f"/v1/webhooks/{segment(webhook_id)}", models.Webhook)


def update_webhook(
    webhook_id: str,
    *,
    url: str | None = None,
    events: Sequence[str] | None = None,
    description: str | None = None,
    status: Literal["enabled", "disabled"] | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Webhook]:
    """Changes the given fields."""
    named = None if events is None else list(events)
    body = given(url=url, events=named, description=description, status=status)
    path = f"/v1/webhooks/{segment(webhook_id)}"
    return write(path, models.Webhook, body, idempotency_key)


def delete_webhook(
    webhook_id: str, *, idempotency_key: str | None = None
) -> Call[models.DeletedWebhook]:
    """Deletes a webhook. Pending deliveries are not sent."""
    path = f"/v1/webhooks/{segment(webhook_id)}/delete"
    return write(path, models.DeletedWebhook, {}, idempotency_key)


def rotate_webhook_secret(
    webhook_id: str, *, grace_hours: int | None = None, idempotency_key: str | None = None
) -> Call[models.RotatedSecret]:
    """Creates a new secret, returned only here. The old secret also signs for `grace_hours` (24)."""
    path = f"/v1/webhooks/{segment(webhook_id)}/rotate-secret"
    body = given(graceHours=grace_hours)
    return write(path, models.RotatedSecret, body, idempotency_key)


def test_webhook(webhook_id: str, *, idempotency_key: str | None = None) -> Call[models.Delivery]:
    """Sends an event of the type `webhook.test`."""
    path = f"/v1/webhooks/{segment(webhook_id)}/test"
    return write(path, models.Delivery, {}, idempotency_key)


def list_deliveries(
    webhook_id: str, *, limit: int | None = None, cursor: str | None = None
) -> ListCall[models.Delivery]:
    """Deliveries of a webhook, newest first, with their responses."""
    path = f"/v1/webhooks/{segment(webhook_id)}/deliveries"
    return ListCall(path, models.Page[models.Delivery], {}, cursor, limit)


def resend_delivery(
    webhook_id: str, delivery_id: str, *, idempotency_key: str | None = None
) -> Call[models.Delivery]:
    """Delivers an event again."""
    path = f"/v1/webhooks/{segment(webhook_id)}/deliveries/{segment(delivery_id)}/resend"
    return write(path, models.Delivery, {}, idempotency_key)


def _event_query(
    type: str | Sequence[str] | None, wallet_id: str | None, intent_id: str | None
) -> dict[str, str | Sequence[str] | None]:
    return {"type": type, "walletId": wallet_id, "intentId": intent_id}
