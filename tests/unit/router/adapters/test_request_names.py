"""The name that a replica is told."""

import pytest

from router.adapters.request_names import request_name
from router.settings import EngineKind

UUID = "6f1c0b1e-8f0d-4f3e-9a38-0d4c7b6f2a11"


@pytest.mark.parametrize("name", ["session-1-4", "canary-1", UUID])
def test_vllm_takes_any_name(name: str) -> None:
    assert request_name(name, EngineKind.VLLM) == (("x-request-id", name),)


@pytest.mark.parametrize("name", [UUID, UUID.upper(), UUID.replace("-", "")])
def test_any_other_engine_is_told_a_uuid(name: str) -> None:
    assert request_name(name, EngineKind.OPENAI) == (("x-request-id", name),)


@pytest.mark.parametrize("name", ["", "session-1-4", f"{UUID}-1", UUID[:-1], f"{{{UUID}}}", UUID.replace("-", "", 1)])
def test_and_no_other_name(name: str) -> None:
    assert request_name(name, EngineKind.OPENAI) == ()
