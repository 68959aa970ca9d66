"""The sentences of one reply, in line before the guard: asked about side by side, released in their order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from gateway.domain.moderation.guard_sentences import SentenceCutter
from sessions.domain.moderation import NOTHING_FOUND, Action, BlockReason, Judgement, Mark

MOST_SAID = 4_000
"""Characters of a reply that its last sentence is judged with."""
_AT_ONCE = 4
"""Questions about one reply under way; those about a long text would else be too many to be answered in time."""


@dataclass(slots=True)
class _Sentence:
    text: str
    start: int
    found: Judgement | None = None
    """None: not known yet."""

    def placed(self, mark: Mark) -> Mark:
        digest = sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()
        return replace(mark, start=self.start, end=self.start + len(self.text), digest=digest)


class GuardLine:
    """What is released, and what blocks, depends on the verdicts alone, and not on when they come.

    `judge` is asked about the reply so far, at its end; `holds`: whether a sentence waits for its verdict. Places in
    marks are those in the text that came here.
    """

    def __init__(
        self,
        *,
        judge: Callable[[str], Awaitable[Judgement]],
        tasks: asyncio.TaskGroup,
        news: Callable[[], None],
        holds: bool,
    ) -> None:
        self._judge = judge
        self._tasks = tasks
        self._news: Callable[[], None] | None = news
        self._holds = holds
        self._cutter = SentenceCutter()
        self._said, self._end = "", 0
        self._line = deque[_Sentence]()
        self._asked = set[asyncio.Task[None]]()
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._moved = asyncio.Event()
        self._ready: list[str] = []
        self._marks: dict[tuple[str, Action], Mark] = {}
        self.blocked: BlockReason | None = None

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Of each rule and action the first: what is judged with it later meets it again."""
        return tuple(self._marks.values())

    def add(self, piece: str) -> None:
        if self.blocked is not None:
            return
        if not self._holds:
            self._ready.append(piece)
        for sentence in self._cutter.feed(piece):
            self._ask(sentence)

    def ready(self) -> str:
        """What may be released now."""
        ready, self._ready = "".join(self._ready), []
        return ready

    async def rest(self) -> str:
        """No more will come: the same once all verdicts are there."""
        self._news = None  # who waits here hears of it by what comes back
        for sentence in self._cutter.finish():
            self._ask(sentence)
        while self._line:
            self._moved.clear()
            await self._moved.wait()
        return self.ready()

    def drop(self) -> None:
        """Nobody waits for the verdicts any more."""
        self._line.clear()
        for task in self._asked:
            task.cancel()

    def _ask(self, text: str) -> None:
        if self.blocked is not None:
            return
        sentence = _Sentence(text, self._end)
        self._end += len(text)
        self._said = (self._said + text)[-MOST_SAID:]
        self._line.append(sentence)
        if not text.strip():
            sentence.found = NOTHING_FOUND
            self._settle()
            return
        task = self._tasks.create_task(self._judged(sentence, self._said))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _judged(self, sentence: _Sentence, said: str) -> None:
        async with self._places:
            sentence.found = await self._judge(said)
        if self._settle() and self._news is not None:
            self._news()

    def _settle(self) -> bool:
        """Whether there is something new to be released or told."""
        was_ready = len(self._ready)
        while self._line and (found := self._line[0].found) is not None:
            sentence = self._line.popleft()
            for mark in found.marks:
                self._marks.setdefault((mark.rule, mark.action), sentence.placed(mark))
            self.blocked = found.blocked
            if self.blocked is not None:
                self.drop()
            elif self._holds:
                self._ready.append(sentence.text)
        self._moved.set()
        return self.blocked is not None or len(self._ready) > was_ready
