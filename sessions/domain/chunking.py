"""How the text of a document is cut into chunks.

Headings begin new chunks. Below a heading, blocks (paragraphs, list items, table rows) are put together while they fit,
and stay whole. One that is too long for a chunk is cut between sentences, a sentence between words, a word anywhere;
only there the next chunk repeats the last sentence of the one before, so that neither loses its thread. Every character
that is no white space lands in a chunk, in the order of the text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

HEADING_JOINT = " > "
MAX_HEADING_CHARACTERS = 300

_MOST_CHARACTERS_PER_TOKEN = 16
"""What is longer is cut before it is counted: a word without end is not counted whole again and again, and a text of
megabytes never, for the library that counts those keeps every other thread waiting."""

Count = Callable[[str], int]

# Terminators with what closes after them. A full stop counts only before white space: 3.5 is one number. Nothing of a
# row of full stops is tried twice, or a page of them would take hours.
_SENTENCE_END = re.compile(r"[。!?!?;;…]+[”’」』))\"']*|(?<![.])[.]++[)\"'”’]*+(?=\s)|\n+")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a list item, a table row: what stays whole where it can. `headings` stand above it, outermost
    first."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What becomes a chunk."""

    heading: str
    text: str
    tokens: int
    overlap: int = 0
    """So many characters at its beginning repeat the end of the piece before."""


def cleaned(text: str) -> str:
    """Without characters that nobody means: controls, formats without a glyph, halves of surrogate pairs."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    if lines.replace("\n", "").replace("\t", "").isprintable():  # nearly every text, told at once
        return lines
    return "".join(
        character
        for character in lines
        if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
    )


def pieces(blocks: Iterable[Block], *, max_tokens: int, overlap_tokens: int, count: Count) -> list[Piece]:
    """The pieces of a document, none above `max_tokens` of `count`'s tokens."""
    clean = (Block(_headings(block.headings), cleaned(block.text).strip()) for block in blocks)
    sections = groupby((block for block in clean if block.text), key=lambda block: block.headings)
    cutter = _Cutter(max_tokens, min(overlap_tokens, max_tokens // 2), count)
    return [piece for headings, section in sections for piece in cutter.section(headings, section)]


def _headings(written: tuple[str, ...]) -> tuple[str, ...]:
    lines = (_BLANKS.sub(" ", cleaned(heading)).strip() for heading in written)
    return tuple(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class _Cutter:
    max_tokens: int
    overlap_tokens: int
    count: Count

    def section(self, headings: tuple[str, ...], blocks: Iterable[Block]) -> Iterator[Piece]:
        heading = HEADING_JOINT.join(headings)[:MAX_HEADING_CHARACTERS].rstrip()
        waiting: list[str] = []
        taken = 0
        for block in blocks:
            size = self._bounded(block.text, self.count)
            if waiting and taken + size > self.max_tokens:
                yield from self._fitting(heading, waiting, "\n")
                waiting, taken = [], 0
            if size > self.max_tokens:
                yield from self._cut(heading, block.text)
            else:
                waiting.append(block.text)
                taken += size + 1  # the line break that joins them
        if waiting:
            yield from self._fitting(heading, waiting, "\n")

    def _cut(self, heading: str, text: str) -> Iterator[Piece]:
        """The pieces of one block that is too long."""
        repeated = ""
        waiting: list[str] = []
        taken = 0
        for part, size in self._parts(text):
            if waiting and taken + size > self.max_tokens:
                yield from self._fitting(heading, waiting, "", repeated)
                repeated = self._last_sentence("".join(waiting), part)
                waiting, taken = [], self.count(repeated)
            waiting.append(part)
            taken += size
        yield from self._fitting(heading, waiting, "", repeated)

    def _fitting(self, heading: str, parts: Sequence[str], joint: str, repeated: str = "") -> Iterator[Piece]:
        """One piece; more, where the parts have more tokens together than apart, which tokens sometimes do."""
        begin, fresh = repeated.lstrip(), joint.join(parts).rstrip()
        text = begin + fresh if begin else fresh.lstrip()
        tokens = self.count(text)
        if tokens <= self.max_tokens or (len(parts) == 1 and not begin):
            if fresh:
                yield Piece(heading, text, tokens, len(begin))
            return
        if begin:
            yield from self._fitting(heading, parts, joint)
            return
        half = len(parts) // 2
        yield from self._fitting(heading, parts[:half], joint)
        yield from self._fitting(heading, parts[half:], joint)

    def _last_sentence(self, before: str, part: str) -> str:
        """The last sentence of a piece, if it is short enough to be said again before `part`."""
        last = _sentences(before)[-1]
        fits = self.count(last) <= self.overlap_tokens and self.count(last + part) <= self.max_tokens
        return last if fits else ""

    def _parts(self, text: str) -> Iterator[tuple[str, int]]:
        """Sentences, or what a sentence that is too long consists of, words and pieces of words: each with its
        tokens."""
        for sentence in _sentences(text):
            size = self._bounded(sentence, self._size)
            if size <= self.max_tokens:
                yield sentence, size
                continue
            for word in _WORD.findall(sentence):
                for start in range(0, len(word), self._longest):
                    yield from self._halves(word[start : start + self._longest])

    def _halves(self, word: str) -> Iterator[tuple[str, int]]:
        """A word in as few halves as fit; of a single character nobody can take less."""
        size = self._size(word)
        if len(word) == 1 or size <= self.max_tokens:
            yield word, size
            return
        half = len(word) // 2
        yield from self._halves(word[:half])
        yield from self._halves(word[half:])

    @property
    def _longest(self) -> int:
        return self.max_tokens * _MOST_CHARACTERS_PER_TOKEN

    def _bounded(self, text: str, size: Count) -> int:
        """The size of a text, or one that is too much where that can be told from its length."""
        return size(text) if len(text) <= self._longest else self.max_tokens + 1

    def _size(self, part: str) -> int:
        """The most tokens that it has behind other text or alone: a first word may have more than behind a blank."""
        size = self.count(part)
        return size if 2 * size <= self.max_tokens else max(size, self.count(part.strip()))


def _sentences(text: str) -> list[str]:
    """The text cut behind each sentence, blanks and all: joined again it is the text."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    places = [0, *(end for end in ends if end < len(text)), len(text)]
    return [text[start:end] for start, end in pairwise(places)]
