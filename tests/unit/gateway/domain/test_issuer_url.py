import pytest

from gateway.domain.issuer_url import may_be_asked


@pytest.mark.parametrize(
    "url",
    [
        "https://id.example",
        "https://id.example:8443/realms/drill/",
        "https://id.example/keys?version=2",
        "http://127.0.0.1:8080/realms",
        "http://localhost/realms",
        "http://[::1]:9/realms",
    ],
)
def test_these_may_be_asked(url: str) -> None:
    assert may_be_asked(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "id.example",
        "http://id.example",
        "http://127.0.0.1.example/",
        "http://10.0.0.1/",
        "ftp://id.example",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user:secret@id.example/",
        "https://id.example/#part",
        "https://id.example/a b",
        "https://id.example:0/",
        "https://id.example:99999/",
        "https://[::1/",
        "https://id.exämple/",
        "https://id.example/" + "a" * 2048,
    ],
)
def test_these_may_not(url: str) -> None:
    assert not may_be_asked(url)
