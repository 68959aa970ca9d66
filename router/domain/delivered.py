"""What of a reply has been handed out, and from where it can go on."""

import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from router.domain.chunk import Chunk, Counts, are_token_ids, read_chunk
from router.domain.doubt import Doubt
from router.domain.plain_events import PlainEvents, read_plain_events
from router.domain.sse import event_data
from router.errors import StreamBroken

FOLD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Footing:
    """A place in the reply from which an answer goes on."""

    text: str = ""
    """The reply up to there."""
    tokens: int = 0
    """How many these are."""
    ids: Sequence[int] | None = None
    """The tokens of the prompt and of the reply up to there, if they are known."""
    is_counted: bool = True
    """Whether somebody has counted them; otherwise it is the most they can be."""


class Step(NamedTuple):
    """What had been told after an event that had text."""

    chars: int
    tokens: int
    brought: int
    """How many of the tokens were the event's own."""


class Heard:
    """What one answer has said that was handed out. Its events are kept as they came and read only when somebody asks,
    or when they have become many.
    """

    def __init__(self) -> None:
        self._raw: list[bytes] = []
        self._raw_bytes = 0
        self._texts: list[str] = []
        self._chars = 0
        self._prompt_ids = b""
        # Of each step.
        self._step_chars = array("L")
        self._step_tokens = array("L")
        self._step_brought = array("L")
        self.prompt_tokens: int | None = None
        self.ids = array("L")
        self.knows_ids = True
        self.tokens = 0
        self.is_counted = True
        """Whether the engine told the tokens or their number; otherwise they are events."""
        self.has_reasoning = False
        self.has_more_than_text = False
        self.is_readable = True

    @property
    def has_prompt_ids(self) -> bool:
        return bool(self._prompt_ids)

    @property
    def steps(self) -> list[Step]:
        return list(map(Step, self._step_chars, self._step_tokens, self._step_brought))

    def add(self, events: bytes) -> None:
        """Whole events, each with its blank line."""
        self._raw.append(events)
        self._raw_bytes += len(events)
        if self._raw_bytes > FOLD_BYTES:
            self.fold()

    def add_read(self, chunk: Chunk) -> None:
        """An event that has been read already."""
        if self._raw:
            self.fold()
        self._take_chunk(chunk)

    def keep_prompt_ids(self, ids: bytes) -> None:
        """The JSON list of the prompt's tokens."""
        self._prompt_ids = ids
        self.prompt_tokens = ids.count(b",") + 1

    def prompt_ids(self) -> Sequence[int] | None:
        """None: they were not told, or are none."""
        try:
            ids: object = json.loads(self._prompt_ids or b"null")
        except (ValueError, RecursionError):
            return None
        return ids if isinstance(ids, list) and are_token_ids(ids) else None

    def text(self) -> str:
        self.fold()
        self._texts = ["".join(self._texts)]
        return self._texts[0]

    def fold(self) -> None:
        raw = b"".join(self._raw)
        self._raw.clear()
        self._raw_bytes = 0
        plain = read_plain_events(raw)
        if plain is not None:
            self._take_plain(plain)
        else:
            self._take_events(raw)

    def _take_plain(self, plain: PlainEvents) -> None:
        counts = [1] * len(plain.texts) if plain.ids is None else map(len, plain.ids)
        chars, tokens = self._chars, self.tokens
        for text, more in zip(plain.texts, counts, strict=True):
            tokens += more
            if text:
                chars += len(text)
                self._step_chars.append(chars)
                self._step_tokens.append(tokens)
                self._step_brought.append(more)
        self._chars, self.tokens = chars, tokens
        self._texts.append("".join(plain.texts))
        self.ids.extend(chain.from_iterable(plain.ids or ()))
        self.knows_ids = self.knows_ids and plain.ids is not None
        self.is_counted = self.is_counted and plain.ids is not None

    def _take_events(self, raw: bytes) -> None:
        try:
            for block in raw.split(b"\n\n"):
                if (data := event_data(block)) is not None:
                    self._take_chunk(read_chunk(data))
        except StreamBroken:
            self.is_readable = False

    def _take_chunk(self, chunk: Chunk) -> None:
        before = self.tokens
        self._count(chunk, chunk.counts)
        if text := chunk.text:
            self._texts.append(text)
            self._chars += len(text)
            self._step_chars.append(self._chars)
            self._step_tokens.append(self.tokens)
            self._step_brought.append(self.tokens - before)
        self.has_reasoning = self.has_reasoning or chunk.is_reasoning
        self.has_more_than_text = self.has_more_than_text or chunk.is_beyond_text

    def _count(self, chunk: Chunk, counts: Counts | None) -> None:
        if counts is not None and self.prompt_tokens is None:
            self.prompt_tokens = counts.prompt
        if (ids := chunk.token_ids) is not None:
            self.ids.extend(ids)
            self.tokens += len(ids)
        elif chunk.says_something or chunk.may_be_half_a_character:
            self.knows_ids = False
            self.is_counted = counts is not None
            self.tokens = self.tokens + 1 if counts is None else counts.completion


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was handed out over all answers, the last of which goes on from `start`."""

    text: str
    start: Footing
    heard: Heard
    is_exact: bool
    """Whether the text begins with `start` and what was heard since: not so when a joint did not fit to the letter."""
    prompt_tokens: int | None
    """Of the caller's own prompt."""
    has_reasoning: bool = False
    settled: int | None = None
    """How many tokens of the answer its text has, if somebody has said so upon a `doubt`."""

    @property
    def has_more_than_text(self) -> bool:
        return self.heard.has_more_than_text

    @property
    def is_counted(self) -> bool:
        return self.start.is_counted and self.heard.is_counted

    def tokens(self, *, per_event: int) -> int:
        """How many were generated for it; where nobody has told, as many as there can be in its events."""
        return self.start.tokens + self.heard.tokens * self._weight(per_event)

    def tokens_of(self, text: str, *, held_chars: int, per_event: int) -> int:
        """How many of them are in `text`, with which the reply begins; rather one too many than one too few."""
        goal = len(text) - len(self.start.text) - held_chars
        heard = next((step.tokens for step in self.heard.steps if step.chars >= goal), self.heard.tokens)
        return self.start.tokens + heard * self._weight(per_event)

    def footing(self, *, held_chars: int) -> Footing | None:
        """The last place that certainly stands between two tokens and two characters; None when no token is known.

        Tokens that have brought no text yet, as half a character does, are left out: they are generated again. So are
        those at the end of several that came at once, unless what was said next has no character that they can have
        begun. With stop strings the tokens run ahead of the text by `held_chars`.
        """
        heard, start, ids = self.heard, self.start, self._ids()
        if ids is None:
            return None
        for place, step, is_sure in self._places(held_chars):
            tokens = step.tokens if is_sure else self.settled
            if tokens is not None:
                text, all_ids = self.text[:place], [*ids, *heard.ids[:tokens]]
                return replace(start, text=text, tokens=start.tokens + tokens, ids=all_ids)
        return replace(start, ids=ids)

    def doubt(self, *, held_chars: int) -> Doubt | None:
        """What would have to be known for a later `footing`; None: nothing."""
        place, step, is_sure = next(self._places(held_chars), (0, Step(0, 0, 0), True))
        if is_sure or self._ids() is None:
            return None
        return Doubt(self.heard.ids[: step.tokens], self.text[len(self.start.text) : place], step.brought)

    def _ids(self) -> Sequence[int] | None:
        """Of the prompt and of the reply up to the last answer, if all tokens since are known too."""
        is_known = self.heard.knows_ids and self.is_exact
        return (self.heard.prompt_ids() or self.start.ids) if is_known else None

    def _places(self, held_chars: int) -> Iterator[tuple[int, Step, bool]]:
        """Where the text of a step ends that was told, from the last one on; whether its tokens certainly end there."""
        ahead, told = len(self.start.text) + held_chars, len(self.text)
        next_place = told + 1
        for step in reversed(self.heard.steps):
            place = ahead + step.chars
            if place <= told:
                is_plain_behind = next_place <= told and self.text[place:next_place].isascii()
                yield place, step, step.brought == 1 or is_plain_behind
            next_place = place

    def _weight(self, per_event: int) -> int:
        return 1 if self.heard.is_counted else per_event
