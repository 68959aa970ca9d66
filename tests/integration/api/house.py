"""The whole API over real HTTP, on memory records and a scripted tutor."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import uvicorn
from typing_extensions import override

from gateway.access_ports import KeyLedger
from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.adapters.memory_tickets import MemoryTickets
from gateway.api.app import build_app
from gateway.domain.access import LIVE_KEYS, KeyId, KeyState, Role, StoredKey, digest, written
from gateway.domain.limit_layers import OwnLimits
from gateway.errors import AccountRefused, KeysUnavailable, TooManyKeys
from gateway.job_cases import job_cases
from gateway.key_uses import KeyUses
from gateway.knowledge_cases import knowledge_cases
from gateway.limit_ports import AccountOwn
from gateway.limit_settings import LimitSettings
from gateway.metrics import Metrics
from gateway.model_tiers import ModelTiers
from gateway.openai_chats import ChatModel, ChatWays, OpenAiChats
from gateway.openai_settings import OpenAiSettings
from gateway.ports import Account, Accounts, Keys
from gateway.running_turns import EndedTurn, RunningTurns
from gateway.services import Access, Check, Readiness, Services
from gateway.session_admission import nobody_expects
from gateway.settings import Settings
from gateway.think_time import ThinkTime
from gateway.token_sign_in import TokenSignIn
from gateway.turn_claims import Guesses
from gateway.use_cases import Outside, use_cases
from gateway.wiring.documents import document_processes
from gateway.wiring.limits import session_admission, turn_admission
from gateway.wiring.openai import chat_moderation
from router.domain.fleet import Fleet, Health, Replica, ReplicaId
from sessions.adapters.memory_jobs import MemoryJobs
from sessions.adapters.memory_knowledge import MemoryKnowledge
from sessions.adapters.memory_tenant_tiers import MemoryTenantTiers
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.domain.job_layers import LayerSizes
from sessions.domain.tiers import offer_of
from sessions.job_settings import JobSettings
from sessions.ports import TurnLock
from sessions.settings import DocumentSettings, SessionSettings
from sessions.use_cases.add_document import Cutting
from sessions.use_cases.ask_questions import AskingRules
from tests.support.drilled import drilled
from tests.support.kept_rules import Ruled, kept_rules
from tests.support.limited_here import limited_here
from tests.support.planned_fleet import PlannedFleet, planned_fleet
from tests.support.reviewed import reviewed
from tests.support.scripted_carrier import ScriptedCarrier, WordsOfChat
from tests.support.scripted_desk import ScriptedDesk
from tests.support.session_fakes import FakeClock, FakeTutor, FragileRecords, OpenLock, writers
from tests.support.shared_turns import Neighbourhood

HEARTBEAT_S = 0.05
BODY_LIMIT_BYTES = 4096
WINDOW_TOKENS = 4096
SECRET = "not-so-secret"
ASKING = AskingRules(questions_per_job=6, jobs_per_tenant=4, sizes=LayerSizes(whole=100, stretch=200, summaries=2))
DOCUMENTS = DocumentSettings(
    max_bytes=65_536, max_characters=10_000, max_pages=10, chunk_tokens=40, base_chunks=50, in_hand=3
)
STREAM = {"Accept": "text/event-stream"}

SCENARIO = {
    "title": "晚到的包裹",
    "locale": "zh-CN",
    "persona": "You are a customer.",
    "instructions": "Stay in the role.",
    "opening": "我的桌子在哪里?",
    "scenes": [
        {"name": "complaint", "script": "The customer complains."},
        {"name": "agreement", "script": "They agree."},
    ],
    "rubric": {"criteria": [{"name": "listening", "description": "Lets the customer finish."}], "pass_mark": 0.5},
    "limits": {"max_turns": 5, "max_reply_tokens": 64},
}


DRILL = {
    "name": "Thursday's class",
    "scenario_id": "{scenario_id}",
    "starts_at": "2026-03-01T08:00:00Z",
    "ends_at": "2026-03-01T20:00:00+08:00",
    "expected_trainees": 30,
}
"""Of a class that is on by the house's clock."""


