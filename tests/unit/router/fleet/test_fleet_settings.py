"""What contradicts in the settings of the fleet is told when they are read."""

import pytest
from pydantic import ValidationError

from router.fleet.domain.pool_rules import PoolRules
from router.fleet.settings import FleetSettings, PoolSettings


def pool(model: str, folder: str) -> dict[str, object]:
    host = {"kind": "processes", "command": ["vllm"], "slots": ["0"], "folder": folder}
    return {"model": model, "seats_per_replica": 8, "maximum": 1, "host": host}


def test_each_pool_has_a_model_and_a_folder_of_its_own() -> None:
    told = FleetSettings.model_validate({"pools": [pool("a", "/a"), pool("b", "/b")]})
    assert [each.model for each in told.pools] == ["a", "b"]
    with pytest.raises(ValidationError, match="two have the same model"):
        FleetSettings.model_validate({"pools": [pool("a", "/a"), pool("a", "/b")]})
    with pytest.raises(ValidationError, match="the same folder"):
        FleetSettings.model_validate({"pools": [pool("a", "/a"), pool("b", "/a")]})


@pytest.mark.parametrize(
    "address", ["hooks.example/hush", "ftp://hush", "https:///hush", "https://hooks.example/a hush"]
)
def test_a_webhook_without_an_address_is_told_at_once_and_its_secret_never(address: str) -> None:
    assert FleetSettings.model_validate({"alert_webhook": "https://hooks.example/hush?key=hush"}).alert_webhook
    assert FleetSettings.model_validate({"alert_webhook": ""}).alert_webhook is None
    with pytest.raises(ValidationError, match="no http:// or https:// address") as told:
        FleetSettings.model_validate({"alert_webhook": address})
    assert "hush" not in str(told.value.errors(include_input=False))


def test_what_a_pool_does_not_set_is_as_the_rules_have_it() -> None:
    told = PoolSettings(model="a", seats_per_replica=8, maximum=3)
    assert told.rules == PoolRules(seats_per_replica=8, maximum=3)
