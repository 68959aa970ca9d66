"""The token ids of a reply for a caller that asked for them: over all its answers none is missing, none told twice."""

from array import array
from collections.abc import Sequence


class ToldIds:
    def __init__(self) -> None:
        self._told = array("L")
        self._place = 0

    def go_on(self, tokens: int) -> None:
        """The next answer goes on behind so many tokens of the reply; what was told beyond them comes again."""
        self._place = min(tokens, len(self._told))

    def feed(self, ids: Sequence[int]) -> Sequence[int]:
        """Those that are new. Where an answer differs from what was told, its own are told from there on: what was told
        cannot be taken back, and the text it belonged to was not told.
        """
        begin = self._place
        told = self._told[begin : begin + len(ids)]
        same = next((at for at, (one, other) in enumerate(zip(told, ids, strict=False)) if one != other), len(told))
        if same < len(ids):
            del self._told[begin + same :]
            self._told.extend(ids[same:])
        self._place = begin + len(ids)
        return ids[same:]
