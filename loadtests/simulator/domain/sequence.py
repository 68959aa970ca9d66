"""One request inside the engine: what of it is computed, what it holds, and when what happened to it."""

from loadtests.simulator.domain.generation import FinishReason, Generation, Life, Progress
from loadtests.simulator.domain.kv_pool import BlockId, prefix_hash, root_hash


class Sequence:
    """`computed` tokens have their KV in `blocks`; a token that was just sampled is not among them yet."""

    def __init__(self, generation: Generation, *, number: int, window: int, arrived_s: float) -> None:
        self.generation = generation
        self.number = number
        self.limit = max(0, min(len(generation.output), generation.max_tokens, window - len(generation.prompt)))
        self.generated = 0
        self.computed = 0
        self.cached = 0
        self.published = 0
        self.preemptions = 0
        self.blocks: list[BlockId] = []
        self.arrived_s = arrived_s
        self.scheduled_s: float | None = None
        self.first_token_s: float | None = None
        self.last_token_s = arrived_s
        self._tokens = generation.prompt + generation.output[: self.limit]
        self._hashes: list[bytes] = [root_hash(generation.salt)]

    @property
    def length(self) -> int:
        """Tokens whose KV the next token needs: the prompt and what was generated so far."""
        return len(self.generation.prompt) + self.generated

    @property
    def missing(self) -> int:
        return self.length - self.computed

    @property
    def decodes(self) -> bool:
        """Has spoken, and lacks only its latest token."""
        return self.generated > 0 and self.missing == 1

    @property
    def is_done(self) -> bool:
        return self.generated == self.limit

    @property
    def is_ending(self) -> bool:
        """Its next token is its last."""
        return self.generated + 1 >= self.limit

    def hashes(self, count: int, block_tokens: int) -> list[bytes]:
        """Of its first `count` blocks."""
        for block in range(len(self._hashes) - 1, count):
            content = self._tokens[block * block_tokens : (block + 1) * block_tokens]
            self._hashes.append(prefix_hash(self._hashes[-1], content))
        return self._hashes[1 : count + 1]

    def forget_work(self) -> None:
        """Preempted: all of it must be computed again, as far as the cache does not have it."""
        self.blocks = []
        self.computed = self.published = 0
        self.preemptions += 1

    def say(self, at_s: float) -> tuple[int, ...]:
        """The next token; none when the reply is empty."""
        token = self._tokens[self.length : self.length + 1]
        self.generated += len(token)
        self.first_token_s = at_s if self.first_token_s is None else self.first_token_s
        self.last_token_s = at_s
        return token

    def progress(self, tokens: tuple[int, ...]) -> Progress:
        life = self._life() if self.is_done else None
        reason = life.reason if life else None
        return Progress(self.generation.id, tokens, finished=reason, cached_tokens=self.cached, life=life)

    def _life(self) -> Life:
        whole = self.limit == len(self.generation.output)
        return Life(
            reason=self.generation.finish_reason if whole else FinishReason.LENGTH,
            prompt_tokens=len(self.generation.prompt),
            cached_tokens=self.cached,
            generated_tokens=self.generated,
            max_tokens=self.generation.max_tokens,
            preemptions=self.preemptions,
            arrived_s=self.arrived_s,
            scheduled_s=self.arrived_s if self.scheduled_s is None else self.scheduled_s,
            first_token_s=self.last_token_s if self.first_token_s is None else self.first_token_s,
            ended_s=self.last_token_s,
        )
