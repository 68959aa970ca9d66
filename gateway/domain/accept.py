"""Which of the media types we can send a caller prefers, by its Accept header (RFC 9110, section 12.5.1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.errors import AcceptMalformed, NotAcceptable

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

MAX_HEADER_CHARS = 2048

_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
# No repetition can match one character in two ways, so none goes back and forth over what a caller sends. (Possessive
# repetitions would say so themselves, but those of Python 3.11.2 let wrong parameters pass.)
_RANGE = re.compile(rf"({_NAME})/({_NAME})")
_PARAMETER = re.compile(rf"({_NAME})=({_NAME}|{_QUOTED})", re.DOTALL)
_NUMBER = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?", re.ASCII)
_MALFORMED = "the Accept header is no list of media ranges"


@dataclass(frozen=True, slots=True)
class MediaRange:
    """One entry of the header, such as `text/*;q=0.5`; `place` is its position."""

    type: str
    subtype: str
    weight: float
    place: int

    def specificity(self, media_type: str) -> int:
        """How exactly this range names the type: 0 not at all, 3 by its full name."""
        kind, _, subtype = media_type.partition("/")
        if (self.type, self.subtype) == ("*", "*"):
            return 1
        if self.type != kind:
            return 0
        return {subtype: 3, "*": 2}.get(self.subtype, 0)


def ranges(header: str) -> tuple[MediaRange, ...]:
    """The header's media ranges; raises `AcceptMalformed`."""
    if len(header) > MAX_HEADER_CHARS:
        raise AcceptMalformed(f"the Accept header has more than {MAX_HEADER_CHARS} characters")
    entries = [entry for entry in _split(header, ",") if entry]
    return tuple(_range(entry, place) for place, entry in enumerate(entries))


def _range(entry: str, place: int) -> MediaRange:
    named, *parameters = _split(entry, ";")
    match = _RANGE.fullmatch(named)
    if match is None:
        raise AcceptMalformed(_MALFORMED)
    kind, subtype = match[1].lower(), match[2].lower()
    if kind == "*" and subtype != "*":
        raise AcceptMalformed("the Accept header has a range of the form */subtype")
    return MediaRange(kind, subtype, _weight([parameter for parameter in parameters if parameter]), place)


def _weight(parameters: Sequence[str]) -> float:
    matches = [_PARAMETER.fullmatch(parameter) for parameter in parameters]
    pairs = [(match[1].lower(), match[2]) for match in matches if match is not None]
    if len(pairs) < len(parameters):
        raise AcceptMalformed(_MALFORMED)
    weights = [value for name, value in pairs if name == "q"]
    if not all(_NUMBER.fullmatch(weight) for weight in weights):
        raise AcceptMalformed("the Accept header has a weight that is no number from 0 to 1 with at most 3 decimals")
    return float(weights[0]) if weights else 1.0


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that stand outside quotes, without the white space around them."""
    parts, start, quoted, escaped = [], 0, False, False
    for place, character in enumerate(text):
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == separator and not quoted:
            parts.append(text[start:place].strip(" \t"))
            start = place + 1
    return [*parts, text[start:].strip(" \t")]


def preferred(header: str | None, offered: Sequence[str]) -> str:
    """The offered type that the caller likes best; the first one for a caller who states no wish.

    Each type is judged by the range that names it most exactly. Of equally weighted types the more exactly named wins,
    then the one named earlier. Raises `AcceptMalformed`, or `NotAcceptable` when nothing offered may be sent.
    """
    wishes = ranges(header or "")
    if not wishes:
        return offered[0]
    ranked = [(_judged(wishes, media_type), -order, media_type) for order, media_type in enumerate(offered)]
    (weight, _, _), _, best = max(ranked)
    if weight <= 0:
        raise NotAcceptable(f"this can be sent as {' or '.join(offered)} only")
    return best


def _judged(wishes: Sequence[MediaRange], media_type: str) -> tuple[float, int, int]:
    """Weight, specificity and (negative) place of the range that decides on the type."""
    fitting = [(wish.specificity(media_type), wish.weight, -wish.place) for wish in wishes]
    specificity, weight, place = max(fitting)
    return (weight, specificity, place) if specificity else (0.0, 0, 0)
