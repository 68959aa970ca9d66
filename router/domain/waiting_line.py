"""Who is next when nothing has room: urgent work first, then drills in turn, inside a drill its accounts in turn.

A line is a tree. Under each priority stand the drills that wait, under each drill its accounts, under each account its
waiters in the order in which they came. Drills and accounts stand in rings: whoever was called goes to the end of its
ring. So an account that floods the line delays itself and, by one turn in each round, its own drill.

Calling takes a waiter out of the tree. One that finds nothing all the same comes back to where it stood: a ring orders
its members by the number of their turn, and the number a waiter was called with gives it its turn again, in whichever
order several of them come back.
"""

import itertools
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from router.domain.asks import Ticket

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Ring(Generic[K, V]):
    """Members in the order of their turns. Turns are drawn from one source for the whole line, so none comes twice."""

    def __init__(self, turns: Iterator[int]) -> None:
        self.members: OrderedDict[K, V] = OrderedDict()
        self._turns: dict[K, int] = {}
        self._source = turns

    def add(self, name: K, member: V) -> V:
        self.members[name] = member
        self._turns[name] = next(self._source)
        return member

    def first(self) -> tuple[K, V, int]:
        name = next(iter(self.members))
        return name, self.members[name], self._turns[name]

    def to_end(self, name: K) -> None:
        self.members.move_to_end(name)
        self._turns[name] = next(self._source)

    def to_turn(self, name: K, turn: int) -> None:
        """Back to where it stood with that turn, unless it stands further ahead."""
        if self._turns[name] <= turn:
            return
        self._turns[name] = turn
        # Those with earlier turns have come back themselves, so they are few.
        ahead = list(itertools.takewhile(lambda other: self._turns[other] < turn, self.members))
        for member in (name, *reversed(ahead)):
            self.members.move_to_end(member, last=False)

    def remove(self, name: K) -> None:
        del self.members[name]
        del self._turns[name]


@dataclass(slots=True, eq=False)
class Waiter:
    """One that waits; the numbers are the line's."""

    ticket: Ticket
    number: int
    is_called: bool = False
    drill_turn: int = 0
    account_turn: int = 0


_Waiters = OrderedDict[int, Waiter]


class _Drill:
    def __init__(self, turns: Iterator[int]) -> None:
        self.accounts: _Ring[str, _Waiters] = _Ring(turns)
        self.size = 0


class _Class:
    """All that wait with one priority."""

    def __init__(self, turns: Iterator[int]) -> None:
        self.drills: _Ring[str, _Drill] = _Ring(turns)
        self.size = 0


class WaitingLine:
    """The waiters for one kind of room. Nothing in it awaits, and nothing in it knows the time."""

    def __init__(self) -> None:
        self._classes: dict[int, _Class] = {}
        self._called: OrderedDict[int, Waiter] = OrderedDict()
        self._uncalled = 0
        self._turns = itertools.count(1)

    def __len__(self) -> int:
        return self._uncalled + len(self._called)

    @property
    def uncalled(self) -> int:
        return self._uncalled

    def join(self, ticket: Ticket) -> Waiter:
        waiter = Waiter(ticket, next(self._turns))
        self._waiters_beside(ticket)[waiter.number] = waiter
        self._count(ticket, 1)
        return waiter

    def call(self) -> Waiter | None:
        """The next in order, which is out of the order until it comes back or leaves; None: all have been called."""
        if not self._uncalled:
            return None
        drills = self._classes[min(self._classes)].drills
        drill_name, drill, drill_turn = drills.first()
        account_name, waiters, account_turn = drill.accounts.first()
        waiter = next(iter(waiters.values()))
        waiter.is_called, waiter.drill_turn, waiter.account_turn = True, drill_turn, account_turn
        drill.accounts.to_end(account_name)
        drills.to_end(drill_name)
        self._take_out(waiter)
        self._called[waiter.number] = waiter
        return waiter

    def come_back(self, waiter: Waiter) -> None:
        """It was called and found nothing: it stands where it stood."""
        ticket = waiter.ticket
        del self._called[waiter.number]
        waiter.is_called = False
        waiters = self._waiters_beside(ticket)
        drills = self._classes[ticket.priority].drills
        drills.to_turn(ticket.drill, waiter.drill_turn)
        drills.members[ticket.drill].accounts.to_turn(ticket.account, waiter.account_turn)
        ahead = list(itertools.takewhile(lambda number: number < waiter.number, waiters))
        waiters[waiter.number] = waiter
        for number in (waiter.number, *reversed(ahead)):
            waiters.move_to_end(number, last=False)
        self._count(ticket, 1)

    def leave(self, waiter: Waiter) -> None:
        """Out of the line, called or not."""
        if waiter.is_called:
            del self._called[waiter.number]
        else:
            self._take_out(waiter)

    def position(self, waiter: Waiter) -> int:
        """Its place in the order in which they would be called if nobody else came, from 1. Called ones are first."""
        if waiter.is_called:
            return 1 + list(self._called).index(waiter.number)
        ticket = waiter.ticket
        more_urgent = sum(each.size for priority, each in self._classes.items() if priority < ticket.priority)
        drills = self._classes[ticket.priority].drills.members
        accounts = drills[ticket.drill].accounts.members
        own = list(accounts[ticket.account]).index(waiter.number)
        in_drill = _called_before(ticket.account, own, {name: len(waiters) for name, waiters in accounts.items()})
        in_class = _called_before(ticket.drill, in_drill, {name: drill.size for name, drill in drills.items()})
        return len(self._called) + more_urgent + in_class + 1

    def crowded_out(self, newcomer: Waiter) -> Waiter:
        """Whom a line that is too long by one does without: of the least urgent, the last of the account that has most
        waiters in the drill that has most. Of equals the newcomer goes, and nobody who has been called.
        """
        own = newcomer.ticket
        drills = self._classes[max(self._classes)].drills.members
        drill = max(drills.items(), key=lambda item: (item[1].size, item[0] == own.drill))[1]
        waiters = max(drill.accounts.members.items(), key=lambda item: (len(item[1]), item[0] == own.account))[1]
        return next(reversed(waiters.values()))

    def _waiters_beside(self, ticket: Ticket) -> _Waiters:
        of_class = self._classes.setdefault(ticket.priority, _Class(self._turns))
        drill = of_class.drills.members.get(ticket.drill) or of_class.drills.add(ticket.drill, _Drill(self._turns))
        waiters = drill.accounts.members.get(ticket.account)
        return drill.accounts.add(ticket.account, OrderedDict()) if waiters is None else waiters

    def _count(self, ticket: Ticket, change: int) -> None:
        of_class = self._classes[ticket.priority]
        of_class.size += change
        of_class.drills.members[ticket.drill].size += change
        self._uncalled += change

    def _take_out(self, waiter: Waiter) -> None:
        ticket = waiter.ticket
        self._count(ticket, -1)
        of_class = self._classes[ticket.priority]
        drill = of_class.drills.members[ticket.drill]
        waiters = drill.accounts.members[ticket.account]
        del waiters[waiter.number]
        if not waiters:
            drill.accounts.remove(ticket.account)
        if not drill.size:
            of_class.drills.remove(ticket.drill)
        if not of_class.size:
            del self._classes[ticket.priority]


def _called_before(name: str, own: int, sizes: Mapping[str, int]) -> int:
    """How many of a ring are called before the one at place `own`, from 0, in its member `name`."""
    before = own
    turn_has_passed = False
    for other, size in sizes.items():
        if other == name:
            turn_has_passed = True
        else:
            before += min(size, own if turn_has_passed else own + 1)
    return before
