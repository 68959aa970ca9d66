"""How a prompt is explained."""

from sessions.domain.context import Block, BlockKind


def test_only_the_block_of_turns_names_turns() -> None:
    block = Block(BlockKind.SYSTEM, 120, "0" * 64)
    assert (block.from_turn, block.to_turn) == (None, None)
