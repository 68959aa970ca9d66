"""What of a reply may leave: it goes piece by piece through moderation, and what that lets go is all there is of it."""

from collections.abc import Callable

from sessions.domain.moderation import Judgement
from sessions.moderation_ports import ReplyCheck
from sessions.ports import Clock


class ReleasedReply:
    """`release` is given each text that may leave, when it may."""

    def __init__(self, *, check: ReplyCheck, release: Callable[[str], None], clock: Clock) -> None:
        self._check = check
        self._release = release
        self._clock = clock
        self._pieces: list[str] = []
        self._is_over = False
        self.first_text_at: float | None = None

    @property
    def text(self) -> str:
        """All that has left."""
        return "".join(self._pieces)

    @property
    def judgement(self) -> Judgement:
        return self._check.judgement

    @property
    def is_blocked(self) -> bool:
        return self._check.judgement.blocked is not None

    def take(self, text: str) -> bool:
        """One more piece; an empty one only looks whether more may leave. Whether the tutor is to be stopped now."""
        if self._is_over:
            return False
        self._let_go(self._check.feed(text))
        return self.is_blocked

    async def finish(self) -> None:
        """Nothing more will be said: let go what still may leave. Once is enough."""
        if not self._is_over:
            self._is_over = True
            self._let_go(await self._check.finish())

    def _let_go(self, text: str) -> None:
        if not text:
            return
        if self.first_text_at is None:
            self.first_text_at = self._clock.ticks()
        self._pieces.append(text)
        self._release(text)
