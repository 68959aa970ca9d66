"""One page of a list, newest first, continued by a cursor."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place after which a page begins: the last item's moment and id."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    items: tuple[Item, ...]
    next: Cursor | None = None
