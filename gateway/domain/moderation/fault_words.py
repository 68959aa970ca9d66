"""Tells what is wrong with a list: each fault with the place where it stands, and never with the words."""

from collections.abc import Iterable, Mapping

from gateway.domain.moderation.phrases import LONGEST_NAME, LONGEST_PHRASE, MOST_PHRASES, MOST_SYLLABLES, Fault, Reason

_FIELDS: Mapping[Reason, str] = {
    Reason.ID_INVALID: "id",
    Reason.ID_REPEATED: "id",
    Reason.CATEGORY_INVALID: "category",
}
"""Of a phrase; all the others are about its text."""
_NAME = f"it must be 1 to {LONGEST_NAME} printable characters"
_WORDS: Mapping[Reason, str] = {
    Reason.TOO_MANY: f"a list has at most {MOST_PHRASES} phrases, with those that are allowed",
    Reason.ID_INVALID: _NAME,
    Reason.ID_REPEATED: "another phrase has the same id",
    Reason.CATEGORY_INVALID: _NAME,
    Reason.EMPTY: "nothing is left of it once it is read, so it would be found everywhere",
    Reason.TOO_SHORT: "a single letter or figure would be found everywhere",
    Reason.TOO_LONG: f"a phrase has at most {LONGEST_PHRASE} characters, as it is written and as it is read",
    Reason.NOT_SYLLABLES: f"pinyin is written in at most {MOST_SYLLABLES} syllables of the letters a to z",
}


def told(found: Iterable[Fault]) -> list[tuple[str, str]]:
    """Each with its field, such as `phrases.17.text`; places are counted from 0."""
    return [(_place(fault), _WORDS[fault.reason]) for fault in found]


def _place(fault: Fault) -> str:
    if fault.reason is Reason.TOO_MANY:
        return fault.among
    if fault.among != "phrases":
        return f"{fault.among}.{fault.at}"
    return f"{fault.among}.{fault.at}.{_FIELDS.get(fault.reason, 'text')}"
