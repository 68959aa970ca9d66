"""Tokens that a tokenizer finds in a text before it reads any words; what stands between two of them is by itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.domain.merge_ranks import NotExact


@dataclass(frozen=True, slots=True)
class AddedToken:
    text: str
    is_plain: bool
    """Found wherever its text stands, and nothing more: no white space taken along, no regard for word borders."""
    is_normalized: bool
    """Looked for in the text as the normaliser leaves it."""


class Cutter:
    """Cuts a text at its added tokens; raises `NotExact` if they are not found by their text alone."""

    def __init__(self, tokens: Sequence[AddedToken], *, is_normalizing: bool) -> None:
        if any(not token.is_plain for token in tokens):
            raise NotExact("it has added tokens that depend on what stands beside them")
        if is_normalizing and any(token.is_normalized for token in tokens):
            raise NotExact("it has added tokens that are looked for in the normalised text")
        if len({token.is_normalized for token in tokens}) > 1:
            raise NotExact("it looks for its added tokens in two rounds")
        # The leftmost counts, and of several that begin there the longest.
        texts = sorted((token.text for token in tokens if token.text), key=len, reverse=True)
        self._tokens = re.compile("|".join(map(re.escape, texts))) if texts else None

    def cut(self, text: str) -> tuple[int, list[str]]:
        """How many added tokens there are, and the texts between them that are not empty."""
        if self._tokens is None:
            return 0, [text] if text else []
        parts = self._tokens.split(text)
        return len(parts) - 1, [part for part in parts if part]
