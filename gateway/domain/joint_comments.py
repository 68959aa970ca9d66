"""Reads in a router's stream where the reply goes on: `: drillyard {"continued":1,"replica":"b"}`."""

import json

_START = b"\n: drillyard "
_LONGEST = 1024


class JointComments:
    """Sees the bytes as they pass, cut anywhere. No text can forge such a line: inside JSON a line feed is escaped."""

    def __init__(self) -> None:
        self._tail = b"\n"
        self.replica = ""
        """Where the reply went on last; empty: it has stayed where it began."""
        self.count = 0

    def moved_to(self, replica: str) -> None:
        """The reply goes on in another stream, which begins at this replica."""
        self._tail = b"\n"
        self.replica = replica

    def feed(self, data: bytes) -> None:
        window = self._tail + data
        at = window.find(_START)
        while at >= 0:
            end = window.find(b"\n", at + 1)
            if end < 0:
                self._tail = window[at : at + _LONGEST]
                return
            self._read(window[at + len(_START) : end])
            window = window[end:]
            at = window.find(_START)
        self._tail = window[1 - len(_START) :]

    def _read(self, written: bytes) -> None:
        try:
            told = json.loads(written)
        except (ValueError, RecursionError):
            return
        if isinstance(told, dict) and isinstance(told.get("replica"), str):
            self.replica = told["replica"]
            self.count += 1
