"""What a running process holds, as the API sees it; made and closed by the wiring."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gateway.access_ports import SignIn, Tickets
from gateway.current_limits import CurrentLimits
from gateway.drill_cases import DrillCases
from gateway.fleet_plan import FleetPlans
from gateway.job_cases import JobCases
from gateway.key_uses import KeyUses
from gateway.knowledge_cases import KnowledgeCases
from gateway.limit_ports import Gate
from gateway.metrics import Metrics
from gateway.model_tiers import ModelTiers
from gateway.moderation_cases import ModerationCases
from gateway.openai_chats import OpenAiChats
from gateway.ports import Accounts, FleetDesk, Keys
from gateway.review_cases import ReviewCases
from gateway.running_turns import RunningTurns
from gateway.session_admission import SessionAdmission
from gateway.settings import Settings
from gateway.use_cases import UseCases


@dataclass(frozen=True, slots=True)
class Check:
    """One dependency as it is now; `detail` says what is wrong, or what was found."""

    ok: bool
    detail: str
    needed: bool = True
    """Whether the process is unready without it."""


@dataclass(frozen=True, slots=True)
class Readiness:
    checks: Mapping[str, Check]

    @property
    def ready(self) -> bool:
        return all(check.ok for check in self.checks.values() if check.needed)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may come in, and by what."""

    keys: Keys
    accounts: Accounts
    tokens: SignIn
    tickets: Tickets
    uses: KeyUses


@dataclass(frozen=True, slots=True)
class Services:
    use: UseCases
    turns: RunningTurns
    access: Access
    settings: Settings
    clock: Callable[[], datetime]
    readiness: Callable[[], Awaitable[Readiness]]
    metrics: Metrics
    fleet: FleetDesk
    tiers: ModelTiers
    jobs: JobCases
    knowledge: KnowledgeCases
    gate: Gate
    limits: CurrentLimits
    start_session: SessionAdmission
    chats: OpenAiChats
    moderation: ModerationCases
    reviews: ReviewCases
    plans: FleetPlans
    drills: DrillCases
