"""Event streams."""

from __future__ import annotations

from tests.conftest import Control, Customer


def test_a_stream_resumes_after_an_outage_without_gaps_or_duplicates(
    customer: Customer, control: Control
) -> None:
    first = customer.new_intent()
    begin = list(customer.client.events.list())[-1]
    seen: list[tuple[str, str | None]] = []
    second = customer.new_intent()
    for event in customer.client.events.stream(after=begin.id):
        seen.append((event.type, event.intent_id))
        if len(seen) == 2:
            control("outage", refusals=2)
            control("move", intentId=first, to="executing")
            control("move", intentId=second, to="executing")
        if len(seen) == 4:
            break
    assert seen[:2] == [("intent.created", second), ("intent.planned", second)]
    assert seen[2:] == [("intent.executing", first), ("intent.executing", second)]


def test_a_stream_filters_by_intent_and_type(customer: Customer, control: Control) -> None:
    one, other = customer.new_intent(), customer.new_intent()
    stream = customer.client.events.stream(
        after="evt_0", intent_id=other, type=["intent.planned", "intent.executing"]
    )
    assert next(iter(stream)).intent_id == other
    control("move", intentId=one, to="executing")
    control("move", intentId=other, to="executing")
    event = next(iter(stream))
    assert (event.type, event.intent_id) == ("intent.executing", other)
