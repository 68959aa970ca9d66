"""Reviews and outlines on a terminal."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from gateway.cli.folding_table import folding_table
from gateway.cli.moderation_tables import finding_line
from gateway.cli.printable import printable
from gateway.cli.review_wire import (
    DecisionView,
    EffectView,
    OutlineReport,
    PlayedTurn,
    ReviewInContext,
    ReviewView,
)


def reviews_table(reviews: Sequence[ReviewView]) -> Table:
    table = folding_table("session", "turn", "ended", "verdict", "found by", "decision")
    for one in reviews:
        verdict = one.verdict if one.blocked_reason is None else f"{one.verdict}: {one.blocked_reason}"
        decision = "open" if one.decision is None else one.decision.decision
        found_by = f"{', '.join(one.sources)} ({one.findings})" if one.sources else ""
        table.add_row(one.session_id, str(one.turn), f"{one.ended_at:%Y-%m-%d %H:%M} UTC", verdict, found_by, decision)
    return table


def review_lines(found: ReviewInContext) -> Iterator[str]:
    """All that a reviewer needs; what stands in quotes was said by people and models."""
    review = found.review
    yield f"{printable(found.scenario_title)}, trainee {review.trainee_id}, {review.ended_at:%Y-%m-%d %H:%M} UTC"
    for turn in found.before:
        yield from _turn_lines(turn)
    yield from _turn_lines(found.played, mark="> ")
    if found.withheld is not None:
        yield f"> withheld: {found.withheld!r}"
    yield f"> {review.verdict}" + ("" if review.blocked_reason is None else f": {review.blocked_reason}")
    for finding in () if found.played.moderation is None else found.played.moderation.findings:
        yield f">   {finding.direction}: {finding_line(finding)}"
    for turn in found.after:
        yield from _turn_lines(turn)
    yield "open" if review.decision is None else decision_line(review.decision)


def decision_line(decision: DecisionView) -> str:
    parts = [decision.decision.replace("_", " ")]
    if decision.note:
        parts.append(repr(decision.note))
    if decision.effect is not None:
        parts.append(_effect(decision.effect))
    return printable(", ".join(parts) + f" (by {decision.decided_by}, {decision.decided_at:%Y-%m-%d %H:%M} UTC)")


def outline_table(report: OutlineReport) -> Table:
    table = folding_table("point", "kind", "made in turns")
    for point in report.points:
        table.add_row(printable(point.name), point.kind, ", ".join(map(str, point.turns)) or "-")
    return table


def outline_line(report: OutlineReport) -> str:
    said = "complies" if report.compliant else "does not comply"
    return f"{said}: {report.required_made} of {report.required_total} required, {report.forbidden_made} forbidden"


def _turn_lines(turn: PlayedTurn, mark: str = "  ") -> Iterator[str]:
    yield f"{mark}turn {turn.turn} ({turn.state})"
    yield f"{mark}trainee: {turn.text!r}"
    yield f"{mark}tutor: {turn.reply!r}"


def _effect(effect: EffectView) -> str:
    done = "still to be done" if effect.list_version is None else f"in version {effect.list_version}"
    if effect.allow is not None:
        return f"allows {effect.allow.phrase!r} {done}"
    return f"removes rule {'' if effect.remove_rule is None else effect.remove_rule.rule} {done}"
