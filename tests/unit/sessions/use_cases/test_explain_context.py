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
    assert (context.blocks[-1].from_turn, context.blocks[-1].to_turn, context.summary) == (1, 1, "")


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
