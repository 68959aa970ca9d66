"""Lets simulated seconds pass, on a clock that the test moves."""

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.engine import OUT_OF_MEMORY, Engine
from loadtests.simulator.domain.generation import FinishReason, Progress, RequestId
from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.runner import GRAIN_S, EngineDead, QueueFull, Runner, Stream
from tests.support.simulated import LIMITS, MEMORY, SMALL, a_generation, with_blocks, with_limits


@dataclass(order=True)
class Call:
    when: float
    number: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class HandClock:
    """Stands still until it is moved, and then calls what is due in between."""

    def __init__(self) -> None:
        self._now = 1_000.0
        self._calls: list[Call] = []
        self.called = 0

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], None], /) -> Call:
        call = Call(when, len(self._calls), callback)
        heapq.heappush(self._calls, call)
        return call

    def move(self, seconds: float) -> None:
        until = self._now + seconds
        while self._calls and self._calls[0].when <= until:
            call = heapq.heappop(self._calls)
            if not call.cancelled:
                self._now = max(self._now, call.when)
                self.called += 1
                call.callback()
        self._now = until

    @property
    def pending(self) -> int:
        return sum(not call.cancelled for call in self._calls)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


async def started(clock: HandClock, *, profile: Profile = SMALL, speed_up: float = 1.0) -> Runner:
    runner = Runner(Engine(profile), speed_up=speed_up, timetable=clock)
    await runner.start()
    return runner


@pytest.fixture
async def runner(clock: HandClock) -> AsyncIterator[Runner]:
    runner = await started(clock)
    yield runner
    await runner.stop()


async def heard(stream: Stream) -> list[Progress]:
    return [progress async for progress in stream]


async def test_tokens_arrive_when_their_step_ends(clock: HandClock, runner: Runner) -> None:
    stream = runner.submit(a_generation("a", range(20), (7, 8)))
    clock.move(0.029)
    assert stream.pending == 0
    clock.move(0.002)
    assert stream.pending == 1
    clock.move(0.006)
    said = await heard(stream)
    assert [progress.tokens for progress in said] == [(7,), (8,)]
    assert said[-1].finished is FinishReason.STOP
    assert await heard(stream) == []


async def test_a_speed_up_divides_real_time_and_changes_no_simulated_second(clock: HandClock) -> None:
    runner = await started(clock, speed_up=20)
    stream = runner.submit(a_generation("a", range(20), range(10)))
    clock.move((0.030 + 9 * 0.006) / 20 + GRAIN_S)
    life = (await heard(stream))[-1].life
    assert life is not None
    assert life.to_first_token_s == pytest.approx(0.030)
    assert life.whole_s == pytest.approx(0.084)


async def test_an_idle_runner_is_never_called(clock: HandClock, runner: Runner) -> None:
    runner.submit(a_generation("a", range(20)))
    clock.move(1.0)
    called = clock.called
    clock.move(1_000.0)
    assert clock.called == called
    assert clock.pending == 0


async def test_at_a_high_speed_up_replies_go_on_a_few_tokens_at_a_time(clock: HandClock) -> None:
    runner = await started(clock, speed_up=100)
    stream = runner.submit(a_generation("a", range(20), range(40)))
    clock.move(1.0)
    assert len(await heard(stream)) == 40
    assert clock.called < 8


async def test_lateness_does_not_add_up(clock: HandClock, runner: Runner) -> None:
    stream = runner.submit(a_generation("a", range(20), range(11)))
    clock._now += 0.030 + 10 * 0.006  # the event loop was busy, and called nobody
    assert runner.snapshot().generation_tokens == 11
    assert (await heard(stream))[-1].finished is FinishReason.STOP


async def test_what_the_simulator_needs_itself_is_not_counted_twice(clock: HandClock, runner: Runner) -> None:
    arrived_at = clock.time()
    clock.move(0.010)
    stream = runner.submit(a_generation("a", range(20), (1,)), arrived_at=arrived_at)
    clock.move(0.020)
    assert stream.pending == 1


