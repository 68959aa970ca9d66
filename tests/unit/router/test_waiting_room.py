"""Waiting for room: who is called when, and that no chance is lost."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.asks import Ticket
from router.errors import NoRoom
from router.settings import RouterSettings
from router.waiting_room import WaitingRoom

A, B = Ticket("drill-a", "x"), Ticket("drill-b", "y")


def room_of(*, length: int = 100, timeout_s: float = 60.0) -> WaitingRoom:
    return WaitingRoom(RouterSettings(queue_length=length, queue_timeout_s=timeout_s, retry_after_s=3.0))


class Hall:
    """So many places, and turns that want one."""

    def __init__(self, room: WaitingRoom, free: int = 0) -> None:
        self.room = room
        self.free = free
        self.served: list[str] = []
        self.tries: list[str] = []

    async def turn(self, name: str, ticket: Ticket = A, *, room: str = "", wants: int = 1) -> None:
        with self.room.join(ticket, room=room) as place:
            while True:
                await place.called()
                self.tries.append(name)
                if self.free >= wants:
                    self.free -= wants
                    self.served.append(name)
                    return

    def give_back(self, *rooms: str) -> None:
        self.free += 1
        self.room.freed(*rooms)


async def settle(is_so: Callable[[], bool] = lambda: False) -> None:
    for _ in range(50):
        if is_so():
            return
        await asyncio.sleep(0)


async def refusal_of(turn: Coroutine[None, None, None]) -> NoRoom:
    with pytest.raises(NoRoom) as caught:
        await turn
    return caught.value


async def test_those_who_wait_are_called_in_turn_as_room_comes_back() -> None:
    hall = Hall(room_of())
    async with asyncio.TaskGroup() as group:
        for name, ticket in (("a1", A), ("a2", A), ("b1", B)):
            group.create_task(hall.turn(name, ticket))
        await settle(lambda: hall.room.length == 3)
        assert hall.tries == []
        for _ in range(3):
            hall.give_back()
        await settle()
    assert hall.served == ["a1", "b1", "a2"]
    assert hall.tries == hall.served
    assert hall.room.length == 0


async def test_one_that_finds_nothing_keeps_its_place_and_the_chance_goes_on() -> None:
    hall = Hall(room_of())
    async with asyncio.TaskGroup() as group:
        group.create_task(hall.turn("large", A, wants=2))
        group.create_task(hall.turn("small", A, wants=1))
        await settle(lambda: hall.room.length == 2)
        hall.give_back()
        await settle()
        assert hall.served == ["small"]
        hall.free = 2
        group.create_task(hall.turn("later", A))
        await settle(lambda: hall.room.length == 2)
        hall.room.freed()
        await settle()
        assert hall.served == ["small", "large"]
        hall.give_back()


async def test_a_chance_that_several_could_not_use_ends() -> None:
    hall = Hall(room_of())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(hall.turn(str(n), wants=9)) for n in range(30)]
        await settle(lambda: hall.room.length == 30)
        hall.room.freed()
        await settle()
        assert hall.tries == [str(n) for n in range(8)]
        for task in tasks:
            task.cancel()


async def test_the_chance_of_one_that_is_cancelled_goes_to_the_next() -> None:
    hall = Hall(room_of())
    async with asyncio.TaskGroup() as group:
        first = group.create_task(hall.turn("first"))
        group.create_task(hall.turn("second"))
        await settle(lambda: hall.room.length == 2)
        hall.give_back()
        first.cancel()  # in the step in which it was called
        await settle()
    assert hall.served == ["second"]


async def test_room_that_comes_back_while_all_are_trying_is_offered_again() -> None:
    room = room_of()
    tried = asyncio.Event()
    go_on = asyncio.Event()
    found: list[bool] = []
    free = False

    async def slow() -> None:
        with room.join(A) as place:
            while not found:
                await place.called()
                had_room = free
                tried.set()
                await go_on.wait()
                if had_room:
                    found.append(True)

    async with asyncio.TaskGroup() as group:
        group.create_task(slow())
        await settle(lambda: room.length == 1)
        room.freed()
        await tried.wait()
        free = True
        room.freed()  # it has looked already
        go_on.set()
    assert found == [True]


async def test_two_that_never_find_anything_do_not_wake_each_other_for_ever() -> None:
    hall = Hall(room_of())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(hall.turn(name, wants=9)) for name in ("one", "other")]
        await settle(lambda: hall.room.length == 2)
        hall.room.freed()
        hall.room.freed()
        await settle()
        assert len(hall.tries) <= 8
        for task in tasks:
            task.cancel()


async def test_called_before_it_sleeps_it_does_not_sleep() -> None:
    room = room_of()
    with room.join(A) as place:
        room.freed()
        await asyncio.wait_for(place.called(), 1.0)


async def test_the_time_to_wait_is_counted_over_all_tries() -> None:
    hall = Hall(room_of(timeout_s=0.1))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(refusal_of(hall.turn("only")))
        await settle(lambda: hall.room.length == 1)
        hall.room.freed()
    assert hall.tries == ["only"]
    refused = task.result()
    assert (refused.position, refused.retry_after_s, refused.waited_s >= 0.1) == (1, 3.0, True)
    assert hall.room.length == 0


async def test_out_of_time_it_says_where_it_stood() -> None:
    room = room_of(timeout_s=0.05)
    with room.join(A), room.join(A), room.join(A) as third:
        assert third.position == 3
        with pytest.raises(NoRoom) as caught:
            await third.called()
    assert caught.value.position == 3


async def test_a_full_queue_refuses_and_gives_back_nothing_but_the_refusal() -> None:
    room = room_of(length=2)
    with room.join(A), room.join(A):
        with pytest.raises(NoRoom) as caught:
            room.join(A)
        assert (caught.value.position, caught.value.waited_s < 1.0) == (0, True)
        assert room.length == 2
    assert room.length == 0


async def test_a_queue_of_no_length_lets_nobody_wait() -> None:
    with pytest.raises(NoRoom):
        room_of(length=0).join(A)


async def test_in_a_full_queue_a_flood_makes_way_for_another_drill() -> None:
    room = room_of(length=3)
    flood = [room.join(A) for _ in range(3)]
    with room.join(B) as other:
        assert other.position == 2
        with pytest.raises(NoRoom) as caught:
            await flood[2].called()
        assert caught.value.position == 4  # behind the one it made way for
        assert room.length == 3
    for place in flood:
        place.__exit__(None, None, None)
    assert room.length == 0


async def test_the_longest_line_makes_way() -> None:
    room = room_of(length=3)
    places = [room.join(B, room="a") for _ in range(3)]
    with room.join(A, room="b"):
        assert (room.waiting_for("a"), room.waiting_for("b"), room.waiting_for("c")) == (2, 1, 0)
    for place in places:
        place.__exit__(None, None, None)


async def test_only_those_are_called_who_wait_for_what_was_freed() -> None:
    hall = Hall(room_of())
    async with asyncio.TaskGroup() as group:
        group.create_task(hall.turn("one", room="a"))
        group.create_task(hall.turn("other", room="b"))
        await settle(lambda: hall.room.length == 2)
        hall.give_back("b", "c")
        await settle()
        assert hall.tries == ["other"]
        hall.give_back()
    assert hall.served == ["other", "one"]


async def test_where_nobody_waits_nothing_happens() -> None:
    room = room_of()
    for _ in range(1_000):
        room.freed("a")
    assert room.length == 0
    with room.join(A) as place:
        assert not place.waiter.is_called


wishes = st.lists(
    st.tuples(
        st.sampled_from([A, B, Ticket("drill-a", "z"), Ticket("drill-b", "y", 3)]),
        st.sampled_from(["stays", "is cancelled", "gives up"]),
        st.sampled_from(["", "other"]),
    ),
    min_size=1,
    max_size=25,
)


@given(wishes, st.lists(st.integers(0, 3), max_size=30))
def test_each_ends_in_one_way_and_room_is_never_left_unused(
    wanted: list[tuple[Ticket, str, str]], steps: list[int]
) -> None:
    asyncio.run(_play(wanted, steps))


async def _play(wanted: list[tuple[Ticket, str, str]], steps: list[int]) -> None:
    room = room_of(length=len(wanted))
    hall = Hall(room)
    ends: list[str] = []

    async def turn(number: int, ticket: Ticket, line: str) -> None:
        try:
            await hall.turn(str(number), ticket, room=line)
            ends.append("taken")
        except asyncio.CancelledError:
            ends.append("left")
            raise

    tasks = [asyncio.ensure_future(turn(n, ticket, line)) for n, (ticket, _, line) in enumerate(wanted)]
    leaving = [task for task, (_, fate, _) in zip(tasks, wanted, strict=True) if fate != "stays"]
    await settle(lambda: room.length == len(wanted))
    for step in steps:
        if step == 0 and leaving:
            leaving.pop().cancel()
        elif step == 1:
            await asyncio.sleep(0)
        else:
            hall.give_back()
    await settle()
    assert room.length == len(wanted) - len(ends)
    assert not (hall.free and room.length), "somebody waits while there is room"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (room.length, len(ends)) == (0, len(wanted))


async def test_a_thousand_wait_and_are_served_without_a_walk_over_all() -> None:
    hall = Hall(room_of(length=1_000))
    async with asyncio.TaskGroup() as group:
        for number in range(1_000):
            group.create_task(hall.turn(str(number), Ticket(f"drill-{number % 10}", str(number % 97))))
        await settle(lambda: hall.room.length == 1_000)
        for _ in range(1_000):
            hall.give_back()
        await settle(lambda: len(hall.served) == 1_000)
    assert len(hall.tries) == 1_000
