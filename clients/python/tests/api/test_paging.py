"""Lists with several pages."""

from __future__ import annotations

from tests.conftest import Control, Customer

MANY = 450


def _newest_first(ids: list[str]) -> list[str]:
    """Ids sort by creation time; ids of the same millisecond have a random order."""
    return sorted(ids, reverse=True)


def test_intents_are_paged_without_gaps_or_duplicates_while_new_ones_arrive(
    customer: Customer, control: Control
) -> None:
    made = _newest_first(control("intents", walletId=customer.wallet_id, count=MANY))
    seen: list[str] = []
    for intent in customer.client.intents.list():
        seen.append(intent.id)
        if len(seen) % 100 == 50:
            control("intents", walletId=customer.wallet_id, count=3)
    assert seen == made


def test_events_are_paged_without_gaps_or_duplicates_while_new_ones_arrive(
    customer: Customer, control: Control
) -> None:
    made: list[str] = control("intents", walletId=customer.wallet_id, count=300)
    first = customer.client.events.list(limit=1).page().data[0]
    seen = [first.id]
    intent_ids: list[str | None] = []
    for event in customer.client.events.list(after=first.id):
        seen.append(event.id)
        intent_ids.append(event.intent_id)
        if len(seen) in (50, 150, 250):
            made += control("intents", walletId=customer.wallet_id, count=5)
    assert len(set(seen)) == len(seen)
    assert intent_ids == made[: len(intent_ids)] and len(intent_ids) >= 300


def test_pages_are_read_one_by_one(
    customer: Customer, control: Control
) -> None:
    made = _newest_first(control("intents", walletId=customer.wallet_id, count=5))
    intents = customer.client.intents
    pages = [[one.id for one in page.data] for page in intents.list(limit=2).pages()]
    assert pages == [made[:2], made[2:4], made[4:]]
    first = intents.list(limit=2).page()
    assert first.has_more
    rest = intents.list(limit=2, cursor=first.next_cursor)
    assert [one.id for one in rest] == made[2:]
