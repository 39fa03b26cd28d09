"""Server-sent events as they come over the wire.

See https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_LINE_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True)
class Message:
    """`id`: where to go on after this. `data` is None of what only marks a place, or only lives."""

    id: str
    data: str | None


class SseParser:
    """Makes messages of what arrives, wherever it is cut."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._id = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Message]:
        """The messages that are complete by now."""
        text = self._rest + self._decoder.decode(chunk)
        # The other half of a line's end may be still to come.
        held = "\r" if text.endswith("\r") else ""
        *lines, rest = _LINE_END.split(text[: len(text) - len(held)])
        self._rest = rest + held
        return [message for line in lines if (message := self._take(line))]

    def _take(self, line: str) -> Message | None:
        if line:
            self._note(line)
            return None
        data = "\n".join(self._data) if self._data else None
        self._data = []
        return Message(self._id, data)

    def _note(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
