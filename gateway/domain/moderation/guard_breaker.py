"""Knows whether a guard that was silent may be asked again: its absence costs one wait, and not one a sentence."""


class GuardBreaker:
    """Opens when a question failed and none was answered since it was put: a guard that answers others is there."""

    def __init__(self, *, pause_s: float) -> None:
        self._pause_s = pause_s
        self._until: float | None = None
        self._answered_at: float | None = None

    @property
    def is_open(self) -> bool:
        return self._until is not None

    def may_ask(self, now: float) -> bool:
        """After the pause one who asks may, and tries it for all the others."""
        if self._until is None:
            return True
        if now < self._until:
            return False
        self._until = now + self._pause_s
        return True

    def answered(self, now: float) -> None:
        self._until, self._answered_at = None, now

    def failed(self, *, asked_at: float, now: float) -> None:
        if self._answered_at is None or self._answered_at < asked_at:
            self._until = now + self._pause_s
