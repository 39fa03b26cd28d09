"""Signatures, against the library of those who wrote the standard."""

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
def test_what_the_official_library_signs_is_verified(body: str | bytes) -> None:
    event = webhooks.verify(body, _headers(), SECRET)
    assert (event.id, event.type, event.data) == ("evt_7", "intent.completed", EVENT["data"])
    client = steward.Steward("svc_sk_1", "https://api.example.com")
    assert client.webhooks.verify(body, _headers(), SECRET) == event


def test_one_of_several_signatures_is_enough_while_a_secret_is_changed() -> None:
    headers = _headers()
    old = _headers(OTHER)["webhook-signature"]
    headers["webhook-signature"] = f"v1a,AAAA {old} {headers['webhook-signature']}"
    assert webhooks.verify(BODY, headers, SECRET).id == "evt_7"
    assert webhooks.verify(BODY, headers, OTHER).id == "evt_7"


@pytest.mark.parametrize("name", ["Webhook-Id", "WEBHOOK-TIMESTAMP", "webhook-signature"])
def test_a_header_that_is_missing_or_changed_is_refused(name: str) -> None:
    for value in ("", "evt_8", "1", "²", "v1,", "v1,AAAA", "1" * 30):
        with pytest.raises(steward.WebhookVerificationError):
            webhooks.verify(BODY, {**_headers(), name: value}, SECRET)
    with pytest.raises(steward.WebhookVerificationError, match="missing"):
        webhooks.verify(BODY, {k: v for k, v in _headers().items() if k != name}, SECRET)


def test_another_body_another_secret_and_another_time_are_refused() -> None:
    refusals = [
        (BODY.replace("completed", "failed"), _headers(), SECRET),
        (BODY + " ", _headers(), SECRET),
        (BODY, _headers(), OTHER),
        (BODY, _headers(age=310), SECRET),
        (BODY, _headers(age=-310), SECRET),
    ]
    for body, headers, secret in refusals:
        with pytest.raises(steward.WebhookVerificationError) as refused:
            webhooks.verify(body, headers, secret)
        assert secret not in str(refused.value) and "completed" not in str(refused.value)


def test_what_is_signed_but_no_event_is_refused() -> None:
    for body in ("[]", "x", "{}"):
        with pytest.raises(steward.WebhookVerificationError):
            webhooks.verify(body, _headers(body=body), SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_*", "svc_sk_abc?"])
def test_a_secret_that_is_none_is_a_mistake_of_the_program(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        webhooks.verify(BODY, _headers(), secret)
