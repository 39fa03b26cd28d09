"""The parser of event streams."""

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
MESSAGES = [
    Message("evt_2", '{"a":"é\u2028\x85\x0b😀"}'),
    Message("evt_3", "one\ntwo"),
    Message("evt_3", "\n x"),
]


def _parse(chunks: list[bytes]) -> list[Message]:
    parser = SseParser()
    return [one for chunk in chunks for one in parser.feed(chunk) if one.data is not None]


def test_the_split_of_a_stream_into_chunks_does_not_change_its_messages() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    content = STREAM.encode()
    for _ in range(300):
        cuts = sorted(dice.randrange(len(content)) for _ in range(dice.randrange(9)))
        chunks = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
        assert _parse(chunks) == MESSAGES
    assert _parse([content[at : at + 1] for at in range(len(content))]) == MESSAGES


def test_an_id_without_data_marks_a_position() -> None:
    assert SseParser().feed(b"retry: 1\n\nid: evt_9\n\n") == [Message("", None), Message("evt_9", None)]


@pytest.mark.parametrize("line", [b"id: a\0b\n", b"idea: x\n", b": id: x\n"])
def test_a_malformed_id_is_ignored(line: bytes) -> None:
    parser = SseParser()
    parser.feed(b"id: evt_1\n\n")
    assert parser.feed(line + b"data: x\n\n") == [Message("evt_1", "x")]
