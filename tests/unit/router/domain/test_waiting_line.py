"""The order in which waiters are called."""

from collections import Counter, deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.asks import Ticket
from router.domain.waiting_line import Waiter, WaitingLine

tickets = st.builds(
    Ticket, drill=st.sampled_from("ABCD"), account=st.sampled_from("xyz"), priority=st.sampled_from([0, 0, 0, 5])
)


def line_of(*wanted: Ticket) -> tuple[WaitingLine, list[Waiter]]:
    line = WaitingLine()
    return line, [line.join(ticket) for ticket in wanted]


def all_called(line: WaitingLine) -> list[Waiter]:
    found = []
    while (waiter := line.call()) is not None:
        found.append(waiter)
    return found


def drills(waiters: list[Waiter]) -> str:
    return "".join(waiter.ticket.drill for waiter in waiters)


def test_one_account_is_served_in_the_order_of_coming() -> None:
    line, waiters = line_of(*[Ticket("A", "x")] * 5)
    assert all_called(line) == waiters
    assert line.call() is None


def test_drills_take_turns_whatever_their_size() -> None:
    line, _ = line_of(*[Ticket("A", "x")] * 4, Ticket("B", "x"), Ticket("C", "x"), Ticket("B", "x"))
    assert drills(all_called(line)) == "ABCABAA"


def test_accounts_take_turns_inside_their_drill() -> None:
    line, _ = line_of(*[Ticket("A", "flood")] * 3, Ticket("A", "y"), Ticket("A", "z"))
    assert [waiter.ticket.account for waiter in all_called(line)] == ["flood", "y", "z", "flood", "flood"]


def test_urgent_work_goes_first() -> None:
    line, (batch, trainee) = line_of(Ticket("A", "x", 10), Ticket("A", "x", 0))
    assert all_called(line) == [trainee, batch]


def test_who_left_is_not_called() -> None:
    line, (first, second, third) = line_of(Ticket("A"), Ticket("A"), Ticket("B"))
    line.leave(first)
    assert line.call() is second
    line.leave(second)
    assert (line.call(), line.call(), len(line)) == (third, None, 1)


@given(st.lists(tickets, min_size=1, max_size=30))
def test_a_position_is_the_place_in_the_order_of_calls(wanted: list[Ticket]) -> None:
    line, waiters = line_of(*wanted)
    told = {waiter: line.position(waiter) for waiter in waiters}
    assert all_called(line) == sorted(waiters, key=told.__getitem__)
    assert sorted(told.values()) == list(range(1, len(waiters) + 1))


@given(st.lists(tickets, min_size=1, max_size=30), st.integers(0, 30))
def test_called_ones_stand_before_all_others(wanted: list[Ticket], calls: int) -> None:
    line, waiters = line_of(*wanted)
    called = [waiter for _ in range(calls) if (waiter := line.call()) is not None]
    assert [line.position(waiter) for waiter in called] == list(range(1, len(called) + 1))
    assert sorted(line.position(waiter) for waiter in waiters) == list(range(1, len(waiters) + 1))


@given(st.lists(tickets, min_size=1, max_size=30), st.integers(1, 10), st.randoms(use_true_random=False))
def test_those_that_find_nothing_keep_their_places(wanted: list[Ticket], calls: int, dice: Random) -> None:
    line, _ = line_of(*wanted)
    undisturbed, _ = line_of(*wanted)
    called = [waiter for _ in range(calls) if (waiter := line.call()) is not None]
    dice.shuffle(called)
    for waiter in called:
        line.come_back(waiter)
    assert [w.number for w in all_called(line)] == [w.number for w in all_called(undisturbed)]


@given(st.lists(tickets, min_size=2, max_size=40), st.data())
def test_whatever_happens_nobody_is_lost_or_called_twice(wanted: list[Ticket], data: st.DataObject) -> None:
    line = WaitingLine()
    waiting: list[Waiter] = []
    called: list[Waiter] = []
    for ticket in wanted:
        waiting.append(line.join(ticket))
        match data.draw(st.sampled_from(["call", "come back", "leave", "leave called", "nothing"])):
            case "call":
                waiter = line.call()
                assert waiter in waiting
                waiting.remove(waiter)
                called.append(waiter)
            case "come back" if called:
                waiting.append(called.pop(data.draw(st.integers(0, len(called) - 1))))
                line.come_back(waiting[-1])
            case "leave" if waiting:
                line.leave(waiting.pop(data.draw(st.integers(0, len(waiting) - 1))))
            case "leave called" if called:
                line.leave(called.pop())
            case _:
                pass
        assert (len(line), line.uncalled) == (len(waiting) + len(called), len(waiting))
        positions = [line.position(waiter) for waiter in (*called, *waiting)]
        assert sorted(positions) == list(range(1, len(positions) + 1))
    assert set(all_called(line)) == set(waiting)


@given(st.lists(tickets, min_size=1, max_size=12), st.lists(tickets, max_size=60))
def test_no_drill_is_called_twice_while_another_of_its_class_waits(first: list[Ticket], later: list[Ticket]) -> None:
    """Whoever comes meanwhile: with k drills waiting each is called within k calls."""
    line, waiters = line_of(*first)
    waiting = Counter((waiter.ticket.priority, waiter.ticket.drill) for waiter in waiters)
    passed_by = {group: Counter[str]() for group in waiting}
    coming = deque(later)
    while (waiter := line.call()) is not None:
        line.leave(waiter)
        group = priority, drill = waiter.ticket.priority, waiter.ticket.drill
        waiting[group] -= 1
        passed_by[group].clear()
        for other, passing in passed_by.items():
            if waiting[other] and other != group and other[0] == priority:
                passing[drill] += 1
                assert passing[drill] == 1
        if coming:
            came = coming.popleft()
            line.join(came)
            waiting[came.priority, came.drill] += 1
            passed_by.setdefault((came.priority, came.drill), Counter())


@pytest.mark.parametrize(
    ("waiting", "newcomer", "out"),
    [
        ([Ticket("A", "x")] * 3 + [Ticket("B", "y")], Ticket("B", "y"), 2),  # the last of the longest drill
        ([Ticket("A", "x")] * 2 + [Ticket("A", "y")], Ticket("A", "z"), 1),  # the last of its longest account
        ([Ticket("A", "x"), Ticket("B", "x")], Ticket("C", "x"), None),  # equals stay
        ([Ticket("A", "x"), Ticket("B", "x")], Ticket("A", "y"), None),
        ([Ticket("A", "x")] * 3, Ticket("A", "x"), None),
        ([Ticket("A", "x"), Ticket("B", "x", 5)], Ticket("A", "x"), 1),  # batch work before trainees
        ([Ticket("A", "x")] * 3, Ticket("B", "x", 5), None),
    ],
)
def test_a_full_line_does_without_whoever_floods_it(waiting: list[Ticket], newcomer: Ticket, out: int | None) -> None:
    line, waiters = line_of(*waiting)
    came = line.join(newcomer)
    assert line.crowded_out(came) is (came if out is None else waiters[out])
