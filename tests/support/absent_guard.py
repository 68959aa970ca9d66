"""Moderation behind which a guard has to be asked that is not there."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from gateway.domain.moderation.guard import GuardPolicy
from gateway.domain.moderation.guard_breaker import GuardBreaker
from gateway.domain.moderation.guard_formats import GuardKind
from gateway.guard_calls import GuardCalls
from gateway.guard_ports import GuardModel, Silence
from gateway.guard_settings import OutputMode, WhenAway
from gateway.guard_stage import GuardedModeration, GuardUse
from tests.support.moderated import moderation


class _NoGuard(GuardModel):
    @override
    async def answer(self, conversation: Sequence[Mapping[str, str]]) -> str | Silence:
        return Silence.UNREACHABLE


def unguarded(*, messages: bool = True) -> GuardedModeration:
    """Nothing passes; without `messages` it is only what models say."""
    breaker = GuardBreaker(pause_s=60.0)
    calls = GuardCalls(model=_NoGuard(), kind=GuardKind.QWEN3GUARD, breaker=breaker, ticks=lambda: 0.0)
    use = GuardUse(GuardPolicy(), WhenAway.CLOSED, OutputMode.HOLD, messages)
    return GuardedModeration(rules=moderation(), calls=calls, use=use)
