"""The terms of a text, by which retrieval compares: Chinese cut into words, English brought to stems, codes kept whole.

How a language is cut and stemmed is told by two functions, so that dictionaries stay outside.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sessions.domain.stop_words import STOP_WORDS

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECES = re.compile(rf"(?P<han>[{_HAN}]+)|[^\W_{_HAN}]+(?:[-_./,'’+&][^\W_{_HAN}]+)*")
_HAS_HAN = re.compile(rf"[{_HAN}]")
_PART = "*"
_LINKS = re.compile(r"[-_./,'’+&]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)+")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Language:
    """What is known of words. `cut` takes a run of Chinese characters and may return overlapping words."""

    cut: Callable[[str], list[str]]
    stem: Callable[[str], str]


def characters(word: str) -> tuple[str, ...]:
    """What a Chinese word is looked for by where it is not known as a word; never equal to any word."""
    return tuple(f"{_PART}{each}" for each in word) if len(word) > 1 and has_chinese(word) else ()


def has_chinese(text: str) -> bool:
    return _HAS_HAN.search(text) is not None


def terms(text: str, language: Language) -> list[str]:
    """In the order of the text; words that say nothing by themselves are left out."""
    found: list[str] = []
    for piece in _PIECES.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = piece.group()
        found += _chinese(run, language) if piece["han"] else _spelled(run, language)
    return found


def _chinese(run: str, language: Language) -> Iterator[str]:
    return (word for word in language.cut(run) if word not in STOP_WORDS)


def _spelled(run: str, language: Language) -> Iterator[str]:
    if _NUMBER.fullmatch(run):
        yield run.replace(",", "")
        return
    parts = _LINKS.split(run)
    if any(character.isdigit() for character in run):
        yield from _code("".join(parts))
        return
    for part in parts:
        if part not in STOP_WORDS:
            yield language.stem(part)


def _code(joined: str) -> Iterator[str]:
    """As a whole and in its parts: AX-4471, AX4471 and "AX 4471" are to find each other."""
    yield joined
    parts = _LETTERS_OR_DIGITS.findall(joined)
    if len(parts) > 1:
        yield from parts
