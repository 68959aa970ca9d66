"""Finds texts inside a text that have to be decoded first: base64, hexadecimal digits, percent signs, escapes."""

import base64
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"[0-9A-Fa-f]{2}(?:[ :]?[0-9A-Fa-f]{2}){7,}")
_PERCENT = re.compile(r"(?:[\w.~-]{0,30}%[0-9A-Fa-f]{2}){3,}[\w.~-]*")
_ESCAPES = re.compile(r"(?:(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#\d{2,6};|&#x[0-9A-Fa-f]{2,5};) ?){6,}(?<! )")
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\x([0-9A-Fa-f]{2})|&#(\d{2,6});|&#x([0-9A-Fa-f]{2,5});")
_LAST_CODE = 0x10FFFF
_READABLE_SHARE = 0.9
_MOST = 8
"""Passages that are decoded in one text; what hides among more is not read by a model either."""
_LONGEST = 32_768


class Decoded(NamedTuple):
    text: str
    start: int
    end: int


def decoded(text: str) -> Iterator[Decoded]:
    """The readable passages behind codes, with the places of the codes."""
    left = _LONGEST
    for passage in _passages(text):
        if left <= 0:
            return
        left -= len(passage.text)
        yield passage


def _passages(text: str) -> Iterator[Decoded]:
    for hints, pattern, decode in _CODES:
        likely = any(hint in text for hint in hints)
        for match in islice(pattern.finditer(text), _MOST if likely else 0):
            plain = decode(match.group()[:_LONGEST])
            if plain is not None and _is_readable(plain):
                yield Decoded(plain, *match.span())


def _from_base64(code: str) -> str | None:
    if code.isdigit() or (code.isalpha() and (code.islower() or code.isupper())):
        return None  # a number or a word, or many
    whole = code.rstrip("=").replace("-", "+").replace("_", "/")
    whole = whole[: len(whole) - (len(whole) % 4 == 1)]
    return _utf8(base64.b64decode(whole + "=" * (-len(whole) % 4)))


def _from_hex(code: str) -> str | None:
    return _utf8(bytes.fromhex(code.replace(":", "")))


def _from_escapes(code: str) -> str:
    return _ESCAPE.sub(_character, code)


def _character(match: re.Match[str]) -> str:
    four, two, decimal, hexadecimal = match.groups()
    code = int(decimal) if decimal else int(four or two or hexadecimal, 16)
    return chr(code) if code <= _LAST_CODE else ""


def _utf8(data: bytes) -> str | None:
    # A cut may have gone through the last character.
    for end in range(len(data), max(0, len(data) - 4), -1):
        try:
            return data[:end].decode()
        except UnicodeDecodeError:
            continue
    return None


def _is_readable(text: str) -> bool:
    readable = sum(char.isalnum() or char in " \n.,:;!?'\"-，。！？" for char in text)
    return len(text) > 1 and readable >= len(text) * _READABLE_SHARE


_CODES: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[str], str | None]], ...] = (
    (("",), _BASE64, _from_base64),
    (("",), _HEX, _from_hex),
    (("%",), _PERCENT, unquote),
    (("\\u", "\\x", "&#"), _ESCAPES, _from_escapes),
)
