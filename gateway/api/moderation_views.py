"""What staff get to see of moderation."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Self
from uuid import UUID

from gateway.api.views import FindingView, View
from gateway.domain.moderation.injection import Thresholds
from gateway.domain.moderation.phrases import Phrase
from gateway.domain.moderation.policy import OwnPolicy, Policy
from gateway.list_trial import TrialResult, TriedText
from gateway.moderation_ports import AuditEntry, KeptList, ListVersion, VersionSummary
from sessions.domain.moderation import Moderated, Verdict


class PhraseListView(View):
    id: UUID
    name: str
    scenario_id: UUID | None
    direction: str
    live_version: int | None
    """null: it is not in force."""
    latest_version: int
    created_by: UUID
    created_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, kept: KeptList) -> Self:
        return cls.model_validate(_facts(kept))


class VersionSummaryView(View):
    version: int
    phrase_count: int
    created_by: UUID
    created_at: datetime


class PhraseListWithVersionsView(PhraseListView):
    versions: tuple[VersionSummaryView, ...]
    """The newest first."""

    @classmethod
    def with_versions(cls, kept: KeptList, versions: Sequence[VersionSummary]) -> Self:
        shown = tuple(VersionSummaryView.model_validate(each) for each in versions)
        return cls.model_validate({**_facts(kept), "versions": shown})


class PhraseView(View):
    id: str
    text: str
    category: str
    severity: int
    action: str
    spelling: str

    @classmethod
    def of(cls, phrase: Phrase) -> Self:
        return cls(
            id=phrase.id,
            text=phrase.text,
            category=phrase.category,
            severity=int(phrase.severity),
            action=phrase.action,
            spelling=phrase.spelling,
        )


class ListVersionView(View):
    list_id: UUID
    name: str
    version: int
    phrases: tuple[PhraseView, ...]
    allowed: tuple[str, ...]
    created_by: UUID
    created_at: datetime

    @classmethod
    def of(cls, found: ListVersion) -> Self:
        return cls(
            list_id=found.list,
            name=found.phrases.name,
            version=found.version,
            phrases=tuple(PhraseView.of(phrase) for phrase in found.phrases.phrases),
            allowed=found.phrases.allowed,
            created_by=found.created_by,
            created_at=found.created_at,
        )


class CheckView(View):
    verdict: str
    blocked_reason: str | None
    findings: tuple[FindingView, ...]
    text: str
    """What would go on: nothing of a blocked message, of a blocked reply what stands before the phrase."""

    @classmethod
    def of(cls, found: Moderated) -> Self:
        return cls(
            verdict=found.judgement.verdict,
            blocked_reason=found.blocked,
            findings=tuple(FindingView.of(mark) for mark in found.judgement.marks),
            text=found.text,
        )


class TriedTextView(View):
    session_id: UUID | None
    turn: int | None
    """null, like the session: it was given, in this order."""
    direction: str
    changes: bool
    """Whether the verdict, or what goes on, would be another."""
    before: CheckView
    after: CheckView

    @classmethod
    def of(cls, tried: TriedText) -> Self:
        return cls(
            session_id=tried.session,
            turn=tried.turn,
            direction=tried.direction,
            changes=tried.changes,
            before=CheckView.of(tried.before),
            after=CheckView.of(tried.after),
        )


class VerdictCountsView(View):
    allow: int
    flag: int
    block: int

    @classmethod
    def of(cls, found: Iterable[Moderated]) -> Self:
        counts = Counter(each.judgement.verdict for each in found)
        return cls(allow=counts[Verdict.ALLOW], flag=counts[Verdict.FLAG], block=counts[Verdict.BLOCK])


class TotalsView(View):
    texts: int
    changed: int
    before: VerdictCountsView
    after: VerdictCountsView


class DryRunView(View):
    list_id: UUID | None
    version: int | None
    totals: TotalsView
    results: tuple[TriedTextView, ...]

    @classmethod
    def of(cls, found: TrialResult) -> Self:
        return cls(
            list_id=None if found.candidate is None else found.candidate.list,
            version=None if found.candidate is None else found.candidate.version,
            totals=TotalsView(
                texts=len(found.texts),
                changed=sum(each.changes for each in found.texts),
                before=VerdictCountsView.of(each.before for each in found.texts),
                after=VerdictCountsView.of(each.after for each in found.texts),
            ),
            results=tuple(TriedTextView.of(each) for each in found.texts),
        )


class ThresholdsView(View):
    flag: float | None
    block: float | None


class EffectiveSettingsView(View):
    user: ThresholdsView
    knowledge: ThresholdsView
    mask: str

    @classmethod
    def of(cls, policy: Policy) -> Self:
        return cls(user=_thresholds(policy.user), knowledge=_thresholds(policy.knowledge), mask=policy.mask)


class ModerationSettingsView(View):
    """What the tenant has set itself, where null is inherited; and what holds."""

    user: ThresholdsView
    knowledge: ThresholdsView
    mask: str | None
    effective: EffectiveSettingsView

    @classmethod
    def of(cls, own: OwnPolicy, effective: Policy) -> Self:
        return cls(
            user=ThresholdsView(flag=own.user_flag, block=own.user_block),
            knowledge=ThresholdsView(flag=own.knowledge_flag, block=own.knowledge_block),
            mask=own.mask,
            effective=EffectiveSettingsView.of(effective),
        )


class AuditEntryView(View):
    id: int
    at: datetime
    actor: UUID
    """The account that did it."""
    action: str
    subject: str
    facts: Mapping[str, str | int | float | bool | None]

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        return cls.model_validate(entry)


def _facts(kept: KeptList) -> dict[str, object]:
    return {
        "id": kept.id,
        "name": kept.name,
        "scenario_id": kept.scenario,
        "direction": kept.direction,
        "live_version": kept.live_version,
        "latest_version": kept.latest_version,
        "created_by": kept.created_by,
        "created_at": kept.created_at,
        "archived_at": kept.archived_at,
    }


def _thresholds(found: Thresholds) -> ThresholdsView:
    return ThresholdsView(flag=found.flag, block=found.block)
