"""A chat completion that a replica has taken: what of it goes to the caller, and what it has cost so far."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from gateway.choice_check import ReplyRules
from gateway.domain.limits import Spent, Standing
from gateway.domain.openai_request import AskedChat
from gateway.openai_ports import CarriedCall
from gateway.told_chat import ToldEvents, whole_as_told
from router.errors import EngineBroke, EngineError, StreamBroken

_END_OF_BODY_S = 0.5


class OpenChat:
    """A chat completion that a replica has taken."""

    def __init__(
        self,
        carried: CarriedCall,
        asked: AskedChat,
        *,
        rules: ReplyRules,
        estimate: Spent,
        standing: Sequence[Standing],
        count: Callable[[str], int],
    ) -> None:
        self._carried = carried
        self._rules = rules
        self._told = ToldEvents(rules, wants_usage=asked.wants_usage, spent_on=self._spent_on)
        self._estimate = estimate
        self._count = count
        self._whole: Spent | None = estimate
        self.is_streamed = asked.is_streamed
        self.standing = standing

    @property
    def replica(self) -> str:
        return self._carried.replica

    @property
    def pin(self) -> str:
        return self._carried.pin

    @property
    def spent(self) -> Spent | None:
        """What it has cost so far. Of an answer that is no stream nobody knows before its end: until then it is what
        was estimated, so that leaving just before the end saves nothing; and nothing (None) if it broke.
        """
        if not self.is_streamed:
            return self._whole
        return self._told.spent or self._spent_on(self._told.said)

    @property
    def is_done(self) -> bool:
        """Whether the last read has ended the stream."""
        return self._told.is_done

    async def read(self) -> bytes:
        """Of a stream events as they come, a whole answer in one piece; empty at the end. Raises an `EngineError`."""
        try:
            return await (self._events() if self.is_streamed else self._answer())
        except StreamBroken as error:
            self._whole = None
            raise EngineBroke(self._carried.replica, str(error)) from error
        except EngineError:
            self._whole = None
            raise

    async def see_off(self) -> None:
        """Only the end of the body is missing; who waits for it gets a connection that can be used again."""
        if self.is_done and not self._told.is_blocked:
            with suppress(EngineError, TimeoutError):
                async with asyncio.timeout(_END_OF_BODY_S):
                    while await self._carried.read():
                        pass

    async def _events(self) -> bytes:
        while data := await self._carried.read():
            told = await self._told.feed(data)
            if self._told.is_blocked:
                self._carried.close()  # before anything is told: the engine has nothing more to say
            if told:
                return told
        return b""

    async def _answer(self) -> bytes:
        told = await whole_as_told(await self._carried.read(), self._rules)
        self._whole = told.spent or self._spent_on(told.said)
        return told.body

    def _spent_on(self, said: str) -> Spent:
        return Spent(self._estimate.input_tokens, self._count(said))
