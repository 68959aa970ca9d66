"""Stand-ins for what sessions need from outside, where a test wants to say itself what happens."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from typing_extensions import override

from sessions.adapters.memory_records import MemoryRecords
from sessions.domain.budget import Shares
from sessions.domain.prompt import Message
from sessions.domain.scenario import Criterion, Rubric, ScenarioContent, ScenarioId, Scene
from sessions.domain.session import Session, SessionId
from sessions.domain.tiers import Chosen, Tier
from sessions.domain.turn import Usage
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import PoolUnavailable, RecordsUnavailable, TutorBroke
from sessions.ports import Piece, ReplyEnd, Tiers, TurnLease, TurnLock, TutorReply, TutorRequest, UnitOfWork
from sessions.prompt_writer import PromptWriter

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
SHARES = Shares(window=4096, reply=100, message=200, script=500, opening=100, summary=480, note=160, knowledge=600)


class FakeClock:
    """Time that passes when it is asked to; each look at the steady clock costs a millisecond."""

    def __init__(self) -> None:
        self._now = START
        self._ticks = 100.0

    def now(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now

    def ticks(self) -> float:
        self._ticks += 0.001
        return self._ticks

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._ticks += seconds


class WordCounter:
    """Counts words; the template costs four tokens a message and two for the start of the reply."""

    special_tokens: tuple[str, ...] = ("<|im_start|>", "<|im_end|>")
    message_overhead = 4
    counted_by = "words"

    def count_text(self, text: str) -> int:
        return len(text.split())

    def count_prompt(self, messages: Sequence[Message]) -> int:
        return sum(self.count_text(message.content) + self.message_overhead for message in messages) + 2


def writer(shares: Shares = SHARES) -> PromptWriter:
    return PromptWriter(model="fake", counter=WordCounter(), shares=shares)


def writers(*models: str) -> Mapping[str, PromptWriter]:
    """Of the usual model, or of these."""
    return {model: PromptWriter(model=model, counter=WordCounter(), shares=SHARES) for model in models or ("fake",)}


@dataclass
class FakeTiers(Tiers):
    """Whatever a scenario asks for is served, but for what is away: then the first model falls in, or sensitive work is
    refused."""

    models: tuple[str, ...] = ("fake",)
    away: set[str] = field(default_factory=set)

    @override
    async def choose(
        self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str], *, lost: Collection[str] = ()
    ) -> Chosen:
        model = wanted.get(tier, self.models[0])
        if model not in self.away.union(lost):
            return Chosen(tier, model)
        if tier is Tier.SENSITIVE:
            raise PoolUnavailable(tier=tier, model=model, retry_after_s=2.0)
        return Chosen(tier, self.models[0], fell_back=model != self.models[0])

    @override
    async def candidates(self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str]) -> Sequence[str]:
        return tuple(dict.fromkeys((wanted.get(tier, self.models[0]), self.models[0])))


@dataclass
class Lease(TurnLease):
    held: bool = True

    @property
    @override
    def is_held(self) -> bool:
        return self.held


class OpenLock(TurnLock):
    """A lock that lets everybody in: what a lost Redis amounts to."""

    @override
    @asynccontextmanager
    async def hold(self, session: SessionId, *, taken: str = "") -> AsyncIterator[TurnLease]:
        yield Lease()


@dataclass(frozen=True)
class Handover:
    """The replica is lost, and this one goes on."""

    replica: str


@dataclass
class FakeReply(TutorReply):
    script: Sequence[str | asyncio.Event | Exception | Handover]
    where: str = "replica-1"
    taken_over: int = 0
    ends_by: str = "stop"

    @property
    @override
    def replica(self) -> str:
        return self.where

    @property
    @override
    def pin(self) -> str:
        return "kept"

    @property
    @override
    def continued(self) -> int:
        return self.taken_over

    @property
    @override
    def items(self) -> AsyncIterator[Piece | ReplyEnd]:
        return self._play()

    async def _play(self) -> AsyncIterator[Piece | ReplyEnd]:
        count = 0
        for step in self.script:
            match step:
                case str():
                    count += 1
                    yield Piece(step)
                case asyncio.Event():
                    await step.wait()
                case Handover(replica):
                    self.where, self.taken_over = replica, self.taken_over + 1
                case Exception():
                    raise step
        yield ReplyEnd(self.ends_by, Usage(prompt_tokens=50, cached_tokens=40, completion_tokens=count))


@dataclass
class FakeTutor:
    """Answers by script: a text is a piece, an event is waited for, an exception is raised.

    What is asked beside turns is answered by `aside`, and stands in `asides`; what only has a prompt computed, by
    `computing`, in `computed`.
    """

    script: Sequence[str | asyncio.Event | Exception | Handover] = ("Hello", " there.")
    refusal: Exception | None = None
    refusals: dict[str, Exception] = field(default_factory=dict)
    """For the requests that name this model."""
    requests: list[TutorRequest] = field(default_factory=list)
    forgotten: list[SessionId] = field(default_factory=list)
    warmed: list[TutorRequest] = field(default_factory=list)
    open_replies: int = 0
    aside: Sequence[str | asyncio.Event | Exception | Handover] = ("The customer is waiting for a desk.",)
    aside_ends_by: str = "stop"
    asides: list[TutorRequest] = field(default_factory=list)
    computing: Sequence[str | asyncio.Event | Exception | Handover] = ("The",)
    computed: list[TutorRequest] = field(default_factory=list)

    @asynccontextmanager
    async def reply(self, request: TutorRequest) -> AsyncIterator[TutorReply]:
        kept = {"": self.requests, "warm": self.computed}.get(request.name, self.asides)
        kept.append(request)
        if (refusal := self.refusals.get(request.model, self.refusal)) is not None:
            raise refusal
        self.open_replies += 1
        try:
            yield self._answer(request.name)
        finally:
            self.open_replies -= 1

    def _answer(self, name: str) -> FakeReply:
        match name:
            case "":
                return FakeReply(self.script)
            case "warm":
                return FakeReply(self.computing)
            case _:
                return FakeReply(self.aside, ends_by=self.aside_ends_by)

    async def warm(self, request: TutorRequest) -> None:
        self.warmed.append(request)

    async def forget(self, session: SessionId) -> None:
        self.forgotten.append(session)


class FragileRecords(MemoryRecords):
    """Memory records whose database can go away."""

    def __init__(self) -> None:
        super().__init__()
        self.away = False

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        if self.away:
            raise RecordsUnavailable("no database")
        async with super().begin(tenant) as work:
            yield work


def broken() -> TutorBroke:
    return TutorBroke("cut off")


def viewer(*, tenant: UUID | None = None, sees_all: bool = False) -> Viewer:
    return Viewer(TenantId(tenant or uuid4()), AccountId(uuid4()), sees_all)


def content(**changes: object) -> ScenarioContent:
    values: dict[str, object] = {
        "title": "A late parcel",
        "locale": "en-US",
        "persona": "You are a customer.",
        "instructions": "Stay in the role.",
        "opening": "Where is my desk?",
        "scenes": (Scene("complaint", "The customer complains."), Scene("agreement", "They agree.")),
        "rubric": Rubric((Criterion("listening", "Lets the customer finish."),)),
    }
    return ScenarioContent(**(values | changes))  # type: ignore[arg-type]  # tests name the fields they change


def a_session() -> Session:
    """An open session of the usual scenario."""
    return Session(
        id=SessionId(uuid4()),
        tenant=TenantId(uuid4()),
        trainee=AccountId(uuid4()),
        scenario=ScenarioId(uuid4()),
        scenario_version=1,
        scene="complaint",
        opening="Where is my desk?",
        created_at=START,
    )
