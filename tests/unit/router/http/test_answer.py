"""How a whole answer is sent."""

from router.http.answer import Answer, send_answer, told
from router.http.asgi import Message


async def sent(answer: Answer, request_id: bytes | None = None) -> list[Message]:
    found: list[Message] = []

    async def send(message: Message) -> None:
        found.append(message)

    await send_answer(send, answer, request_id=request_id)
    return found


async def test_an_answer_has_its_length_and_its_kind() -> None:
    start, body = await sent(told({"a": "é"}, status=201), b"r-1")
    assert (start["status"], body["body"]) == (201, '{"a":"é"}'.encode())
    headers = dict(start["headers"])
    assert headers[b"content-length"] == b"10"
    assert (headers[b"content-type"], headers[b"x-request-id"]) == (b"application/json", b"r-1")


def test_half_a_surrogate_pair_of_an_engines_can_be_told() -> None:
    assert told({"reason": "\ud800"}).body == b'{"reason":"?"}'


async def test_one_without_content_has_neither() -> None:
    start, _ = await sent(Answer(204))
    assert start["headers"] == []
