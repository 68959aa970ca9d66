"""Which of the media types we can send a caller prefers, by its Accept header (RFC 9110, section 12.5.1)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.errors import AcceptMalformed, NotAcceptable

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

MAX_HEADER_CHARS = 2048

# Every repetition is possessive: what the caller sends must not make the search go back and forth.
_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_PARAMETERS = rf"(?:[ \t]*+;[ \t]*+(?:{_NAME}=(?:{_NAME}|{_QUOTED}))?+)*+"
_ENTRY = re.compile(rf"[ \t]*+(?:({_NAME})/({_NAME})({_PARAMETERS}))?+[ \t]*+(?:,|$)")
_PARAMETER = re.compile(rf"({_NAME})=({_NAME}|{_QUOTED})")
_NUMBER = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?", re.ASCII)


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
    found: list[MediaRange] = []
    position = 0
    while position < len(header):
        match = _ENTRY.match(header, position)
        if match is None:
            raise AcceptMalformed("the Accept header is no list of media ranges")
        position = match.end()
        if match[1]:
            found.append(_range(match, len(found)))
    return tuple(found)


def _range(match: re.Match[str], place: int) -> MediaRange:
    kind, subtype = match[1].lower(), match[2].lower()
    weights = [value for name, value in _PARAMETER.findall(match[3]) if name.lower() == "q"]
    if kind == "*" and subtype != "*":
        raise AcceptMalformed("the Accept header has a range of the form */subtype")
    if not all(_NUMBER.fullmatch(weight) for weight in weights):
        raise AcceptMalformed("the Accept header has a weight that is no number from 0 to 1 with at most 3 decimals")
    return MediaRange(kind, subtype, float(weights[0]) if weights else 1.0, place)


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
