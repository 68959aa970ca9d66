"""What sessions need from outside."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sessions.domain.citation import Background, KnowledgeBaseId
from sessions.domain.history import History
from sessions.domain.note import Note
from sessions.domain.page import Cursor, Page
from sessions.domain.prompt import Message
from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.session import Session, SessionFilter, SessionId
from sessions.domain.tiers import Chosen, Tier
from sessions.domain.turn import IdempotencyKey, Turn, Usage
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.moderation_ports import Rules


class Scenarios(Protocol):
    """The tenant's scenarios, every version of each kept."""

    async def add(self, scenario: Scenario) -> None:
        """Write version 1 of a new scenario."""

    async def add_version(
        self, tenant: TenantId, scenario: ScenarioId, content: ScenarioContent, *, by: AccountId, at: datetime
    ) -> Scenario:
        """Write the next version, numbered without gaps even when two write at once; raises `ScenarioNotFound`."""

    async def get(self, tenant: TenantId, scenario: ScenarioId, version: int | None = None) -> Scenario | None:
        """One version, the latest by default."""

    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Scenario]:
        """The latest version of each, newest scenario first."""


class Sessions(Protocol):
    """The tenant's sessions."""

    async def add(self, session: Session, idempotency: IdempotencyKey | None) -> Session:
        """Write a new session; with a key that this trainee has used before, write nothing and return the earlier
        session.

        Raises `IdempotencyKeyReused` when the earlier one was asked for with other content. Safe when two do it at
        once.
        """

    async def by_key(self, tenant: TenantId, trainee: AccountId, idempotency: IdempotencyKey) -> Session | None:
        """The session that this trainee asked for with this key; raises `IdempotencyKeyReused` when it was asked for
        with other content."""

    async def get(self, viewer: Viewer, session: SessionId) -> Session | None:
        """The session if this viewer may see it."""

    async def list(
        self, viewer: Viewer, which: SessionFilter, *, limit: int, after: Cursor | None = None
    ) -> Page[Session]: ...

    async def advance(self, session: Session) -> Session:
        """Write state, scene, turn_count and closed_at of `session`, whose `version` must be one above the stored one.
        Returns it as it is now: notes may have been counted meanwhile.

        Raises `SessionMoved`, and writes nothing, when the stored version is another.
        """


class Turns(Protocol):
    """The finished turns of sessions; whoever asks has already been let into the session."""

    async def add(self, turn: Turn) -> None:
        """Write one turn; raises `SessionMoved` when its number or its (not failed) idempotency key is taken."""

    async def all(self, session: SessionId) -> Sequence[Turn]:
        """Every turn by number, from 1."""

    async def get(self, session: SessionId, number: int) -> Turn | None: ...

    async def page(self, session: SessionId, *, limit: int, after: int = 0) -> Sequence[Turn]:
        """At most `limit` turns with numbers above `after`, by number."""

    async def by_key(self, session: SessionId, key: str) -> Turn | None:
        """The turn asked for with this idempotency key, the latest if earlier ones failed."""


class Notes(Protocol):
    """The notes of sessions; whoever asks has already been let into the session."""

    async def add(self, note: Note) -> None:
        """Write the session's next note.

        Raises `SessionMoved`, and writes nothing, when another one has its number or the session is closed. It does
        not touch the session's `version`, so it never stands in the way of a turn that runs.
        """

    async def all(self, session: SessionId) -> Sequence[Note]:
        """Every note that was ever written, by number."""


class WithheldTexts(Protocol):
    """Messages that moderation blocked, as they were sent: beside their turns, and for who reviews those alone."""

    async def add(self, session: SessionId, turn: int, text: str) -> None:
        """Of a turn that is written in the same transaction."""

    async def get(self, session: SessionId, turn: int) -> str | None: ...


Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A fact for the world outside, written with the change it tells of; ids and numbers only, never people's words."""

    tenant: TenantId
    kind: str
    subject: str
    facts: Mapping[str, Fact]
    at: datetime


