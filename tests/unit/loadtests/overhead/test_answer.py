"""Where an answer ends, and what is wrong with one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from loadtests.overhead.answer import (
    TURN_MARK,
    HeardAnswer,
    fault_of_stream,
    fault_of_turn,
    fault_of_whole,
    lateness_ns,
    lateness_of_turn_ns,
    replica_of,
    replica_of_turn,
)
from loadtests.overhead.wire import stream, whole

PIECES = 3
STREAM = stream(1, has_token_ids=True)
STREAMED = STREAM.start + b"".join(STREAM.piece(1_000 * n) for n in range(PIECES)) + STREAM.end


def heard(pieces: list[bytes]) -> tuple[list[bool], HeardAnswer]:
    answer = HeardAnswer()
    return [answer.feed(piece, now) for now, piece in enumerate(pieces, start=1)], answer


@given(st.sampled_from([whole(0), STREAMED]), st.lists(st.integers(1, 2_000), max_size=6))
def test_it_is_over_at_its_end_wherever_it_is_cut(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted({cut for cut in cuts if cut < len(data)}), len(data)]
    over, answer = heard([data[start:end] for start, end in pairwise(places)])
    assert over == [False] * (len(over) - 1) + [True]
    assert answer.whole() == data


def test_the_first_piece_with_a_text_is_noticed() -> None:
    _, answer = heard([STREAM.start, STREAM.piece(5), STREAM.piece(6)])
    assert answer.first_ns == 2


def test_a_right_answer_has_no_fault() -> None:
    assert fault_of_whole(whole(0)) is None
    assert fault_of_stream(STREAMED, PIECES) is None


def test_events_may_be_framed_anew() -> None:
    events = b"".join(line + b"\n\n" for line in STREAMED.replace(b"\r\n", b"\n").split(b"\n") if line[:5] == b"data:")
    half = events.index(b'"content":"0') + 5
    framed = b"%x\r\n%b\r\n%X\r\n%b\r\n0\r\n\r\n" % (half, events[:half], len(events) - half, events[half:])
    assert fault_of_stream(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + framed, PIECES) is None


def test_what_is_missing_is_told() -> None:
    assert fault_of_whole(b"HTTP/1.1 503 Service Unavailable\r\n\r\n") == "HTTP/1.1 503 Service Unavailable"
    assert fault_of_whole(whole(0).replace(b"Paris", b"Rome!")) == "not the answer that was sent"
    assert fault_of_stream(STREAM.start + STREAM.piece(1) + STREAM.end, PIECES) == f"1 of {PIECES} pieces, or no end"
    assert fault_of_stream(STREAMED.replace(b"[DONE]", b"[OVER]"), PIECES) is not None
    assert fault_of_stream(b"", PIECES) == "an empty answer"


def test_an_answer_names_its_replica_and_its_pieces_their_time() -> None:
    assert [replica_of(each) for each in (whole(0), STREAMED, b"")] == [b"0", b"1", b""]
    assert lateness_ns(STREAM.piece(100) + STREAM.piece(200), 250) == [150, 50]


def turn(*texts: str, end: str = "done") -> bytes:
    deltas = "".join(f'id: 1-2\nevent: delta\ndata: {{"text":"{text}"}}\n\n' for text in texts)
    events = f"id: 1-1\nevent: accepted\ndata: {{}}\n\n{deltas}id: 1-9\nevent: {end}\ndata: {{}}\n\n".encode()
    half = len(events) // 2
    framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (events[:half], events[half:], b""))
    return b"HTTP/1.1 200 OK\r\nx-replica-id: r7\r\ntransfer-encoding: chunked\r\n\r\n" + framed


ONE, TWO, THREE = (f"{100 * n:015}" for n in (1, 2, 3))


@given(st.integers(1, 44))
def test_pieces_of_a_turn_may_come_together_or_cut(place: int) -> None:
    said = ONE + TWO + THREE
    assert fault_of_turn(turn(said[:place], said[place:]), PIECES) is None


def test_what_a_turn_lacks_is_told() -> None:
    assert fault_of_turn(turn(ONE, TWO), PIECES) == f"2 of {PIECES} pieces, or not done"
    assert fault_of_turn(turn(ONE, TWO, THREE, end="error"), PIECES) is not None
    assert fault_of_turn(b"HTTP/1.1 429 Too Many Requests\r\n\r\n", PIECES) == "HTTP/1.1 429 Too Many Requests"


def test_a_turn_names_its_replica_its_first_text_and_the_time_of_its_pieces() -> None:
    answer, heard = turn(ONE + TWO, THREE), HeardAnswer(TURN_MARK)
    assert heard.feed(answer, 5)
    assert (heard.first_ns, replica_of_turn(answer), replica_of_turn(b"")) == (5, b"r7", b"")
    assert lateness_of_turn_ns(b'{"text":"%b"}{"text":"%b"}' % ((ONE + TWO).encode(), THREE[:9].encode()), 300) == [
        *(200, 100),
    ]
