"""More streams at once than one would dare: all of them are heard to their end."""

import asyncio
from pathlib import Path

import httpx

from loadtests.continuity.heard import HeardReply
from loadtests.continuity.house import House

STREAMS = 1_100


async def test_more_than_a_thousand_streams_at_once_are_all_heard(tmp_path: Path) -> None:
    settings = (
        f"max_in_flight={STREAMS}",
        "first_byte_timeout_s=60",
        "chunk_timeout_s=30",
        "probe_timeout_s=20",
        "answer_timeout_s=60",
    )
    with House(replicas=2, speed_up=20, log=tmp_path / "router.log", settings=settings) as house:
        together = asyncio.Barrier(STREAMS)

        async def heard(client: httpx.AsyncClient, number: int) -> HeardReply:
            """All have begun before any of them goes on."""
            messages = [{"role": "user", "content": f"I am {number}. What do you say?"}]
            options = {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 8}
            body = {"model": "smollm2", "messages": messages, **options}
            reply = HeardReply()
            headers = {"X-Session-ID": f"session-{number}"}
            async with client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as answer:
                assert answer.status_code == 200
                await together.wait()
                async for line in answer.aiter_lines():
                    reply.line(line)
            return reply

        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=house.url, trust_env=False, timeout=60, limits=limits) as client:
            replies = await asyncio.gather(*(heard(client, number) for number in range(STREAMS)))
        assert all(reply.is_done and reply.finish and not reply.failure for reply in replies)
        assert house.metric("drillyard_router_turns_total") == STREAMS
        assert house.metric("drillyard_router_in_flight") == 0
        assert house.is_whole()
