"""What all trainees of one worker share."""

import threading
from dataclasses import dataclass, field

from loadtests.domain.drill import Drill, Shape
from loadtests.users.aim import Aim
from loadtests.users.book import Book
from loadtests.users.caller import Caller
from loadtests.users.clock import DrillClock
from loadtests.users.ruler import Ruler

_OK = 200


@dataclass(slots=True, kw_only=True)
class Stage:
    drill: Drill
    aim: Aim
    clock: DrillClock
    book: Book
    sessions: dict[int, str] = field(default_factory=dict)
    """Of each trainee here, the session that is open: others try to reach into it."""
    may_force_length: bool = True
    """Until the server has refused it."""
    _asking: threading.RLock = field(default_factory=threading.RLock)
    """Locust makes it one of greenlets."""
    _model: str = ""
    _ruler: Ruler | None = None

    @property
    def name(self) -> str:
        """Of this run alone, so that chats of an earlier one are not gone on with."""
        return f"{self.drill.digest}-{self.clock.bell_at:.0f}"

    @property
    def number(self) -> int:
        """The same in five digits, for what trainees say."""
        return int(self.clock.bell_at) % 100_000

    @property
    def is_by_share(self) -> bool:
        """Whether messages are to fill a share of the window exactly."""
        return self.drill.shape is Shape.LONG_PROMPT

    def foreign_session(self, trainee: int) -> str | None:
        """An open one that is of another account."""
        own = self.aim.key_of(trainee)
        others = (session for other, session in self.sessions.items() if self.aim.key_of(other) != own)
        return next(filter(None, others), None)

    @property
    def patience_s(self) -> float:
        """Real seconds that a turn may take."""
        return self.clock.real(self.drill.timeout_s)

    def caller(self, trainee: int, *, base_url: str | None = None, is_chat: bool = False) -> Caller:
        key = self.aim.chat_key_of(trainee) if is_chat else self.aim.key_of(trainee)
        return Caller(base_url or self.aim.base_urls[0], key=key, patience_s=self.patience_s)

    @property
    def model(self) -> str:
        """The one that was named, else the first that the server lists."""
        with self._asking:
            if not self._model:
                self._model = self.aim.model or self._first_model()
            return self._model

    @property
    def ruler(self) -> Ruler:
        with self._asking:
            if self._ruler is None:
                self._ruler = Ruler(self._counter(), model=self.model)
            return self._ruler

    def _counter(self) -> Caller:
        if self.aim.tokenize_url:
            return Caller(self.aim.tokenize_url, key=None, patience_s=self.patience_s)
        return self.caller(0, is_chat=True)

    def _first_model(self) -> str:
        with self.caller(0, is_chat=True) as caller:
            answer = caller.send("GET", "/v1/models")
            content = answer.json() if answer.status == _OK else None
        listed = content.get("data") if isinstance(content, dict) else None
        first = listed[0] if isinstance(listed, list) and listed else {}
        return str(first.get("id", "")) if isinstance(first, dict) else ""
