"""Each answer says what browsers may do with it, and the client is who trusted proxies say."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from gateway.api.cors import Preflight
from gateway.api.edge_headers import EdgeHeaders, client_network_of
from tests.unit.gateway.api.asking import ORIGIN, asked, edge


async def test_every_answer_is_guarded_and_none_is_kept() -> None:
    _, headers, _ = await asked(edge())
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers
    assert not [name for name in headers if name.startswith("access-control")]
    assert "vary" not in headers


async def test_an_answer_that_says_so_itself_may_be_kept_and_may_be_a_page() -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        own = {"Cache-Control": "no-cache, no-transform", "Content-Security-Policy": "default-src 'self'"}
        await PlainTextResponse("", headers=own)(scope, receive, send)

    _, headers, _ = await asked(edge(), app=page)
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["content-security-policy"] == "default-src 'self'"


async def test_over_https_browsers_are_told_to_stay_with_it() -> None:
    behind = edge(trusted_proxies=["10.0.0.0/8"])
    said = (("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https"))
    _, headers, scope = await asked(behind, *said, peer=("10.0.0.1", 9))
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert client_network_of(scope) == "203.0.113.0/24"
    _, headers, _ = await asked(behind, *said)
    assert "strict-transport-security" not in headers
    off = edge(trusted_proxies=["10.0.0.0/8"], hsts_s=0)
    _, headers, _ = await asked(off, *said, peer=("10.0.0.1", 9))
    assert "strict-transport-security" not in headers


async def test_only_the_header_that_the_proxies_write_is_read() -> None:
    both = (("X-Forwarded-For", "198.51.100.9"), ("Forwarded", "for=203.0.113.7"))
    old, new = edge(trusted_proxies=["10.0.0.0/8"]), edge(trusted_proxies=["10.0.0.0/8"], forwarded_by="forwarded")
    assert client_network_of((await asked(old, *both, peer=("10.0.0.1", 9)))[2]) == "198.51.100.0/24"
    assert client_network_of((await asked(new, *both, peer=("10.0.0.1", 9)))[2]) == "203.0.113.0/24"


async def test_a_client_without_an_address_has_no_network() -> None:
    assert client_network_of((await asked(edge(), peer=None))[2]) is None


async def test_a_page_of_an_allowed_origin_may_read_the_answer() -> None:
    _, headers, _ = await asked(edge(cors_origins=[ORIGIN]), ("Origin", ORIGIN))
    assert headers["access-control-allow-origin"] == ORIGIN
    assert headers["vary"] == "Origin"
    assert "Retry-After" in headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in headers


@pytest.mark.parametrize(
    "origins",
    [
        ("https://evil.example",),
        ("null",),
        ("*",),
        ("",),
        (ORIGIN.upper(),),
        (ORIGIN + ":443",),
        (ORIGIN + ".evil.example",),
        ("http://drills.example",),
        (ORIGIN, "https://evil.example"),
        (f"{ORIGIN}, https://evil.example",),
    ],
)
async def test_no_other_page_may(origins: tuple[str, ...]) -> None:
    settings = edge(cors_origins=[ORIGIN])
    wanted = ("Access-Control-Request-Method", "POST")
    for method in ("GET", "OPTIONS"):
        status, headers, _ = await asked(settings, *(("Origin", one) for one in origins), wanted, method=method)
        assert status == 200, "the route answers, and nothing else"
        assert not [name for name in headers if name.startswith("access-control")]
        assert headers["vary"] == "Origin"


async def test_what_is_no_request_is_let_through() -> None:
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    async def never() -> Message:
        raise AssertionError

    async def nowhere(_: Message) -> None:
        raise AssertionError

    await EdgeHeaders(Preflight(app))({"type": "lifespan"}, never, nowhere)
    assert seen == ["lifespan"]
