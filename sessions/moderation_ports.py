"""What sessions need of moderation: the rules that are in force, and what they say of each text that passes."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sessions.domain.moderation import Judgement, Moderated
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId


def no_news() -> None:
    """For who looks again at the next piece, or at the end."""


class ReplyCheck(Protocol):
    """One reply as it streams. What it decides depends on the text alone, never on how it is cut."""

    def feed(self, text: str) -> str:
        """One more piece; what may be released now. Once it is blocked, nothing more is taken in."""

    async def finish(self) -> str:
        """The reply is over, or blocked: the rest of what may be released, once all of it is judged.

        Where a model judges what stands before a block, it may be that this stops earlier, for another reason.
        """

    @property
    def judgement(self) -> Judgement:
        """What was found so far; once it is blocked, the engine may be stopped."""


class Rules(Protocol):
    """The rules of one tenant and scenario as they were when they were asked for; they stay so for who holds them."""

    @property
    def identity(self) -> Hashable:
        """Equal for rules that say the same, so that whoever remembers a verdict knows whether it still holds."""

    async def message(self, text: str) -> Moderated:
        """What a person says to the model."""

    async def instructions(self, text: str) -> Moderated:
        """What an application tells the model: it is there to give orders, so that only phrases are looked for."""

    def reply(
        self, message: str = "", *, news: Callable[[], None] = no_news
    ) -> AbstractAsyncContextManager[ReplyCheck]:
        """What the model says to this message, while it is said.

        `news` is called when more may be released, or the reply was blocked, though nothing was fed: feed it an empty
        piece then.
        """

    async def written(self, text: str) -> Moderated:
        """A whole text by the model, such as an answer or a note; the verdict is that of the same text as a reply.

        Raises `ModerationUnavailable` where it would be blocked for want of somebody to judge it.
        """

    async def knowledge(self, text: str) -> Moderated:
        """A piece of a document that the model is to be shown."""


class Moderation(Protocol):
    async def rules(self, tenant: TenantId, scenario: ScenarioId | None = None) -> Rules:
        """Those that are in force now; without a scenario, those of the tenant alone.

        Raises `ModerationUnavailable` where nobody can tell them: nothing goes on unchecked.
        """

    async def points_made(self, points: Sequence[tuple[str, Sequence[str]]], text: str) -> tuple[str, ...]:
        """Which of the named points a text makes: those of which it has one of the phrases, read as rules are read."""
