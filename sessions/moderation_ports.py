"""What sessions need of moderation: the rules that are in force, and what they say of each text that passes."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sessions.domain.moderation import Judgement, Moderated
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId


class ReplyCheck(Protocol):
    """One reply as it streams. What it decides depends on the text alone, never on how it is cut."""

    def feed(self, text: str) -> str:
        """One more piece; what may be released now. Nothing any more once it is blocked."""

    async def finish(self) -> str:
        """The reply is over: the rest of what may be released."""

    @property
    def judgement(self) -> Judgement:
        """What was found so far; once it is blocked, the engine may be stopped."""


class Rules(Protocol):
    """The rules of one tenant and scenario as they were when they were asked for; they stay so for who holds them."""

    async def message(self, text: str) -> Moderated:
        """What a person says to the model."""

    def reply(self) -> AbstractAsyncContextManager[ReplyCheck]:
        """What the model says, while it is said."""

    async def written(self, text: str) -> Moderated:
        """A whole text by the model, such as an answer or a note; the verdict is that of the same text as a reply."""

    async def knowledge(self, text: str) -> Moderated:
        """A piece of a document that the model is to be shown."""


class Moderation(Protocol):
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        """Those that are in force now; without a scenario, those of the tenant alone.

        Raises `ModerationUnavailable` where nobody can tell them: nothing goes on unchecked.
        """

    async def points_made(self, points: Sequence[tuple[str, Sequence[str]]], text: str) -> tuple[str, ...]:
        """Which of the named points a text makes: those of which it has one of the phrases, read as rules are read."""
