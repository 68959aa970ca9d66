"""Reads many of vLLM's ordinary events at once, some ten times as fast as one by one.

They differ only in text and tokens. What they share is cut away in bulk, which leaves one JSON list. Inside a JSON
string the quotes are escaped, so nothing that a model says looks like what is cut away; and whatever is not of this
shape makes the rest no such list, upon which the events must be read one by one.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from router.domain.chunk import are_token_ids

_MIDDLES = {
    b'"delta":{"content":"': b'"},"logprobs":null,"finish_reason":null,"token_ids":',
    b'"text":"': (b'","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":'),
}
_END = b"}]}\n\n"


@dataclass(frozen=True, slots=True)
class PlainEvents:
    """`ids` is None when the engine tells no tokens."""

    texts: Sequence[str]
    ids: Sequence[Sequence[int]] | None


def read_plain_events(events: bytes) -> PlainEvents | None:
    """None if one of them is of another shape."""
    for opening, middle in _MIDDLES.items():
        head, found, _ = events.partition(opening)
        if found and head.startswith(b"data:") and b"\n" not in head:
            rest = events.replace(head + found, b'["').replace(middle, b'",').replace(_END, b"],")
            return _read_rows(b"[" + rest[:-1] + b"]")
    return None


def _read_rows(rows: bytes) -> PlainEvents | None:
    try:
        pieces: list[object] = json.loads(rows.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if set(map(type, pieces)) != {list}:
        return None
    columns = list(zip_longest(*(piece for piece in pieces if isinstance(piece, list))))
    kinds = [set(map(type, column)) for column in columns]
    if kinds == [{str}, {list}] and are_token_ids(chain.from_iterable(columns[1])):
        return PlainEvents(columns[0], columns[1])
    return PlainEvents(columns[0], None) if kinds == [{str}, {type(None)}] else None
