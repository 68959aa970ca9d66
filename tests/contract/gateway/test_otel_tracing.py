"""Spans reach a real collector as one trace; one that is away costs spans and nothing else."""

import time
from http import HTTPStatus

import pytest

from gateway.adapters import otel_tracing as subject
from gateway.adapters.otel_tracing import otel_tracing
from tests.support.engine_process import free_port
from tests.support.otlp_collector import collector

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_spans_of_one_caller_are_one_trace() -> None:
    with collector() as taken:
        async with otel_tracing(endpoint=taken.url, service="drillyard", instance="one") as tracing:
            outer = tracing.start("gateway.turn", parent_header=CALLER)
            inner = tracing.start("router.carry", parent_header=outer.parent_header)
            inner.note("replica", "replica-1")
            inner.note("continued", 1)
            inner.end(failed="EngineBroke")
            outer.end()
        # What waited when it was left has been sent.
        spans = {span.name: span for span in taken.spans}
        assert (tracing.counts.sent, tracing.counts.lost, tracing.counts.waiting) == (2, 0, 0)
    turn, carry = spans["gateway.turn"], spans["router.carry"]
    assert turn.trace == carry.trace == "0af7651916cd43dd8448eb211c80319c"
    assert (turn.parent, carry.parent) == ("b7ad6b7169203331", turn.id)
    assert (carry.facts, carry.failed) == ({"replica": "replica-1", "continued": 1}, "EngineBroke")
    assert turn.service == "drillyard"


@pytest.mark.parametrize("header", ["", "00-0-0-00", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
async def test_what_is_no_trace_begins_a_new_one(header: str) -> None:
    with collector() as taken:
        async with otel_tracing(endpoint=taken.url, service="drillyard", instance="one") as tracing:
            for _ in range(2):
                tracing.start("gateway.turn", parent_header=header).end()
    assert len({span.trace for span in taken.spans}) == 2
    assert {span.parent for span in taken.spans} == {""}


async def test_a_caller_who_does_not_sample_is_obeyed() -> None:
    with collector() as taken:
        async with otel_tracing(endpoint=taken.url, service="drillyard", instance="one") as tracing:
            span = tracing.start("gateway.turn", parent_header=CALLER[:-2] + "00")
            assert span.parent_header.startswith(CALLER[:35])
            assert span.parent_header.endswith("-00")
            span.end()
    assert taken.spans == []
    assert tracing.counts.ended == 0


async def test_a_collector_that_is_away_delays_nothing_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MOST_WAITING", 100)
    monkeypatch.setattr(subject, "_LAST_CHANCE_S", 0.1)
    async with otel_tracing(endpoint=f"http://127.0.0.1:{free_port()}", service="drillyard", instance="one") as tracing:
        began = time.perf_counter()
        for _ in range(300):
            tracing.start("gateway.turn").end()
        took, counts = time.perf_counter() - began, tracing.counts
        assert (counts.ended, counts.dropped) == (300, 200)
        assert took < 1
        began = time.perf_counter()
    assert time.perf_counter() - began < 5
    assert (counts.sent, counts.lost, counts.waiting) == (0, 100, 0)


async def test_a_collector_that_refuses_is_counted_and_comes_back() -> None:
    with collector() as taken:
        taken.status = HTTPStatus.BAD_REQUEST
        async with otel_tracing(endpoint=taken.url, service="drillyard", instance="one") as tracing:
            tracing.start("gateway.turn").end()
        assert tracing.counts.figures() == {"spans_sent": 0, "spans_lost": 1, "spans_dropped": 0}
