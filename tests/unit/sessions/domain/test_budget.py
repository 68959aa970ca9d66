"""How the window is shared."""

from dataclasses import replace

import pytest

from sessions.domain.budget import FRAME_TOKENS, SYSTEM_TOKENS, TEMPLATE_TOKENS, Shares, fitting, with_knowledge
from sessions.errors import ContextImpossible, ScenarioInvalid

SHARES = Shares(window=4096, reply=256, message=768, script=1000, opening=200, summary=480, note=160, knowledge=600)


def test_the_fixed_part_is_the_sum_of_its_blocks() -> None:
    assert SHARES.fixed == SYSTEM_TOKENS + 1000 + 200 + 480 + FRAME_TOKENS + 768 + 256 + TEMPLATE_TOKENS
    assert str(SHARES.fixed) in SHARES.arithmetic
    assert "summary 480" in SHARES.arithmetic


def test_background_is_not_in_the_fixed_part() -> None:
    assert replace(SHARES, knowledge=10_000).fixed == SHARES.fixed


def test_the_limits_of_blocks_are_their_shares() -> None:
    limits = SHARES.blocks
    assert (limits.system, limits.script, limits.opening, limits.reply) == (SYSTEM_TOKENS, 1000, 200, 256)


def test_shares_that_leave_an_eighth_for_the_talk_fit() -> None:
    assert fitting(SHARES) is SHARES
    exactly = replace(SHARES, window=3136, script=396)
    assert exactly.window - exactly.fixed == exactly.talk == 392
    assert fitting(exactly) is exactly


def test_shares_that_leave_less_are_refused_with_the_arithmetic() -> None:
    with pytest.raises(ContextImpossible, match=r"window of 3600 tokens leaves 252 .* 450 .*= 3348"):
        fitting(replace(SHARES, window=3600))


def test_a_summary_that_holds_one_note_only_is_refused() -> None:
    with pytest.raises(ContextImpossible, match="2 x 300 = 600"):
        fitting(replace(SHARES, note=300))
    assert fitting(replace(SHARES, note=240)).note == 240


def test_a_scenario_that_looks_things_up_needs_room_for_them() -> None:
    with_knowledge(SHARES, pinned=1300, reply=256)
    with pytest.raises(ScenarioInvalid, match="leaves 248 for the talk, but 512 are needed") as refused:
        with_knowledge(SHARES, pinned=1700, reply=156)
    assert refused.value.field == "knowledge_base"
    assert "knowledge 600" in refused.value.detail
    assert refused.value.detail.endswith("= 3848")
