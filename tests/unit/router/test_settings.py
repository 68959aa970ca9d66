"""What follows from the settings."""

import pytest

from router.settings import EngineKind, RouterSettings


@pytest.mark.parametrize(
    ("engine", "told", "so"),
    [
        (EngineKind.VLLM, None, True),
        (EngineKind.VLLM, False, False),
        (EngineKind.OPENAI, None, False),
        (EngineKind.OPENAI, True, True),
    ],
)
def test_only_vllm_is_trusted_with_the_rest_of_a_reply_unless_it_is_told(
    engine: EngineKind, told: bool | None, so: bool
) -> None:
    assert RouterSettings(engine=engine, continue_replies=told).may_continue is so
