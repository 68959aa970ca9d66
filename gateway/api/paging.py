"""Pages of a list as callers see them."""

from collections.abc import Callable
from typing import TypeVar

from gateway.api.requests import PageQuery
from gateway.api.views import PageView
from gateway.domain.cursor import read_moment, written_moment
from sessions.domain.page import Cursor, Page

Item = TypeVar("Item")
View = TypeVar("View")


def cursor_of(query: PageQuery) -> Cursor | None:
    return read_moment(query.cursor) if query.cursor is not None else None


def page_view(page: Page[Item], view: Callable[[Item], View], model: type[PageView[View]]) -> PageView[View]:
    items = tuple(view(item) for item in page.items)
    return model(items=items, next_cursor=written_moment(page.next) if page.next is not None else None)
