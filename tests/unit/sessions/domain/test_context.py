"""How a prompt is explained."""

from sessions.domain.context import Block, BlockKind


def test_a_block_names_no_turns_unless_it_is_told() -> None:
    block = Block(BlockKind.SYSTEM, 120, "0" * 64)
    assert (block.from_turn, block.to_turn) == (None, None)
