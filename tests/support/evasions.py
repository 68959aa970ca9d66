"""Ways to write a phrase so that a person reads it and a list of words does not."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce

from gateway.domain.moderation.han_variants import SIMPLIFIED, TRADITIONAL

_FIRST_VARIANT = dict(reversed(list(zip(SIMPLIFIED, TRADITIONAL, strict=True))))
_CYRILLIC = str.maketrans("acehijkmopstxyABCEHIKMOPSTXY", "асеһіјкморѕтхуАВСЕНІКМОРЅТХУ")
_GREEK = str.maketrans("aiknopuvxyABEHIKMNOPTXYZ", "αικηορυνχγΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")
_SMALL_CAPITALS = str.maketrans("abcdeghijklmnoprtuvwyz", "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ")
_STROKES = str.maketrans("abcdefghijklmnoprstuyz", "ⱥƀȼđɇꞙǥħɨɉꝁłᵯꞥøᵽɍꞩŧʉɏƶ")
_TURNED = str.maketrans("acefhikmrtvwy", "ɐɔǝɟɥᴉʞɯɹʇʌʍʎ")
_SYLLABLES = str.maketrans("ABDFHJLMPRUVX", "ᗅᗷᗪᖴᕼᒍᒪᗰᑭᖇᑌᐯᕽ")
_COPTIC = str.maketrans("acehiklmnoprtxy", "ⲁⲥⲉⲏⲓⲕⳑⲙⲛⲟⲣⲅⲧⲭⲩ")
_LEET = str.maketrans("oieastb", "0134578")


def _is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _shifted(capital: int, small: int) -> dict[int, int]:
    """Letters that stand in one row each for capitals and small ones."""
    return {
        **{ord("A") + n: capital + n for n in range(26)},
        **{ord("a") + n: small + n for n in range(26)},
    }


def _between(mark: str) -> Callable[[str], str]:
    return mark.join


def _after_each(mark: str, wanted: Callable[[str], bool]) -> Callable[[str], str]:
    return lambda phrase: "".join(char + mark if wanted(char) else char for char in phrase)


def _between_han(mark: str) -> Callable[[str], str]:
    def changed(phrase: str) -> str:
        pairs = zip(phrase, phrase[1:] + " ", strict=True)
        return "".join(one + mark if _is_han(one) and _is_han(other) else one for one, other in pairs)

    return changed


def _between_words(mark: str) -> Callable[[str], str]:
    return lambda phrase: phrase.replace(" ", mark)


def _spelt_out(mark: str) -> Callable[[str], str]:
    return lambda phrase: mark.join(phrase.replace(" ", ""))


def _inside_words(mark: str) -> Callable[[str], str]:
    """Behind the second letter of each word, and of two letters between them."""
    return lambda phrase: (
        re.sub(r"(?<![^\W\d])([^\W\d])([^\W\d]?)(?=[^\W\d])", rf"\1\2{mark}", phrase) if phrase.isascii() else phrase
    )


def _one_word(which: int, mark: str) -> Callable[[str], str]:
    """One of its words in single letters, and the others as they are."""

    def changed(phrase: str) -> str:
        words = phrase.split(" ")
        words[which] = mark.join(words[which])
        return " ".join(words)

    return changed


def _half(evasion: Callable[[str], str]) -> Callable[[str], str]:
    return lambda phrase: phrase[: len(phrase) // 2] + evasion(phrase[len(phrase) // 2 :])


def _all_of(*evasions: Callable[[str], str]) -> Callable[[str], str]:
    return lambda phrase: reduce(lambda text, evasion: evasion(text), evasions, phrase)


def _traditional(phrase: str) -> str:
    return "".join(_FIRST_VARIANT.get(char, char) for char in phrase)


def _mixed_case(phrase: str) -> str:
    return "".join(c.upper() if at % 2 else c.lower() for at, c in enumerate(phrase))


def _form(name: str) -> Callable[[str], str]:
    return lambda phrase: unicodedata.normalize(name, phrase)  # type: ignore[arg-type]


EVASIONS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "mixed case": _mixed_case,
    "full width": lambda phrase: phrase.translate({c: c + 0xFEE0 for c in range(0x21, 0x7F)}),
    "mathematical bold": lambda phrase: phrase.translate(_shifted(0x1D400, 0x1D41A)),
    "mathematical double-struck": lambda phrase: phrase.lower().translate(_shifted(0x1D538, 0x1D552)),
    "circled": lambda phrase: phrase.translate(_shifted(0x24B6, 0x24D0)),
    "white on black": lambda phrase: phrase.translate(_shifted(0x1F170, 0x1F170)),
    "squared": lambda phrase: phrase.translate(_shifted(0x1F130, 0x1F130)),
    "Cyrillic": lambda phrase: phrase.translate(_CYRILLIC),
    "Greek": lambda phrase: phrase.translate(_GREEK),
    "small capitals": lambda phrase: phrase.lower().translate(_SMALL_CAPITALS),
    "accents": _after_each("\u0301", _is_latin),
    "accents, composed": lambda phrase: unicodedata.normalize("NFC", _after_each("\u0308", _is_latin)(phrase)),
    "a heap of marks": _after_each("\u0336\u0489\u0323", lambda _: True),
    "zero-width spaces": _between("\u200b"),
    "zero-width joiners": _between("\u200d"),
    "word joiners": _between("\u2060"),
    "byte order marks": _between("\ufeff"),
    "soft hyphens": _between("\u00ad"),
    "variation selectors": _between("\ufe0f"),
    "tag characters": _between("\U000e0041"),
    "bidi controls": lambda phrase: "\u202e" + "\u2067".join(phrase) + "\u202c",
    "control characters": _between("\x00"),
    "Hangul fillers": _between("\u3164"),
    "traditional": _traditional,
    "spaces in Han": _between_han(" "),
    "wide spaces in Han": _between_han("\u3000\u3000"),
    "stops in Han": _between_han("。"),
    "yen signs in Han": _between_han("￥"),
    "asterisks in Han": _between_han("**"),
    "emoji in Han": _between_han("👩‍💻"),
    "line breaks in Han": _between_han("\r\n"),
    "brackets in Han": _after_each("】【", _is_han),
    "dashes between words": _between_words(" -- "),
    "underscores between words": _between_words("_"),
    "no-break spaces between words": _between_words("\u00a0"),
    "line breaks between words": _between_words("\n"),
    "emoji between words": _between_words("🙂"),
    "fillers between words": _between_words("\u3164"),
    "escapes of JSON": lambda phrase: json.dumps(phrase.replace(" ", "\n"))[1:-1],
    "tatweels": _between("\u0640"),
    "long sounds in Han": _between_han("ー"),
    "spelt out": _spelt_out(" "),
    "spelt out with dots": _spelt_out("."),
    "spelt out with dashes": _spelt_out(" - "),
    "spelt out with hearts": _spelt_out("❤️"),
    "spelt out in line breaks": _spelt_out("\r\n"),
    "first word spelt out": _one_word(0, "."),
    "last word spelt out": _one_word(-1, " "),
    "letters with strokes": lambda phrase: phrase.translate(_STROKES),
    "turned letters": lambda phrase: phrase.translate(_TURNED),
    "syllables of Canada": lambda phrase: phrase.upper().translate(_SYLLABLES),
    "Coptic": lambda phrase: phrase.translate(_COPTIC),
    "parenthesised": lambda phrase: phrase.lower().translate({ord("a") + n: 0x249C + n for n in range(26)}),
    "hyphens in words": _inside_words("-"),
    "emphasis in words": _inside_words("**"),
    "emoji in words": _inside_words("🙂"),
    "strokes in Han": _between_han("丶"),
    "bars in Han": _between_han("丨"),
    "underscores in Han": _between_han("_"),
    "flags in Han": _between_han("🇨🇳"),
    "half in stops": _half(_between_han("。。。")),
    "half in bold": _half(lambda phrase: phrase.translate(_shifted(0x1D400, 0x1D41A))),
    "much at once": _all_of(
        _mixed_case,
        lambda phrase: phrase.translate(_CYRILLIC),
        _traditional,
        _between_han("·🔥"),
        _between("\u200d"),
        _between_words("\u3000\n"),
    ),
    "spelt out and more": _all_of(
        lambda phrase: phrase.upper().translate(_GREEK), _traditional, _spelt_out("_*"), _between("\u00ad\ufe0f")
    ),
    "decomposed": _form("NFD"),
    "compatible": _form("NFKC"),
}


def evaded(phrase: str) -> Iterator[tuple[str, str]]:
    """Each way by its name, with the phrase so written."""
    return ((name, evasion(phrase)) for name, evasion in EVASIONS.items())


def in_leet(phrase: str) -> str:
    """With figures for letters."""
    return phrase.translate(_LEET)


def cuts(text: str) -> Iterator[list[str]]:
    """Single characters, and every way to cut it in two."""
    yield list(text)
    for at in range(len(text) + 1):
        yield [text[:at], text[at:]]


def pieces(text: str, lengths: Iterable[int]) -> list[str]:
    """Cut into pieces of these lengths, and the rest as one."""
    cut, at = [], 0
    for length in lengths:
        cut.append(text[at : at + length])
        at += length
    return [*cut, text[at:]]
