"""Who is computed next: waiting and running sequences, and the blocks they hold.

As vLLM does it: running sequences go first, each with what it lacks, as far as the token budget of a step reaches; when
blocks run out, the last in line loses its own and waits again. Only if nobody had to, waiting ones are admitted, while
there is room for their whole prompt.
"""

from bisect import insort
from enum import StrEnum

from loadtests.simulator.domain.batch import Batch
from loadtests.simulator.domain.generation import RequestId
from loadtests.simulator.domain.kv_pool import BlockId, KvPool
from loadtests.simulator.domain.profile import Limits
from loadtests.simulator.domain.sequence import Sequence


class Scheduling(StrEnum):
    FCFS = "fcfs"
    PRIORITY = "priority"


class Scheduler:
    def __init__(self, *, limits: Limits, pool: KvPool, policy: Scheduling, caches_prefixes: bool) -> None:
        self._limits = limits
        self._pool = pool
        self._policy = policy
        self.caches_prefixes = caches_prefixes
        self.waiting: list[Sequence] = []
        self.running: list[Sequence] = []

    def add(self, sequence: Sequence) -> None:
        insort(self.waiting, sequence, key=self._turn)

    def remove(self, request: RequestId) -> Sequence | None:
        """Take a request out wherever it stands; None when it is not here any more."""
        for line in (self.waiting, self.running):
            for place, sequence in enumerate(line):
                if sequence.generation.id == request:
                    del line[place]
                    self._release(sequence)
                    return sequence
        return None

    def retire(self, sequence: Sequence) -> None:
        self.running.remove(sequence)
        self._release(sequence)

    def next_batch(self) -> Batch:
        batch = Batch(budget=self._limits.max_batched_tokens)
        self._go_on(batch)
        if not batch.preempted:
            self._admit(batch)
        return batch

    def _turn(self, sequence: Sequence) -> tuple[int, int]:
        """Lower goes first. Who arrived earlier was admitted earlier, so a preempted one is again the first."""
        priority = sequence.generation.priority if self._policy is Scheduling.PRIORITY else 0
        return priority, sequence.number

    def _go_on(self, batch: Batch) -> None:
        place = 0
        while place < len(self.running) and batch.room > 0:
            sequence = self.running[place]
            tokens = min(sequence.missing, batch.room)
            if not self._make_room(sequence, tokens, batch):
                break
            self._compute(sequence, tokens)
            batch.add(sequence, tokens)
            place = self.running.index(sequence) + 1

    def _make_room(self, sequence: Sequence, tokens: int, batch: Batch) -> bool:
        """Preempt from the end of the line until the blocks suffice; False when it met the sequence itself."""
        while self._blocks_wanted(sequence, tokens) > self._pool.free:
            victim = max(self.running, key=self._turn) if self._policy is Scheduling.PRIORITY else self.running[-1]
            self.running.remove(victim)
            batch.drop(victim)
            batch.preempted.append(victim)
            self._pool.release(victim.blocks)
            victim.forget_work()
            self.add(victim)
            if victim is sequence:
                return False
        return True

    def _admit(self, batch: Batch) -> None:
        while self.waiting and batch.room > 0 and len(self.running) < self._limits.max_sequences:
            sequence = self.waiting[0]
            prefix = self._cached_prefix(sequence)
            if not self._fits(sequence, prefix):
                break
            del self.waiting[0]
            self.running.append(sequence)
            self._start(sequence, prefix)
            tokens = min(sequence.missing, batch.room)
            batch.add(sequence, tokens, opens=True)
            self._compute(sequence, tokens)

    def _cached_prefix(self, sequence: Sequence) -> list[BlockId]:
        """At most all tokens but one: the last must be computed for anything to come of it."""
        if not (self.caches_prefixes and sequence.generation.reads_cache):
            return []
        size = self._limits.block_tokens
        return self._pool.find(sequence.hashes((sequence.length - 1) // size, size))

    def _fits(self, sequence: Sequence, prefix: list[BlockId]) -> bool:
        whole = _blocks_for(sequence.length, self._limits.block_tokens)
        return whole - len(prefix) <= self._pool.free - self._pool.unheld(prefix)

    def _start(self, sequence: Sequence, prefix: list[BlockId]) -> None:
        self._pool.hold(prefix)
        sequence.blocks = prefix
        sequence.published = len(prefix)
        sequence.computed = len(prefix) * self._limits.block_tokens
        if not sequence.preemptions:
            sequence.cached = sequence.computed

    def _compute(self, sequence: Sequence, tokens: int) -> None:
        """Give it the blocks, and tell the pool what they will contain, so that the same step can share them."""
        sequence.blocks.extend(self._pool.take(self._blocks_wanted(sequence, tokens)))
        if not self.caches_prefixes:
            return
        size = self._limits.block_tokens
        full = (sequence.computed + tokens) // size
        hashes = sequence.hashes(full, size)
        for block in range(sequence.published, full):
            self._pool.publish(sequence.blocks[block], hashes[block])
        sequence.published = max(sequence.published, full)

    def _blocks_wanted(self, sequence: Sequence, tokens: int) -> int:
        wanted = _blocks_for(sequence.computed + tokens, self._limits.block_tokens)
        return max(0, wanted - len(sequence.blocks))

    def _release(self, sequence: Sequence) -> None:
        self._pool.release(sequence.blocks)
        sequence.blocks = []


def _blocks_for(tokens: int, block_tokens: int) -> int:
    return -(-tokens // block_tokens)
