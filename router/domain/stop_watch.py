"""Finds a stop string that begins before a joint and ends behind it, which no single engine sees."""

from collections.abc import Mapping, Sequence


class StopWatch:
    """Feed it what the continuing answer says anew. Once such a stop string is whole, nothing more is told."""

    def __init__(self, stops: Sequence[str], told: str, *, is_told_itself: bool) -> None:
        longest = max((len(stop) for stop in stops), default=1)
        self._stops = stops
        self._is_told_itself = is_told_itself
        self._seen = told[len(told) - min(len(told), longest - 1) :]
        self._border = len(self._seen)
        self._longest = longest
        self.found: str | None = None
        """The stop string; None until it is whole."""

    @property
    def ending(self) -> Mapping[str, object]:
        """What the finish must say instead of its own; empty when no stop string was found."""
        return {} if self.found is None else {"finish_reason": "stop", "stop_reason": self.found}

    def feed(self, text: str) -> str:
        if self.found is not None:
            return ""
        if not text or len(self._seen) - self._border >= self._longest - 1:
            return text
        known = len(self._seen)
        self._seen += text
        for stop in self._stops:
            at = self._seen.find(stop, max(0, known - len(stop) + 1))
            if at >= self._border:
                return text  # the engine sees this one
            if at >= 0:
                self.found = stop
                return self._seen[known : at + len(stop)] if self._is_told_itself else ""
        return text
