"""What one engine step computes: for each sequence in it, how many tokens."""

from collections.abc import Iterator
from dataclasses import dataclass

from loadtests.simulator.domain.sequence import Sequence
from loadtests.simulator.domain.timing import Chunk


@dataclass(frozen=True, slots=True)
class Share:
    sequence: Sequence
    tokens: int
    before: int
    opens: bool
    decodes: bool

    @property
    def speaks(self) -> bool:
        """Nothing will be missing, so a token comes of it."""
        return self.before + self.tokens == self.sequence.length


class Batch:
    def __init__(self, *, budget: int) -> None:
        self.room = budget
        self.preempted: list[Sequence] = []
        self._shares: dict[int, Share] = {}

    def __iter__(self) -> Iterator[Share]:
        return iter(self._shares.values())

    def __bool__(self) -> bool:
        return bool(self._shares)

    def add(self, sequence: Sequence, tokens: int, *, opens: bool = False) -> None:
        self.room -= tokens
        share = Share(sequence, tokens, sequence.computed, opens=opens, decodes=sequence.decodes and not opens)
        self._shares[sequence.number] = share

    def drop(self, sequence: Sequence) -> None:
        share = self._shares.pop(sequence.number, None)
        if share is not None:
            self.room += share.tokens

    @property
    def chunks(self) -> list[Chunk]:
        return [Chunk(share.tokens, share.before, share.opens) for share in self if not share.decodes]

    @property
    def decoding(self) -> int:
        return sum(1 for share in self if share.decodes)

    @property
    def prefill_tokens(self) -> int:
        return sum(share.tokens for share in self if not share.decodes)

    @property
    def tokens(self) -> int:
        return sum(share.tokens for share in self)
