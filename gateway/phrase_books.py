"""Books of phrases, each made once for all who need it, and kept while there is room.

A version of a list never changes what it says, so a book is named by the versions that it is made of.
"""

import asyncio
import gc
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from uuid import UUID

import structlog
from structlog.typing import FilteringBoundLogger

from gateway.domain.moderation.folding import Foldings
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.moderation_ports import ListId, LiveList, RuleSource
from sessions.errors import ModerationUnavailable, RecordsUnavailable
from sessions.fault_log import log_fault

_log: FilteringBoundLogger = structlog.get_logger(__name__)
_OF_A_BOOK = 50
"""What a book takes beside its phrases, in phrases."""
_MANY = 5_000
"""Phrases of a book whose objects it takes milliseconds to look through."""
_REST_S = 300.0
"""At least so long between two freezes."""
_TURN_S = 0.001
"""After so long another thread's turn comes while a book is made."""
_USUAL_TURN_S = sys.getswitchinterval()

_Name = tuple[tuple[ListId, int], ...]


@dataclass(slots=True)
class _Order:
    tenant: UUID
    lists: tuple[LiveList, ...]
    made: "asyncio.Future[PhraseBook | None]" = field(default_factory=asyncio.Future)
    """None: it cannot be made now."""
    waiting: int = 0
    """How many wait for it."""
    is_expected: bool = False
    """Somebody may soon ask for it."""


class PhraseBooks:
    """At most `most_phrases` are kept ready, and the book that was used last. `run` must run beside whoever asks."""

    def __init__(self, *, source: RuleSource, clock: Callable[[], float], most_phrases: int, wait_s: float) -> None:
        self._source = source
        self._clock = clock
        self._most_phrases = most_phrases
        self._wait_s = wait_s
        self._foldings = Foldings()
        self._empty = PhraseBook([], foldings=self._foldings)
        self._books: OrderedDict[_Name, PhraseBook] = OrderedDict()
        """The one that was used last at the end."""
        self._orders: dict[_Name, _Order] = {}
        self._line = asyncio.Queue[_Name]()
        self._made, self._failed, self._seconds = 0, 0, 0.0
        self._next_rest = -inf

    async def of(self, tenant: UUID, lists: Sequence[LiveList]) -> PhraseBook:
        """The book of these lists of the tenant; raises `ModerationUnavailable`."""
        if (ready := self._ready(_name(lists))) is not None:
            return ready
        order = self._order(tenant, lists)
        order.waiting += 1
        order.is_expected = True  # again, should this one give up
        try:
            async with asyncio.timeout(self._wait_s):
                book = await asyncio.shield(order.made)
        except TimeoutError as error:
            raise ModerationUnavailable("the phrases in force were not ready in time") from error
        finally:
            order.waiting -= 1
        if book is None:
            raise ModerationUnavailable("the phrases in force cannot be read now")
        return book

    def want(self, tenant: UUID, lists: Sequence[LiveList]) -> None:
        """Somebody may soon ask for it."""
        if self._ready(_name(lists)) is None:
            self._order(tenant, lists).is_expected = True

    def want_anew(self) -> None:
        """What was wanted so far need not be made, unless somebody waits for it: others are in line behind it."""
        for order in self._orders.values():
            order.is_expected = False

    async def run(self) -> None:
        while True:
            name = await self._line.get()
            order = self._orders[name]
            if not (order.waiting or order.is_expected):
                del self._orders[name]
                continue
            book = await self._try(order)
            if book is not None:
                self._keep(name, book)
            del self._orders[name]
            order.made.set_result(book)

    def gauges(self) -> Mapping[str, float]:
        return {"moderation_books": len(self._books), "moderation_phrases_ready": self._phrases()}

    def counters(self) -> Mapping[str, float]:
        return {
            "moderation_books_made": self._made,
            "moderation_books_failed": self._failed,
            "moderation_book_seconds": self._seconds,
        }

    def _ready(self, name: _Name) -> PhraseBook | None:
        if not name:
            return self._empty
        if (book := self._books.get(name)) is not None:
            self._books.move_to_end(name)
        return book

    def _order(self, tenant: UUID, lists: Sequence[LiveList]) -> _Order:
        name = _name(lists)
        if name not in self._orders:
            self._orders[name] = _Order(tenant, tuple(lists))
            self._line.put_nowait(name)
        return self._orders[name]

    async def _try(self, order: _Order) -> PhraseBook | None:
        began = self._clock()
        try:
            with beside_turns():
                said = [await self._source.phrases(order.tenant, each) for each in order.lists]
                book = await asyncio.to_thread(PhraseBook, said, foldings=self._foldings)
                self._leave_alone(book)
        except RecordsUnavailable:
            _log.warning("phrases in force cannot be read", tenant=str(order.tenant))
            self._failed += 1
            return None
        except Exception as error:  # noqa: BLE001  one tenant's list must not end what all tenants need
            log_fault("phrases in force cannot be made ready", error, tenant=str(order.tenant))
            self._failed += 1
            return None
        self._made += 1
        self._seconds += self._clock() - began
        return book

    def _leave_alone(self, book: PhraseBook) -> None:
        """The collector never looks through a long one: there is no garbage in it.

        All else that lives just now is left alone for good too, so that this is done seldom.
        """
        if len(book.rules) >= _MANY and self._clock() >= self._next_rest:
            gc.freeze()
            self._next_rest = self._clock() + _REST_S

    def _keep(self, name: _Name, book: PhraseBook) -> None:
        self._books[name] = book
        while len(self._books) > 1 and self._phrases() > self._most_phrases:
            self._books.popitem(last=False)

    def _phrases(self) -> int:
        return sum(_OF_A_BOOK + len(book.rules) for book in self._books.values())


@contextmanager
def beside_turns() -> Iterator[None]:
    """What is made inside takes hundreds of milliseconds, and hardly holds up who waits for a moment of this process.

    Threads change places more often, and nobody looks for garbage among so many new objects again and again.
    """
    was_on = gc.isenabled()
    gc.collect(1)
    gc.disable()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(_USUAL_TURN_S)
        if was_on:
            gc.enable()


def _name(lists: Sequence[LiveList]) -> _Name:
    return tuple((each.list, each.version) for each in lists)