class Outbox(Protocol):
    async def add(self, entry: OutboxEntry) -> None: ...

    async def pending(self, *, limit: int) -> Sequence[OutboxEntry]:
        """The oldest entries nobody has delivered yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOfWork:
    """One transaction's view of the records; everything in it happens or nothing does."""

    scenarios: Scenarios
    sessions: Sessions
    turns: Turns
    notes: Notes
    withheld: WithheldTexts
    outbox: Outbox


@dataclass(frozen=True, slots=True)
class FoundSession:
    session: Session
    turn: Turn | None = None
    """The turn of it that was asked for."""


class Records(Protocol):
    """The truth. Every method, also of what it hands out, raises `RecordsUnavailable` when the database cannot be
    asked. What every turn asks is one question each, and needs no transaction of its own.
    """

    def begin(self, tenant: TenantId | None = None) -> AbstractAsyncContextManager[UnitOfWork]:
        """One transaction: committed when the block ends, rolled back when it raises.

        It is one tenant's: this one's, or that of the session, scenario or outbox entry it asked for or wrote last. Of
        others it sees and writes nothing, and without any it sees nothing at all.
        """

    async def find(self, viewer: Viewer, session: SessionId, turn: int | str | None = None) -> FoundSession | None:
        """The session, if the viewer may see it, with its turn of this number, or the latest one under this key, as of
        one moment."""

    async def content(self, tenant: TenantId, scenario: ScenarioId, version: int) -> ScenarioContent | None:
        """What this version of a scenario says, which never changes: an answer may come from memory."""

    async def advance(self, session: Session, entry: OutboxEntry) -> Session:
        """Write this next version of the session's row and the entry, or neither. Returns the row as it is then; raises
        `SessionMoved` when it is not at the version before."""

    async def add_turn(self, session: Session, turn: Turn, entry: OutboxEntry) -> Session:
        """Write the turn, this next version of its session's row, and the entry: all of them, or none. Returns the row
        as it is then.

        Raises `SessionMoved` when the row is not at the version before, or when the turn's number or idempotency key
        is taken.
        """


class WorkingSets(Protocol):
    """The histories of sessions that run, at hand for every process.

    Nothing in here is the truth: what is lost, late or unreadable is rebuilt from the records. No method raises for a
    store that is away.
    """

    async def get(self, session: Session) -> History | None:
        """The history of the session as this very row tells it: of its `version` and its `note_count`."""

    async def put(self, session: Session, history: History) -> None:
        """Keep it, unless a newer one is there."""

    async def latest(self, session: SessionId) -> tuple[Session, History] | None:
        """The newest that is kept, with the row it was kept under; for when the row itself cannot be read."""

    async def drop(self, session: SessionId) -> None:
        """Forget what is kept of the session."""


class TurnLease(Protocol):
    """The right to run the one turn of a session; renewed by itself until given back."""

    @property
    def is_held(self) -> bool:
        """Whether it still is ours as far as we know."""


class TurnLock(Protocol):
    """Lets one turn of a session run at a time, over all processes."""

    def hold(self, session: SessionId, *, taken: str = "") -> AbstractAsyncContextManager[TurnLease]:
        """Take the session's lease; raises `SessionBusy` when another holds it, `TurnLockUnavailable` when nobody can
        tell.

        A lease is renewed while it is held, expires by itself when its holder died, and is given back only by its
        owner. `taken` is the owner's token of a lease that was taken already, together with other things: it is held
        from here on as if it had been taken here.
        """


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf a reply is asked for: what it shares with others, and what it may come to hold."""

    scenario: ScenarioId
    scenario_version: int
    trainee: AccountId
    window_tokens: int
    """The most that the session ever shows the tutor, reply included."""
    drill: str = ""
    """The drill that the session belongs to; empty: none."""


@dataclass(frozen=True, slots=True)
class TutorRequest:
    """One reply to be generated. `messages` go to the engine byte for byte."""

    session: SessionId
    tenant: TenantId
    turn: int
    messages: tuple[Message, ...]
    max_tokens: int
    asker: Asker
    last_replica: str | None = None
    """Where the session's last turn ran, so that a lost pin leads back to the warm cache."""
    trace_parent: str = ""
    """The W3C trace that this reply belongs to; empty: none."""
    model: str = ""
    """The pool that is to serve it; empty: the default one."""
    name: str = ""
    """What it is beside the session's turn of this number, such as "note"; empty: the turn itself."""
    is_background: bool = False
    """Whether nobody waits for it: it gives way to turns."""


