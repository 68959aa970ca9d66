"""What the engine says to one request, read as pieces of text: one choice or several, some tokens at a time."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from loadtests.simulator.ask import Ask, Choice
from loadtests.simulator.domain.generation import FinishReason, Generation, Life, Progress, RequestId
from loadtests.simulator.domain.packed_tokens import Token
from loadtests.simulator.domain.speech import Voice
from loadtests.simulator.domain.wire import Document, Kind, Moments, Piece, Usage
from loadtests.simulator.errors import busy, engine_failed
from loadtests.simulator.logprobs import chat_logprobs, completion_logprobs
from loadtests.simulator.recorder import Record
from loadtests.simulator.replica import Replica
from loadtests.simulator.runner import EngineDead, QueueFull, Stream


@dataclass(slots=True)
class _Voiced:
    """One choice while it is said."""

    choice: Choice
    voice: Voice
    stream: Stream
    finished: FinishReason | None = None
    said_characters: int = 0


class Reading:
    """Submits a request and gives it back, however it ends; counts what was said."""

    def __init__(self, *, replica: Replica, ask: Ask, record: Record, arrived_at: float) -> None:
        self.replica = replica
        self.ask = ask
        self.record = record
        self._arrived_at = arrived_at
        self._voiced: list[_Voiced] = []
        self._life: Life | None = None
        self._cached_tokens = 0

    async def __aenter__(self) -> Self:
        try:
            for choice in self.ask.choices:
                generation = self._generation(choice)
                stream = self.replica.runner.submit(generation, arrived_at=self._arrived_at)
                self.replica.speaking.setdefault(self._answer_id, set()).add(generation.id)
                voice = Voice(choice.speech, self.ask.ending)
                self._voiced.append(_Voiced(choice, voice, stream))
        except QueueFull as error:
            await self._give_back()
            raise busy() from error
        except EngineDead as error:
            raise engine_failed() from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._give_back()
        self.record.completion_tokens = self.usage.completion_tokens
        self.record.cached_tokens = self._cached_tokens
        self.record.ended_s = self.replica.now_s

    @property
    def usage(self) -> Usage:
        # Several choices of one prompt share it.
        prompt_tokens = sum(len(voiced.choice.prompt) for voiced in self._voiced[:: self.ask.body.n])
        block = self.replica.profile.limits.block_tokens
        whole_blocks = prompt_tokens // block * block
        return Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=sum(voiced.voice.tokens for voiced in self._voiced),
            cached_tokens=self._cached_tokens,
            created_cache_tokens=max(0, whole_blocks - self._cached_tokens),
        )

    @property
    def moments(self) -> Moments | None:
        """How long what took, once it is over."""
        if self._life is None or not self.replica.options.enable_per_request_metrics:
            return None
        life = self._life
        whole_s = life.whole_s - life.queue_s
        return Moments(
            time_to_first_token_ms=life.to_first_token_s * 1000,
            generation_time_ms=life.decode_s * 1000,
            queue_time_ms=life.queue_s * 1000,
            mean_itl_ms=life.per_output_token_s * 1000,
            tokens_per_second=life.generated_tokens / whole_s if whole_s else 0.0,
        )

    async def pieces(self, *, tokens_each: int = 1) -> AsyncGenerator[Piece, None]:
        """In turn for each choice, as the engine's steps serve them all. The first token never waits for others."""
        unfinished = list(self._voiced)
        while unfinished:
            for voiced in unfinished:
                yield await self._next(voiced, 1 if voiced.voice.tokens == 0 else tokens_each)
            unfinished = [voiced for voiced in unfinished if voiced.finished is None]

    async def _next(self, voiced: _Voiced, tokens: int) -> Piece:
        piece: Piece | None = None
        while piece is None or (voiced.finished is None and tokens > 1):
            tokens -= 1
            said = self._piece(voiced, await anext(voiced.stream))
            piece = said if piece is None else _joined(piece, said)
        return piece

    def _piece(self, voiced: _Voiced, progress: Progress) -> Piece:
        if self.record.first_token_s is None:
            self.record.first_token_s = self.replica.now_s
            self._cached_tokens = progress.cached_tokens
            self.record.cached_tokens = progress.cached_tokens
        self._life = progress.life or self._life
        voiced.finished = progress.finished
        before = voiced.voice.tokens
        text = voiced.voice.say(len(progress.tokens), finished=progress.finished is not None)
        tokens = voiced.choice.speech.tokens[before : voiced.voice.tokens]
        logprobs = self._logprobs(tokens, offset=voiced.said_characters)
        voiced.said_characters += len(text)
        return Piece(
            index=voiced.choice.index,
            text=text,
            finish_reason=None if progress.finished is None else progress.finished.value,
            stop_reason=voiced.voice.stop_reason if progress.finished is FinishReason.STOP else None,
            token_ids=[token.id for token in tokens] if self.ask.body.return_token_ids else None,
            logprobs=logprobs,
            prompt_token_ids=voiced.choice.prompt if before == 0 and self._tells_prompt else None,
        )

    @property
    def _tells_prompt(self) -> bool:
        is_completion = self.ask.kind is Kind.COMPLETION
        return is_completion and bool(self.ask.body.return_token_ids or (self.ask.echo and self.ask.streams))

    def _logprobs(self, tokens: Sequence[Token], *, offset: int) -> Document | None:
        words, top = self.replica.model.vocabulary, self.ask.top_logprobs
        if top is None:
            return None
        shown = [token for token in tokens if token.id != words.end]
        if self.ask.kind is Kind.CHAT:
            return chat_logprobs(shown, words, top=top)
        return completion_logprobs(shown, words, top=top, offset=offset)

    def _generation(self, choice: Choice) -> Generation:
        body = self.ask.body
        return Generation(
            id=self._own_id(choice),
            prompt=choice.prompt,
            output=choice.speech.ids,
            max_tokens=self.ask.max_tokens,
            salt=self.record.salt,
            priority=self.record.priority,
            finish_reason=FinishReason.LENGTH if body.ignore_eos else FinishReason.STOP,
            reads_cache=not self.ask.shows_prompt_logprobs,
        )

    def _own_id(self, choice: Choice) -> RequestId:
        """Two requests may carry one id, and are served both: inside they are told apart by their number."""
        return RequestId(f"{self.record.request_id}#{self.record.number}.{choice.index}")

    @property
    def _answer_id(self) -> str:
        return self.ask.kind.prefix + self.record.request_id

    async def _give_back(self) -> None:
        for voiced in self._voiced:
            await voiced.stream.aclose()
        speaking = self.replica.speaking
        if (left := speaking.get(self._answer_id)) is not None:
            left -= {self._own_id(voiced.choice) for voiced in self._voiced}
            if not left:
                del speaking[self._answer_id]


def whole(pieces: Sequence[Piece]) -> Piece:
    """All pieces of one choice as one."""
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = _joined(joined, piece)
    return joined


def _joined(one: Piece, other: Piece) -> Piece:
    ids = None if one.token_ids is None else [*one.token_ids, *(other.token_ids or ())]
    logprobs = one.logprobs
    if one.logprobs is not None and other.logprobs is not None:
        logprobs = {name: _added(value, other.logprobs[name]) for name, value in one.logprobs.items()}
    text, prompt = one.text + other.text, one.prompt_token_ids
    return replace(other, text=text, token_ids=ids, logprobs=logprobs, prompt_token_ids=prompt)


def _added(one: object, other: object) -> object:
    return [*one, *other] if isinstance(one, list) and isinstance(other, list) else one
