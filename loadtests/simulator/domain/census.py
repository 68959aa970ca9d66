"""Keeps the counters that the engine's figures are made of."""

from loadtests.simulator.domain.batch import Batch
from loadtests.simulator.domain.figures import Distributions, Figures
from loadtests.simulator.domain.generation import FinishReason, Life
from loadtests.simulator.domain.kv_pool import KvPool
from loadtests.simulator.domain.scheduler import Scheduler
from loadtests.simulator.domain.sequence import Sequence


class Census:
    def __init__(self) -> None:
        self.rejected = 0
        self._running = self._waiting = 0
        self._kv_usage = 0.0
        self._prefix_queried = self._prefix_hit = 0
        self._prompt_tokens = self._cached_tokens = self._generation_tokens = 0
        self._preemptions = 0
        self._finished = dict.fromkeys(FinishReason, 0)
        self._distributions = Distributions()

    def figures(self, blocks: int) -> Figures:
        return Figures(
            running=self._running,
            waiting=self._waiting,
            kv_usage=self._kv_usage,
            blocks=blocks,
            prefix_queried_tokens=self._prefix_queried,
            prefix_hit_tokens=self._prefix_hit,
            prompt_tokens=self._prompt_tokens,
            cached_tokens=self._cached_tokens,
            generation_tokens=self._generation_tokens,
            preemptions=self._preemptions,
            rejected=self.rejected,
            finished=dict(self._finished),
            distributions=self._distributions,
        )

    def look(self, scheduler: Scheduler, pool: KvPool) -> None:
        self._running = len(scheduler.running)
        self._waiting = len(scheduler.waiting)
        self._kv_usage = pool.usage

    def count_batch(self, batch: Batch) -> None:
        self._preemptions += len(batch.preempted)
        # vLLM counts the tokens a step computes of prompts, and one for each that speaks, which a decode is.
        speaking = sum(1 for share in batch if share.speaks)
        self._distributions.step_tokens.observe(batch.prefill_tokens + speaking)

    def count_admission(self, sequence: Sequence) -> None:
        if sequence.generation.reads_cache:
            self._prefix_queried += len(sequence.generation.prompt)
            self._prefix_hit += sequence.cached

    def count_token(self, sequence: Sequence, *, at_s: float) -> None:
        """Call it before the sequence says its token."""
        if sequence.first_token_s is None:
            self._prompt_tokens += len(sequence.generation.prompt)
            self._cached_tokens += sequence.cached
            self._distributions.first_token_s.observe(at_s - sequence.arrived_s)
        else:
            self._distributions.between_tokens_s.observe(at_s - sequence.last_token_s)
        self._generation_tokens += 1

    def count_life(self, life: Life) -> None:
        self._finished[life.reason] += 1
        self._distributions.count(life)
