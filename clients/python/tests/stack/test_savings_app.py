"""The example app, started as documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from steward import Steward

FOLDER = Path(__file__).parents[3] / "examples" / "savings-app-py"
PORT_LINE = re.compile(r"http://127\.0\.0\.1:(\d+)")


def start(port: int, secret: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PORT": str(port), "STEWARD_WEBHOOK_SECRET": secret, "PYTHONPATH": "src"}
    command = [sys.executable, str(FOLDER / "app.py")]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def app() -> Iterator[str]:
    # The webhook secret depends on the port of the app, and the app starts with the secret: start it twice.
    with start(0, "") as first:
        port = _port_of(first)
        first.kill()
    with Steward() as client:
        hook = client.webhooks.create(url=f"http://127.0.0.1:{port}/webhooks")
        with start(port, hook.secret or "") as running:
            _port_of(running)
            yield f"http://127.0.0.1:{port}"
            client.webhooks.delete(hook.id)
            running.kill()


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    line = process.stdout.readline()
    found = PORT_LINE.search(line)
    assert found, line
    return int(found[1])


def ask(app: str, method: str, path: str, body: Any = None) -> dict[str, Any]:
    answer = httpx2.request(method, app + path, json=body, timeout=60)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def until(app: str, path: str, passes: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    while not passes(answer := ask(app, "GET", path)):
        time.sleep(0.2)
    return answer


def test_a_user_opens_an_account_and_saves_once_per_order(app: str) -> None:
    ask(app, "POST", "/users/carol")
    until(app, "/users/carol", lambda shown: shown["cash"] == "1")
    made = ask(app, "POST", "/users/carol/savings", {"amount": "1", "order": "first"})
    again = ask(app, "POST", "/users/carol/savings", {"amount": "1", "order": "first"})
    assert again["id"] == made["id"]
    until(app, f"/savings/{made['id']}", lambda saving: saving["status"] == "completed")
    shown = until(app, "/users/carol", lambda shown: Decimal(shown["saved"]) > 0)
    assert Decimal("0.99") < Decimal(shown["saved"]) <= Decimal("1.01")
    assert Decimal(shown["cash"]) < Decimal("0.01")


def test_webhooks_are_delivered(app: str) -> None:
    with Steward() as client:
        (hook,) = client.webhooks.list()
        for delivery in client.webhooks.deliveries(hook.id).page().data:
            assert delivery.status in ("pending", "delivered"), delivery
        sent = client.webhooks.test(hook.id)
        while sent.status == "pending":
            time.sleep(0.2)
            sent = next(one for one in client.webhooks.deliveries(hook.id) if one.id == sent.id)
    assert sent.status == "delivered"
    assert [one.status for one in sent.attempts] == [200]


def test_an_unsigned_webhook_is_rejected(app: str) -> None:
    forged = {"id": "evt_1", "type": "intent.completed", "timestamp": "2026-11-21T04:36:07Z"}
    answer = httpx2.post(f"{app}/webhooks", json={**forged, "data": {"status": "completed"}})
    assert answer.status_code == 400


def test_invalid_requests_have_their_status(app: str) -> None:
    bad = [
        ("POST", "/users/carol/savings", b"{}", 400),
        ("POST", "/users/carol/savings", b'{"amount": "1e9x", "order": 1}', 400),
        ("GET", "/users/missing", b"", 404),
        ("GET", "/", b"", 404),
    ]
    for method, path, body, status in bad:
        assert httpx2.request(method, app + path, content=body).status_code == status
