"""What the tests on real vLLM do at the API: start sessions, take turns, look at prompts, wait."""

import asyncio
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
from redis.asyncio import Redis

from router.adapters.redis_pins import RedisPins
from router.domain.fleet import ReplicaId
from tests.vllm.conftest import PATIENCE_S, RealStack


def english(stack: RealStack) -> str:
    """The id of the sample's English scenario; tests may have added others in that language."""
    return next(str(each["id"]) for each in stack.ready["scenarios"] if each["locale"].startswith("en"))


def started(stack: RealStack, client: httpx.Client) -> str:
    answer = client.post("/v1/sessions", json={"scenario_id": english(stack)})
    answer.raise_for_status()
    session: str = answer.json()["id"]
    return session


def turn(client: httpx.Client, session: str, text: str) -> dict[str, Any]:
    """One finished turn; a refusal that says when to try again is tried again under the same key."""
    key, deadline = str(uuid4()), time.monotonic() + 120
    while True:
        try:
            answer = client.post(f"/v1/sessions/{session}/turns", json={"text": text}, headers={"Idempotency-Key": key})
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.is_success:
            finished: dict[str, Any] = answer.json()
            return finished
        assert time.monotonic() < deadline, answer and answer.text
        time.sleep(0.5)


def context(stack: RealStack, session: str) -> dict[str, Any]:
    def asked() -> dict[str, Any] | None:
        try:
            with stack.client("instructor") as client:
                answer = client.get(f"/v1/sessions/{session}/context")
        except httpx.TransportError:
            return None
        found: dict[str, Any] = answer.json()
        return found if answer.is_success else None

    wait_until(lambda: asked() is not None)
    found = asked()
    assert found is not None
    return found


def close_all(stack: RealStack) -> None:
    """Whatever tests before have left open, so that the replicas hold no session."""
    with stack.client() as client, stack.client("operator") as operator:
        while sessions := client.get("/v1/sessions", params={"state": "open"}).raise_for_status().json()["items"]:
            for session in sessions:
                client.post(f"/v1/sessions/{session['id']}/close").raise_for_status()
        asyncio.run(_forget_chats(stack))

        def fleet() -> list[dict[str, Any]]:
            replicas: list[dict[str, Any]] = operator.get("/v1/fleet").raise_for_status().json()["replicas"]
            return replicas

        wait_until(lambda: all(each["sessions"] == 0 for each in fleet()), told=lambda: str(fleet()))


async def _forget_chats(stack: RealStack) -> None:
    """Chats of OpenAI's clients end by being forgotten, which takes a day."""
    async with Redis.from_url(stack.ready["redis_url"]) as client:
        pins = RedisPins(client=client, ttl_s=3600)
        for replica in stack.ready["replicas"]:
            for key, _ in await pins.pinned(ReplicaId(replica["id"]), limit=1_000):
                await pins.end(key)


def wait_until(holds: Callable[[], bool], told: Callable[[], str] = lambda: "") -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, told()
        time.sleep(0.5)
