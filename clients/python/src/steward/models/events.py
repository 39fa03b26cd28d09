"""Events and webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from .base import Model


class Event(Model):
    """An event, as lists, streams and webhooks return it.

    `intent_id` is None for events without an intent.
    """

    id: str
    type: str
    intent_id: str | None = None
    wallet_id: str | None = None
    timestamp: datetime
    data: dict[str, Any]


class Webhook(Model):
    """An endpoint for the event types in `events`; `*` is every type."""

    id: str
    url: str
    events: list[str]
    description: str
    status: Literal["enabled", "disabled"] | str
    disabled_reason: str | None = None
    disabled_at: datetime | None = None
    created_at: datetime


class CreatedWebhook(Webhook):
    """A new webhook. `secret` is returned once. It is None when the call is repeated; rotate it then."""

    secret: str | None = None


class RotatedSecret(Model):
    """A new secret, returned once. The previous secret also signs until `previous_until`."""

    secret: str | None = None
    previous_until: datetime


class DeletedWebhook(Model):
    """A deleted webhook."""

    id: str
    deleted: bool


class DeliveryAttempt(Model):
    """One attempt of a delivery, and the beginning of the response."""

    at: datetime
    ms: int
    status: int | None = None
    error: str | None = None
    body: str | None = None


class Delivery(Model):
    """The delivery of an event to a webhook."""

    id: str
    webhook_id: str
    event_id: str
    intent_id: str | None = None
    type: str
    status: Literal["pending", "delivered", "failed"] | str
    attempts: list[DeliveryAttempt]
    next_attempt_at: datetime | None = None
    created_at: datetime
