"""What the headers say, and that nobody who obeys them comes too early."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limit_headers import limit_headers, written_duration
from gateway.domain.limits import Standing

REQUESTS = Standing("requests", 120, 119, 0.1, 12.0)
INPUT = Standing("input_tokens", 1000, 600, 24.0, 60.0)
OUTPUT = Standing("output_tokens", 100, 10, 54.0, 60.0)


def test_an_account_without_quotas_is_told_nothing() -> None:
    assert limit_headers(()) == {}


def test_requests_alone() -> None:
    assert limit_headers((REQUESTS,)) == {
        "RateLimit-Policy": '"requests";q=120;w=12',
        "RateLimit": '"requests";r=119;t=1',
        "x-ratelimit-limit-requests": "120",
        "x-ratelimit-remaining-requests": "119",
        "x-ratelimit-reset-requests": "100ms",
    }


def test_of_tokens_openai_is_told_the_scarcer_kind() -> None:
    headers = limit_headers((REQUESTS, INPUT, OUTPUT))
    assert headers["RateLimit"] == '"requests";r=119;t=1, "input_tokens";r=600;t=24, "output_tokens";r=10;t=54'
    assert headers["x-ratelimit-limit-tokens"] == "100"
    assert headers["x-ratelimit-remaining-tokens"] == "10"
    assert headers["x-ratelimit-reset-tokens"] == "54s"
    assert "x-ratelimit-limit-requests" not in limit_headers((OUTPUT,))


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.0, "0ms"),
        (0.0001, "1ms"),
        (0.012, "12ms"),
        (0.9999, "1s"),
        (1.0, "1s"),
        (8.64, "8.64s"),
        (59.9999, "1m0s"),
        (60.0, "1m0s"),
        (62.1, "1m3s"),
        (3600.0, "1h0m0s"),
        (7262.0, "2h1m2s"),
    ],
)
def test_durations_are_written_as_openai_does(seconds: float, written: str) -> None:
    assert written_duration(seconds) == written


@given(st.floats(min_value=0, max_value=100_000))
def test_a_written_duration_is_never_too_short_and_hardly_too_long(seconds: float) -> None:
    parts = re.findall(r"([0-9.]+)(ms|h|m|s)", written_duration(seconds))
    assert "".join(number + unit for number, unit in parts) == written_duration(seconds)
    units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
    told = sum(float(number) * units[unit] for number, unit in parts)
    assert seconds - 1e-9 <= told <= seconds + (1 if seconds >= 59.999 else 0.002)
