"""Responses of a newer API do not break the client."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

import steward
from tests.conftest import Control, Customer
from tests.transports import Edited


@pytest.mark.usefixtures("delays")
def test_an_unknown_field_is_kept_and_an_unknown_status_is_not_final(
    customer: Customer, control: Control
) -> None:
    intent_id = customer.new_intent()
    requests = 0

    def edit(request: httpx2.Request, body: dict[str, Any]) -> None:
        nonlocal requests
        requests += 1
        body["riskScore"] = {"level": 3}
        if body["status"] != "completed":
            body["status"] = "reviewing"
            control("move", intentId=intent_id, to="completed" if requests > 1 else "executing")

    def no_streams(request: httpx2.Request) -> httpx2.Response | None:
        is_stream = request.headers.get("accept") == "text/event-stream"
        return httpx2.Response(404) if is_stream else None

    client = customer.another_client(transport=Edited(edit, no_streams))
    first = client.intents.get(intent_id)
    assert first.status == "reviewing"
    assert first.model_extra == {"riskScore": {"level": 3}}
    done = client.intents.wait_for_completion(intent_id, timeout=60)
    assert (done.status, requests) == ("completed", 3)


def test_an_unknown_event_type_is_returned(customer: Customer, control: Control) -> None:
    intent_id = customer.new_intent()
    control("move", intentId=intent_id, to="executing")
    control("move", intentId=intent_id, to="completed")

    def edit(_: httpx2.Request, body: dict[str, Any]) -> None:
        for event in body["data"]:
            event["type"] = event["type"].replace("executing", "admired")

    events = customer.another_client(transport=Edited(edit)).events.list(intent_id=intent_id)
    assert [one.type for one in events][2] == "intent.admired"


def test_an_unknown_code_raises_the_base_class(customer: Customer) -> None:
    def edit(_: httpx2.Request, body: dict[str, Any]) -> None:
        body["error"] = "TOO_SUNNY"

    client = customer.another_client(transport=Edited(edit))
    with pytest.raises(steward.StewardError) as failed:
        client.wallets.get("missing")
    assert type(failed.value) is steward.StewardError
    assert (failed.value.code, failed.value.status) == ("TOO_SUNNY", 404)


def test_a_response_of_another_server_is_an_error(customer: Customer) -> None:
    pages = {200: steward.InvalidAnswerError, 418: steward.StewardError}
    for status, kind in pages.items():
        answer = httpx2.Response(status, text="<h1>Hello</h1>")
        client = customer.another_client(transport=httpx2.MockTransport(lambda _, a=answer: a))
        with pytest.raises(kind) as failed:
            client.credits.get()
        assert failed.value.code == ("INVALID_ANSWER" if status == 200 else f"HTTP_{status}")


def test_the_error_of_an_invalid_field_contains_its_name_but_not_its_value(customer: Customer) -> None:
    def edit(_: httpx2.Request, body: dict[str, Any]) -> None:
        body["plan"] = ["secret"]

    client = customer.another_client(transport=Edited(edit))
    with pytest.raises(steward.InvalidAnswerError) as failed:
        client.credits.get()
    assert "plan" in str(failed.value) and "secret" not in repr(failed.value.__dict__)
