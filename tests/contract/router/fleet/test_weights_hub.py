"""Weights from a server that speaks a model hub's API."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from router.fleet.adapters.weights_cache import WeightsCache
from router.fleet.adapters.weights_hub import HubPlace, WeightsHub
from router.fleet.errors import WeightsUnusable
from tests.support.weights_server import WeightsServer, listed, weights_server

LARGE = "model-00001.safetensors"
FILES = {"config.json": b'{"model_type": "qwen2"}', LARGE: b"weights " * 400_000}
DIGEST = listed(FILES).digest
TREE = "api/models/owner/name/tree/refs/pr/1"


def resolved(path: str) -> str:
    return f"owner/name/resolve/refs/pr/1/{path}"


def entry(path: str, content: bytes, *, is_large: bool = False) -> dict[str, object]:
    lfs = {"lfs": {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}}
    return {"type": "file", "path": path, "size": len(content), "oid": "0" * 40, **(lfs if is_large else {})}


ENTRIES = [
    {"type": "directory", "path": "original", "size": 0},
    entry(".gitattributes", b"*"),
    entry("config.json", FILES["config.json"]),
    entry(LARGE, FILES[LARGE], is_large=True),
]


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with weights_server({resolved(path): content for path, content in FILES.items()}) as served:
        served.served[TREE] = json.dumps(ENTRIES).encode()
        yield served


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=1.0, trust_env=False) as made:
        yield made


@pytest.fixture
def hub(server: WeightsServer, client: httpx.Client) -> WeightsHub:
    return WeightsHub(client=client, place=HubPlace(server.url + "/", "owner/name", "refs/pr/1"), token="secret")


def test_its_files_are_listed_with_the_digest_of_a_folder_of_them(hub: WeightsHub, server: WeightsServer) -> None:
    found = hub.files()
    assert found == listed(FILES)
    assert found.digest == DIGEST
    assert server.starts(resolved(LARGE)) == [], "the hub knows that digest"


def test_they_are_fetched_like_any_others(hub: WeightsHub, server: WeightsServer, tmp_path: Path) -> None:
    server.cut_after[resolved(LARGE)] = 2_000_000
    WeightsCache(source=hub, folder=tmp_path, digest=DIGEST, pause_s=0.01).ensure()
    assert {path: (tmp_path / path).read_bytes() for path in FILES} == FILES
    assert server.starts(resolved(LARGE)) == [0, 2_000_000]
    assert len(server.starts(resolved("config.json"))) == 1


def test_another_revision_than_was_meant_is_seen_before_the_large_files_come(
    hub: WeightsHub, server: WeightsServer, tmp_path: Path
) -> None:
    server.served[resolved("config.json")] = b'{"model_type": "qwen3"}'
    with pytest.raises(WeightsUnusable, match="lists weights with the digest"):
        WeightsCache(source=hub, folder=tmp_path, digest=DIGEST).ensure()
    assert server.starts(resolved(LARGE)) == []


def test_a_hub_that_sends_the_whole_again_is_read_from_where_it_was(hub: WeightsHub, server: WeightsServer) -> None:
    large = hub.files().files[-1]
    assert b"".join(hub.read(large, start=1_000_000)) == FILES[LARGE][1_000_000:]
    server.takes_ranges = False
    assert b"".join(hub.read(large, start=1_000_000)) == FILES[LARGE][1_000_000:]
    assert b"".join(hub.read(large, start=len(FILES[LARGE]))) == b""
    server.takes_ranges = True
    assert b"".join(hub.read(large, start=len(FILES[LARGE]))) == b""


def test_a_list_in_pages_is_read_to_its_end_and_never_at_another_host(hub: WeightsHub, server: WeightsServer) -> None:
    server.served[TREE] = json.dumps(ENTRIES[:3]).encode()
    server.served["page2"] = json.dumps(ENTRIES[3:]).encode()
    server.headers[TREE] = {"Link": f'<{server.url}/page2>; rel="next"'}
    assert hub.files() == listed(FILES)
    server.headers[TREE] = {"Link": '<http://elsewhere.invalid/page2>; rel="next"'}
    with pytest.raises(WeightsUnusable, match="another host"):
        hub.files()
    server.served[TREE] = b"[]"
    server.headers[TREE] = {"Link": f'<{server.url}/{TREE}>; rel="next"'}
    with pytest.raises(WeightsUnusable, match="has no end"):
        hub.files()


def test_the_token_goes_to_no_other_host(hub: WeightsHub, server: WeightsServer) -> None:
    with weights_server({"blob": FILES[LARGE]}) as store:
        server.redirects[resolved(LARGE)] = f"{store.url}/blob"
        assert b"".join(hub.read(hub.files().files[-1], start=0)) == FILES[LARGE]
    assert set(server.keys) == {"Bearer secret"}
    assert store.keys == [None]


@pytest.mark.parametrize(
    ("status", "reason", "may_pass"),
    [
        (401, "without a token", False),
        (403, "without a token", False),
        (429, "HTTP 429", True),
        (503, "HTTP 503", True),
        (418, "HTTP 418", False),
    ],
)
def test_what_the_hub_says_is_told(
    hub: WeightsHub, server: WeightsServer, status: int, reason: str, may_pass: bool
) -> None:
    server.status[TREE] = status
    with pytest.raises(WeightsUnusable, match=reason) as raised:
        hub.files()
    assert raised.value.may_pass is may_pass


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "x"}', b"[]", b"[1, {}]"])
def test_a_list_that_is_none_is_refused(hub: WeightsHub, server: WeightsServer, body: bytes) -> None:
    server.served[TREE] = body
    with pytest.raises(WeightsUnusable):
        hub.files()


@pytest.mark.parametrize(
    ("lfs", "reason"),
    [
        ({"oid": "../../secret", "size": 3}, "no SHA-256 digest"),
        ({"oid": "a" * 64 + "\n", "size": 3}, "no SHA-256 digest"),
        ({"size": 3}, "no SHA-256 digest"),
        ({"oid": "a" * 64}, "how large"),
    ],
)
def test_a_large_file_without_a_digest_or_a_size_is_refused(
    hub: WeightsHub, server: WeightsServer, lfs: dict[str, object], reason: str
) -> None:
    server.served[TREE] = json.dumps([{"type": "file", "path": LARGE, "lfs": lfs}]).encode()
    with pytest.raises(WeightsUnusable, match=reason):
        hub.files()


def test_a_path_that_no_file_can_have_is_refused(hub: WeightsHub, server: WeightsServer) -> None:
    server.served[TREE] = json.dumps([entry(path, b"x", is_large=True) for path in ("a", "\ud800")]).encode()
    with pytest.raises(WeightsUnusable, match="which is no path"):
        hub.files()


def test_small_files_are_small_together_too(
    hub: WeightsHub, server: WeightsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("router.fleet.adapters.weights_hub._MOST_SMALL_BYTES", 10)
    many = {f"part-{number}": b"x" * 4 for number in range(3)}
    server.served |= {resolved(path): content for path, content in many.items()}
    server.served[TREE] = json.dumps([entry(path, content) for path, content in many.items()]).encode()
    with pytest.raises(WeightsUnusable, match="part-2, which is large, or one of many"):
        hub.files()


def test_a_repository_that_is_not_there_is_said(client: httpx.Client, server: WeightsServer) -> None:
    with pytest.raises(WeightsUnusable, match="the hub does not have its list of files"):
        WeightsHub(client=client, place=HubPlace(server.url, "owner/none", "main")).files()


def test_a_hub_that_is_away_may_be_back(client: httpx.Client) -> None:
    with weights_server({"a": b""}) as gone:
        pass
    with pytest.raises(WeightsUnusable, match="could not be read") as raised:
        WeightsHub(client=client, place=HubPlace(gone.url, "owner/name", "main")).files()
    assert raised.value.may_pass


def test_a_large_file_that_the_hub_knows_no_digest_of_is_not_held_in_memory(
    hub: WeightsHub, server: WeightsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("router.fleet.adapters.weights_hub._MOST_SMALL_BYTES", 1_000)
    server.served[TREE] = json.dumps([entry(LARGE, FILES[LARGE])]).encode()
    with pytest.raises(WeightsUnusable, match="knows no digest"):
        hub.files()
