from datetime import UTC, datetime
from uuid import uuid4

import pytest

from gateway.api.paging import cursor_of, page_view
from gateway.api.requests import PageQuery
from gateway.api.views import PageView
from gateway.errors import FieldInvalid
from sessions.domain.page import Cursor, Page


def test_the_cursor_of_a_page_leads_to_the_next_one() -> None:
    place = Cursor(datetime(2026, 1, 1, tzinfo=UTC), uuid4())
    view = page_view(Page((1, 2), place), str, PageView[str])
    assert view.items == ("1", "2")
    assert cursor_of(PageQuery(cursor=view.next_cursor)) == place


def test_the_last_page_leads_nowhere() -> None:
    assert page_view(Page(()), str, PageView[str]) == PageView[str](items=(), next_cursor=None)
    assert cursor_of(PageQuery()) is None


def test_a_made_up_cursor_is_refused() -> None:
    with pytest.raises(FieldInvalid):
        cursor_of(PageQuery(cursor="made up"))
