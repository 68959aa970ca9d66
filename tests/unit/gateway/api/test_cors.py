"""A browser that asks first is told what a page of an allowed origin may send."""

from tests.unit.gateway.api.asking import ORIGIN, asked, edge

ASKED = (("Origin", ORIGIN), ("Access-Control-Request-Method", "POST"))


async def test_a_page_of_an_allowed_origin_is_told_what_it_may_send() -> None:
    status, headers, _ = await asked(edge(cors_origins=[ORIGIN], cors_max_age_s=60), *ASKED, method="OPTIONS")
    assert status == 204
    assert headers["access-control-allow-origin"] == ORIGIN
    assert headers["access-control-max-age"] == "60"
    assert set(headers["access-control-allow-methods"].split(", ")) >= {"GET", "POST", "PUT", "DELETE"}
    allowed = set(headers["access-control-allow-headers"].split(", "))
    assert allowed >= {
        "Authorization",
        "Content-Type",
        "Idempotency-Key",
        "Last-Event-ID",
        "X-Request-ID",
        "traceparent",
    }
    assert {part.strip() for part in headers["vary"].split(",")} == {
        *("Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers")
    }


async def test_a_request_for_the_options_of_a_path_is_no_question_of_a_browser() -> None:
    status, _, _ = await asked(edge(cors_origins=[ORIGIN]), ("Origin", ORIGIN), method="OPTIONS")
    assert status == 200
    status, _, _ = await asked(edge(cors_origins=[ORIGIN]), *ASKED, method="POST")
    assert status == 200
