"""The merges of a byte-level BPE as the ranks that tiktoken merges by, or why no such ranks give the same tokens.

The two merge by different rules. A tokenizer file lists *pairs*: the earliest pair that stands side by side is joined
first, and a pair that is not listed is never joined. tiktoken ranks *tokens*: whatever two neighbours make a ranked
token are joined, the lowest rank first, and a word that is a token by itself is not merged at all.

They agree because of what byte-pair merging is. While all merges before some point have been done, the pieces between
two boundaries of a text are those that the bytes between them would give alone; so of all the ways to split a token in
two, at most one can stand side by side when its turn comes. That one is found by walking down both halves
(`_Merges.may_meet`). A token that has it among its listed pairs gets that pair's place as its rank, and any other pair
that makes the same token never meets. A token without one is never made by merging: it gets no rank, or, where whole
words are looked up first, the last ranks of all, if nothing can meet to make it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence


class NotExact(Exception):
    """The tokenizer cannot be had as a tiktoken encoding; the message says why."""


def _alphabet() -> Mapping[str, int]:
    """GPT-2's way to write bytes as visible characters: those that are visible stand for themselves."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in visible]
    written = {chr(byte): byte for byte in visible}
    return written | {chr(256 + number): byte for number, byte in enumerate(hidden)}


BYTE_OF = _alphabet()


def merge_ranks(
    vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]], *, looks_words_up: bool
) -> Mapping[bytes, int]:
    """Ranks that make tiktoken give the tokens of these merges; raises `NotExact`.

    `looks_words_up` is for files that take a whole word from the vocabulary before they merge. The ranks are not the
    model's token ids.
    """
    known = _Merges(character for character in BYTE_OF if character in vocabulary)
    for left, right in merges:
        known.learn(left, right)
    if known.missed & known.ranks.keys():
        raise NotExact("its merges stand before those that make their parts")
    tokens = [*known.ranks]
    if looks_words_up:
        tokens += [word for word in vocabulary if known.is_only_looked_up(word)]
    return {bytes(BYTE_OF[character] for character in token): rank for rank, token in enumerate(tokens)}


class _Merges:
    """The tokens so far, each known by its rank; a byte is its own halves."""

    def __init__(self, characters: Iterator[str]) -> None:
        self.ranks = {character: rank for rank, character in enumerate(characters)}
        self._halves = {rank: (rank, rank) for rank in self.ranks.values()}
        self._made: dict[tuple[int, int], int] = {}
        self.missed: set[str] = set()
        """Parts that were nothing yet when a merge asked for them."""

    def learn(self, left: str, right: str) -> None:
        halves = self._ranked(left, right)
        if halves is None:
            self.missed |= {left, right}.difference(self.ranks)
        elif left + right not in self.ranks and self.may_meet(*halves):
            rank = len(self.ranks)
            self.ranks[left + right] = rank
            self._halves[rank] = halves
            self._made[halves] = rank

    def is_only_looked_up(self, word: str) -> bool:
        """Whether it is a token, but one that is never made of its parts; raises `NotExact` if they would make it."""
        if word in self.ranks or not all(character in BYTE_OF for character in word):
            return False
        for place in range(1, len(word)):
            halves = self._ranked(word[:place], word[place:])
            if halves is not None and self.may_meet(*halves):
                raise NotExact("it has tokens that their parts make by themselves, but no merge")
        return True

    def may_meet(self, left: int, right: int) -> bool:
        """Whether the two can stand side by side after all merges so far.

        They cannot if, anywhere along the joint between them, a merge across it would have come first.
        """
        limit: float = math.inf
        while True:
            joined = self._made.get((left, right))
            if joined is not None and joined < limit:
                return False
            inner = self._down_left(left) if left > right else self._down_right(right)
            if inner is None:
                inner = self._down_right(right) if left > right else self._down_left(left)
            if inner is None:
                return True
            limit, is_left, half = inner
            left, right = (half, right) if is_left else (left, half)

    def _down_left(self, left: int) -> tuple[int, bool, int] | None:
        half = self._halves[left][1]
        return None if half == left else (left, True, half)

    def _down_right(self, right: int) -> tuple[int, bool, int] | None:
        """Of two merges of one rank the left one is done first, hence the one."""
        half = self._halves[right][0]
        return None if half == right else (right + 1, False, half)

    def _ranked(self, left: str, right: str) -> tuple[int, int] | None:
        if left in self.ranks and right in self.ranks:
            return self.ranks[left], self.ranks[right]
        return None
