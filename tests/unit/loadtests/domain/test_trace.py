"""Recorded traces become parts: at their times, of their lengths, in their sessions."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.domain.trace import Arrival, read_trace, trace_parts

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9305900,396,109
2023-11-16 18:15:51,879,55
"""


def drill(**settings: object) -> Drill:
    return Drill(shape=Shape.TRACE, wire=Wire.CHAT, trace="x", **settings)  # type: ignore[arg-type]  # tests name fields


def mooncake(*requests: tuple[int, int, int, list[int]]) -> str:
    names = ("timestamp", "input_length", "output_length", "hash_ids")
    return "\n".join(json.dumps(dict(zip(names, request, strict=True))) for request in requests)


def test_azures_times_begin_at_nothing() -> None:
    first, second, third = read_trace(AZURE)
    assert (first.at_s, first.prompt_tokens, first.reply_tokens, first.blocks) == (0.0, 374, 44, ())
    assert second.at_s == pytest.approx(4.25)
    assert third.at_s == pytest.approx(4.31941)


def test_mooncakes_times_are_milliseconds() -> None:
    first, second = read_trace(mooncake((100, 1000, 5, [1, 2]), (350, 700, 6, [1])))
    assert (first.at_s, first.prompt_tokens, first.reply_tokens, first.blocks) == (0.0, 1000, 5, (1, 2))
    assert second.at_s == pytest.approx(0.25)


@pytest.mark.parametrize(
    "text", ["", '{"timestamp": 1}', "[]", "nonsense", "TIMESTAMP,ContextTokens,GeneratedTokens\n"]
)
def test_what_is_no_trace_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_trace(text)


def test_each_request_of_lengths_alone_is_a_session_of_its_own() -> None:
    parts = trace_parts(drill(), read_trace(AZURE))
    assert [part.asks for part in parts] == [1, 1, 1]
    assert not any(part.waits for part in parts)


def test_blocks_shrink_as_their_requests_do() -> None:
    """Scaled to nine tenths of the window: 900 of 2,000 tokens."""
    parts = trace_parts(drill(window_tokens=1000), [Arrival(0.0, 1800, 200, (1, 2, 3, 4)), Arrival(1.0, 1, 1)])
    (long,), (short,) = (part.visits[0].asks for part in parts)
    assert (long.message_tokens, long.reply_tokens, long.block_tokens) == (810, 90, 230)
    assert (short.message_tokens, short.reply_tokens, short.block_tokens) == (1, 1, 0)
    (whole,) = trace_parts(drill(window_tokens=4096), [Arrival(0.0, 1800, 200, (1, 2, 3, 4))])
    assert (whole.visits[0].asks[0].message_tokens, whole.visits[0].asks[0].block_tokens) == (1800, 512)


def test_a_request_joins_the_session_whose_chain_it_goes_on() -> None:
    arrivals = read_trace(
        mooncake(
            (0, 1000, 5, [1, 2]),
            (1, 1000, 5, [1, 3]),  # shares a beginning, and goes on with nothing
            (2, 2000, 5, [1, 2, 4, 5]),
            (3, 2000, 5, [1, 2, 6]),  # the chain has gone on meanwhile
            (4, 3000, 5, [1, 2, 4, 7, 8]),  # the last block of a chain was not full, and may come again otherwise
        )
    )
    assert [[ask.blocks for ask in part.visits[0].asks] for part in trace_parts(drill(), arrivals)] == [
        [(1, 2), (1, 2, 4, 5), (1, 2, 4, 7, 8)],
        [(1, 3)],
        [(1, 2, 6)],
    ]


def test_only_what_comes_in_time_is_played_and_a_faster_rate_brings_more() -> None:
    arrivals = [Arrival(float(second), 10, 10) for second in range(100)]
    assert len(trace_parts(drill(trace_s=10), arrivals)) == 10
    faster = trace_parts(drill(trace_s=10, trace_rate=5), arrivals)
    assert len(faster) == 50
    assert faster[-1].last_s == pytest.approx(9.8)


def test_nothing_of_an_empty_time_is_no_part() -> None:
    assert trace_parts(drill(), []) == ()


@given(st.lists(st.tuples(st.integers(1, 200_000), st.integers(1, 5_000)), min_size=1, max_size=30))
def test_lengths_are_scaled_so_that_the_longest_fits_and_none_grows(lengths: list[tuple[int, int]]) -> None:
    parts = trace_parts(drill(window_tokens=4096), [Arrival(0.0, *each) for each in lengths])
    asks = [ask for part in parts for ask in part.visits[0].asks]
    for ask, (prompt, reply) in zip(asks, lengths, strict=True):
        assert 1 <= (ask.message_tokens or 0) <= prompt
        assert 1 <= (ask.reply_tokens or 0) <= reply
        assert (ask.message_tokens or 0) + (ask.reply_tokens or 0) <= 4096


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=20))
def test_every_request_is_played_once_and_in_order_within_its_session(chains: list[list[int]]) -> None:
    arrivals = [Arrival(float(place), 10, 10, tuple(chain)) for place, chain in enumerate(chains)]
    parts = trace_parts(drill(), arrivals)
    times = [[ask.at_s for ask in part.visits[0].asks] for part in parts]
    assert sorted(at for each in times for at in each) == [arrival.at_s for arrival in arrivals]
    assert all(each == sorted(each) for each in times)
    assert [part.trainee for part in parts] == list(range(len(parts)))
