"""The stream of events, however it is cut."""

from __future__ import annotations

import random

import pytest

from steward._internal.sse import Message, SseParser

STREAM = (
    "retry: 900\n\n"
    ":\n\n"
    "id: evt_1\n\n"
    'id: evt_2\nevent: intent.created\ndata: {"a":"é\u2028\x85\x0b😀"}\n\n'
    "id:evt_3\r\ndata:one\r\ndata: two\r\n\r\n"
    "data\rdata:  x\r\r"
    "data: half"
)
TOLD = [
    Message("evt_2", '{"a":"é\u2028\x85\x0b😀"}'),
    Message("evt_3", "one\ntwo"),
    Message("evt_3", "\n x"),
]


def _told(chunks: list[bytes]) -> list[Message]:
    parser = SseParser()
    return [one for chunk in chunks for one in parser.feed(chunk) if one.data is not None]


def test_messages_are_the_same_wherever_the_stream_is_cut() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    content = STREAM.encode()
    for _ in range(300):
        cuts = sorted(dice.randrange(len(content)) for _ in range(dice.randrange(9)))
        chunks = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
        assert _told(chunks) == TOLD
    assert _told([content[at : at + 1] for at in range(len(content))]) == TOLD


def test_a_mark_says_where_to_go_on_without_telling_anything() -> None:
    assert SseParser().feed(b"retry: 1\n\nid: evt_9\n\n") == [Message("", None), Message("evt_9", None)]


@pytest.mark.parametrize("line", [b"id: a\0b\n", b"idea: x\n", b": id: x\n"])
def test_what_is_no_id_is_none(line: bytes) -> None:
    parser = SseParser()
    parser.feed(b"id: evt_1\n\n")
    assert parser.feed(line + b"data: x\n\n") == [Message("evt_1", "x")]
