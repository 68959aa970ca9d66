"""Moderation on a terminal."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from gateway.cli.folding_table import folding_table
from gateway.cli.moderation_wire import (
    AuditEntry,
    CheckView,
    DryRunView,
    FindingView,
    PhraseListView,
    PhraseListWithVersions,
    SettingsView,
    Thresholds,
    VerdictCounts,
)
from gateway.cli.printable import printable

_LONGEST = 60
"""Characters of a given text that are shown again."""


def lists_table(lists: Sequence[PhraseListView]) -> Table:
    table = folding_table("list", "id", "for", "scenario", "in force", "latest")
    for one in lists:
        force = "archived" if one.archived_at is not None else str(one.live_version or "-")
        table.add_row(
            printable(one.name), one.id, one.direction, one.scenario_id or "all", force, str(one.latest_version)
        )
    return table


def versions_table(found: PhraseListWithVersions) -> Table:
    table = folding_table("version", "phrases", "written", "in force")
    for one in found.versions:
        force = "yes" if one.version == found.live_version else ""
        table.add_row(str(one.version), str(one.phrase_count), f"{one.created_at:%Y-%m-%d %H:%M} UTC", force)
    return table


def check_lines(found: CheckView) -> Iterator[str]:
    yield found.verdict if found.blocked_reason is None else f"{found.verdict}: {found.blocked_reason}"
    for finding in found.findings:
        yield f"  {finding_line(finding)}"
    if found.verdict != "allow":
        yield f"goes on: {found.text!r}" if found.text else "nothing goes on"


def dry_run_lines(found: DryRunView, texts: Sequence[str]) -> Iterator[str]:
    """What would change, and the sums."""
    for place, each in enumerate(found.results):
        if each.changes:
            where = _shown(texts[place]) if each.session_id is None else f"session {each.session_id} turn {each.turn}"
            yield f"{where} ({each.direction}): {each.before.verdict} -> {each.after.verdict}"
            for finding in each.after.findings:
                yield f"  {finding_line(finding)}"
    totals = found.totals
    yield f"{totals.changed} of {totals.texts} texts would change"
    yield f"now:  {_counts(totals.before)}"
    yield f"then: {_counts(totals.after)}"


def settings_table(found: SettingsView) -> Table:
    table = folding_table("setting", "set here", "holds")
    groups = (("user", found.user, found.effective.user), ("knowledge", found.knowledge, found.effective.knowledge))
    for name, own, effective in groups:
        for part in Thresholds.model_fields:
            table.add_row(f"{name} {part}", _own(getattr(own, part)), str(getattr(effective, part)))
    table.add_row("mask", "inherited" if found.mask is None else repr(found.mask), repr(found.effective.mask))
    return table


def audit_table(entries: Sequence[AuditEntry]) -> Table:
    table = folding_table("when", "who", "what", "of", "facts")
    for one in entries:
        facts = ", ".join(f"{name} {'none' if value is None else value}" for name, value in one.facts.items())
        table.add_row(f"{one.at:%Y-%m-%d %H:%M:%S} UTC", one.actor, one.action, one.subject, printable(facts))
    return table


def finding_line(found: FindingView) -> str:
    where = "" if found.list is None else f" of {found.list} version {found.list_version}"
    sure = "" if found.score is None else f", score {found.score:.2f}"
    return f"{found.action} by {found.source} {found.rule}{where} ({found.category}) at {found.start}-{found.end}{sure}"


def _counts(found: VerdictCounts) -> str:
    return f"{found.allow} allowed, {found.flag} flagged, {found.block} blocked"


def _own(score: float | None) -> str:
    return "inherited" if score is None else str(score)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")
