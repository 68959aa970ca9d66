"""What is set of the edge is refused with a reason where it could not mean what was meant."""

import pytest
from pydantic import ValidationError

from gateway.edge_settings import EdgeSettings, TlsSettings


def refused(**values: object) -> str:
    with pytest.raises(ValidationError) as caught:
        EdgeSettings.model_validate(values)
    return str(caught.value)


@pytest.mark.parametrize("origin", ["https://drills.example", "http://127.0.0.1:3000", "https://[::1]:8443"])
def test_an_origin_is_taken_as_browsers_write_it(origin: str) -> None:
    assert EdgeSettings(cors_origins=(origin,)).cors_origins == (origin,)


@pytest.mark.parametrize("origin", ["*", "null", "", "drills.example", "ftp://drills.example", "https://"])
def test_what_is_no_origin_is_refused(origin: str) -> None:
    assert "neither * nor null is one" in refused(cors_origins=[origin])


@pytest.mark.parametrize(
    "origin",
    [
        "https://drills.example/",
        "https://Drills.example",
        "https://drills.example:443",
        "https://me@drills.example",
        "https://drills.example/path",
        "https://drills.example?x",
    ],
)
def test_an_origin_that_no_browser_would_send_is_refused_with_the_one_that_is_meant(origin: str) -> None:
    assert "browsers write this origin as https://drills.example " in refused(cors_origins=[origin]) + " "


def test_a_network_with_bits_of_a_host_is_refused() -> None:
    assert "trusted_proxies" in refused(trusted_proxies=["10.0.0.1/8"])


@pytest.mark.parametrize("half", [{"certificate": "a.pem"}, {"key": "a.pem"}, {"password_file": "a.txt"}])
def test_half_of_a_certificate_is_refused(half: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        TlsSettings.model_validate(half)
