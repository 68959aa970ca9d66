"""A router and replicas of a continuity drill: whatever is done to a replica is seen, and undone."""

from pathlib import Path

import pytest

from loadtests.continuity.house import House, Loss
from tests.support.loopback_server import until

BODY = {"model": "smollm2", "messages": [{"role": "user", "content": "Hello?"}], "max_tokens": 1}


@pytest.mark.parametrize("loss", list(Loss))
async def test_a_replica_is_lost_and_brought_back(loss: Loss, tmp_path: Path) -> None:
    with House(replicas=1, speed_up=20, log=tmp_path / "router.log") as house:
        (replica,) = house.replicas
        assert house.is_whole()
        assert house.client.post("/v1/chat/completions", json=BODY).status_code == 200
        assert house.metric("drillyard_router_turns_total") == 1
        replica.lose(loss)
        await until(lambda: not house.is_whole(), "the router does not notice", within_s=20)
        replica.bring_back(loss)
        house.wait_until_whole()
        assert replica.running() == 0
        assert house.client.post("/v1/chat/completions", json=BODY).status_code == 200
