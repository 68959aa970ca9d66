"""Which headings stand above a place in a document."""


class Outline:
    """Told each heading as it comes; a heading ends those of its level and below."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> None:
        self._open = [(above, text) for above, text in self._open if above < level]
        if heading.strip():
            self._open.append((level, heading))

    @property
    def path(self) -> tuple[str, ...]:
        """Outermost first."""
        return tuple(text for _, text in self._open)
