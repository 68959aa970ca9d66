"""The terms of a text, by which retrieval compares: Chinese cut into words, English brought to stems, codes kept whole.

How a language is cut and stemmed is told by two functions, so that dictionaries stay outside.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from sessions.domain.stop_words import STOP_WORDS

HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as a class of a pattern."""

_PIECES = re.compile(rf"([{HAN}]+)|([^\W_{HAN}]+(?:[-_./,'’+&][^\W_{HAN}]+)*)")
_HAS_HAN = re.compile(rf"[{HAN}]")
_PART = "*"
_LINKS = re.compile(r"[-_./,'’+&]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)+")
_DIGIT = re.compile(r"\d")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Language:
    """What is known of words. `cut` takes a run of Chinese characters and may return overlapping words."""

    cut: Callable[[str], list[str]]
    stem: Callable[[str], str]


def characters(word: str) -> tuple[str, ...]:
    """What a Chinese word is looked for by where it is not known as a word; never equal to any word."""
    if not word[1:] or word.isascii() or not has_chinese(word):
        return ()
    return tuple(_PART + each for each in word)


def has_chinese(text: str) -> bool:
    return _HAS_HAN.search(text) is not None


def terms(text: str, language: Language) -> list[str]:
    """In the order of the text; words that say nothing by themselves are left out."""
    found: list[str] = []
    for han, spelled in _PIECES.findall(unicodedata.normalize("NFKC", text).casefold()):
        if han:
            found += [word for word in language.cut(han) if word not in STOP_WORDS]
        elif not spelled.isalpha():
            found += _linked(spelled, language)
        elif spelled not in STOP_WORDS:
            found.append(language.stem(spelled))
    return found


def _linked(spelled: str, language: Language) -> list[str]:
    """Words with something between them, numbers, and codes."""
    if _NUMBER.fullmatch(spelled):
        return [spelled.replace(",", "")]
    parts = _LINKS.split(spelled)
    if _DIGIT.search(spelled):
        return _code("".join(parts))
    return [language.stem(part) for part in parts if part not in STOP_WORDS]


def _code(joined: str) -> list[str]:
    """As a whole and in its parts: AX-4471, AX4471 and "AX 4471" are to find each other."""
    parts = _LETTERS_OR_DIGITS.findall(joined)
    return [joined, *parts] if len(parts) > 1 else [joined]
