"""How a guard is set."""

import pytest
from pydantic import ValidationError

from gateway.domain.moderation.guard import GuardPolicy
from gateway.domain.moderation.guard_formats import GuardKind
from gateway.guard_settings import GuardSettings, OutputMode, WhenAway
from sessions.domain.moderation import Verdict


def test_by_default_there_is_none() -> None:
    usual = GuardSettings()
    assert usual.url is None
    assert (usual.when_away, usual.output, usual.input) == (WhenAway.OPEN, OutputMode.HOLD, True)
    assert usual.policy == GuardPolicy()


def test_words_of_the_environment_are_read() -> None:
    found = GuardSettings.model_validate(
        {
            "url": "http://guard:8000",
            "model": "Llama-Guard-3-8B",
            "kind": "llama_guard",
            "key": "k-1",
            "input": "off",
            "output": "follow",
            "when_away": "closed",
            "unsafe": "flag",
            "controversial": "allow",
            "categories": {"hate": "block", "unnamed": "block"},
        }
    )
    assert (found.kind, found.input, found.output) == (GuardKind.LLAMA_GUARD, False, OutputMode.FOLLOW)
    blocked = {"hate": Verdict.BLOCK, "unnamed": Verdict.BLOCK}
    assert found.policy == GuardPolicy(Verdict.FLAG, Verdict.ALLOW, blocked)
    assert "k-1" not in repr(found)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"url": "http://guard:8000"}, "its model's name"),
        ({"categories": {"hate": "block"}}, "hate: a qwen3guard knows copyright_violation, jailbreak"),
        ({"categories": {"jailbreak": "mask"}}, "'allow', 'flag' or 'block'"),
        ({"key": ""}, "at least 1"),
        ({"at_once": 0}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        GuardSettings.model_validate(given)
