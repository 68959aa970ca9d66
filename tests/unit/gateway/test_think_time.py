"""What is done between turns: once at a time for a session, few at once, and never more than that."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from gateway import think_time
from gateway.think_time import ThinkTime
from sessions.domain.session import SessionId
from sessions.domain.viewer import Viewer
from sessions.errors import RecordsUnavailable
from tests.support.eventually import eventually
from tests.support.session_fakes import viewer

WHO = viewer()
A, B, C = (SessionId(UUID(int=number)) for number in (1, 2, 3))


@dataclass
class Thoughts:
    """Thinks until it is let go on, and remembers of whom."""

    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    begun: list[SessionId] = field(default_factory=list)
    ended: list[SessionId] = field(default_factory=list)
    failures: int = 0
    error: Exception | None = None
    at_once: int = 0
    now: Counter[SessionId] = field(default_factory=Counter)

    async def __call__(self, who: Viewer, session: SessionId) -> None:
        assert who is WHO
        self.begun.append(session)
        self.now[session] += 1
        assert self.now[session] == 1
        self.at_once = max(self.at_once, self.now.total())
        try:
            await self.go_on.wait()
            if self.error is not None:
                raise self.error
        finally:
            self.now[session] -= 1
        self.ended.append(session)

    def failed(self) -> None:
        self.failures += 1


@asynccontextmanager
async def thinking(thoughts: Thoughts, *, at_once: int = 2) -> AsyncIterator[ThinkTime]:
    async with ThinkTime(think=thoughts, at_once=at_once, failed=thoughts.failed) as time:
        yield time


async def test_few_sessions_are_thought_of_at_once_and_the_others_in_their_order() -> None:
    thoughts = Thoughts()
    async with thinking(thoughts) as time:
        for session in (A, B, C):
            time.begin(WHO, session)
        await eventually(lambda: thoughts.begun == [A, B])
        assert time.count == 3
        thoughts.go_on.set()
        await eventually(lambda: thoughts.ended == [A, B, C])
        await eventually(lambda: time.count == 0)
    assert thoughts.at_once == 2


async def test_a_session_that_is_thought_of_is_thought_of_once_more_and_not_twice_at_once() -> None:
    thoughts = Thoughts()
    async with thinking(thoughts) as time:
        time.begin(WHO, A)
        await eventually(lambda: thoughts.begun == [A])
        for _ in range(5):
            time.begin(WHO, A)
        assert time.count == 1
        time.begin(WHO, B)
        await eventually(lambda: thoughts.begun == [A, B])
        thoughts.go_on.set()
        await eventually(lambda: sorted(thoughts.ended) == [A, A, B])
        await eventually(lambda: time.count == 0)
    assert thoughts.begun.count(A) == 2


@pytest.mark.parametrize("error", [RecordsUnavailable("no database"), ValueError("a fault of ours")])
async def test_a_failure_is_counted_and_ends_nothing_else(error: Exception) -> None:
    thoughts = Thoughts(error=error)
    thoughts.go_on.set()
    async with thinking(thoughts) as time:
        time.begin(WHO, A)
        await eventually(lambda: thoughts.failures == 1)
        thoughts.error = None
        time.begin(WHO, B)
        await eventually(lambda: thoughts.ended == [B])


async def test_the_end_of_the_process_cuts_off_what_goes_on_and_begins_nothing() -> None:
    thoughts = Thoughts()
    async with thinking(thoughts, at_once=1) as time:
        time.begin(WHO, A)
        time.begin(WHO, B)
        await eventually(lambda: thoughts.begun == [A])
    assert (thoughts.begun, thoughts.ended, thoughts.now.total(), time.count) == ([A], [], 0, 0)
    time.begin(WHO, C)
    assert time.count == 0
    assert thoughts.failures == 0


async def test_nothing_is_thought_before_it_is_open() -> None:
    thoughts = Thoughts()
    time = ThinkTime(think=thoughts, at_once=1, failed=thoughts.failed)
    time.begin(WHO, A)
    assert time.count == 0


async def test_one_that_is_cut_off_before_it_has_begun_leaves_no_trace() -> None:
    thoughts = Thoughts()
    async with thinking(thoughts) as time:
        time.begin(WHO, A)
    assert (thoughts.begun, time.count) == ([], 0)


async def test_a_line_that_is_too_long_grows_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(think_time, "_MOST_WAITING", 3)
    thoughts = Thoughts()
    async with thinking(thoughts, at_once=1) as time:
        time.begin(WHO, A)
        for _ in range(5):
            time.begin(WHO, SessionId(uuid4()))
        assert (time.count, time.skipped) == (4, 2)
        thoughts.go_on.set()
        await eventually(lambda: time.count == 0)
        assert len(thoughts.ended) == 4
