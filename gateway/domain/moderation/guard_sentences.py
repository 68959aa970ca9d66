"""Knows where sentences end, of Chinese and English alike, in a text that comes in pieces.

A sentence is what a guard is asked about, so what counts is that each is short, that none is torn where its sense would
change, and that the same text is always cut at the same places.
"""

import re

LONGEST = 400
"""Characters; what goes on without an end is cut all the same, where it breathes if it does."""
_CLOSING = r"[\"'”’」』）)】》〉\]}*_`]"
_HAN = r"[\u3400-\u9fff\uf900-\ufaff]"
_END = re.compile(
    rf"[。！？｡…]+(?:[.!?。！？｡…]|{_CLOSING})*\s*"  # these end a sentence wherever they stand
    rf"|(?<![.!?])[.!?]+{_CLOSING}*(?:\s+|(?={_HAN}))"  # these stand within figures, names and addresses too
    r"|\n\s*"
)
_LAST_WORD = re.compile(r"(?:^|[\s(\"'“‘（])([^\s(\"'“‘（]*)\Z")
_NO_END = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "mx",
        "dr",
        "prof",
        "st",
        "sr",
        "jr",
        "nos",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "cf",
        "al",
        "fig",
        "approx",
        "inc",
        "ltd",
        "co",
        "corp",
        "dept",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
    ]
)
_BREATH = re.compile(r".*[\s,;:，、；：]", re.DOTALL)


class SentenceCutter:
    """Together, the sentences are the text."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that have ended now; that one has is seen by what comes after it."""
        self._rest += piece
        sentences = []
        while (end := _end_of_first(self._rest)) is not None:
            sentences.append(self._rest[:end])
            self._rest = self._rest[end:]
        return sentences

    def finish(self) -> list[str]:
        last, self._rest = self._rest, ""
        return [last] if last else []


def _end_of_first(text: str) -> int | None:
    seen = text[: LONGEST + 1]
    for found in _END.finditer(seen):
        if found.end() == len(seen):
            break
        if not _goes_on(seen, found):
            return found.end()
    return None if len(seen) <= LONGEST else _breath(seen[:LONGEST])


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """Whether the full stop is that of an abbreviation, of initials, or of a number that leads a line."""
    if "\n" in found[0] or not re.fullmatch(r"\.\s*", found[0]):
        return False
    before = _LAST_WORD.search(text, 0, found.start())
    word = before[1].lower() if before else ""
    leads = not text[: found.start() - len(word)].strip()
    return word in _NO_END or (len(word) == 1 and word.isascii() and word.isalpha()) or (leads and word.isdecimal())


def _breath(text: str) -> int:
    found = _BREATH.match(text)
    return found.end() if found else len(text)
