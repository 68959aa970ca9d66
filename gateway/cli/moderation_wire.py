"""What the public API answers staff about moderation; members that are not named here are left alone."""

from datetime import datetime

from gateway.cli.wire import Answer


class PhraseListView(Answer):
    id: str
    name: str
    scenario_id: str | None
    direction: str
    live_version: int | None
    latest_version: int
    archived_at: datetime | None


class VersionView(Answer):
    version: int
    phrase_count: int
    created_at: datetime


class PhraseListWithVersions(PhraseListView):
    versions: tuple[VersionView, ...]


class PhraseView(Answer):
    text: str
    id: str
    category: str
    severity: int
    action: str
    spelling: str


class ListContentView(Answer):
    version: int
    phrases: tuple[PhraseView, ...]
    allowed: tuple[str, ...]


class FindingView(Answer):
    direction: str
    source: str
    rule: str
    category: str
    severity: int
    action: str
    list: str | None
    list_version: int | None
    start: int
    end: int
    score: float | None


class CheckView(Answer):
    verdict: str
    blocked_reason: str | None
    findings: tuple[FindingView, ...]
    text: str


class TriedText(Answer):
    session_id: str | None
    turn: int | None
    direction: str
    changes: bool
    before: CheckView
    after: CheckView


class VerdictCounts(Answer):
    allow: int
    flag: int
    block: int


class Totals(Answer):
    texts: int
    changed: int
    before: VerdictCounts
    after: VerdictCounts


class DryRunView(Answer):
    totals: Totals
    results: tuple[TriedText, ...]


class Thresholds(Answer):
    flag: float | None
    block: float | None


class EffectiveSettings(Answer):
    user: Thresholds
    knowledge: Thresholds
    mask: str


class SettingsView(Answer):
    """What the tenant has set itself, and what holds."""

    user: Thresholds
    knowledge: Thresholds
    mask: str | None
    effective: EffectiveSettings


class AuditEntry(Answer):
    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    facts: dict[str, str | int | float | bool | None]
