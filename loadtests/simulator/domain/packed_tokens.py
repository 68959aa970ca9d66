"""The built-in vocabulary: a token is a few bytes, and its id is those bytes read as a number.

No table is needed, every text has ids, and ids give the text back. An English word of up to five letters is one token
with the space before it, so that a token holds about four bytes; a Chinese or Japanese character is one token; digits
stand alone; a character of four bytes, an emoji say, takes two tokens, neither of which can be read without the other.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

START, END = "<|im_start|>", "<|im_end|>"
_SPECIAL = {START: 1, END: 2}
_NAMES = {number: name for name, number in _SPECIAL.items()}
_FIRST_PACKED = 256
_MARK = b"\x01"  # Keeps zeros at the beginning, and keeps the ids of bytes apart from those below 256.

_PIECE = re.compile(r" ?[A-Za-z]{1,5}| ?[À-ɏͰ-ԯ]{1,3}| ?\S|\s", re.DOTALL)
_NAMED = re.compile("(" + "|".join(re.escape(name) for name in _SPECIAL) + ")")

_LAST_OF_THREE_BYTES = "\uffff"


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is what can be read once this token is there: nothing while it ends inside a character."""

    id: int
    text: str


def encode(text: str) -> list[int]:
    """The ids of a text; the names of special tokens stand for them, as in a rendered chat."""
    ids: list[int] = []
    for part in _NAMED.split(text):
        ids.extend((_SPECIAL[part],) if part in _SPECIAL else map(_packed, _pieces(part)))
    return ids


def decode(ids: Iterable[int]) -> str:
    return b"".join(map(bytes_of, ids)).decode("utf-8", "replace")


def bytes_of(token: int) -> bytes:
    """Nothing for a number that is no id."""
    raw = token.to_bytes((token.bit_length() + 7) // 8, "big") if token >= _FIRST_PACKED else b""
    return raw.removeprefix(_MARK) if raw.startswith(_MARK) else _NAMES.get(token, "").encode()


def readable(pieces: Sequence[tuple[int, bytes]]) -> list[Token]:
    """Give each token what can be read with it; a character that never ends is shown as U+FFFD at the end.

    A token that ends inside a character reads as nothing, also what of it could be read; vLLM holds it back as a whole.
    """
    tokens, held = [], b""
    for place, (number, piece) in enumerate(pieces):
        held += piece
        text, begun = _split(held, last=place == len(pieces) - 1)
        if begun:
            text = ""
        else:
            held = b""
        tokens.append(Token(number, text))
    return tokens


def tokens_of(text: str) -> list[Token]:
    return readable([(number, bytes_of(number)) for number in encode(text)])


def token_of(piece: str) -> int:
    """One id for a piece of any length, so that a script can say where a reply is cut."""
    return _packed(piece.encode("utf-8", "replace"))


def _pieces(text: str) -> Iterable[bytes]:
    for piece in _PIECE.findall(text):
        raw = piece.encode("utf-8", "replace")
        if piece[-1] > _LAST_OF_THREE_BYTES:
            yield raw[:-2]
            raw = raw[-2:]
        yield raw


def _packed(piece: bytes) -> int:
    return int.from_bytes(_MARK + piece, "big")


def _split(raw: bytes, *, last: bool) -> tuple[str, bytes]:
    """What can be read, and the bytes of a character that has only begun."""
    decoder = getincrementaldecoder("utf-8")("replace")
    return decoder.decode(raw, final=last), decoder.getstate()[0]
