"""A client of Redis that sends together what is asked at the same moment.

Each way to the server costs a process about as much as three commands, and a class that begins together asks for
hundreds of things at once. Nobody waits for others: what is asked leaves as soon as all who can run now have run.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import ConnectionPool, Redis
from typing_extensions import override

_MOST_TOGETHER: Final = 100


@dataclass(frozen=True, slots=True)
class _Asked:
    words: tuple[Any, ...]
    options: dict[str, Any]
    answer: asyncio.Future[Any]

    def answered(self, answer: object) -> None:
        if self.answer.done():  # whoever asked has gone
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


class JointRedis(Redis):
    """To be closed; the pool is closed with it. What waits for its message or blocks needs a line of its own."""

    def __init__(self, pool: ConnectionPool) -> None:
        super().__init__(connection_pool=pool)
        self.auto_close_connection_pool = True
        self._encoder = pool.get_encoder()  # type: ignore[no-untyped-call]
        self._asked: list[_Asked] = []
        self._asking: set[asyncio.Task[None]] = set()

    @override
    async def execute_command(self, *words: Any, **options: Any) -> Any:
        loop = asyncio.get_running_loop()
        # What cannot be sent is told here to who would send it, and not to all who ask at the same moment.
        sent = (words[0], *(self._encoder.encode(word) for word in words[1:]))
        asked = _Asked(sent, options, loop.create_future())
        if not self._asked:
            loop.call_soon(self._ask)
        self._asked.append(asked)
        return await asked.answer

    @override
    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        self._let_go(self._asked)
        for asking in tuple(self._asking):
            asking.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)
        await super().aclose(close_connection_pool)

    def _ask(self) -> None:
        asked, self._asked = [one for one in self._asked if not one.answer.done()], []
        for start in range(0, len(asked), _MOST_TOGETHER):
            self._begin(asked[start : start + _MOST_TOGETHER])

    def _begin(self, asked: Sequence[_Asked]) -> None:
        asking = asyncio.get_running_loop().create_task(self._ask_together(asked))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        asking.add_done_callback(lambda _: self._let_go(asked))

        def leave(_: object) -> None:
            if all(one.answer.done() for one in asked):
                asking.cancel()  # nobody waits any longer, and a dead line would be held for ever

        for one in asked:
            one.answer.add_done_callback(leave)

    @staticmethod
    def _let_go(asked: Sequence[_Asked]) -> None:
        for one in asked:
            one.answer.cancel()

    async def _ask_together(self, asked: Sequence[_Asked]) -> None:
        try:
            answers = await self._answers(asked)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told to everyone who asked
            answers = [_like(error) for _ in asked]
        for one, answer in zip(asked, answers, strict=True):
            one.answered(answer)

    async def _answers(self, asked: Sequence[_Asked]) -> Sequence[object]:
        """What Redis says to each; an error of one is an answer, too."""
        if len(asked) == 1:
            alone = asked[0]
            return [await super().execute_command(*alone.words, **alone.options)]  # type: ignore[no-untyped-call]
        pipeline = self.pipeline(transaction=False)
        for one in asked:
            pipeline.pipeline_execute_command(*one.words, **one.options)  # type: ignore[no-untyped-call]
        answers: list[object] = await pipeline.execute(raise_on_error=False)
        return answers


def _like(error: Exception) -> Exception:
    """One for each who is told, since raising an error changes it."""
    copy = type(error)(*error.args)
    copy.__cause__ = error
    return copy
