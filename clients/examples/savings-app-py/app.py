"""The back end of a small savings app.

    GET  /users/<user>           returns savings, earnings and cash
    POST /users/<user>           opens an account and funds it with 1 test USDC
    POST /users/<user>/savings   invests {"amount": "1", "order": "your id"} once per order
    GET  /savings/<id>           returns the status of an investment
    POST /webhooks               receives the events of Steward

Requires STEWARD_API_KEY and STEWARD_BASE_URL, and STEWARD_WEBHOOK_SECRET for webhooks. PORT is 8080 by default.
"""

from __future__ import annotations

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import steward
from steward import Steward
from steward.webhooks import verify

Answer = tuple[int, dict[str, Any]]


class Savings:
    """The operations of the app. A real app stores the events in its database."""

    def __init__(self, client: Steward) -> None:
        self._client = client
        self._statuses: dict[str, str] = {}
        self._seen: set[str] = set()

    def open(self, user: str) -> Answer:
        # Both calls can be repeated: Steward returns the existing wallet and funds it once.
        wallet = self._client.wallets.create(user)
        self._client.demo.fund(wallet.id, idempotency_key=f"funding-{user}")
        return 201, {"user": user, "address": wallet.address}

    def show(self, user: str) -> Answer:
        wallet = self._client.wallets.get(user)
        balances = self._client.balances.get(wallet.id)
        positions = self._client.positions.get(wallet.id, closed=True).positions
        cash = [token for chain in balances.chains for token in chain.tokens]
        return 200, {
            "saved": str(sum(one.current_value for one in positions)),
            "earned": str(sum(one.earned for one in positions)),
            "cash": str(sum(one.balance_formatted for one in cash if one.asset == "USDC")),
        }

    def save(self, user: str, amount: str, order: str) -> Answer:
        wallet = self._client.wallets.get(user)
        # The order is the idempotency key: a repeated call, also after a crash, invests once.
        intent = self._client.intents.lend(
            wallet_id=wallet.id, amount=amount, idempotency_key=f"order-{user}-{order}"
        )
        return 201, {"id": intent.id, "status": self._statuses.get(intent.id, intent.status)}

    def follow(self, intent_id: str) -> Answer:
        latest = self._statuses.get(intent_id)
        return 200, {"status": latest or self._client.intents.get(intent_id).status}

    # region receive
    def receive(self, body: bytes, headers: dict[str, str], secret: str) -> Answer:
        event = verify(body, headers, secret)
        # Deliveries are at least once.
        if event.id not in self._seen:
            self._seen.add(event.id)
            if event.intent_id and "status" in event.data:
                self._statuses[event.intent_id] = event.data["status"]
        return 200, {}

    # endregion receive


def answer(savings: Savings, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
    """The response to a request. Errors of Steward keep their status and message."""
    try:
        match method, path.strip("/").split("/"):
            case "POST", ["users", user]:
                return savings.open(user)
            case "GET", ["users", user]:
                return savings.show(user)
            case "POST", ["users", user, "savings"]:
                order = json.loads(body)
                return savings.save(user, str(order["amount"]), str(order["order"]))
            case "GET", ["savings", intent_id]:
                return savings.follow(intent_id)
            case "POST", ["webhooks"]:
                return savings.receive(body, headers, os.environ["STEWARD_WEBHOOK_SECRET"])
            case _:
                return 404, {"error": "The path does not exist."}
    except steward.WebhookVerificationError as error:
        return 400, {"error": error.message}
    except steward.StewardError as error:
        return error.status or 503, {"error": error.message, "request": error.request_id}
    except (KeyError, TypeError, ValueError):
        return 400, {"error": 'Send {"amount": "1", "order": "…"}.'}


def serve(savings: Savings, port: int) -> ThreadingHTTPServer:
    """The HTTP server of the app on 127.0.0.1. Start it with `serve_forever`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, answered = answer(savings, self.command, self.path, body, headers)
            content = json.dumps(answered).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    with Steward() as client:
        server = serve(Savings(client), int(os.environ.get("PORT", "8080")))
        print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
