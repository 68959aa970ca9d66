"""Chat completions: the served models with their tokenizers, and the ways through router and limits."""

import asyncio

from gateway.chat_moderation import ChatModeration
from gateway.openai_chats import ChatModel, ChatWays, OpenAiChats
from gateway.settings import Settings
from gateway.wiring.models import Counters
from router.ports import Tracing
from sessions.moderation_ports import Moderation
from sessions.remembered_verdicts import RememberedVerdicts


def chat_moderation(moderation: Moderation) -> ChatModeration:
    return ChatModeration(moderation, verdicts=RememberedVerdicts())


def openai_chats(
    settings: Settings, counters: Counters, ways: ChatWays, stopping: asyncio.Event, tracing: Tracing | None
) -> OpenAiChats:
    return OpenAiChats(
        models=[ChatModel(each.name, each.window_tokens, counters[each.name]) for each in settings.all_models],
        ways=ways,
        policy=settings.openai.policy,
        is_stopping=stopping.is_set,
        tracing=tracing,
    )
