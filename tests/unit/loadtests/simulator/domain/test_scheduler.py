"""Who is computed next."""

from dataclasses import replace

from loadtests.simulator.domain.batch import Batch
from loadtests.simulator.domain.generation import RequestId
from loadtests.simulator.domain.kv_pool import KvPool
from loadtests.simulator.domain.profile import Limits
from loadtests.simulator.domain.scheduler import Scheduler, Scheduling
from loadtests.simulator.domain.sequence import Sequence
from tests.support.simulated import LIMITS, a_generation


class Bench:
    """A scheduler, and a hand that does what an engine does with its batches."""

    def __init__(self, *, blocks: int = 50, limits: Limits = LIMITS, policy: Scheduling = Scheduling.FCFS) -> None:
        self.pool = KvPool(blocks=blocks)
        self.scheduler = Scheduler(limits=limits, pool=self.pool, policy=policy, caches_prefixes=True)
        self._arrivals = 0

    def add(self, name: str, prompt: range, *, output: int = 20, priority: int = 0) -> Sequence:
        self._arrivals += 1
        generation = replace(a_generation(name, prompt, range(output)), priority=priority)
        sequence = Sequence(generation, number=self._arrivals, window=1_000, arrived_s=0)
        self.scheduler.add(sequence)
        return sequence

    def step(self) -> Batch:
        batch = self.scheduler.next_batch()
        for share in batch:
            share.sequence.computed += share.tokens
            if not share.sequence.missing:
                share.sequence.say(0.0)
        return batch


def sizes(batch: Batch) -> dict[str, int]:
    return {share.sequence.generation.id: share.tokens for share in batch}


def names(sequences: list[Sequence]) -> list[str]:
    return [sequence.generation.id for sequence in sequences]


def test_prompts_are_computed_whole_and_then_a_token_at_a_time() -> None:
    bench = Bench()
    bench.add("a", range(10))
    assert sizes(bench.step()) == {"a": 10}
    assert sizes(bench.step()) == {"a": 1}


def test_a_long_prompt_is_cut_and_replies_go_on_meanwhile() -> None:
    bench = Bench(limits=replace(LIMITS, max_batched_tokens=8))
    bench.add("a", range(4))
    bench.step()
    bench.add("b", range(100, 118))
    assert sizes(bench.step()) == {"a": 1, "b": 7}
    assert sizes(bench.step()) == {"a": 1, "b": 7}
    assert sizes(bench.step()) == {"a": 1, "b": 4}
    assert sizes(bench.step()) == {"a": 1, "b": 1}


def test_no_more_sequences_run_than_may() -> None:
    bench = Bench(limits=replace(LIMITS, max_sequences=2))
    for name in "abc":
        bench.add(name, range(4))
    assert set(sizes(bench.step())) == {"a", "b"}
    assert names(bench.scheduler.waiting) == ["c"]


def test_a_prompt_waits_until_all_of_it_fits() -> None:
    bench = Bench(blocks=5, limits=replace(LIMITS, max_batched_tokens=8))
    bench.add("a", range(9))
    bench.add("b", range(100, 112))
    bench.step()
    assert names(bench.scheduler.waiting) == ["b"]


def test_who_comes_first_is_served_first_even_when_a_later_one_would_fit() -> None:
    bench = Bench(blocks=4)
    bench.add("a", range(8))
    bench.add("large", range(100, 112))
    bench.add("small", range(200, 204))
    bench.step()
    assert names(bench.scheduler.running) == ["a"]


def test_the_same_step_shares_a_prefix() -> None:
    bench = Bench()
    bench.add("a", range(10))
    second = bench.add("b", range(10))
    assert sizes(bench.step()) == {"a": 10, "b": 2}
    assert second.cached == 8
    assert bench.pool.size - bench.pool.free == 4


def test_the_last_token_of_a_cached_prompt_is_computed() -> None:
    bench = Bench()
    bench.add("a", range(8))
    bench.add("b", range(8))
    assert sizes(bench.step()) == {"a": 8, "b": 4}


def test_a_request_may_do_without_the_cache() -> None:
    bench = Bench()
    bench.add("a", range(10))
    bench.step()
    generation = replace(a_generation("b", range(10)), reads_cache=False)
    bench.scheduler.add(Sequence(generation, number=9, window=1_000, arrived_s=0))
    assert sizes(bench.step()) == {"a": 1, "b": 10}


def test_when_blocks_run_out_the_last_one_waits_again_and_is_the_first_to_return() -> None:
    bench = Bench(blocks=4)
    first = bench.add("a", range(8))
    second = bench.add("b", range(100, 108))
    bench.add("c", range(200, 204))
    bench.step()
    batch = bench.step()
    assert names(batch.preempted) == ["b"]
    assert sizes(batch) == {"a": 1}
    assert names(bench.scheduler.waiting) == ["b", "c"]
    bench.scheduler.retire(first)
    # Its first block is still cached; the second one went to the reply that drove it out.
    assert sizes(bench.step())["b"] == 5
    assert second.cached == 0
    assert second.preemptions == 1


def test_a_sequence_may_have_to_preempt_itself() -> None:
    bench = Bench(blocks=4)
    bench.add("a", range(6))
    bench.add("b", range(100, 108))
    bench.step()
    batch = bench.step()
    assert names(batch.preempted) == ["b"]
    assert sizes(batch) == {"a": 1}


def test_a_step_without_room_goes_on_with_the_first_ones_only() -> None:
    bench = Bench(limits=replace(LIMITS, max_batched_tokens=1))
    bench.add("a", range(1))
    bench.step()
    bench.add("b", range(100, 101))
    assert sizes(bench.step()) == {"a": 1}


def test_lower_priority_goes_first_where_it_counts() -> None:
    for policy, order in ((Scheduling.PRIORITY, ["c", "b", "a"]), (Scheduling.FCFS, ["a", "b", "c"])):
        bench = Bench(policy=policy)
        for name, priority in (("a", 5), ("b", 0), ("c", -5)):
            bench.add(name, range(4), priority=priority)
        assert names(bench.scheduler.waiting) == order


def test_the_least_urgent_is_preempted_even_if_the_step_had_it_already() -> None:
    bench = Bench(blocks=4, policy=Scheduling.PRIORITY)
    bench.add("later", range(6), priority=5)
    bench.step()
    bench.add("sooner", range(100, 108), priority=0)
    bench.step()
    batch = bench.step()
    assert names(batch.preempted) == ["later"]
    assert sizes(batch) == {"sooner": 1}


def test_a_request_can_be_taken_out_wherever_it_stands() -> None:
    bench = Bench(limits=replace(LIMITS, max_sequences=1))
    bench.add("a", range(4))
    bench.add("b", range(4))
    bench.step()
    assert bench.scheduler.remove(RequestId("b")) is not None
    assert bench.scheduler.remove(RequestId("a")) is not None
    assert bench.scheduler.remove(RequestId("a")) is None
    assert bench.pool.free == bench.pool.size


def test_without_prefix_caching_everything_is_computed() -> None:
    pool = KvPool(blocks=50)
    scheduler = Scheduler(limits=LIMITS, pool=pool, policy=Scheduling.FCFS, caches_prefixes=False)
    for number, name in enumerate("ab"):
        scheduler.add(Sequence(a_generation(name, range(10)), number=number, window=64, arrived_s=0))
    assert sizes(scheduler.next_batch()) == {"a": 10, "b": 10}
