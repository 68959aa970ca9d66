"""The router as the tutor that sessions ask for; translates words and errors, decides nothing."""

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import assert_never

from typing_extensions import override

from gateway.domain.cache_salt import cache_salt
from gateway.ports import TurnReply, TurnRouter
from router.domain.asks import Asks, Ticket
from router.domain.exchange import ChatRequest, Finished, TextPiece
from router.domain.exchange import Message as EngineMessage
from router.domain.exchange import Usage as EngineUsage
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand
from router.errors import EngineRejected, NoReplicaAvailable, NoRoom, RouterError
from sessions.domain.session import SessionId
from sessions.domain.turn import Usage
from sessions.errors import TutorAbsent, TutorBroke, TutorFull, TutorRejected, TutorUnavailable
from sessions.ports import Piece, ReplyEnd, Tutor, TutorReply, TutorRequest

_BACKGROUND = 1


@dataclass(frozen=True, slots=True)
class ServedModel:
    """How one model is asked: its name at the replicas, and what goes to the engine with every request."""

    name: str
    temperature: float
    template_arguments: tuple[tuple[str, str], ...] = ()


class RouterTutor(Tutor):
    """A request that names no model is for the first of `models`, and names of others are errors of ours;
    `retry_after_s` is told to callers whose replica failed before it said anything.
    """

    def __init__(
        self,
        *,
        router: TurnRouter,
        models: Sequence[ServedModel],
        retry_after_s: float,
    ) -> None:
        self._router = router
        self._models = {model.name: model for model in models}
        self._default = models[0]
        self._retry_after_s = retry_after_s

    @override
    @asynccontextmanager
    async def reply(self, request: TutorRequest) -> AsyncIterator[TutorReply]:
        turn = self._router.turn(_key(request.session), self._chat(request), asks=_asks(request))
        async with AsyncExitStack() as held:
            with self._refusals():
                stream = await held.enter_async_context(turn)
            yield _RoutedReply(stream)

    @override
    async def warm(self, request: TutorRequest) -> None:
        await self._router.prewarm(_key(request.session), self._chat(request))

    @override
    async def forget(self, session: SessionId) -> None:
        await self._router.end(_key(session))

    def _chat(self, request: TutorRequest) -> ChatRequest:
        model = self._models[request.model] if request.model else self._default
        return ChatRequest(
            model=model.name,
            messages=tuple(EngineMessage(message.role, message.content) for message in request.messages),
            max_tokens=request.max_tokens,
            temperature=model.temperature,
            cache_salt=cache_salt(request.tenant),
            request_id=_request_id(request),
            session_id=str(request.session),
            trace_parent=request.trace_parent,
            template_arguments=model.template_arguments,
            priority=_BACKGROUND if request.is_background else 0,
        )

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except NoRoom as error:
            raise TutorFull(str(error), retry_after_s=error.retry_after_s) from error
        except NoReplicaAvailable as error:
            raise TutorAbsent(str(error), retry_after_s=error.retry_after_s) from error
        except EngineRejected as error:
            raise TutorRejected("the replica refused the request") from error
        except RouterError as error:
            raise TutorUnavailable("the replica did not answer", retry_after_s=self._retry_after_s) from error


class _RoutedReply(TutorReply):
    def __init__(self, stream: TurnReply) -> None:
        self._stream = stream

    @property
    @override
    def replica(self) -> str:
        return self._stream.replica

    @property
    @override
    def pin(self) -> str:
        return self._stream.pin

    @property
    @override
    def continued(self) -> int:
        return self._stream.continued

    @property
    @override
    def items(self) -> AsyncIterator[Piece | ReplyEnd]:
        return self._translated()

    async def _translated(self) -> AsyncIterator[Piece | ReplyEnd]:
        try:
            async for item in self._stream:
                match item:
                    case TextPiece(text):
                        yield Piece(text)
                    case Finished(reason, usage):
                        yield ReplyEnd(reason, _usage(usage))
                    case never:
                        assert_never(never)
        except RouterError as error:
            raise TutorBroke(str(error)) from error


def _usage(told: EngineUsage | None) -> Usage:
    return Usage() if told is None else Usage(told.prompt_tokens, told.cached_tokens, told.completion_tokens)


def _asks(request: TutorRequest) -> Asks:
    asker = request.asker
    return Asks(
        demand=Demand(kv_tokens=asker.window_tokens, cohort=_cohort(request)),
        prefer=None if request.last_replica is None else ReplicaId(request.last_replica),
        ticket=Ticket(drill=asker.drill, account=str(asker.trainee)),
    )


def _request_id(request: TutorRequest) -> str:
    turn = f"{request.session}-{request.turn}"
    return f"{turn}-{request.name}" if request.name else turn


def _key(session: SessionId) -> AffinityKey:
    return AffinityKey(str(session))


def _cohort(request: TutorRequest) -> str:
    """Names the prefix that all sessions of one version of a scenario share, inside their tenant alone."""
    asker = request.asker
    named = f"drillyard cohort {request.tenant} {asker.scenario} {asker.scenario_version}"
    return hashlib.sha256(named.encode()).hexdigest()[:24]
