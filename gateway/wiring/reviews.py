"""Reviews of turns, on the records in Postgres and the phrase lists that decisions mend."""

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.moderation_ports import PhraseLists
from gateway.review_cases import ReviewCases
from gateway.wiring.clock import SystemClock
from sessions.adapters.postgres.reviews import PostgresReviews


def turn_reviews(engine: AsyncEngine, lists: PhraseLists) -> ReviewCases:
    return ReviewCases(reviews=PostgresReviews(engine=engine), lists=lists, clock=SystemClock())
