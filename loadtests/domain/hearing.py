"""Hears one streamed turn line by line and says what became of it.

Locust's own time of a streamed request ends with the headers, and its line helper waits for blocks of bytes. So lines
are stamped by the caller as they arrive, before anything is parsed, and every figure is made here.
"""

import json
from dataclasses import dataclass

TERMINAL = frozenset({"done", "blocked", "cancelled", "error"})


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """Seconds count from sending the request. `failure` names what went wrong, in one word."""

    turn: int | None
    ttft_s: float | None
    last_text_s: float | None
    total_s: float
    pieces: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    replica: str | None
    failure: str | None

    @property
    def tpot_s(self) -> float | None:
        """Seconds per output token after the first; none for a reply of one token."""
        if self.ttft_s is None or self.last_text_s is None or self.completion_tokens <= 1:
            return None
        return (self.last_text_s - self.ttft_s) / (self.completion_tokens - 1)


class Hearing:
    def __init__(self) -> None:
        self._event = ""
        self._first_text: float | None = None
        self._last_text: float | None = None
        self._pieces = 0
        self._turn: int | None = None
        self._replica: str | None = None
        self._usage: dict[str, int] = {}
        self._failure: str | None = None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        return self._is_over

    def line(self, raw: bytes, *, at: float) -> None:
        """One line of the stream without its LF, `at` seconds after the request was sent."""
        field, _, value = raw.decode("utf-8", "replace").rstrip("\r").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._event = value
        elif field == "data":
            self._data(value, at)

    def outcome(self, *, at: float, failure: str | None = None) -> TurnOutcome:
        """What became of the turn, `at` seconds after the request; `failure` says what the connection did."""
        return TurnOutcome(
            turn=self._turn,
            ttft_s=self._first_text,
            last_text_s=self._last_text,
            total_s=at,
            pieces=self._pieces,
            prompt_tokens=self._usage.get("prompt_tokens", 0),
            cached_tokens=self._usage.get("cached_tokens", 0),
            completion_tokens=self._usage.get("completion_tokens", 0),
            replica=self._replica,
            failure=self._failure or failure or (None if self._is_over else "no_end"),
        )

    def _data(self, value: str, at: float) -> None:
        try:
            data = json.loads(value)
        except ValueError:
            self._failure = "malformed"
            return
        match self._event:
            case "accepted":
                self._turn, self._replica = data.get("turn"), data.get("replica")
            case "delta" if data.get("text"):
                self._pieces += 1
                self._first_text = at if self._first_text is None else self._first_text
                self._last_text = at
            case name if name in TERMINAL:
                self._is_over = True
                self._ended(name, data)
            case _:  # an event that this version does not know says nothing about its turn
                pass

    def _ended(self, name: str, data: dict[str, object]) -> None:
        if name != "done":
            self._failure = str(data.get("code", name))
            return
        usage, replica = data.get("usage"), data.get("replica")
        if isinstance(usage, dict):
            self._usage = {str(key): int(count) for key, count in usage.items()}
        if isinstance(replica, str):
            self._replica = replica