async def until(condition: Callable[[], object], *, seconds: float = 10) -> None:
    """Wait for what the server does in its own time."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.005)


@dataclass
class MemoryKeys(Keys, Accounts, KeyLedger):
    """Keys in a dictionary that tests may change, of accounts that are there without having been made."""

    stored: dict[KeyId, StoredKey] = field(default_factory=dict)
    named: dict[UUID, Account] = field(default_factory=dict)
    rows: MemoryLimitRows = field(default_factory=MemoryLimitRows)
    """Where each account and tenant is known by its id, as with foreign keys."""
    away: bool = False

    @override
    async def find(self, key: KeyId) -> StoredKey | None:
        if self.away:
            raise KeysUnavailable("no database")
        return self.stored.get(key)

    @override
    async def add(self, key: StoredKey, *, at: datetime) -> None:
        owned = [other for other in self.stored.values() if other.principal.account == key.principal.account]
        if sum(other.state(at) is KeyState.LIVE for other in owned) >= LIVE_KEYS:
            raise TooManyKeys(limit=LIVE_KEYS)
        self.stored[key.id] = key

    @override
    async def revoke(self, tenant: UUID, key: KeyId, *, at: datetime) -> bool:
        found = self.stored.get(key)
        if found is None or found.principal.tenant != tenant or found.state(at) is not KeyState.LIVE:
            return False
        self.stored[key] = replace(found, revoked_at=at)
        return True

    @override
    async def of_tenant(self, tenant: UUID) -> Sequence[tuple[StoredKey, Account]]:
        owned = (key for key in self.stored.values() if key.principal.tenant == tenant)
        return [(key, self.named[key.principal.account]) for key in owned]

    @override
    async def tenant(self, slug: str, *, name: str, at: datetime) -> UUID:
        raise NotImplementedError

    @override
    async def tenant_id(self, slug: str) -> UUID | None:
        raise NotImplementedError

    @override
    async def account(self, tenant: UUID, name: str, role: Role, *, at: datetime) -> Account:
        alike = (one for one in self.named.values() if (one.tenant, one.name) == (tenant, name))
        found = next(alike, None) or Account(uuid4(), tenant, role, name)
        if found.role != role:
            raise AccountRefused(f"the account {name!r} exists and is of the role {found.role}")
        return self.named.setdefault(found.id, found)

    @override
    async def person(self, tenant: UUID, name: str, role: Role, display_name: str | None, *, at: datetime) -> UUID:
        return (await self.account(tenant, name, role, at=at)).id

    @override
    async def used(self, keys: Collection[KeyId], *, at: datetime) -> None:
        for key in keys:
            self.stored[key] = replace(self.stored[key], last_used_at=at)

    def of(self, tenant: UUID, role: Role) -> str:
        """A new account's key, as its owner writes it."""
        key, account = KeyId(uuid4().hex), Account(uuid4(), tenant, role, f"{role} {uuid4()}")
        self.named[account.id] = account
        self.rows.accounts[tenant, account.id] = AccountOwn(role, OwnLimits())
        self.stored[key] = StoredKey(key, digest(SECRET), account.principal)
        return written(key, SECRET)


@dataclass
class People:
    """The clients of one tenant's people."""

    tenant: UUID
    trainee: httpx.AsyncClient
    other_trainee: httpx.AsyncClient
    instructor: httpx.AsyncClient
    operator: httpx.AsyncClient
    service: httpx.AsyncClient


