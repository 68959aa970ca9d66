"""Reviews in memory, whose decisions mend lists that are in force, and stand in the audit trail."""

from gateway.moderation_ports import Doer
from gateway.review_cases import ReviewCases
from sessions.adapters.memory_reviews import MemoryReviews
from sessions.domain.review import Decision, audit_facts
from sessions.domain.viewer import TenantId
from sessions.ports import Clock, Records
from tests.support.kept_rules import Ruled


def reviewed(ruled: Ruled, records: Records, clock: Clock) -> ReviewCases:
    def noted(tenant: TenantId, decision: Decision) -> None:
        by = Doer(decision.by, decision.at)
        ruled.book.note(tenant, by, "turn_reviewed", f"{decision.session}/{decision.turn}", audit_facts(decision))

    return ReviewCases(reviews=MemoryReviews(records, noted=noted), lists=ruled.stores.lists, clock=clock)
