"""Knows the end of a stream that is still held, by its places in the whole of it."""


class HeldText:
    """Raw text from `start` on; what was let go is forgotten."""

    def __init__(self) -> None:
        self._text = ""
        self.start = 0

    @property
    def end(self) -> int:
        return self.start + len(self._text)

    def add(self, piece: str) -> None:
        self._text += piece

    def between(self, start: int, end: int) -> str:
        return self._text[start - self.start : end - self.start]

    def let_go(self, before: int) -> str:
        """What stands before that place."""
        size = before - self.start
        gone, self._text, self.start = self._text[:size], self._text[size:], before
        return gone
