from starlette.types import Message

from gateway.api.lost_client import until_gone


async def test_what_a_client_still_sends_is_passed_over_until_it_goes() -> None:
    sent: list[Message] = [{"type": "http.request", "body": b"late"}, {"type": "http.request"}]
    coming = iter([*sent, {"type": "http.disconnect"}, {"type": "never asked for"}])

    async def receive() -> Message:
        return next(coming)

    await until_gone(receive)
    assert next(coming)["type"] == "never asked for"
