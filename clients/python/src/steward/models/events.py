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
    """Where events of the account are sent: those in `events`, or all for `*`."""

    id: str
    url: str
    events: list[str]
    description: str
    status: Literal["enabled", "disabled"] | str
    disabled_reason: str | None = None
    disabled_at: datetime | None = None
    created_at: datetime


class CreatedWebhook(Webhook):
    """A new webhook. `secret` is shown once: it is None where a lost answer was asked for again; rotate it then."""

    secret: str | None = None


class RotatedSecret(Model):
    """A new secret, shown once. The one before signs, too, until `previous_until`."""

    secret: str | None = None
    previous_until: datetime


class DeletedWebhook(Model):
    """A webhook that is no more."""

    id: str
    deleted: bool


class DeliveryAttempt(Model):
    """One try to deliver, and the beginning of what was answered."""

    at: datetime
    ms: int
    status: int | None = None
    error: str | None = None
    body: str | None = None


class Delivery(Model):
    """An event on its way to a webhook."""

    id: str
    webhook_id: str
    event_id: str
    type: str
    status: Literal["pending", "delivered", "failed"] | str
    attempts: list[DeliveryAttempt]
    next_attempt_at: datetime | None = None
    created_at: datetime
