"""Knows how a single character is read: as which letters, or as nothing, or as something that only separates.

Each character is read by itself, whatever stands beside it, so that a text may be cut anywhere. Compatibility forms
are taken apart (NFKD) and lose their accents, letters that look alike become Latin, traditional characters simplified.
Marks that Unicode may put into another order are dropped, except for those of kana; so all normal forms of a text read
alike.
"""

import unicodedata
from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from gateway.domain.moderation.han_variants import SIMPLIFIED, TRADITIONAL
from gateway.domain.moderation.lookalikes import INNER_STAND_INS, LOOKALIKES, STAND_INS, latin_letter


class Kind(Enum):
    """What a read character does to the word it stands in."""

    NOISE = auto()
    """White space and apostrophes: ends a word of letters, and is nothing between ideographs."""
    JOINT = auto()
    """Any other sign: the same, but the word may go on behind it."""
    LETTER = auto()
    """Of a script that puts spaces between words; figures too."""
    RESUMED = auto()
    """A letter with only joints between it and the letter before."""
    IDEOGRAPH = auto()
    """Of a script without spaces: Han, kana, Hangul, Thai and the like."""
    GROWING = auto()
    """An ideograph that the next character may change: か before a voicing mark, a Hangul syllable before its end."""
    JOINER = auto()
    """What may change a growing one."""
    INNER = auto()
    """A letter between letters, and a joint elsewhere."""
    FLAG = auto()
    """Half a flag: noise behind ideographs, and a word of a single letter elsewhere."""


class Glyph(NamedTuple):
    """One character as it is read."""

    char: str
    kind: Kind


EDGE = " "
"""Stands on both sides of each word of letters in a text that is read, and for noise before that."""

_NOISE = Glyph(EDGE, Kind.NOISE)
_JOINT = Glyph(EDGE, Kind.JOINT)
_APOSTROPHES = frozenset("'\u2018\u2019`\u00b4")
"""They stand in words that are no evasion, and whose parts are words too: he'll, she'd."""
_FLAGS = range(0x1F1E6, 0x1F200)
_TONES = frozenset(range(6))
_MOST_KEPT = 20_000
"""How many characters are kept that were looked up: all that a language has, and not all that there are."""

_VOICING = frozenset("\u3099\u309a")
_VOICING_CLASS = 8
_LEADS = range(0x1100, 0x1113)
_SYLLABLES = range(0xAC00, 0xD7A4)
_ENDINGS = 28
_VOWELS_AND_ENDINGS = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))
_UNSPACED = (
    range(0x0E00, 0x1100),  # Thai, Lao, Tibetan, Myanmar, and Georgian at the end of it
    range(0x1100, 0x1200),  # Hangul letters
    range(0x1780, 0x1800),  # Khmer
    range(0x2E80, 0xA4D0),  # Han, kana, bopomofo, Yi
    range(0xA960, 0xA980),
    range(0xAC00, 0xD800),  # Hangul syllables
    range(0xF900, 0xFB00),
    range(0x16FE0, 0x1B300),
    range(0x20000, 0x40000),  # rare Han characters
)
_GEORGIAN = range(0x10A0, 0x1100)
_UNSEEN = (
    range(0x17B4, 0x17B6),
    range(0x180B, 0x1810),
    range(0x2065, 0x2066),
    range(0xFE00, 0xFE10),  # variation selectors
    range(0xFFF0, 0xFFF9),
    range(0xE0000, 0xE1000),  # tags and more selectors
)
_UNSEEN_CATEGORIES = frozenset({"Cf", "Cs", "Me"})
_GRAPHEME_JOINER = "\u034f"
_SIMPLIFIED: Mapping[str, str] = dict(zip(TRADITIONAL, SIMPLIFIED, strict=True))


