"""Two tenants with people in them, and scenarios, sessions and turns to put into the records."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from sessions.adapters.postgres.tables import accounts, tenants
from sessions.domain.note import Note, NoteMaker
from sessions.domain.scenario import Criterion, Rubric, Scenario, ScenarioContent, ScenarioId, Scene
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import IdempotencyKey, Timings, Turn, TurnState, Usage
from sessions.domain.viewer import AccountId, TenantId, Viewer

_SPACE = UUID("5f0c0f6e-6a0e-4bd1-9d2a-2f0f3a1b7c11")
NOON = datetime(2026, 11, 29, 12, 0, 0, 123456, tzinfo=UTC)


def uuid_of(name: str) -> UUID:
    return uuid5(_SPACE, name)


@dataclass(frozen=True, slots=True)
class People:
    """One tenant's people."""

    tenant: TenantId
    instructor: AccountId
    trainee: AccountId
    other_trainee: AccountId

    @property
    def teacher(self) -> Viewer:
        return Viewer(self.tenant, self.instructor, sees_all=True)

    def as_trainee(self, account: AccountId | None = None) -> Viewer:
        return Viewer(self.tenant, account or self.trainee, sees_all=False)


def people_of(tenant: str) -> People:
    return People(
        TenantId(uuid_of(tenant)),
        *(AccountId(uuid_of(f"{tenant}/{name}")) for name in ("instructor", "trainee", "other-trainee")),
    )


HERE = people_of("here")
ELSEWHERE = people_of("elsewhere")

CONTENT = ScenarioContent(
    title="Winning back a customer 挽回客户",
    locale="zh-CN",
    persona="You are Ms Li, who buys for a small company.",
    instructions="Never name a price first.\nStay polite.",
    opening="你好,我想谈谈续约。",
    scenes=(Scene("first call", "She calls about the renewal."), Scene("closing", "She wants a discount.")),
    rubric=Rubric((Criterion("listens", "asks before it offers", 2.5, blocker=True),), pass_mark=0.7),
    max_turns=40,
    max_reply_tokens=200,
)


def scenario(name: str = "renewal", people: People = HERE, *, at: datetime = NOON) -> Scenario:
    return Scenario(ScenarioId(uuid_of(name)), people.tenant, 1, 1, CONTENT, people.instructor, at)


def session(name: str = "run", people: People = HERE, *, minutes: int = 0) -> Session:
    """A session of that tenant's first trainee in its scenario `renewal` (of elsewhere: `renewal elsewhere`)."""
    return Session(
        id=SessionId(uuid_of(name)),
        tenant=people.tenant,
        trainee=people.trainee,
        scenario=ScenarioId(uuid_of("renewal" if people is HERE else "renewal elsewhere")),
        scenario_version=1,
        scene="first call",
        opening=CONTENT.opening,
        created_at=NOON + timedelta(minutes=minutes),
        metadata={"course": "sales 1", "座位": "12"},
    )


def turn(number: int = 1, *, of: Session | None = None, key: str | None = None) -> Turn:
    return Turn(
        session=(of or session()).id,
        number=number,
        state=TurnState.COMPLETED,
        text=f"Message {number}: 您好 ' \" \\ %s :x",
        reply="A reply\nin two lines 🙂",
        started_at=NOON + timedelta(seconds=number),
        ended_at=NOON + timedelta(seconds=number, microseconds=654321),
        text_tokens=11,
        reply_tokens=7,
        finish_reason="stop",
        usage=Usage(900, 880, 7),
        timings=Timings(1.25, 83.5, 412.75),
        replica="vllm-0",
        idempotency=None if key is None else IdempotencyKey(key, f"digest of {key}"),
    )


def note(seq: int = 1, *, of: Session | None = None, from_turn: int = 1, to_turn: int = 10) -> Note:
    return Note(
        session=(of or session()).id,
        seq=seq,
        from_turn=from_turn,
        to_turn=to_turn,
        text=f"Note {seq}: 她想要折扣 ' \" \\ %s :x\n[t3] the order is 48213-B",
        tokens=31,
        made_by=NoteMaker.TUTOR,
        session_version=to_turn + 3,
        created_at=NOON + timedelta(seconds=seq, microseconds=7),
    )


def failed(one: Turn) -> Turn:
    return replace(one, state=TurnState.FAILED)


async def settle(engine: AsyncEngine) -> None:
    """Write both tenants and their people into a real database."""
    rows = [
        (people, role, account)
        for people in (HERE, ELSEWHERE)
        for role, account in (
            ("instructor", people.instructor),
            ("trainee", people.trainee),
            ("trainee", people.other_trainee),
        )
    ]
    async with engine.begin() as connection:
        await connection.execute(
            insert(tenants),
            [
                {"id": people.tenant, "slug": str(people.tenant), "name": "A tenant", "created_at": NOON}
                for people in (HERE, ELSEWHERE)
            ],
        )
        await connection.execute(
            insert(accounts),
            [
                {"id": account, "tenant_id": people.tenant, "role": role, "name": str(account), "created_at": NOON}
                for people, role, account in rows
            ],
        )
