"""What an installation says about moderation."""

import pytest
from pydantic import ValidationError

from gateway.domain.moderation.injection import Thresholds
from gateway.domain.moderation.policy import USUAL, Policy
from gateway.moderation_settings import ModerationSettings


def test_what_is_not_set_is_as_usual() -> None:
    assert ModerationSettings().policy == USUAL


def test_what_is_set_is_the_policy_of_every_tenant_that_has_none() -> None:
    own = ModerationSettings(
        injection_flag=0.1, injection_block=0.2, knowledge_flag=0.3, knowledge_block=1.5, mask="[...]"
    )
    assert own.policy == Policy(Thresholds(0.1, 0.2), Thresholds(0.3, 1.5), "[...]")


@pytest.mark.parametrize(
    "wrong",
    [
        {"injection_flag": 0.8},
        {"knowledge_flag": 0.6, "knowledge_block": 0.5},
        {"injection_block": -0.1},
        {"refresh_s": 0},
        {"most_phrases": 10},
        {"mask": "x" * 33},
        {"unknown": 1},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ModerationSettings.model_validate(wrong)
