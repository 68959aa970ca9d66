"""What a taker gets of an answer, in which order, and how its waits end."""

import asyncio
import time

import pytest

from router.adapters.upstream.alarm import Alarm
from router.adapters.upstream.errors import AnswerBroken, NoAnswer, OutOfPatience
from router.adapters.upstream.reply import Reply
from router.domain.patience import Limits, Patience

LONG = Limits(connect_s=60, total_s=60, answer_s=60, first_event_s=60, event_s=60)


class FakeLine:
    """Remembers what the reply asked of its connection."""

    def __init__(self) -> None:
        self.resumed = 0
        self.aborted = 0

    def resume(self) -> None:
        self.resumed += 1

    def abort(self) -> None:
        self.aborted += 1


def reply_over(line: FakeLine, limits: Limits = LONG) -> Reply:
    loop = asyncio.get_running_loop()
    return Reply(line=line, patience=Patience(limits, now=loop.time()), loop=loop, alarm=Alarm(loop))


async def test_it_is_answered_once_the_head_has_come() -> None:
    reply = reply_over(FakeLine())
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(reply.answered())
        await asyncio.sleep(0)
        assert not waiting.done()
        reply.begin(200, [(b"content-type", b"text/event-stream"), (b"content-type", b"second")])
    assert (reply.status, reply.header(b"content-type"), reply.header(b"x")) == (200, b"text/event-stream", b"")
    reply.close()


async def test_what_came_together_leaves_together() -> None:
    line = FakeLine()
    reply = reply_over(line)
    reply.begin(200, [])
    reply.add(b"a")
    reply.add(b"b")
    assert reply.unread == 2
    assert (await reply.read(), reply.unread, line.resumed) == (b"ab", 0, 1)
    reply.add(b"c")
    reply.finish()
    assert [await reply.read() for _ in range(3)] == [b"c", b"", b""]
    reply.close()
    assert line.aborted == 0


async def test_a_reader_that_waits_gets_all_that_came_before_it_ran() -> None:
    reply = reply_over(FakeLine())
    reply.begin(200, [])
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(reply.read())
        await asyncio.sleep(0)
        for piece in (b"a", b"b", b"c"):
            reply.add(piece)
            reply.arrived()
    assert reading.result() == b"abc"
    reply.close()


async def test_what_came_before_a_failure_is_read_before_it() -> None:
    reply = reply_over(FakeLine())
    reply.begin(200, [])
    reply.add(b"a")
    reply.fail(AnswerBroken("cut"))
    assert await reply.read() == b"a"
    for _ in range(2):
        with pytest.raises(AnswerBroken, match="cut"):
            await reply.read()


async def test_the_first_failure_counts_and_none_after_the_end() -> None:
    reply = reply_over(FakeLine())
    reply.fail(NoAnswer("first"))
    reply.fail(NoAnswer("second"))
    with pytest.raises(NoAnswer, match="first"):
        await reply.answered()
    ended = reply_over(FakeLine())
    ended.begin(200, [])
    ended.finish()
    ended.fail(AnswerBroken("late"))
    assert await ended.read() == b""


async def test_closing_cuts_an_unfinished_answer_once_and_wakes_its_reader() -> None:
    line = FakeLine()
    reply = reply_over(line)
    reply.begin(200, [])

    async def read() -> None:
        with pytest.raises(AnswerBroken, match="closed"):
            await reply.read()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(read())
        await asyncio.sleep(0)
        reply.close()
        reply.close()
    assert line.aborted == 1


async def test_giving_up_ends_a_wait_that_nothing_else_would_end() -> None:
    line, now = FakeLine(), asyncio.get_running_loop().time()
    whole = reply_over(line, Limits(connect_s=60, total_s=60))

    async def wait() -> None:
        with pytest.raises(OutOfPatience, match="not been ready"):
            await whole.answered()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(wait())
        await asyncio.sleep(0)
        whole.give_up(now - 1)
        assert line.aborted == 0, "it has not waited for so long"
        whole.give_up(now + 1)
        whole.give_up(now + 1)
    assert line.aborted == 1


async def test_giving_up_leaves_a_stream_to_its_own_time_outs() -> None:
    line = FakeLine()
    reply = reply_over(line)
    reply.give_up(asyncio.get_running_loop().time() + 1)
    assert line.aborted == 0
    reply.close()


async def test_what_is_unread_of_a_finished_answer_goes_with_its_closing() -> None:
    reply = reply_over(FakeLine())
    reply.begin(200, [])
    reply.add(b"a")
    reply.finish()
    reply.close()
    assert await reply.read() == b""


async def test_a_cancelled_reader_loses_nothing() -> None:
    reply = reply_over(FakeLine())
    reply.begin(200, [])
    reading = asyncio.ensure_future(reply.read())
    await asyncio.sleep(0)
    reading.cancel()
    reply.add(b"a")
    reply.arrived()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await reply.read() == b"a"
    reply.close()


