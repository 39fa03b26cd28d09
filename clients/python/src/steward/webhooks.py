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
        headers: Headers of the request, in any case.
        secret: `whsec_…`, the secret of the webhook.

    Raises:
        WebhookVerificationError: when the signature does not match or is older than 5 minutes.
        ValueError: when the secret is malformed.
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
        raise WebhookVerificationError("No signature matches the secret and the body.")
    return _read(body)


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("The secret must be `whsec_` followed by base64.")
    return key


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise WebhookVerificationError(f"Header webhook-{name} is missing.")
    return value


def _assert_recent(timestamp: str) -> None:
    # `int` also accepts signs, spaces and underscores.
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16):
        raise WebhookVerificationError("Header webhook-timestamp is not a Unix time.")
    if abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookVerificationError("The signature is older than 5 minutes or from the future. Check the clock.")


def _matches(signature: str, expected: bytes) -> bool:
    version, _, value = signature.partition(",")
    return version == "v1" and hmac.compare_digest(value.encode(), expected)


def _read(body: bytes) -> Event:
    try:
        return Event.model_validate_json(body)
    except ValidationError:
        message = "The signed body is not an event."
    raise WebhookVerificationError(message)
