"""What an instructor is shown of the next prompt is what the tutor will get."""

import pytest

from sessions.domain.context import BlockKind
from sessions.errors import SessionNotFound
from tests.support.session_fakes import viewer
from tests.support.stage import staged


async def test_the_context_is_the_next_prompt_without_its_message() -> None:
    stage = await staged()
    await stage.play("first")
    context = await stage.use.explain_context(stage.author, stage.session.id)
    await stage.play("second")
    sent = stage.tutor.requests[-1].messages
    assert context.messages == sent[:-1]
    kinds = [block.kind for block in context.blocks]
    assert kinds == [BlockKind.SYSTEM, BlockKind.SCRIPT, BlockKind.OPENING, BlockKind.TURNS]
    assert (context.blocks[-1].from_turn, context.blocks[-1].to_turn, context.cut_turns) == (1, 1, 0)


async def test_looking_changes_nothing_and_growth_changes_the_digest() -> None:
    stage = await staged()
    before = await stage.use.explain_context(stage.author, stage.session.id)
    assert await stage.use.explain_context(stage.author, stage.session.id) == before
    assert len(before.blocks) == 3
    await stage.play()
    after = await stage.use.explain_context(stage.author, stage.session.id)
    assert after.prompt_sha256 != before.prompt_sha256
    assert after.prompt_tokens > before.prompt_tokens
    with pytest.raises(SessionNotFound):
        await stage.use.explain_context(viewer(sees_all=True), stage.session.id)


async def test_a_full_window_shows_what_was_cut() -> None:
    stage = await staged(max_turns=200)
    for number in range(60):
        await stage.play(f"message {number} " + "word " * 150)
    context = await stage.use.explain_context(stage.author, stage.session.id)
    assert context.cut_turns > 0
    tail = context.blocks[-1]
    assert (tail.from_turn, tail.to_turn) == (context.cut_turns + 1, 60)
    assert context.prompt_tokens + context.reply_tokens <= context.window_tokens
    assert context.available_tokens > 0