class Folding(dict[str, tuple[Glyph, ...]]):
    """How each character is read; what was looked up once is kept.

    With stand-ins, figures and signs are read as the letters they may stand for ("leetspeak"). Without tones, figures
    that may be those of pinyin (`gong1`) are nothing.
    """

    def __init__(self, *, stand_ins: bool = False, tones: bool = True) -> None:
        super().__init__()
        self._silent = frozenset() if tones else _TONES
        self._stand_ins: Mapping[str, str] = {**STAND_INS, **INNER_STAND_INS} if stand_ins else {}

    def __missing__(self, char: str) -> tuple[Glyph, ...]:
        if len(self) >= _MOST_KEPT:
            self.clear()
        glyphs = self[char] = tuple(self._glyph(one) for one in _composed(self._letters(char)))
        return glyphs

    def _letters(self, char: str) -> str:
        """Read again until that changes nothing: a small form may look like a letter that its large form does not."""
        text = LOOKALIKES.get(char, char)
        while (read := "".join(map(self._letter, unicodedata.normalize("NFKD", text)))) != text:
            text = read
        return text

    def _letter(self, char: str) -> str:
        if _is_unseen(char):
            return ""
        if (figure := unicodedata.digit(char, None)) is not None:
            return "" if figure in self._silent else str(figure)
        plain = LOOKALIKES.get(char) or _SIMPLIFIED.get(char) or latin_letter(char)
        return plain or char.casefold()

    def _glyph(self, char: str) -> Glyph:
        if char in self._stand_ins:
            return Glyph(self._stand_ins[char], Kind.INNER if char in INNER_STAND_INS else Kind.LETTER)
        if ord(char) in _FLAGS:
            return Glyph(chr(ord("a") + ord(char) - _FLAGS.start), Kind.FLAG)
        if unicodedata.category(char)[0] not in "LNM":
            return _NOISE if char.isspace() or char in _APOSTROPHES else _JOINT
        return Glyph(char, _kind(char))


class Foldings:
    """All ways of reading, for many books at once: what one has looked up the others need not look up."""

    def __init__(self) -> None:
        self.plain = Folding()
        self.stand_ins = Folding(stand_ins=True)
        self.toneless = Folding(tones=False)


def joined(base: str, joiner: str) -> str | None:
    """The one character that both make together."""
    both = unicodedata.normalize("NFC", base + joiner)
    return both if len(both) == 1 else None


def is_voicing(char: str) -> bool:
    """Whether it is a mark of kana, which is nothing without them."""
    return char in _VOICING


def _composed(text: str) -> str:
    """Syllables of Hangul and voiced kana whole again, and nothing else."""
    made = ""
    for char in text:
        whole = joined(made[-1], char) if made and _is_joiner(char) else None
        made = made[:-1] + whole if whole else made + char
    return made


def _is_unseen(char: str) -> bool:
    """Invisible by nature, or a mark on another character."""
    code = ord(char)
    category = unicodedata.category(char)
    if category in _UNSEEN_CATEGORIES or char == _GRAPHEME_JOINER or any(code in span for span in _UNSEEN):
        return True
    if category == "Cc":
        return not char.isspace()
    return unicodedata.combining(char) not in {0, _VOICING_CLASS}


def _is_joiner(char: str) -> bool:
    return char in _VOICING or any(ord(char) in span for span in _VOWELS_AND_ENDINGS)


def _kind(char: str) -> Kind:
    if _is_joiner(char):
        return Kind.JOINER
    if not _is_unspaced(ord(char)):
        return Kind.LETTER
    return Kind.GROWING if _may_grow(char) else Kind.IDEOGRAPH


def _is_unspaced(code: int) -> bool:
    return code not in _GEORGIAN and any(code in span for span in _UNSPACED)


def _may_grow(char: str) -> bool:
    code = ord(char)
    if code in _SYLLABLES:
        return (code - _SYLLABLES.start) % _ENDINGS == 0
    return code in _LEADS or any(joined(char, mark) for mark in _VOICING)
