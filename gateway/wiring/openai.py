"""Chat completions: the served models with their tokenizers, and the ways through router and limits."""

import asyncio

from gateway.openai_chats import ChatModel, ChatWays, OpenAiChats
from gateway.settings import Settings
from gateway.wiring.models import Counters
from router.ports import Tracing


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
