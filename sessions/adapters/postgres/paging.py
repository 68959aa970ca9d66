"""Pages by moment and id, newest first: the place is a value, so rows written meanwhile shift nothing."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, Select, tuple_

from sessions.domain.page import Cursor, Page

Item = TypeVar("Item")


def paged(
    statement: Select[Any], at: ColumnElement[Any], key: ColumnElement[Any], *, limit: int, after: Cursor | None
) -> Select[Any]:
    """One row more than asked for: it tells whether there is a next page."""
    if after is not None:
        statement = statement.where(tuple_(at, key) < tuple_(after.at, after.id))
    return statement.order_by(at.desc(), key.desc()).limit(limit + 1)


def page(rows: Sequence[Row[Any]], limit: int, *, item: Callable[[Row[Any]], Item], place: str) -> Page[Item]:
    """The page that `paged` found; `place` names the column with each row's moment, and `id` is its id."""
    items = tuple(item(row) for row in rows[:limit])
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(items, None if last is None else Cursor(getattr(last, place), last.id))
