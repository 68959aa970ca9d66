"""What it costs to look for many banned phrases in a stream: `python -m loadtests.overhead.phrase_cost`."""

import gc
import sys
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from random import Random

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Phrase, PhraseList, Spelling
from gateway.domain.moderation.release import ReleaseFilter

_PHRASES = 20_000
_CHUNK = 4
_LENGTH = 40_000
_ROUNDS = 3
_HAN = range(0x4E00, 0x4E00 + 3_000)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def measure(*, phrases: int = _PHRASES, length: int = _LENGTH) -> Mapping[str, float]:
    """Seconds, bytes and microseconds, each by the time of this process alone; the best of some rounds."""
    dice = Random(1)  # noqa: S311  the same list every time
    words = ["".join(dice.choices(_LETTERS, k=dice.randint(3, 8))) for _ in range(4_000)]
    plain = _list(dice, words, phrases, leet=False)
    book, seconds = _built(plain)
    figures = {"building: s": seconds, "the book: MiB": _mebibytes(plain)}
    texts = {
        "Chinese": "".join(chr(dice.choice(_HAN)) for _ in range(length)),
        "English": " ".join(dice.choice(words) for _ in range(length // 6)),
        "beginnings": "".join(phrase.text[:-1] for phrase in dice.choices(plain.phrases, k=length // 6)),
    }
    both = {"": book, ", leetspeak too": PhraseBook([_list(dice, words, phrases, leet=True)])}
    for kind, used in both.items():
        for name, text in texts.items():
            for share, took in zip((50, 99), _quantiles(used, text), strict=True):
                figures[f"{name}{kind}: p{share} us"] = took
    return figures


def _list(dice: Random, words: list[str], count: int, *, leet: bool) -> PhraseList:
    """Three quarters Chinese; in one of forty letters may be spelt with figures."""

    def phrase(number: int) -> Phrase:
        if number % 4:
            return Phrase(str(number), "".join(chr(dice.choice(_HAN)) for _ in range(dice.randint(2, 6))), "bench")
        text = " ".join(dice.choices(words, k=dice.randint(1, 3)))
        return Phrase(
            str(number), text, "bench", spelling=Spelling.LEET if leet and number % 40 == 0 else Spelling.PLAIN
        )

    return PhraseList("bench", 1, tuple(map(phrase, range(count))))


def _built(phrases: PhraseList) -> tuple[PhraseBook, float]:
    book, seconds = PhraseBook([]), []
    for _ in range(_ROUNDS):
        start = time.thread_time()
        book = PhraseBook([phrases])
        seconds.append(time.thread_time() - start)
    return book, min(seconds)


def _mebibytes(phrases: PhraseList) -> float:
    tracemalloc.start()
    try:
        book = PhraseBook([phrases])
        held, _ = tracemalloc.get_traced_memory()
        return held / 2**20 if book.rules else 0.0
    finally:
        tracemalloc.stop()


def _quantiles(book: PhraseBook, text: str) -> tuple[float, float]:
    """The median and the 99th percentile of what one chunk costs, of the best round."""
    rounds = []
    for _ in range(_ROUNDS):
        took = sorted(_chunks(book, text))
        rounds.append((took[len(took) // 2] / 1e3, took[len(took) * 99 // 100] / 1e3))
    return min(half for half, _ in rounds), min(most for _, most in rounds)


def _chunks(book: PhraseBook, text: str) -> Iterator[int]:
    gc.collect()
    release = ReleaseFilter(book)
    for at in range(0, len(text), _CHUNK):
        piece = text[at : at + _CHUNK]
        start = time.thread_time_ns()
        released = release.feed(piece)
        yield time.thread_time_ns() - start
        if released.blocked is not None:
            release = ReleaseFilter(book)


def main() -> None:
    for name, figure in measure().items():
        sys.stdout.write(f"{figure:8.2f}  {name}\n")


if __name__ == "__main__":
    main()
