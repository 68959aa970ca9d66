"""What moderation says of a text that somebody tries out: what a turn would meet, and nothing of it is kept."""

import asyncio
from enum import StrEnum

from gateway.errors import FieldInvalid
from sessions.domain.moderation import Moderated
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import Viewer
from sessions.errors import TextEmpty
from sessions.moderation_ports import Moderation, Rules
from sessions.ports import Records
from sessions.use_cases.read_scenario import known_scenario

LONGEST_TEXT = 100_000
"""In characters; a longer one takes seconds."""
AT_ONCE = 2
"""Texts that are tried out; turns of others go on beside them."""


class CheckedAs(StrEnum):
    """By which way a text would come."""

    MESSAGE = "message"
    KNOWLEDGE = "knowledge"
    REPLY = "reply"


class TextCheck:
    def __init__(self, *, moderation: Moderation, records: Records) -> None:
        self._moderation = moderation
        self._records = records
        self._room = asyncio.Semaphore(AT_ONCE)

    async def __call__(
        self, viewer: Viewer, text: str, way: CheckedAs, scenario: ScenarioId | None = None
    ) -> Moderated:
        """Raises `TextEmpty`, `FieldInvalid`, `ScenarioNotFound` or `ModerationUnavailable`."""
        return await self.judged(await self.rules(viewer, scenario), fit("text", text), way)

    async def judged(self, rules: Rules, text: str, way: CheckedAs) -> Moderated:
        """Others wait meanwhile, since nobody waits for them in a drill."""
        async with self._room:
            return await judged(rules, text, way)

    async def rules(self, viewer: Viewer, scenario: ScenarioId | None = None) -> Rules:
        """Raises `ScenarioNotFound` or `ModerationUnavailable`."""
        if scenario is not None:
            async with self._records.begin() as work:
                await known_scenario(work, viewer.tenant, scenario)
        return await self._moderation.rules(viewer.tenant, scenario)


def fit(field: str, text: str) -> str:
    """The text, where it can be looked at; raises `TextEmpty` or `FieldInvalid`."""
    if not text.strip():
        raise TextEmpty(f"{field}: the text is empty")
    if len(text) > LONGEST_TEXT:
        raise FieldInvalid(field, f"a text has at most {LONGEST_TEXT} characters")
    return text


async def judged(rules: Rules, text: str, way: CheckedAs) -> Moderated:
    await asyncio.sleep(0)  # many short texts are read here and now: whatever else there is to do comes between them
    match way:
        case CheckedAs.MESSAGE:
            return await rules.message(text)
        case CheckedAs.KNOWLEDGE:
            return await rules.knowledge(text)
        case CheckedAs.REPLY:
            return await rules.written(text)
