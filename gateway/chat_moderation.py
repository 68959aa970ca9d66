"""The messages of a chat completion under the rules of the caller's tenant.

The client holds the conversation and sends all of it each time, so that every message is checked: as whose words they
are. Verdicts on messages that were checked before are remembered.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from gateway.choice_check import ReplyRules
from gateway.domain.openai_messages import ChatMessage, texts_in, with_texts_in
from gateway.domain.openai_request import AskedChat
from gateway.errors import ContentBlocked
from sessions.domain.moderation import BlockReason, Moderated
from sessions.domain.viewer import TenantId
from sessions.errors import ModerationUnavailable
from sessions.moderation_ports import Moderation, Rules
from sessions.remembered_verdicts import Reading, RememberedVerdicts

_READINGS: Mapping[object, Reading] = {
    "user": Reading.MESSAGE,
    "tool": Reading.KNOWLEDGE,
    "system": Reading.INSTRUCTIONS,
    "assistant": Reading.WRITTEN,
}
"""Of a message's content, by its role."""
_DECLARED = ("tools", "response_format")
"""Parameters with words in them that the model is shown."""


class ChatModeration:
    def __init__(self, moderation: Moderation, *, verdicts: RememberedVerdicts) -> None:
        self._moderation = moderation
        self._verdicts = verdicts

    async def rules(self, tenant: TenantId) -> Rules:
        """Raises `ModerationUnavailable`."""
        return await self._moderation.rules(tenant)

    async def passed(self, rules: Rules, asked: AskedChat) -> AskedChat:
        """With its messages as they may go on; raises `ContentBlocked` or `ModerationUnavailable`.

        What is to be masked in tools and schemas stays: with other words they would be other ones.
        """
        messages = [await self._message(rules, f"messages[{at}]", each) for at, each in enumerate(asked.messages)]
        for name in _DECLARED:
            for text in _strings(asked.parameters.get(name)):
                _passed(name, await self._verdicts.of(rules, Reading.INSTRUCTIONS, text))
        return replace(asked, messages=tuple(messages))

    async def _message(self, rules: Rules, at: str, message: ChatMessage) -> ChatMessage:
        told: list[str] = []
        for name, text in texts_in(message):
            reading = _READINGS[message["role"]] if name == "content" else Reading.INSTRUCTIONS
            told.append(_passed(at, await self._verdicts.of(rules, reading, text)))
        return with_texts_in(message, told)


@asynccontextmanager
async def reply_rules(rules: Rules, messages: Sequence[ChatMessage]) -> AsyncIterator[ReplyRules]:
    """For the answer to these messages."""
    asked = next((each.get("content") for each in reversed(messages) if each["role"] == "user"), "")
    message = asked if isinstance(asked, str) else ""
    async with AsyncExitStack() as stack:
        yield ReplyRules(lambda: rules.reply(message), stack)


def _passed(at: str, found: Moderated) -> str:
    if found.blocked is BlockReason.UNCHECKED:
        raise ModerationUnavailable(f"nobody can judge {at} now")
    if found.blocked is not None:
        raise ContentBlocked(found.blocked, param=at)
    return found.text


def _strings(value: object) -> Sequence[str]:
    """All text in it, names included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    if isinstance(value, dict):
        return [text for name, each in value.items() for text in (name, *_strings(each))]
    return []
