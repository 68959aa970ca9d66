"""A reply as far as moderation lets it go."""

import pytest

from sessions.domain.moderation import BlockReason
from sessions.use_cases.released_reply import ReleasedReply
from tests.support.evasions import cuts
from tests.support.moderated import banned, moderation
from tests.support.session_fakes import FakeClock, viewer


async def _released(pieces: list[str], *phrases: str) -> tuple[ReleasedReply, list[str]]:
    rules = await moderation(banned(*phrases)).rules(viewer().tenant)
    seen: list[str] = []
    async with rules.reply() as check:
        reply = ReleasedReply(check=check, release=seen.append, clock=FakeClock())
        for piece in pieces:
            if reply.take(piece):
                break
        await reply.finish()
        await reply.finish()
        assert not reply.take("more")
    return reply, seen


@pytest.mark.parametrize("pieces", list(cuts("you get free money, all of you")))
async def test_nothing_from_the_phrase_on_leaves_wherever_it_is_cut(pieces: list[str]) -> None:
    reply, seen = await _released(pieces, "free money")
    assert reply.is_blocked
    assert reply.judgement.blocked is BlockReason.BANNED_PHRASE
    assert "".join(seen) == reply.text == "you get "


@pytest.mark.parametrize("pieces", list(cuts("you get free mon")))
async def test_what_was_held_leaves_at_the_end(pieces: list[str]) -> None:
    reply, seen = await _released(pieces, "free money")
    assert not reply.is_blocked
    assert "".join(seen) == reply.text == "you get free mon"
    assert all(seen)


async def test_the_first_text_is_the_first_that_leaves() -> None:
    rules = await moderation(banned("free money")).rules(viewer().tenant)
    clock = FakeClock()
    async with rules.reply() as check:
        reply = ReleasedReply(check=check, release=lambda _: None, clock=clock)
        reply.take("")
        reply.take("free ")
        held_at = reply.first_text_at
        clock.advance(3)
        reply.take("lunch")
    assert held_at is None
    assert reply.first_text_at is not None
    assert reply.first_text_at > 103
