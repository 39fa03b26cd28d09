"""Compares signatures with the reference library of Standard Webhooks."""

from __future__ import annotations

import base64
import json
import time
from datetime import datetime, timezone

import pytest
from standardwebhooks.webhooks import Webhook

import steward
from steward import webhooks

SECRET = "whsec_" + base64.b64encode(bytes(range(24))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(24)).decode()
EVENT = {
    "id": "evt_7",
    "type": "intent.completed",
    "timestamp": "2026-11-21T04:36:07.690Z",
    "data": {"status": "completed", "note": "é €"},
}
BODY = json.dumps(EVENT, ensure_ascii=False)


def _headers(secret: str = SECRET, body: str = BODY, age: float = 0) -> dict[str, str]:
    at = datetime.fromtimestamp(int(time.time() - age), timezone.utc)
    return {
        "Webhook-Id": "evt_7",
        "WEBHOOK-TIMESTAMP": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign("evt_7", at, body),
    }


@pytest.mark.parametrize("body", [BODY, BODY.encode()])
def test_a_signature_of_the_reference_library_is_accepted(body: str | bytes) -> None:
    event = webhooks.verify(body, _headers(), SECRET)
    assert (event.id, event.type, event.data) == ("evt_7", "intent.completed", EVENT["data"])
    client = steward.Steward("svc_sk_1", "https://api.example.com")
    assert client.webhooks.verify(body, _headers(), SECRET) == event


def test_one_of_several_signatures_is_enough_during_a_rotation() -> None:
    headers = _headers()
    old = _headers(OTHER)["webhook-signature"]
    headers["webhook-signature"] = f"v1a,AAAA {old} {headers['webhook-signature']}"
    assert webhooks.verify(BODY, headers, SECRET).id == "evt_7"
    assert webhooks.verify(BODY, headers, OTHER).id == "evt_7"


@pytest.mark.parametrize("name", ["Webhook-Id", "WEBHOOK-TIMESTAMP", "webhook-signature"])
def test_a_missing_or_changed_header_is_rejected(name: str) -> None:
    for value in ("", "evt_8", "1", "²", "v1,", "v1,AAAA", "1" * 30):
        with pytest.raises(steward.WebhookVerificationError):
            webhooks.verify(BODY, {**_headers(), name: value}, SECRET)
    with pytest.raises(steward.WebhookVerificationError, match="missing"):
        webhooks.verify(BODY, {k: v for k, v in _headers().items() if k != name}, SECRET)


def test_another_body_secret_or_time_is_rejected() -> None:
    webhooks_to_reject = [
        (BODY.replace("completed", "failed"), _headers(), SECRET),
        (BODY + " ", _headers(), SECRET),
        (BODY, _headers(), OTHER),
        (BODY, _headers(age=310), SECRET),
        (BODY, _headers(age=-310), SECRET),
    ]
    for body, headers, secret in webhooks_to_reject:
        with pytest.raises(steward.WebhookVerificationError) as rejected:
            webhooks.verify(body, headers, secret)
        assert secret not in str(rejected.value) and "completed" not in str(rejected.value)


def test_a_signed_body_without_an_event_is_rejected() -> None:
    for body in ("[]", "x", "{}"):
        with pytest.raises(steward.WebhookVerificationError):
            webhooks.verify(body, _headers(body=body), SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_*", "svc_sk_abc?"])
def test_a_malformed_secret_raises_a_value_error(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        webhooks.verify(BODY, _headers(), secret)
