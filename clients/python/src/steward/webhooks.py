"""Verifies the signature of webhooks.

See https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping

from pydantic import ValidationError

from .errors import WebhookVerificationError
from .models import Event

TOLERANCE_S = 300
"""Maximum age and clock skew of a message in seconds, against replays."""

_PREFIX = "whsec_"


def verify(payload: bytes | str, headers: Mapping[str, str], secret: str) -> Event:
    """The verified event of a webhook.

    Args:
        payload: The raw body. A parsed and serialized body may differ.
        headers: Of the request; upper and lower case are the same.
        secret: `whsec_…`, as the webhook was made with it.

    Raises:
        WebhookVerificationError: when it was not signed with the secret, or not within 5 minutes.
        ValueError: when the secret is none.
    """
    key = _key_of(secret)
    body = payload.encode() if isinstance(payload, str) else payload
    given = {name.lower(): value for name, value in headers.items()}
    names = ("id", "timestamp", "signature")
    message_id, timestamp, signatures = (_header(given, name) for name in names)
    _assert_recent(timestamp)
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    if not any(_matches(one, expected) for one in signatures.split(" ")):
        raise WebhookVerificationError("No signature fits: another secret, or another body.")
    return _read(body)


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("The secret of a webhook is `whsec_` and base64.")
    return key


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise WebhookVerificationError(f"The header webhook-{name} is missing.")
    return value


def _assert_recent(timestamp: str) -> None:
    # `int` takes more than digits.
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16):
        raise WebhookVerificationError("The header webhook-timestamp is no Unix time.")
    if abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookVerificationError("It was signed too long ago, or in the future.")


def _matches(signature: str, expected: bytes) -> bool:
    version, _, value = signature.partition(",")
    return version == "v1" and hmac.compare_digest(value.encode(), expected)


def _read(body: bytes) -> Event:
    try:
        return Event.model_validate_json(body)
    except ValidationError:
        message = "It is signed, but no event of this service."
    raise WebhookVerificationError(message)
