"""Parses server-sent events.

See https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_LINE_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True)
class Message:
    """A message. `id` is the position to resume from. `data` is None for heartbeats and positions without an event."""

    id: str
    data: str | None


class SseParser:
    """Parses messages from chunks of any length."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._id = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Message]:
        """The messages that this chunk completes."""
        text = self._rest + self._decoder.decode(chunk)
        # The line feed of this line end may be in the next chunk.
        pending = "\r" if text.endswith("\r") else ""
        *lines, rest = _LINE_END.split(text[: len(text) - len(pending)])
        self._rest = rest + pending
        return [message for line in lines if (message := self._parse_line(line))]

    def _parse_line(self, line: str) -> Message | None:
        if line:
            self._set_field(line)
            return None
        data = "\n".join(self._data) if self._data else None
        self._data = []
        return Message(self._id, data)

    def _set_field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