async def test_requests_share_steps(clock: HandClock, runner: Runner) -> None:
    first = runner.submit(a_generation("a", range(20), range(3)))
    second = runner.submit(a_generation("b", range(100, 110), range(3)))
    clock.move(0.030)
    assert (first.pending, second.pending) == (1, 0)
    clock.move(0.027)
    assert (first.pending, second.pending) == (2, 1)
    assert runner.open_requests == 2


async def test_a_closed_stream_frees_its_place(clock: HandClock) -> None:
    runner = await started(clock, profile=with_limits(replace(LIMITS, max_sequences=1)))
    gone = runner.submit(a_generation("gone", range(20), range(1_000)))
    waits = runner.submit(a_generation("waits", range(100, 110), (1,)))
    clock.move(0.031)
    await gone.aclose()
    await gone.aclose()
    assert await heard(gone) == []
    clock.move(0.027)
    assert (await heard(waits))[-1].finished is FinishReason.STOP
    await runner.drained()


async def test_a_full_queue_refuses(clock: HandClock) -> None:
    runner = await started(clock, profile=with_limits(replace(LIMITS, max_queued_requests=1)))
    runner.submit(a_generation("a", range(20)))
    with pytest.raises(QueueFull):
        runner.submit(a_generation("b", range(20)))
    assert runner.snapshot().rejected == 1
    assert runner.open_requests == 1


async def test_figures_stay_as_they_were_while_a_step_runs(clock: HandClock, runner: Runner) -> None:
    runner.submit(a_generation("a", range(20)))
    clock.move(0.029)
    assert runner.snapshot().running == 0
    clock.move(0.002)
    assert runner.snapshot().running == 1


async def test_a_frozen_engine_says_nothing_and_goes_on_where_it_stopped(clock: HandClock, runner: Runner) -> None:
    stream = runner.submit(a_generation("a", range(20), (1, 2)))
    clock.move(0.020)
    runner.freeze()
    runner.freeze()
    late = runner.submit(a_generation("late", range(100, 110), (1,)))
    clock.move(60.0)
    assert (stream.pending, late.pending) == (0, 0)
    runner.thaw()
    runner.thaw()
    clock.move(0.009)
    assert stream.pending == 0
    clock.move(0.002)
    assert stream.pending == 1
    clock.move(0.030)
    assert (await heard(late))[-1].finished is FinishReason.STOP


async def test_an_idle_engine_can_be_frozen_too(clock: HandClock, runner: Runner) -> None:
    runner.freeze()
    stream = runner.submit(a_generation("a", range(20), (1,)))
    clock.move(60.0)
    runner.thaw()
    clock.move(0.029)
    assert stream.pending == 0
    clock.move(0.002)
    life = (await heard(stream))[-1].life
    assert life is not None
    assert life.to_first_token_s == pytest.approx(60.030)


async def test_a_killed_engine_fails_what_it_had_and_takes_no_more(clock: HandClock) -> None:
    reasons: list[str] = []
    runner = Runner(Engine(SMALL), timetable=clock, on_death=reasons.append)
    await runner.start()
    stream = runner.submit(a_generation("a", range(20), (1, 2)))
    clock.move(0.031)
    runner.kill()
    runner.kill()
    assert (await anext(stream)).tokens == (1,)
    with pytest.raises(EngineDead):
        await anext(stream)
    assert await heard(stream) == []
    with pytest.raises(EngineDead):
        runner.submit(a_generation("b", range(20)))
    assert reasons == ["killed"]
    assert clock.pending == 0


async def test_long_prompts_together_kill_it(clock: HandClock) -> None:
    profile = replace(SMALL, memory=replace(MEMORY, activation_reserve_bytes=30, blocks=100))
    runner = await started(clock, profile=profile)
    streams = [runner.submit(a_generation(str(n), range(n * 100, n * 100 + 20), range(50))) for n in range(3)]
    clock.move(1.0)
    for stream in streams:
        with pytest.raises(EngineDead):
            await heard(stream)
    assert runner.died_of == OUT_OF_MEMORY


async def test_all_requests_can_be_ended_at_once(clock: HandClock, runner: Runner) -> None:
    stream = runner.submit(a_generation("a", range(20)))
    runner.abort_all()
    assert (await heard(stream))[-1].finished is FinishReason.ABORT
    clock.move(1.0)
    assert runner.open_requests == 0


