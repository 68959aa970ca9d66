"""Weights are for hosts of this machine, and pods bring their own."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from router.fleet.settings import PoolSettings, WeightsSettings

WEIGHTS = {"source": "s3://models/qwen", "digest": "sha256:" + "0" * 64, "folder": "/models/qwen"}
PROCESSES = {"kind": "processes", "command": ["serve", "{weights}"], "slots": ["0"], "folder": "/replicas"}


def pool(**fields: Any) -> PoolSettings:
    return PoolSettings.model_validate({"model": "m", "seats_per_replica": 8, "maximum": 2, **fields})


def test_replicas_of_this_machine_have_weights() -> None:
    assert pool(weights=WEIGHTS, host=PROCESSES).weights == WeightsSettings(
        source="s3://models/qwen", digest="sha256:" + "0" * 64, folder=Path("/models/qwen")
    )


def test_pods_fetch_theirs_themselves() -> None:
    with pytest.raises(ValidationError, match="init container"):
        pool(weights=WEIGHTS, host={"kind": "kubernetes", "deployment": "vllm"})


@pytest.mark.parametrize("wrong", [{"digest": "sha256:0"}, {"digest": "0" * 64}, {"hub": "hub.example"}, {"other": 1}])
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        pool(weights={**WEIGHTS, **wrong})


def test_a_token_is_not_shown() -> None:
    told = pool(weights={**WEIGHTS, "hub": "https://hub.example", "hub_token": "secret"})
    assert "secret" not in repr(told)
