"""Finds the notions of injections in a text that was read: one pass over its words, one over its ideographs."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeVar

from gateway.domain.moderation import injection_address, injection_chinese, injection_english, injection_english_world
from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.injection_concepts import BREAK, COMMA, REVERSED, ROTATED
from gateway.domain.moderation.injection_reading import Read, Readings, read
from gateway.domain.moderation.lookalikes import STAND_INS

_WORD = re.compile(r"[a-z0-9@$]+(?:'[a-z]+)?|[.!?;\n,:]")
_BREAKS = ".!?;\n"
_COMMAS = ",:"
_IDEOGRAPH = re.compile("[\u3000-\uffef]")
_ROT13 = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
_STAND_INS = str.maketrans({figure: letter for figure, letter in STAND_INS.items() if figure != "l"})
_LONGEST_WORD = 24
_SINGLE = (1,)

_by_first = itemgetter(0)
_by_start = attrgetter("start")

_Beginning = TypeVar("_Beginning", str, tuple[str, str])


class Mark(NamedTuple):
    """A place in the text that stands for some notions."""

    bits: int
    start: int
    end: int


class Marks(NamedTuple):
    found: list[Mark]
    disguised: int
    """Words that were found only by taking figures for letters."""


class Lexicon:
    """The words for each notion, made ready to be found, and how characters are read. Made once, it never changes."""

    def __init__(self, folding: Folding) -> None:
        self._readings = Readings(folding)
        self._phrases = _word_phrases()
        self._word_lengths = _lengths((words[0], len(words)) for words in self._phrases)
        self._ideographs = _ideograph_phrases()
        singles = "".join(phrase for phrase in self._ideographs if len(phrase) == 1)
        self._singles = re.compile(f"[{singles}]")
        alike = ((phrase[0], phrase[1], len(phrase)) for phrase in self._ideographs if len(phrase) > 1)
        behind_them = (
            (phrase[0], phrase[1], 1) for phrase in self._ideographs if len(phrase) > 1 and phrase[0] in singles
        )
        self._ideograph_lengths = _lengths(
            ((first, second), length) for first, second, length in chain(alike, behind_them)
        )

    def read(self, text: str) -> Read:
        return read(text, self._readings)

    def marks(self, text: str) -> Marks:
        marks = self._word_marks(text)
        if _IDEOGRAPH.search(text):
            marks.found.extend(self._ideograph_marks(text))
            marks.found.sort(key=_by_start)
        return marks

    def _word_marks(self, text: str) -> Marks:
        spelled: list[str] = _WORD.findall(text)
        lengths_for = self._word_lengths
        candidates = [at for at, word in enumerate(spelled) if word in lengths_for or not word.isalpha()]
        starts = list(_starts(text, spelled)) if candidates else []
        spelled = [self._plain(word) for word in spelled]
        found: list[Mark] = []
        free = disguised = 0
        for at in candidates:
            if at < free:
                continue
            for length in lengths_for.get(spelled[at], ()):
                words = tuple(spelled[at : at + length])
                if (bits := self._phrases.get(words)) is not None:
                    free = at + len(words)
                    found.append(Mark(bits, starts[at], starts[free - 1] + len(spelled[free - 1])))
                    disguised += not text.startswith(spelled[at], starts[at])
                    break
        return Marks(found, disguised)

    def _plain(self, word: str) -> str:
        """The word with its figures taken for letters, if it is none as it stands."""
        if word.isalpha() or word.isdigit() or word in self._word_lengths or len(word) > _LONGEST_WORD:
            return word
        return word.translate(_STAND_INS)

    def _ideograph_marks(self, text: str) -> list[Mark]:
        found: list[Mark] = []
        lengths_for, phrases = self._ideograph_lengths.get, self._ideographs.get
        candidates = [(at, lengths) for at, pair in enumerate(pairwise(text)) if (lengths := lengths_for(pair))]
        candidates += [(single.start(), _SINGLE) for single in self._singles.finditer(text)]
        candidates.sort(key=_by_first)
        free = 0
        for at, lengths in candidates:
            if at >= free:
                for length in lengths:
                    phrase = text[at : at + length]
                    if (bits := phrases(phrase)) is not None:
                        free = at + len(phrase)
                        found.append(Mark(bits, at, free))
                        break
        return found


def _starts(text: str, words: Iterable[str]) -> Iterator[int]:
    """Where each word stands; between them is nothing that could be one."""
    at = 0
    for word in words:
        at = text.index(word, at)
        yield at
        at += len(word)


def _word_phrases() -> dict[tuple[str, ...], int]:
    """The notions of each phrase, as words; one that is listed several times stands for all."""
    phrases: dict[tuple[str, ...], int] = dict.fromkeys(((sign,) for sign in _BREAKS), BREAK)
    phrases.update(dict.fromkeys(((sign,) for sign in _COMMAS), COMMA))
    books = (injection_english.PHRASES, injection_english_world.PHRASES, injection_address.ENGLISH)
    for bits, listed in chain.from_iterable(book.items() for book in books):
        for phrase in listed.split(","):
            words = tuple(_WORD.findall(phrase.strip()))
            phrases[words] = phrases.get(words, 0) | bits
    for word in injection_english.TELL_TALES:
        phrases[(word[::-1],)] = REVERSED
        phrases[(word.translate(_ROT13),)] = ROTATED
    return phrases


def _ideograph_phrases() -> dict[str, int]:
    phrases = dict.fromkeys(injection_chinese.BREAKS, BREAK)
    for bits, listed in chain(injection_chinese.PHRASES.items(), injection_address.CHINESE.items()):
        for phrase in listed.split():
            phrases[phrase] = phrases.get(phrase, 0) | bits
    for phrase in injection_chinese.TELL_TALES:
        phrases[phrase[::-1]] = phrases.get(phrase[::-1], 0) | REVERSED
    return phrases


def _lengths(beginnings: Iterable[tuple[_Beginning, int]]) -> dict[_Beginning, tuple[int, ...]]:
    """How long the phrases are that begin alike, the longest first."""
    lengths: dict[_Beginning, set[int]] = {}
    for beginning, length in beginnings:
        lengths.setdefault(beginning, set()).add(length)
    return {beginning: tuple(sorted(each, reverse=True)) for beginning, each in lengths.items()}
