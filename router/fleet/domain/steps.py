"""Whole numbers over time that change in steps, as seats and replicas do: how they add up, and how dips are filled."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from math import inf


@dataclass(frozen=True, slots=True)
class Block:
    """A number that holds from `begins` until just before `ends`."""

    begins: float
    ends: float
    height: int


@dataclass(frozen=True, slots=True)
class Steps:
    """A number at every moment. Equal functions are equal values: moments rise, and each change changes something."""

    changes: tuple[tuple[float, int], ...] = ()
    """A moment, and the number from then on."""
    before: int = 0

    def at(self, moment: float) -> int:
        index = bisect_right(self.changes, moment, key=lambda change: change[0])
        return self.changes[index - 1][1] if index else self.before

    def blocks(self) -> Iterator[Block]:
        """All of time, cut where the number changes."""
        edges = ((-inf, self.before), *self.changes, (inf, 0))
        return (Block(begins, ends, height) for (begins, height), (ends, _) in pairwise(edges))

    def between(self, begins: float, ends: float) -> Iterator[Block]:
        """What of it lies in a span of time."""
        cut = (Block(max(b.begins, begins), min(b.ends, ends), b.height) for b in self.blocks())
        return (block for block in cut if block.begins < block.ends)

    def peak(self, begins: float, ends: float) -> Block:
        """The earliest highest piece of a span; the span is not empty."""
        return max(self.between(begins, ends), key=lambda block: block.height)

    def area(self, begins: float, ends: float) -> float:
        """The number times the seconds it holds, over a span."""
        return sum(block.height * (block.ends - block.begins) for block in self.between(begins, ends))

    def mapped(self, change: Callable[[int], int]) -> "Steps":
        return _steps(((moment, change(height)) for moment, height in self.changes), before=change(self.before))


def summed(blocks: Iterable[Block]) -> Steps:
    """At each moment the sum of the blocks that hold then."""
    deltas: defaultdict[float, int] = defaultdict(int)
    for block in blocks:
        if block.begins < block.ends:
            deltas[block.begins] += block.height
            deltas[block.ends] -= block.height
    return _steps(_running(deltas))


def highest(blocks: Iterable[Block]) -> Steps:
    """At each moment the highest of the blocks that hold then, or 0 where none does."""
    coming = sorted((block for block in blocks if block.begins < block.ends), key=lambda block: block.begins)
    moments = sorted({edge for block in coming for edge in (block.begins, block.ends)})
    return _steps(_tops(coming, moments))


def filled(steps: Steps, *, gap_s: float) -> Steps:
    """The same, with every dip that is shorter than the gap filled up to the lower one of its two edges."""
    blocks = list(steps.blocks())
    bridges = []
    for index, left in enumerate(blocks):
        for right in blocks[index + 1 :]:
            if right.begins - left.ends >= gap_s:
                break
            bridges.append(Block(left.ends, right.begins, min(left.height, right.height)))
    return highest([*blocks, *bridges])


def _running(deltas: dict[float, int]) -> Iterator[tuple[float, int]]:
    height = 0
    for moment in sorted(deltas):
        height += deltas[moment]
        yield moment, height


def _tops(coming: list[Block], moments: list[float]) -> Iterator[tuple[float, int]]:
    holding: list[tuple[int, float]] = []  # highest first
    index = 0
    for moment in moments:
        while index < len(coming) and coming[index].begins <= moment:
            heappush(holding, (-coming[index].height, coming[index].ends))
            index += 1
        while holding and holding[0][1] <= moment:
            heappop(holding)
        yield moment, max(0, -holding[0][0]) if holding else 0


def _steps(changes: Iterable[tuple[float, int]], *, before: int = 0) -> Steps:
    kept: list[tuple[float, int]] = []
    last = before
    for moment, height in changes:
        if moment == -inf:
            before = last = height
        elif moment < inf and height != last:
            kept.append((moment, height))
            last = height
    return Steps(tuple(kept), before)
