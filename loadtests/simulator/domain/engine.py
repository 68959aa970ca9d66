"""The simulated engine: takes requests, and computes them step by step, in simulated seconds.

A step is begun and ended: between the two its time passes, requests come and go, and the figures stay as they were.
"""

from loadtests.simulator.domain.batch import Batch, Share
from loadtests.simulator.domain.census import Census
from loadtests.simulator.domain.figures import Figures
from loadtests.simulator.domain.generation import Generation, Progress, RequestId, Step
from loadtests.simulator.domain.kv_pool import KvPool
from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.domain.scheduler import Scheduler, Scheduling
from loadtests.simulator.domain.sequence import Sequence
from loadtests.simulator.domain.timing import step_ms

OUT_OF_MEMORY = "out of memory"


class QueueFull(Exception):
    """As many requests wait as may."""


class PromptTooLong(ValueError):
    """The prompt alone is longer than the window."""


class Engine:
    def __init__(self, profile: Profile, *, policy: Scheduling = Scheduling.FCFS, caches_prefixes: bool = True) -> None:
        self._profile = profile
        # vLLM keeps one block for itself: a pool of 40 has 39 to give.
        self._pool = KvPool(blocks=max(0, profile.blocks - 1))
        self._scheduler = Scheduler(
            limits=profile.limits, pool=self._pool, policy=policy, caches_prefixes=caches_prefixes
        )
        self._census = Census()
        self._clock_s = 0.0
        self._began_s = 0.0
        self._batch: Batch | None = None
        self._arrivals = 0
        self._is_warm = False
        self.slowdown = 1.0
        """Stretches every step that begins from now on."""

    @property
    def profile(self) -> Profile:
        return self._profile

    @property
    def caches_prefixes(self) -> bool:
        return self._scheduler.caches_prefixes

    @property
    def clock_s(self) -> float:
        """When the step in progress will end, or when the last one did."""
        return self._clock_s

    @property
    def is_idle(self) -> bool:
        return not (self._scheduler.waiting or self._scheduler.running)

    @property
    def queued(self) -> int:
        """Requests that no finished step has reported as running."""
        fresh = sum(1 for share in self._batch or () if share.opens and not share.sequence.preemptions)
        return len(self._scheduler.waiting) + fresh

    @property
    def figures(self) -> Figures:
        return self._census.figures(self._profile.blocks)

    def submit(self, generation: Generation, *, at_s: float) -> None:
        limits = self._profile.limits
        if len(generation.prompt) > limits.window_tokens:
            raise PromptTooLong(f"{len(generation.prompt)} tokens in a window of {limits.window_tokens}")
        if limits.max_queued_requests is not None and self.queued >= limits.max_queued_requests:
            self._census.rejected += 1
            raise QueueFull
        self._arrivals += 1
        self._scheduler.add(Sequence(generation, number=self._arrivals, window=limits.window_tokens, arrived_s=at_s))

    def abort(self, request: RequestId) -> None:
        """Forget a request; what it holds is free at once, and a step in progress says nothing of it."""
        sequence = self._scheduler.remove(request)
        if sequence is not None and self._batch is not None:
            self._batch.drop(sequence)

    def abort_all(self) -> None:
        """Forget every request, and the step in progress with them; the figures show it at once."""
        for sequence in (*self._scheduler.running, *self._scheduler.waiting):
            self._scheduler.remove(sequence.generation.id)
        self._batch = None
        self._census.look(self._scheduler, self._pool)

    def forget_prefixes(self) -> bool:
        """Empty the prefix cache; refused while a request holds blocks."""
        return self._pool.forget_all()

    def begin(self, *, at_s: float) -> float | None:
        """Start the next step, no sooner than `at_s`; returns when it will end, or None when there is nothing to do."""
        if self.is_idle:
            return None
        self._batch = batch = self._scheduler.next_batch()
        self._began_s = max(self._clock_s, at_s)
        self._clock_s = self._began_s + self._duration_ms(batch) / 1000
        return self._clock_s

    @property
    def only_goes_on(self) -> bool:
        """The step in progress opens no reply and ends none."""
        return all(share.decodes and not share.sequence.is_ending for share in self._batch or ())

    def postpone(self, seconds: float) -> float:
        """Let the step in progress end later; returns when."""
        self._clock_s += seconds
        return self._clock_s

    def end(self) -> Step:
        """Finish the step in progress: its tokens are there, and the figures move."""
        batch, self._batch = self._batch, None
        if batch is None:
            raise RuntimeError("no step was begun")
        self._census.count_batch(batch)
        if self._is_too_large(batch):
            return Step(self._clock_s - self._began_s, died_of=OUT_OF_MEMORY)
        progress = tuple(said for share in batch for said in self._finish(share))
        self._census.look(self._scheduler, self._pool)
        preempted = tuple(sequence.generation.id for sequence in batch.preempted)
        return Step(self._clock_s - self._began_s, progress, preempted)

    def step(self, *, at_s: float = 0.0) -> Step | None:
        """A whole step at once, for whoever needs no time between."""
        return self.end() if self.begin(at_s=at_s) is not None else None

    def _duration_ms(self, batch: Batch) -> float:
        profile = self._profile
        chunks = batch.chunks
        whole_ms = step_ms(profile.prefill, profile.decode, chunks, batch.decoding)
        if chunks and not self._is_warm:
            self._is_warm = True
            whole_ms += profile.start_up.first_request_ms
        return whole_ms * self.slowdown

    def _is_too_large(self, batch: Batch) -> bool:
        memory = self._profile.memory
        return batch.prefill_tokens * memory.activation_bytes_per_token > memory.activation_reserve_bytes

    def _finish(self, share: Share) -> tuple[Progress, ...]:
        sequence = share.sequence
        if sequence.scheduled_s is None:
            sequence.scheduled_s = self._began_s
            self._census.count_admission(sequence)
        sequence.computed += share.tokens
        if sequence.missing:
            return ()
        return (self._speak(sequence),)

    def _speak(self, sequence: Sequence) -> Progress:
        self._census.count_token(sequence, at_s=self._clock_s)
        said = sequence.progress(sequence.say(self._clock_s))
        if said.life is not None:
            self._scheduler.retire(sequence)
            self._census.count_life(said.life)
        return said