@dataclass
class House:
    base_url: str
    keys: MemoryKeys
    records: FragileRecords
    tutor: FakeTutor
    metrics: Metrics
    desk: ScriptedDesk
    planned: PlannedFleet
    fleet: dict[str, Health]
    """The one replica of each served model."""
    checks: dict[str, Check]
    turns: RunningTurns
    carrier: ScriptedCarrier
    """Of chat completions."""
    jobs: MemoryJobs
    shelf: MemoryKnowledge
    nobody: httpx.AsyncClient
    here: People
    elsewhere: People
    ruled: Ruled

    async def scenario(self, people: People | None = None) -> str:
        author = people or self.here
        answer = await author.instructor.post("/v1/scenarios", json=SCENARIO)
        assert answer.status_code == 201, answer.text
        self.ruled.knows_scenario(author.tenant, UUID(answer.json()["id"]))
        return str(answer.json()["id"])

    async def session(self, people: People | None = None) -> str:
        scenario = await self.scenario(people)
        answer = await (people or self.here).trainee.post("/v1/sessions", json={"scenario_id": scenario})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])


@asynccontextmanager
async def house(
    *,
    lock: TurnLock | None = None,
    heartbeat_s: float = HEARTBEAT_S,
    limits: LimitSettings | None = None,
    access: Access | None = None,
    strains: bool = False,
) -> AsyncIterator[House]:
    """`strains`: whether those who schedule classes are told of the pools of `planned_fleet`."""
    async with kept_rules() as ruled, _house(ruled, lock, heartbeat_s, limits, access, strains) as opened:
        yield opened


@asynccontextmanager
async def _house(
    ruled: Ruled,
    lock: TurnLock | None,
    heartbeat_s: float,
    limits: LimitSettings | None,
    access: Access | None,
    strains: bool,
) -> AsyncIterator[House]:
    records, tutor, keys, metrics, clock = FragileRecords(), FakeTutor(), MemoryKeys(), Metrics(), FakeClock()
    fleet: dict[str, Health] = {"fake": Health.READY, "large": Health.READY}
    tiers = _tiers(fleet, clock)
    knowledge = MemoryKnowledge()
    limited = limited_here(limits or LimitSettings(), rows=keys.rows, refused=metrics.saw_refusal)
    outside = Outside(
        records=records,
        lock=lock or OpenLock(),
        tutor=tutor,
        clock=clock,
        working_sets=MemoryWorkingSets(),
        tiers=tiers,
        writers=writers(*fleet),
        catalogue=knowledge,
        drills=limited.drills,
        seats=limited.seats,
        moderation=ruled.desk,
        compacted=metrics.saw_compaction,
    )
    use = use_cases(outside)
    queue = MemoryJobs()
    jobs = job_cases(book=queue, catalogue=knowledge, shelf=knowledge, rules=ASKING, clock=clock)
    documents = knowledge_cases(
        library=knowledge,
        catalogue=knowledge,
        reader=document_processes(DOCUMENTS),
        cutting=Cutting(lambda text: len(text.split()), DOCUMENTS),
        clock=clock,
        moderation=ruled.desk,
    )
    think = ThinkTime(think=use.compact_session, at_once=2, failed=lambda: None)

    def ended(end: EndedTurn) -> None:
        metrics.saw_turn(end.turn)
        if end.needs_thought:
            think.begin(end.viewer, end.turn.session)

    desk, carrier = ScriptedDesk(), ScriptedCarrier()
    planned = planned_fleet(limited.drills, records, clock)
    many_drills = drilled(limited.drills, records, clock, planned.ledger if strains else None)
    chats = OpenAiChats(
        models=[ChatModel(name, WINDOW_TOKENS, WordsOfChat()) for name in fleet],
        ways=ChatWays(tiers, carrier, limited.gate, limited.limits, chat_moderation(outside.moderation)),
        policy=OpenAiSettings().policy,
        is_stopping=lambda: False,
    )
    access = access or Access(
        keys=keys,
        accounts=keys,
        tokens=TokenSignIn(issuers=(), accounts=keys, create_tenants=False, cache_s=0, clock=clock.now),
        tickets=MemoryTickets(clock=clock.ticks),
        uses=KeyUses(ledger=keys, clock=clock.now),
    )
    checks = {"postgres": Check(ok=True, detail="answers"), "redis": Check(ok=True, detail="answers")}
    turns = RunningTurns(
        take_turn=turn_admission(use, limited, Guesses(prompt_tokens=10, reply_tokens=64, cache_s=0)),
        read_turn=use.read_turn,
        shared=Neighbourhood().shared("here", use.read_turn),
        grace_s=1.0,
        on_end=ended,
    )

    async def readiness() -> Readiness:
        return Readiness(checks)

    @asynccontextmanager
    async def services() -> AsyncIterator[Services]:
        async with think, turns:
            yield Services(
                use,
                turns,
                access,
                _settings(heartbeat_s),
                clock.now,
                readiness,
                metrics,
                desk,
                tiers,
                jobs,
                documents,
                limited.gate,
                limited.limits,
                session_admission(use, limited, nobody_expects),
                chats,
                ruled.cases(records, clock),
                reviewed(ruled, records, clock),
                planned.plans,
                many_drills,
            )

    async with served(services) as base_url, _clients(base_url, keys) as (nobody, here, elsewhere):
        yield House(
            base_url,
            keys,
            records,
            tutor,
            metrics,
            desk,
            planned,
            fleet,
            checks,
            turns,
            carrier,
            queue,
            knowledge,
            nobody,
            here,
            elsewhere,
            ruled,
        )


