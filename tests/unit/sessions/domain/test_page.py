"""A page and the place where the next one begins."""

from datetime import UTC, datetime
from uuid import UUID

from sessions.domain.page import Cursor, Page


def test_a_page_is_the_last_one_unless_it_says_where_to_go_on() -> None:
    place = Cursor(datetime(2026, 11, 29, tzinfo=UTC), UUID(int=1))
    assert Page(("a", "b")).next is None
    assert Page(("a", "b"), place).next == place
