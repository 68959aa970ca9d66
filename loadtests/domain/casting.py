"""Which worker plays which part: each part is handed out once, to whoever asks for one."""


class Casting:
    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._next = 0
        self._playing: dict[int, str] = {}
        self._lost: list[int] = []

    def hand_out(self, worker: str) -> int | None:
        """The next part; None: all are handed out."""
        if self._next >= self._parts:
            return None
        part, self._next = self._next, self._next + 1
        self._playing[part] = worker
        return part

    def over(self, part: int) -> None:
        self._playing.pop(part, None)

    def lose(self, worker: str) -> None:
        """The worker is gone, and what it played with it: nobody can go on in the middle."""
        gone = [part for part, player in self._playing.items() if player == worker]
        self._lost.extend(gone)
        for part in gone:
            del self._playing[part]

    @property
    def is_through(self) -> bool:
        return self._next >= self._parts and not self._playing

    @property
    def unplayed(self) -> int:
        """Parts that were not played to their end."""
        return self._parts - self._next + len(self._playing) + len(self._lost)
