"""What a caller wants, read from headers and body."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.asks import Asks, Ticket
from router.domain.pin import Demand, PinMode
from router.http.asgi import Headers
from router.http.errors import RequestInvalid
from router.http.wish import Wish, _wish_read, asks_of, request_id_of, session_key, session_of, wish_of

MESSAGES = [{"role": "system", "content": "You are Mr. Li."}, {"role": "user", "content": "Hello?"}]


def body(**fields: object) -> bytes:
    return json.dumps({"model": "smollm2", "messages": MESSAGES, **fields}).encode()


def test_a_body_tells_model_streaming_and_user() -> None:
    wish = wish_of(body(stream=True, user="u-1"))
    assert (wish.model, wish.is_streamed, wish.user) == ("smollm2", True, "u-1")
    assert wish_of(b'{"stream": null}') == Wish(model=None, is_streamed=False, user=None, cohort="")


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"[]",
        b'"text"',
        b"{",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf{}",
        b'{"a":' * 200_000,
        b'{"model": 7}',
        b'{"model": ""}',
        b'{"model": "\\ud800"}',
        b'{"model": "a\\nb"}',
        b'{"model": "%s"}' % (b"m" * 1025),
        b'{"stream": "true"}',
        b'{"stream": 1}',
        b'{"user": ["u"]}',
        b'{"a": "\x01"}',
    ],
    ids=range(18),
)
def test_what_is_no_request_is_refused(wrong: bytes) -> None:
    with pytest.raises(RequestInvalid):
        wish_of(wrong)


def test_a_number_that_is_too_long_for_us_is_the_engines_to_judge() -> None:
    assert wish_of(b'{"model": "m", "a": ' + b"1" * 5_000 + b"}").model == "m"


@pytest.mark.parametrize(
    "unusual",
    [
        b' {"model": "m", "stream": true} ',
        b'{"model": "m", "stream": false, "stream": true}',
        b'{"model": "n", "m\\u006fdel": "m", "stream": true}',
        b'{"model": "m", "stream": true, "a": "\\ud800"}',
        b'{"model": "m", "stream": true, "a": 1e999}',
        b'{"model": "m", "stream": true, "messages": {}}',
        b'{"model": "m", "stream": true, "messages": [7]}',
        b'{"model": "m", "stream": true, "a": %s}' % (b"[" * 500 + b"]" * 500),
    ],
    ids=range(8),
)
def test_what_is_unusual_is_understood(unusual: bytes) -> None:
    assert wish_of(unusual) == Wish(model="m", is_streamed=True, user=None, cohort="")


@given(
    st.dictionaries(
        st.sampled_from(["model", "stream", "user", "messages", "role"]),
        st.recursive(
            st.none() | st.booleans() | st.text() | st.floats(allow_nan=False) | st.sampled_from(["system", "m"]),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "a"]), inner),
        ),
    )
)
def test_a_glance_finds_what_reading_finds(fields: dict[str, object]) -> None:
    raw = json.dumps(fields).encode()
    try:
        read = _wish_read(raw)
    except RequestInvalid:
        with pytest.raises(RequestInvalid):
            wish_of(raw)
    else:
        assert wish_of(raw) == read


@given(st.binary())
def test_any_bytes_are_understood_or_refused(raw: bytes) -> None:
    with suppress(RequestInvalid):
        wish_of(raw)


def test_sessions_with_one_system_prompt_are_a_cohort() -> None:
    assert wish_of(body()).cohort == wish_of(body(stream=True, user="other")).cohort != ""
    other = [{"role": "system", "content": "You are Mrs. Wang."}]
    assert wish_of(body(messages=other)).cohort != wish_of(body()).cohort


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        {},
        ["x"],
        [{"role": "user", "content": "Hi"}],
        [{"role": "system"}],
        [{"role": "system", "content": []}],
    ],
)
def test_what_shares_no_system_prompt_is_no_cohort(messages: object) -> None:
    assert wish_of(body(messages=messages)).cohort == ""


def test_a_system_prompt_with_half_a_character_is_a_cohort_too() -> None:
    assert wish_of(b'{"messages": [{"role": "system", "content": "\\ud800"}]}').cohort


def test_the_session_is_that_of_the_header_then_the_cookie_then_the_user() -> None:
    cookie = b"theme=dark; drillyard_session=from-cookie"
    assert session_of({b"x-session-id": b"from-header", b"cookie": cookie}, "from-user") == "from-header"
    assert session_of({b"cookie": cookie}, "from-user") == "from-cookie"
    assert session_of({b"cookie": b"theme=dark"}, "from-user") == "from-user"
    assert session_of({b"cookie": b"drillyard_session"}, "from-user") == "from-user"
    assert session_of({}, None) is session_of({}, "") is None


def test_a_request_id_is_never_a_session() -> None:
    assert session_of({b"x-request-id": b"r-1"}, None) is None


@pytest.mark.parametrize("wrong", ["", "x" * 257, "a\nb", "a\x00b", "a\u2028b"])
def test_what_cannot_be_a_key_is_refused(wrong: str) -> None:
    with pytest.raises(RequestInvalid):
        session_key(wrong, param="user")
    with pytest.raises(RequestInvalid):
        session_of({b"x-session-id": wrong.encode()}, None)


def test_a_key_may_be_of_any_script_but_must_be_utf_8() -> None:
    assert session_of({b"x-session-id": "学员-1".encode()}, None) == "学员-1"
    with pytest.raises(RequestInvalid, match="X-Session-ID is not UTF-8"):
        session_of({b"x-session-id": b"\xff"}, None)


def test_headers_say_how_a_call_is_to_be_placed() -> None:
    headers: Headers = {
        b"x-prefer-replica": b"replica-2",
        b"x-session-cohort": b"acme/scenario",
        b"x-session-kv": b"4096",
        b"x-pin-mode": b"hard",
        b"x-drill-id": b"drill",
        b"x-account-id": b"account",
        b"x-priority": b"-1",
        b"x-no-continue": b"1",
    }
    asks = asks_of(headers, "prompt")
    assert asks.demand == Demand(kv_tokens=4096, cohort="acme/scenario")
    assert (asks.prefer, asks.mode) == ("replica-2", PinMode.HARD)
    assert asks.ticket == Ticket(drill="drill", account="account", priority=-1)
    assert not asks.may_continue


def test_without_such_headers_the_cohort_alone_is_asked_for() -> None:
    assert asks_of({b"host": b"here"}, "prompt") == Asks(demand=Demand(cohort="prompt"))
    assert asks_of({b"x-no-continue": b"0"}, "prompt") == Asks(demand=Demand(cohort="prompt"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"x-session-kv", b"0"),
        (b"x-session-kv", b"many"),
        (b"x-session-kv", b"9" * 30),
        (b"x-priority", b"1.5"),
        (b"x-pin-mode", b"firm"),
        (b"x-drill-id", b"x" * 257),
        (b"x-account-id", b"a\tb"),
        (b"x-session-cohort", b"\xff"),
    ],
)
def test_a_header_that_cannot_be_meant_is_refused_by_name(name: bytes, value: bytes) -> None:
    with pytest.raises(RequestInvalid) as refused:
        asks_of({name: value}, "")
    assert refused.value.param is not None
    assert refused.value.param.lower() == name.decode()


@pytest.mark.parametrize("wrong", [b"", b"x" * 129, b"a b\n", "é".encode()])
def test_a_request_id_that_cannot_be_logged_is_replaced(wrong: bytes) -> None:
    assert request_id_of({b"x-request-id": wrong}) is None
    assert request_id_of({b"x-request-id": b"turn-1"}) == "turn-1"
