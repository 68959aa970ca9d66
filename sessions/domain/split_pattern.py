"""Which one regular expression cuts a text into words as a tokenizer's own steps do."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.domain.merge_ranks import NotExact

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""What the step called ByteLevel cuts by."""

_SINGLE_DIGITS = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+"
"""The same after each digit was cut off: no space goes with a digit, and white space before one ends like a text."""

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

QWEN = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
QWEN35 = (
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_BLANKS}"
)
LLAMA3 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_BLANKS}"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_BLANKS}"
)

KNOWN = frozenset({GPT2, QWEN, QWEN35, LLAMA3, O200K})
"""They leave no part of a text out and use nothing in which dialects of regular expressions differ, so they cut alike
in both libraries; tests hold it. A pattern that is not here may do so too, but nobody has looked."""


@dataclass(frozen=True, slots=True)
class Split:
    pattern: str
    is_plain: bool
    """Matches and what is between them are kept, each by itself."""


@dataclass(frozen=True, slots=True)
class Digits:
    one_by_one: bool


@dataclass(frozen=True, slots=True)
class ByteLevel:
    adds_space: bool
    splits: bool


@dataclass(frozen=True, slots=True)
class OtherStep:
    name: str


Step = Split | Digits | ByteLevel | OtherStep


def split_pattern(steps: Sequence[Step]) -> str:
    """The pattern; raises `NotExact`."""
    match list(steps):
        case [ByteLevel(adds_space=False, splits=True)]:
            return GPT2
        case [Digits(one_by_one=True), ByteLevel(adds_space=False, splits=True)]:
            return _SINGLE_DIGITS
        case [Split(pattern, is_plain=True), ByteLevel(adds_space=False, splits=False)] if pattern in KNOWN:
            return pattern
        case [Split(), ByteLevel(adds_space=False, splits=False)]:
            raise NotExact("it cuts words by a pattern that is none of the known ones")
        case others if any(isinstance(step, ByteLevel) and step.adds_space for step in others):
            raise NotExact("it puts a space before a text")
        case others:
            names = ", ".join(step.name if isinstance(step, OtherStep) else type(step).__name__ for step in others)
            raise NotExact(f"it cuts words in steps that no single pattern is known for: {names or 'none'}")
