"""What an operator may call a replica, and where it may be."""

import pytest

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.domain.replica_spec import checked_spec
from router.errors import ReplicaInvalid


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://10.0.0.7:8000", "http://10.0.0.7:8000"),
        ("http://10.0.0.7:8000/", "http://10.0.0.7:8000"),
        ("https://vllm-0.vllm.prod.svc/base/", "https://vllm-0.vllm.prod.svc/base"),
        ("http://[fd00::7]:8000", "http://[fd00::7]:8000"),
    ],
)
def test_a_replica_is_a_name_and_an_address(url: str, kept: str) -> None:
    assert checked_spec("vllm-0", url, ["m"]) == ReplicaSpec(ReplicaId("vllm-0"), kept, frozenset({"m"}))


@pytest.mark.parametrize("replica", ["", "-a", "a-", "a b", "a\n", "ä", "a" * 129, "a/b", "a,b"])
def test_ids_are_plain(replica: str) -> None:
    with pytest.raises(ReplicaInvalid, match="id"):
        checked_spec(replica, "http://a:1")


@pytest.mark.parametrize("replica", ["a", "vllm-0", "10.0.0.7:8000", "A_b.c", "a" * 128])
def test_ids_may_be_host_names_and_addresses(replica: str) -> None:
    assert checked_spec(replica, "http://a:1").id == replica


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a:8000",
        "ftp://a",
        "http://",
        "http://a:port",
        "http://a:0",
        "http://a:99999",
        "http://[fd00",
        "http://user@a",
        "http://a?x=1",
        "http://a#x",
        "http://a b",
        "http://a\r\nX: y",
        "http://ä",
        "http://a/" + "x" * 2_048,
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ReplicaInvalid, match="URL"):
        checked_spec("a", url)


@pytest.mark.parametrize("models", [[""], ["m\n"], ["m" * 201], [f"m{n}" for n in range(65)]])
def test_models_are_few_and_printable(models: list[str]) -> None:
    with pytest.raises(ReplicaInvalid, match="models"):
        checked_spec("a", "http://a:1", models)
