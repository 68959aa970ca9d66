"""A trainee plays its visits, and tells whose fault it is when it comes late."""

import json
import time
from pathlib import Path

from loadtests.domain.figuring import figures_of
from loadtests.domain.part import Ask, Part, Visit
from loadtests.domain.rows import Kind
from loadtests.users.trainee import play
from tests.support.load_stage import rows_in, stage
from tests.support.scripted_http import scripted_http, streamed, whole

SLOW_S = 0.4


def event(number: int, name: str, **data: object) -> bytes:
    return f"id: 1-{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n".encode()


def opened_slowly() -> bytes:
    time.sleep(SLOW_S)
    return b'{"id": "s1"}'


def test_a_session_that_is_opened_late_makes_no_late_client(tmp_path: Path) -> None:
    reply = streamed(
        event(1, "accepted", turn=1), event(2, "delta", text="Yes"), event(3, "done", finish_reason="stop")
    )
    part = Part(trainee=0, visits=(Visit(opens_s=0.0, asks=(Ask(at_s=0.0),)),))
    with scripted_http(streamed(opened_slowly), reply, whole(200, {}), whole(200, {"items": []})) as server:
        here = stage(tmp_path, server.url)
        play(here, part)
        here.book.close()
    rows = rows_in(tmp_path)
    (turn,) = (row for row in rows if row.kind is Kind.TURN)
    assert turn.planned_s == 0.0
    assert turn.started_s >= SLOW_S
    figures = figures_of(rows, drill=here.drill)
    assert figures.ttft_planned.p50 is not None
    assert figures.ttft_planned.p50 >= SLOW_S
    assert figures.client_lag.worst is not None
    assert figures.client_lag.worst < SLOW_S / 2