def _tiers(fleet: Mapping[str, Health], clock: FakeClock) -> ModelTiers:
    def current() -> Fleet:
        return Fleet(
            tuple(
                Replica(ReplicaId(f"of-{model}"), "http://127.0.0.1:1", health, models=frozenset({model}))
                for model, health in fleet.items()
            )
        )

    return ModelTiers(
        offer=offer_of("fake", tuple(fleet), {}, {}),
        tenants=MemoryTenantTiers(),
        fleet=current,
        clock=clock.ticks,
        ttl_s=0.0,
        retry_after_s=2.0,
    )


@asynccontextmanager
async def served(services: object) -> AsyncIterator[str]:
    """The address at which the application answers."""
    # Named as TCP, because asyncio sends small pieces at once on such sockets only.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        config = uvicorn.Config(
            build_app(services),  # type: ignore[arg-type]  # a context manager function, whatever it yields
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        await until(lambda: server.started or running.done())
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running


@asynccontextmanager
async def _clients(base_url: str, keys: MemoryKeys) -> AsyncIterator[tuple[httpx.AsyncClient, People, People]]:
    opened: list[httpx.AsyncClient] = []

    def client(key: str | None = None) -> httpx.AsyncClient:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        # Nothing is encrypted here, and loading certificates would take longer than the test.
        opened.append(httpx.AsyncClient(base_url=base_url, headers=headers, trust_env=False, timeout=10, verify=False))  # noqa: S501
        return opened[-1]

    def people() -> People:
        tenant = uuid4()
        roles = (Role.TRAINEE, Role.TRAINEE, Role.INSTRUCTOR, Role.OPERATOR, Role.SERVICE)
        return People(tenant, *(client(keys.of(tenant, role)) for role in roles))

    try:
        yield client(), people(), people()
    finally:
        for one in opened:
            await one.aclose()


def _settings(heartbeat_s: float) -> Settings:
    return Settings.model_validate(
        {
            "redis_url": "redis://127.0.0.1:1/0",
            "database_url": "postgresql+psycopg://127.0.0.1:1/none",
            "model": {"name": "fake", "folder": Path("/nowhere")},
            "heartbeat_s": heartbeat_s,
            "body_limit_bytes": BODY_LIMIT_BYTES,
            "sessions": SessionSettings(documents=DOCUMENTS),
            "jobs": JobSettings(questions_per_job=ASKING.questions_per_job, question_tokens=256),
        }
    )
