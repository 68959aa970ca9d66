"""What callers may do with moderation itself, made once and handed to the API."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.moderation.injection import InjectionScorer
from gateway.domain.moderation.policy import OwnPolicy, Policy
from gateway.list_trial import ListTrial
from gateway.moderation_ports import AuditEntry, AuditTrail, Doer, PhraseLists, Policies, RuleKeeper, RuleSource
from gateway.phrase_list_cases import PhraseListCases
from gateway.text_check import TextCheck
from sessions.domain.viewer import Viewer
from sessions.moderation_ports import Moderation
from sessions.ports import Clock, Records


class PolicyCases:
    """What a tenant sets beside its lists; each method tells what it has set itself, and what holds."""

    def __init__(self, *, policies: Policies, keeper: RuleKeeper, clock: Clock) -> None:
        self._policies = policies
        self._keeper = keeper
        self._clock = clock

    async def read(self, viewer: Viewer) -> tuple[OwnPolicy, Policy]:
        own = await self._policies.of(viewer.tenant)
        return own, (await self._keeper.live(viewer.tenant, None)).policy

    async def change(self, viewer: Viewer, policy: OwnPolicy) -> tuple[OwnPolicy, Policy]:
        await self._policies.change(viewer.tenant, policy, Doer(viewer.account, self._clock.now()))
        return await self.read(viewer)


@dataclass(frozen=True, slots=True)
class ModerationCases:
    lists: PhraseListCases
    trial: ListTrial
    check: TextCheck
    policy: PolicyCases
    trail: AuditTrail

    async def audit(self, viewer: Viewer, limit: int, before: int | None) -> Sequence[AuditEntry]:
        """The newest first."""
        return await self.trail.page(viewer.tenant, limit=limit, before=before)


@dataclass(frozen=True, slots=True)
class ModerationStores:
    """Where rules are kept, and what follows them."""

    lists: PhraseLists
    policies: Policies
    trail: AuditTrail
    source: RuleSource
    keeper: RuleKeeper


def moderation_cases(
    stores: ModerationStores, *, moderation: Moderation, scorer: InjectionScorer, records: Records, clock: Clock
) -> ModerationCases:
    return ModerationCases(
        lists=PhraseListCases(lists=stores.lists, clock=clock),
        trial=ListTrial(lists=stores.lists, source=stores.source, keeper=stores.keeper, scorer=scorer, records=records),
        check=TextCheck(moderation=moderation, records=records),
        policy=PolicyCases(policies=stores.policies, keeper=stores.keeper, clock=clock),
        trail=stores.trail,
    )