async def test_a_silent_server_is_cut_off() -> None:
    line = FakeLine()
    reply = reply_over(line, Limits(connect_s=1, total_s=60, answer_s=0.02, first_event_s=60, event_s=60))
    with pytest.raises(OutOfPatience, match=r"no answer within 0\.02 s"):
        await reply.answered()
    assert line.aborted == 1


async def test_comments_alone_do_not_keep_it() -> None:
    reply = reply_over(FakeLine(), Limits(connect_s=1, total_s=60, answer_s=60, first_event_s=0.05, event_s=60))
    reply.begin(200, [])
    reply.add(b": keep-alive\n\n")
    assert await reply.read() == b": keep-alive\n\n"
    with pytest.raises(OutOfPatience, match="no first token"):
        await reply.read()


async def test_the_takers_own_slowness_is_not_the_servers() -> None:
    line = FakeLine()
    reply = reply_over(line, Limits(connect_s=1, total_s=60, answer_s=60, first_event_s=60, event_s=0.03))
    reply.begin(200, [])
    for _ in range(2):
        reply.add(b"data: x\n\n")
        assert await reply.read()
        await asyncio.sleep(0.06)
    with pytest.raises(OutOfPatience, match="no token"):
        await reply.read()
    assert line.aborted == 1


async def test_the_end_of_all_patience_comes_also_while_nobody_waits() -> None:
    line = FakeLine()
    reply = reply_over(line, Limits(connect_s=1, total_s=0.05, answer_s=0.02))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(reply.answered())
        await asyncio.sleep(0)
        reply.begin(200, [])
    reply.add(b"data: x\n\n")
    deadline = time.monotonic() + 5
    while not line.aborted:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert await reply.read() == b"data: x\n\n"
    with pytest.raises(OutOfPatience, match=r"longer than 0\.05 s"):
        await reply.read()


async def test_a_finished_answer_needs_no_patience() -> None:
    line = FakeLine()
    reply = reply_over(line, Limits(connect_s=1, total_s=0.02))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(reply.answered())
        await asyncio.sleep(0)
        reply.begin(200, [])
        reply.add(b"a")
        reply.finish()
    await asyncio.sleep(0.05)
    assert (await reply.read(), await reply.read(), line.aborted) == (b"a", b"", 0)


class Taker:
    """The other end of a short cut."""

    def __init__(self) -> None:
        self.offered: list[bytes] = []
        self.takes = True

    def __call__(self, data: bytes) -> bool:
        self.offered.append(data)
        return self.takes


async def test_what_a_short_cut_takes_wakes_nobody() -> None:
    reply, taker = reply_over(FakeLine()), Taker()
    reply.begin(200, [])
    reply.short_cut(taker)
    reply.add(b"before anybody waits")
    reply.arrived()
    assert (taker.offered, await reply.read()) == ([], b"before anybody waits")
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(reply.read())
        await asyncio.sleep(0)
        reply.add(b"a")
        reply.add(b"b")
        reply.arrived()
        await asyncio.sleep(0)
        assert (taker.offered, reply.unread, reading.done()) == ([b"ab"], 0, False)
        taker.takes = False
        reply.add(b"c")
        reply.arrived()
    assert (taker.offered, reading.result()) == ([b"ab", b"c"], b"c")
    reply.close()


async def test_what_a_reader_was_woken_for_is_not_passed_by() -> None:
    reply, taker = reply_over(FakeLine()), Taker()
    reply.begin(200, [])
    reply.short_cut(taker)
    taker.takes = False
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(reply.read())
        await asyncio.sleep(0)
        reply.add(b"a")
        reply.arrived()
        taker.takes = True
        reply.add(b"b")
        reply.arrived()
    assert (taker.offered, reading.result()) == ([b"a"], b"ab")
    reply.close()


async def test_a_short_cut_ends_when_it_is_taken_back() -> None:
    reply, taker = reply_over(FakeLine()), Taker()
    reply.begin(200, [])
    reply.short_cut(taker)
    async with asyncio.TaskGroup() as tasks:
        reading = tasks.create_task(reply.read())
        await asyncio.sleep(0)
        reply.short_cut(None)
        reply.add(b"a")
        reply.arrived()
    assert (taker.offered, reading.result()) == ([], b"a")
    reply.close()


async def test_what_a_short_cut_takes_is_a_sign_of_life() -> None:
    limits = Limits(connect_s=1, total_s=60, answer_s=60, first_event_s=60, event_s=0.2)
    reply = reply_over(FakeLine(), limits)
    reply.begin(200, [])
    reply.short_cut(Taker())
    reading = asyncio.ensure_future(reply.read())
    for _ in range(6):
        await asyncio.sleep(0.05)
        reply.add(b"data: x\n\n")
        reply.arrived()
    assert not reading.done()
    with pytest.raises(OutOfPatience, match="no token"):
        await reading