@dataclass(frozen=True, slots=True)
class Piece:
    text: str


@dataclass(frozen=True, slots=True)
class ReplyEnd:
    """The last item of every complete reply."""

    finish_reason: str
    usage: Usage


class TutorReply(Protocol):
    """A reply that has begun."""

    @property
    def replica(self) -> str:
        """Where it is generated now; a reply whose replica was lost goes on at another one."""

    @property
    def pin(self) -> str:
        """How the turn came to its replica: new, kept, moved or none."""

    @property
    def continued(self) -> int:
        """How often another replica has taken it over after it had begun."""

    @property
    def items(self) -> AsyncIterator[Piece | ReplyEnd]:
        """Pieces of text, then exactly one `ReplyEnd`; any other end raises `TutorBroke`."""


class Tutor(Protocol):
    """The model as sessions see it: messages in, streamed text out."""

    def reply(self, request: TutorRequest) -> AbstractAsyncContextManager[TutorReply]:
        """Ask; entering returns once somebody has taken the request.

        Raises `TutorUnavailable`, its kinds `TutorFull` and `TutorAbsent`, or `TutorRejected`.
        """

    async def warm(self, request: TutorRequest) -> None:
        """Have the prompt's prefix ready before the session's next turn. Returns at once and never raises; a turn that
        comes sooner is not delayed by it.
        """

    async def forget(self, session: SessionId) -> None:
        """The session has ended; whatever was kept warm for it may go. Never raises for a store that is away."""


class Clock(Protocol):
    """The time of the wall for records, and a steady one, in seconds, for durations."""

    def now(self) -> datetime: ...

    def ticks(self) -> float: ...


class KnowledgeSearch(Protocol):
    """Finds the background of a message in one knowledge base."""

    async def find(
        self, tenant: TenantId, base: KnowledgeBaseId, question: str, *, budget_tokens: int, rules: Rules
    ) -> Background:
        """The best pieces that fit into the budget together, as these rules let them be shown; nothing of another
        tenant, and nothing rather than an error when the base is gone or cannot be asked."""


class Tiers(Protocol):
    """Says which model serves a kind of work now."""

    async def choose(
        self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str], *, lost: Collection[str] = ()
    ) -> Chosen:
        """By the scenario's wish, else the tenant's, else the installation's; a pool without a ready replica is
        replaced by the tier's fallback, at last by the default model. `lost` are models that were just asked in vain.

        Raises `PoolUnavailable` when it is away and nothing may stand in for it, or `RecordsUnavailable`.
        """

    async def candidates(self, tier: Tier, tenant: TenantId, wanted: Mapping[Tier, str]) -> Sequence[str]:
        """Every model that may come to serve it as things are set; raises `RecordsUnavailable`."""


class TenantTiers(Protocol):
    """Which models tenants have chosen for their work. Each method raises `RecordsUnavailable`."""

    async def of(self, tenant: TenantId) -> Mapping[Tier, str]:
        """What the tenant has chosen; a kind of work without a choice is left out."""

    async def change(self, tenant: TenantId, changes: Mapping[Tier, str | None]) -> None:
        """Take over these choices, None for none, and leave the others. Two that change different kinds at once both
        take effect.
        """


class TokenCounter(Protocol):
    """Counts as the served model does."""

    @property
    def counted_by(self) -> str:
        """What counts, and why nothing faster does: for people who want to know."""

    @property
    def message_overhead(self) -> int:
        """Tokens the chat template puts around one message."""

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """Strings that the model's tokenizer reads as control, longest first."""

    def count_text(self, text: str) -> int:
        """Tokens of plain text."""

    def count_prompt(self, messages: Sequence[Message]) -> int:
        """Tokens of the whole rendered prompt, template and generation prompt included; what the engine reports as
        prompt_tokens."""
