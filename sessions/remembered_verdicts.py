"""Verdicts on texts that come again: the messages of a growing conversation, the pieces of a document.

A verdict is known by the digest of its text and by the rules that gave it, so that it holds for as long as the rules
say the same. What was said for want of a guard model is asked anew.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sessions.domain.moderation import BlockReason, Judgement, Moderated, Source
from sessions.moderation_ports import Rules

_LONGEST = 10_000
"""Characters of a masked text that is still remembered; of any other only the verdict is."""


class Reading(StrEnum):
    """As what a text is read."""

    MESSAGE = "message"
    INSTRUCTIONS = "instructions"
    WRITTEN = "written"
    KNOWLEDGE = "knowledge"


@dataclass(frozen=True, slots=True)
class _Known:
    judgement: Judgement
    text: str | None
    """What may go on, where it is not the text as it came."""


class RememberedVerdicts:
    def __init__(self, *, most: int = 20_000) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, _Known] = OrderedDict()

    async def of(self, rules: Rules, reading: Reading, text: str) -> Moderated:
        key = (rules.identity, reading, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return Moderated(text if known.text is None else known.text, known.judgement)
        await asyncio.sleep(0)  # between texts that are read others have their turn
        found = await _ways(rules)[reading](text)
        changed = None if found.text == text else found.text
        if _is_lasting(found.judgement) and len(changed or "") <= _LONGEST:
            self._known[key] = _Known(found.judgement, changed)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return found


def _ways(rules: Rules) -> Mapping[Reading, Callable[[str], Awaitable[Moderated]]]:
    return {
        Reading.MESSAGE: rules.message,
        Reading.INSTRUCTIONS: rules.instructions,
        Reading.WRITTEN: rules.written,
        Reading.KNOWLEDGE: rules.knowledge,
    }


def _is_lasting(judgement: Judgement) -> bool:
    by_guard = any(mark.source is Source.GUARD for mark in judgement.marks)
    return judgement.blocked is not BlockReason.UNCHECKED and not by_guard
