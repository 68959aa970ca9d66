"""What a tenant has set before it has set anything, and what holds once it has set some of it."""

from gateway.domain.moderation.injection import Thresholds
from gateway.domain.moderation.policy import INHERITED, USUAL, OwnPolicy, Policy, effective

INSTALLATION = Policy(Thresholds(0.1, 0.2), Thresholds(0.3, 0.4), "#")


def test_by_default_texts_are_flagged_before_they_are_blocked() -> None:
    assert 0 < USUAL.user.flag < USUAL.user.block <= 1
    assert 0 < USUAL.knowledge.flag < USUAL.knowledge.block <= 1
    assert USUAL.mask


def test_what_a_tenant_leaves_open_is_inherited() -> None:
    assert effective(INHERITED, INSTALLATION) == INSTALLATION


def test_what_a_tenant_sets_holds_figure_by_figure() -> None:
    every = OwnPolicy(user_flag=0.5, user_block=0.6, knowledge_flag=0.0, knowledge_block=0.8, mask="")
    assert effective(every, INSTALLATION) == Policy(Thresholds(0.5, 0.6), Thresholds(0.0, 0.8), "")
    assert effective(OwnPolicy(user_block=0.9), INSTALLATION).user == Thresholds(0.1, 0.9)
    assert effective(OwnPolicy(knowledge_flag=0.05), INSTALLATION).knowledge == Thresholds(0.05, 0.4)
