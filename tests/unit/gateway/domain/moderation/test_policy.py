"""What a tenant has set before it has set anything."""

from gateway.domain.moderation.policy import USUAL


def test_by_default_texts_are_flagged_before_they_are_blocked() -> None:
    assert 0 < USUAL.user.flag < USUAL.user.block <= 1
    assert 0 < USUAL.knowledge.flag < USUAL.knowledge.block <= 1
    assert USUAL.mask