async def test_sleep_ends_what_runs_forgets_the_cache_and_lets_new_requests_wait(
    clock: HandClock, runner: Runner
) -> None:
    cut = runner.submit(a_generation("cut", range(20)))
    clock.move(0.031)
    runner.sleep(1)
    assert (await heard(cut))[-1].finished is FinishReason.ABORT
    assert runner.snapshot().sleep_level == 1
    waits = runner.submit(a_generation("waits", range(20), (1,)))
    clock.move(10.0)
    assert waits.pending == 0
    assert runner.snapshot().waiting == 0
    runner.wake()
    clock.move(0.031)
    last = (await heard(waits))[-1]
    assert last.cached_tokens == 0
    assert runner.snapshot().sleep_level is None


async def test_the_cache_is_reset_only_when_nothing_runs(clock: HandClock, runner: Runner) -> None:
    runner.submit(a_generation("a", range(20)))
    assert not runner.reset_prefix_cache()
    clock.move(1.0)
    assert runner.reset_prefix_cache()


async def test_it_can_be_slowed(clock: HandClock, runner: Runner) -> None:
    runner.slowdown = 10
    stream = runner.submit(a_generation("a", range(20), (1,)))
    clock.move(0.299)
    assert stream.pending == 0
    clock.move(0.002)
    assert stream.pending == 1
    assert runner.slowdown == 10


async def test_stopping_ends_what_still_runs(clock: HandClock) -> None:
    runner = await started(clock)
    stream = runner.submit(a_generation("a", range(20)))
    await runner.stop()
    with pytest.raises(EngineDead):
        await heard(stream)


async def test_it_must_be_started() -> None:
    with pytest.raises(RuntimeError, match="not started"):
        Runner(Engine(SMALL)).submit(a_generation("a", range(20)))


async def test_it_runs_on_the_event_loop_by_itself() -> None:
    runner = Runner(Engine(SMALL), speed_up=20)
    await runner.start()
    said = await heard(runner.submit(a_generation("a", range(20), (1, 2, 3))))
    assert [progress.tokens for progress in said] == [(1,), (2,), (3,)]
    await runner.stop()


DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), st.integers(0, 30)),
        st.tuples(st.just("abort"), st.integers(0, 20)),
        st.tuples(st.sampled_from(["freeze", "thaw", "sleep", "wake", "abort_all", "reset", "look"]), st.just(0)),
        st.tuples(st.just("pass"), st.integers(1, 60)),
    ),
    max_size=40,
)


@given(DEEDS)
def test_whatever_happens_every_request_ends_and_nothing_is_held(deeds: list[tuple[str, int]]) -> None:
    clock = HandClock()
    runner = Runner(Engine(with_blocks(20)), timetable=clock)
    asyncio.run(runner.start())
    streams: list[Stream] = []

    def submit(number: int) -> None:
        prompt = range(number, number + 30)
        streams.append(runner.submit(a_generation(f"r{len(streams)}", prompt, range(number))))

    doing: dict[str, Callable[[int], object]] = {
        "submit": submit,
        "abort": lambda number: runner.abort(RequestId(f"r{number}")),
        "pass": lambda number: clock.move(number / 1000),
        "sleep": runner.sleep,
        "wake": lambda _: runner.wake(),
        "freeze": lambda _: runner.freeze(),
        "thaw": lambda _: runner.thaw(),
        "abort_all": lambda _: runner.abort_all(),
        "reset": lambda _: runner.reset_prefix_cache(),
        "look": lambda _: runner.snapshot(),
    }
    for deed, number in deeds:
        doing[deed](number)
    runner.thaw()
    runner.wake()
    clock.move(60.0)
    assert runner.open_requests == 0
    assert all(asyncio.run(heard(stream))[-1].finished is not None for stream in streams)
    assert runner.snapshot().kv_usage == 0
    assert runner.reset_prefix_cache()
    assert clock.pending == 0


async def test_one_request_can_be_ended_from_outside(clock: HandClock, runner: Runner) -> None:
    stream = runner.submit(a_generation("a", range(20), range(9)))
    clock.move(0.031)
    runner.abort(RequestId("a"))
    runner.abort(RequestId("a"))
    assert (await heard(stream))[-1].finished is FinishReason.ABORT
