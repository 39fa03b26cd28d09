"""A small savings back end: its users save dollars, and see what they earn.

    GET  /users/<user>           what is saved, what it earned, what is not invested yet
    POST /users/<user>           opens an account, with a test dollar as a present
    POST /users/<user>/savings   {"amount": "1", "order": "a name of yours"}: invests it, once per order
    GET  /savings/<id>           its status, from the webhooks
    POST /webhooks               for Steward alone

Needs STEWARD_API_KEY and STEWARD_BASE_URL, and for webhooks STEWARD_WEBHOOK_SECRET. PORT is 8080 unless set.
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
    """What the app does. What it remembers belongs into a database."""

    def __init__(self, client: Steward) -> None:
        self._client = client
        self._news: dict[str, str] = {}
        self._seen: set[str] = set()

    def open(self, user: str) -> Answer:
        # Asked again, Steward answers with the wallet that the user has, and sends the present once.
        wallet = self._client.wallets.create(user)
        self._client.demo.fund(wallet.id, idempotency_key=f"present-{user}")
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
        # The order names the call: sent twice, or after a crash, it is still one investment.
        intent = self._client.intents.lend(
            wallet_id=wallet.id, amount=amount, idempotency_key=f"order-{user}-{order}"
        )
        return 201, {"id": intent.id, "status": self._news.get(intent.id, intent.status)}

    def follow(self, intent_id: str) -> Answer:
        known = self._news.get(intent_id)
        return 200, {"status": known or self._client.intents.get(intent_id).status}

    def hear(self, body: bytes, headers: dict[str, str], secret: str) -> Answer:
        event = verify(body, headers, secret)
        # The same event may come more than once.
        if event.id not in self._seen:
            self._seen.add(event.id)
            if event.intent_id and "status" in event.data:
                self._news[event.intent_id] = event.data["status"]
        return 200, {}


def answer(savings: Savings, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
    """What a request gets. Errors of Steward go through with their status and message."""
    try:
        match method, path.strip("/").split("/"):
            case "POST", ["users", user]:
                return savings.open(user)
            case "GET", ["users", user]:
                return savings.show(user)
            case "POST", ["users", user, "savings"]:
                wish = json.loads(body)
                return savings.save(user, str(wish["amount"]), str(wish["order"]))
            case "GET", ["savings", intent_id]:
                return savings.follow(intent_id)
            case "POST", ["webhooks"]:
                return savings.hear(body, headers, os.environ["STEWARD_WEBHOOK_SECRET"])
            case _:
                return 404, {"error": "There is no such page."}
    except steward.WebhookVerificationError as error:
        return 400, {"error": error.message}
    except steward.StewardError as error:
        return error.status or 503, {"error": error.message, "request": error.request_id}
    except (KeyError, TypeError, ValueError):
        return 400, {"error": 'Send {"amount": "1", "order": "…"}.'}


def serve(savings: Savings, port: int) -> ThreadingHTTPServer:
    """The app on 127.0.0.1, ready to `serve_forever`."""

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
