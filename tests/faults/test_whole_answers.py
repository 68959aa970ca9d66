"""An answer that comes in one piece, whose replica falls silent without a word."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from loadtests.continuity.house import House, Loss

SETTINGS = ("probe_interval_s=0.3", "probe_timeout_s=0.3", "lost_after_s=1")
BODY = {"model": "smollm2", "messages": [{"role": "user", "content": "Tell me all of it."}], "max_tokens": 200}
SLOW = 4.0
"""An answer takes some seconds, so that it is under way when its replica is lost."""


def asked(house: House) -> tuple[str, str, float]:
    """Where the answer came from, what it says, and how long it took."""
    began = time.monotonic()
    headers = {"X-Session-ID": "session-1"}
    answer = house.client.post("/v1/chat/completions", json=BODY, headers=headers, timeout=httpx.Timeout(60))
    assert answer.status_code == 200, answer.text
    text = answer.json()["choices"][0]["message"]["content"]
    return answer.headers["x-replica-id"], text, time.monotonic() - began


def health_of(house: House, replica: str) -> str:
    seen = house.client.get("/replicas").json()["replicas"]
    return next(str(each["health"]) for each in seen if each["id"] == replica)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    log = tmp_path_factory.mktemp("house") / "router.log"
    with House(replicas=2, speed_up=SLOW, log=log, settings=SETTINGS) as running:
        yield running


@pytest.mark.parametrize("loss", [Loss.STOP, Loss.CUT_OFF], ids=lambda loss: loss.name)
def test_a_whole_answer_of_a_silent_replica_is_asked_for_elsewhere(house: House, loss: Loss) -> None:
    house.wait_until_whole()
    home, undisturbed, took_s = asked(house)
    lost = next(replica for replica in house.replicas if replica.name == home)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asked, house)
        while not lost.running():
            time.sleep(0.02)
        lost.lose(loss)
        where, text, after_s = answer.result(60)
        lost.bring_back(loss)
    assert (where != home, text) == (True, undisturbed)
    assert after_s < took_s + 8
    house.wait_until_whole()


def test_a_replica_that_is_down_for_a_moment_keeps_its_answer(house: House) -> None:
    house.wait_until_whole()
    home, undisturbed, _ = asked(house)
    lost = next(replica for replica in house.replicas if replica.name == home)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asked, house)
        while not lost.running():
            time.sleep(0.02)
        lost.lose(Loss.STOP)
        while health_of(house, home) != "down":
            time.sleep(0.02)
        lost.bring_back(Loss.STOP)
        assert answer.result(60)[:2] == (home, undisturbed)
