import asyncio
import io

from rich.console import Console

from gateway.cli.api_client import Api
from gateway.cli.chat_session import ChatSession, Said
from tests.integration.cli.wire_server import KEYS, WireServer, Wrong


async def test_a_cancelled_reply_is_stopped_on_the_server_and_the_chat_goes_on(server: WireServer) -> None:
    server.wrong[1] = Wrong.STALL
    out = io.StringIO()
    async with Api(base_url=server.base_url) as api, asyncio.TaskGroup() as group:
        client = api.as_holder_of(KEYS[0])
        talk = ChatSession(client=client, reader=client, screen=Console(file=out, width=100))
        session = await talk.begin(scenario="zh", session=None, default=None)
        saying = group.create_task(talk.say("hello"))
        assert await asyncio.to_thread(server.reached.wait, 10)
        saying.cancel()
        assert await saying is Said.ON
        assert server.cancelled == [(session.id, 1)]
        server.wrong.clear()
        assert await talk.say("again") is Said.ON
        await talk.close()
        assert await talk.say("too late") is Said.LAST
    assert "the reply was stopped" in out.getvalue()
    assert "turn 1, replica-0 (new)" in out.getvalue()
