"""Hears one streamed turn of a session, line by line, over as many connections as it takes, and says what became of it.

Lines are stamped by the caller as they arrive, before anything of them is parsed; they may be parsed later.
"""

from loadtests.domain.heard import Heard, Pieces, cached_in, count_in, object_in, word_of

TERMINAL = frozenset({"done", "blocked", "cancelled", "error"})


class Hearing:
    def __init__(self) -> None:
        self._pieces = Pieces()
        self._event = ""
        self._id = ""
        self._place = 0
        self._turn: int | None = None
        self._replica: str | None = None
        self._usage: object = None
        self._finish: str | None = None
        self._is_continued = False
        self._is_retryable = False
        self._failure: str | None = None
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether the server has said how it ended."""
        return self._is_over

    @property
    def last_event(self) -> str:
        """Where to read on after a lost stream; empty: nothing was heard."""
        return f"{self._turn}-{self._place}" if self._turn is not None and self._place else ""

    @property
    def turn(self) -> int | None:
        return self._turn

    def line(self, raw: bytes, *, at: float) -> None:
        """One line of the stream without its LF, and when it came."""
        field, _, value = raw.decode("utf-8", "replace").rstrip("\r").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._event = value
        elif field == "id":
            self._id = value
        elif field == "data":
            self._data(value, at)

    def heard(self, *, failure: str | None = None) -> Heard:
        """What became of the turn; `failure` says what the connection did."""
        prompt_tokens = count_in(self._usage, "prompt_tokens") or 0
        return Heard(
            text=self._pieces.text,
            stored_as=self._turn,
            first_at=self._pieces.first_at,
            last_at=self._pieces.last_at,
            pieces=len(self._pieces.stamps),
            gaps_s=self._pieces.gaps_s,
            prompt_tokens=prompt_tokens,
            cached_tokens=cached_in(self._usage, prompt_tokens=prompt_tokens),
            completion_tokens=count_in(self._usage, "completion_tokens") or 0,
            replica=self._replica,
            continued=self._is_continued,
            finish=self._finish,
            failure=self._failure or failure or (None if self._is_over else "no_end"),
            is_retryable=self._is_retryable,
        )

    def _data(self, value: str, at: float) -> None:
        data = object_in(value)
        if data is None:
            self._failure = "malformed"
            return
        self._placed()
        match self._event:
            case "accepted":
                self._turn = count_in(data, "turn")
                self._replica = str(data["replica"]) if data.get("replica") else None
            case "delta" if data.get("text"):
                self._failure = "malformed" if self._is_over else self._failure
                self._pieces.add(str(data["text"]), at)
            case name if name in TERMINAL:
                self._is_over = True
                self._ended(name, data)
            case _:  # an event that this version does not know says nothing about its turn
                pass

    def _placed(self) -> None:
        """Each event is further than the one before, also behind a lost stream: none comes twice."""
        _, _, place = self._id.partition("-")
        if not place.isdecimal():
            return
        if int(place) < self._place or (int(place) == self._place and self._event == "delta"):
            self._failure = "event_again"
        self._place = int(place)

    def _ended(self, name: str, data: dict[str, object]) -> None:
        self._replica = str(data["replica"]) if data.get("replica") else self._replica
        self._is_continued = data.get("continued") is True
        self._usage = data.get("usage", self._usage)
        match name:
            case "cancelled":
                self._finish = name
            case "blocked":
                self._failure = "moderated"
            case "error":
                self._failure = word_of(data.get("code", name))
                self._is_retryable = data.get("retryable") is True
            case _:
                self._done(data.get("finish_reason"))

    def _done(self, reason: object) -> None:
        self._finish = str(reason) if reason else None
        if self._finish is None:
            self._failure = self._failure or "no_finish"
        elif not self._pieces.stamps:
            self._failure = self._failure or "empty"
