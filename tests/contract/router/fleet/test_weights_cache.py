"""Weights from a web server on loopback: whole or not at all, whatever the server, the disk or the process does."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from router.fleet.adapters.weights_cache import LOCK, MARK, WeightsCache
from router.fleet.adapters.weights_download import PARTIAL
from router.fleet.adapters.weights_folder import WeightsFolder
from router.fleet.adapters.weights_listing import listed_folder
from router.fleet.domain.weights_list import LIST_NAME
from router.fleet.errors import WeightsUnusable
from tests.support.weights_server import WeightsServer, listed, weights_server

LARGE = "sub/model.safetensors"
FILES = {
    "config.json": b"{}",
    "empty.txt": b"",
    LARGE: random.Random(7).randbytes(9_000_000),  # noqa: S311 - they are to be the same each time
}
DIGEST = listed(FILES).digest
ROOT = Path(__file__).parents[4]


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with weights_server(FILES) as served:
        yield served


def cache_of(server: WeightsServer, folder: Path, digest: str = DIGEST) -> WeightsCache:
    return WeightsCache(source=WeightsFolder(url=server.url, silence_s=1.0), folder=folder, digest=digest, pause_s=0.01)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def held(folder: Path) -> dict[str, bytes]:
    """What is there, but for what is hidden and the list."""
    places = [place for place in folder.rglob("*") if place.is_file() and not place.name.startswith(".")]
    found = {place.relative_to(folder).as_posix(): place.read_bytes() for place in places}
    return {path: content for path, content in found.items() if path != LIST_NAME and not path.startswith(".")}


def test_all_of_it_is_there_and_the_next_one_asks_nothing(server: WeightsServer, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    folder = tmp_path / "models" / "qwen"
    cache = cache_of(server, folder)
    assert not cache.is_there()
    cache.ensure(told=lambda done, total: told.append((done, total)))
    assert held(folder) == FILES
    assert cache.is_there()
    size = sum(map(len, FILES.values()))
    assert told[-1] == (size, size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    asked = len(server.asked)
    cache_of(server, folder).ensure()
    assert len(server.asked) == asked
    assert not (folder / PARTIAL).exists()
    assert subprocess.run(["sha256sum", "-c", LIST_NAME], cwd=folder, capture_output=True, check=True).stdout


def test_another_digest_than_the_source_has_fetches_nothing(server: WeightsServer, tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable, match=r"lists weights with the digest sha256:"):
        cache_of(server, tmp_path, "sha256:" + "0" * 64).ensure()
    assert held(tmp_path) == {}
    assert server.starts(LARGE) == []


def test_other_weights_are_never_written_over(server: WeightsServer, tmp_path: Path) -> None:
    cache_of(server, tmp_path).ensure()
    other = dict(FILES, **{"config.json": b"[]"})
    with weights_server(other) as newer:
        with pytest.raises(WeightsUnusable, match=rf"is for other weights, {DIGEST}; name another folder"):
            cache_of(newer, tmp_path, listed(other).digest).ensure()
        assert newer.asked == []
    assert held(tmp_path) == FILES
    assert not cache_of(newer, tmp_path, listed(other).digest).is_there()


def test_wrong_bytes_are_named_and_never_kept(server: WeightsServer, tmp_path: Path) -> None:
    server.served[LARGE] = b"x" * len(FILES[LARGE])
    cache = cache_of(server, tmp_path)
    with pytest.raises(WeightsUnusable, match=f"{LARGE} has other bytes than its digest says"):
        cache.ensure()
    assert LARGE not in held(tmp_path)
    assert not cache.is_there()
    server.served[LARGE] = FILES[LARGE]
    cache.ensure()
    assert held(tmp_path) == FILES


@pytest.mark.parametrize("content", [FILES[LARGE] + b"x", FILES[LARGE][:-1]], ids=["longer", "shorter"])
def test_another_length_is_no_better(server: WeightsServer, tmp_path: Path, content: bytes) -> None:
    server.served[LARGE] = content
    with pytest.raises(WeightsUnusable, match=LARGE):
        cache_of(server, tmp_path).ensure()
    assert LARGE not in held(tmp_path)


@pytest.mark.parametrize("takes_ranges", [True, False])
def test_what_breaks_off_is_gone_on_with(server: WeightsServer, tmp_path: Path, takes_ranges: bool) -> None:
    server.takes_ranges = takes_ranges
    server.cut_after[LARGE] = 5_000_000 if takes_ranges else 9_000_000
    (tmp_path / PARTIAL).mkdir()
    begun = tmp_path / PARTIAL / listed(FILES).files[-1].sha256
    begun.write_bytes(FILES[LARGE][:1_000_000])
    cache_of(server, tmp_path).ensure()
    assert held(tmp_path) == FILES
    assert server.starts(LARGE)[0] == (1_000_000 if takes_ranges else 0)


def test_an_answer_that_is_cut_short_every_time_is_put_together(server: WeightsServer, tmp_path: Path) -> None:
    server.cut_after[LARGE] = 4_400_000
    cache_of(server, tmp_path).ensure()
    assert held(tmp_path) == FILES
    assert sorted(set(server.starts(LARGE)))[0] == 0
    assert max(server.starts(LARGE)) > 4_000_000


def test_a_beginning_that_was_spoilt_is_thrown_away(server: WeightsServer, tmp_path: Path) -> None:
    (tmp_path / PARTIAL).mkdir()
    (tmp_path / PARTIAL / listed(FILES).files[-1].sha256).write_bytes(b"y" * 1_000_000)
    cache_of(server, tmp_path).ensure()
    assert held(tmp_path) == FILES


@pytest.mark.parametrize("status", [404, 403, 500])
def test_a_server_that_does_not_give_it_is_named_with_the_file(
    server: WeightsServer, tmp_path: Path, status: int
) -> None:
    cache = cache_of(server, tmp_path)
    server.status["config.json"] = status
    with pytest.raises(WeightsUnusable, match=r"config\.json"):
        cache.ensure()
    assert not cache.is_there()


def test_a_server_that_is_away_is_said_without_its_address(tmp_path: Path) -> None:
    with weights_server(FILES) as gone:
        pass
    with pytest.raises(WeightsUnusable, match=r"^SHA256SUMS cannot be read \(GenericError\)$"):
        cache_of(gone, tmp_path).ensure()


def test_a_server_that_falls_silent_is_given_up_and_what_came_is_kept(server: WeightsServer, tmp_path: Path) -> None:
    server.held.clear()
    source = WeightsFolder(url=server.url, silence_s=0.1)
    with pytest.raises(WeightsUnusable, match=LARGE):
        WeightsCache(source=source, folder=tmp_path, digest=DIGEST, pause_s=0.01).ensure()
    server.held.set()
    cache_of(server, tmp_path).ensure()
    assert held(tmp_path) == FILES


def test_a_path_that_leaves_the_folder_is_refused(server: WeightsServer, tmp_path: Path) -> None:
    server.served[LIST_NAME] = f"{'a' * 64}  ../outside\n".encode()
    with pytest.raises(WeightsUnusable, match="not inside the folder"):
        cache_of(server, tmp_path / "in").ensure()
    assert [place.name for place in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("content", [b"<html>Welcome</html>", b"a" * (5 << 20), b""])
def test_a_list_that_is_none_is_refused(server: WeightsServer, tmp_path: Path, content: bytes) -> None:
    server.served[LIST_NAME] = content
    with pytest.raises(WeightsUnusable, match="list"):
        cache_of(server, tmp_path).ensure()


def test_a_disk_without_room_is_said_before_the_first_byte(
    server: WeightsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 5, 5))
    with pytest.raises(WeightsUnusable, match=r"need 9,000,002 bytes more, and 5 are free on the disk"):
        cache_of(server, tmp_path).ensure()
    assert server.starts(LARGE) == []


def test_a_file_that_was_changed_is_found_by_its_size_or_when_all_is_read(
    server: WeightsServer, tmp_path: Path
) -> None:
    cache = cache_of(server, tmp_path)
    cache.ensure()
    (tmp_path / "config.json").write_bytes(b"{ }")
    assert not cache.is_there()
    cache.ensure()
    (tmp_path / LARGE).write_bytes(b"x" * len(FILES[LARGE]))
    assert cache.is_there(), "sizes are all that is compared"
    before = len(server.starts(LARGE))
    cache.ensure(verify=True)
    assert held(tmp_path) == FILES
    assert len(server.starts(LARGE)) == before + 1
    cache.ensure(verify=True)
    assert len(server.starts(LARGE)) == before + 1


@pytest.mark.parametrize("mark", [b"", b"[]", b'{"digest": 7', json.dumps({"digest": DIGEST}).encode()])
def test_without_a_mark_that_says_so_everything_is_read(server: WeightsServer, tmp_path: Path, mark: bytes) -> None:
    cache_of(server, tmp_path).ensure()
    (tmp_path / MARK).write_bytes(mark)
    cache = cache_of(server, tmp_path)
    assert not cache.is_there()
    cache.ensure()
    assert cache.is_there()
    assert len(server.starts(LARGE)) == 1, "what is there and right is not fetched again"


def test_a_folder_that_cannot_be_written_is_said(server: WeightsServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WeightsUnusable, match="the folder of the weights cannot be used: Not a directory"):
        cache_of(server, tmp_path / "file" / "in").ensure()
    assert not cache_of(server, tmp_path / "file" / "in").is_there()


def test_who_comes_second_waits_and_finds_all_of_it(server: WeightsServer, tmp_path: Path) -> None:
    server.held.clear()
    first = threading.Thread(target=cache_of(server, tmp_path).ensure)
    first.start()
    assert server.is_holding.wait(10)
    waited = threading.Event()
    second = threading.Thread(
        target=cache_of(server, tmp_path).ensure, kwargs={"told": lambda _, total: waited.set() if not total else None}
    )
    second.start()
    assert waited.wait(10)
    server.held.set()
    first.join()
    second.join()
    assert held(tmp_path) == FILES
    assert len(server.starts(LARGE)) == 1


def test_a_process_that_is_killed_in_the_middle_leaves_nothing_half_and_the_next_goes_on(
    server: WeightsServer, tmp_path: Path
) -> None:
    server.held.clear()
    server.held_after = 6_000_000
    folder = tmp_path / "models"
    words = [sys.executable, "-m", "gateway.cli.main", "fleet", "weights", server.url]
    words += ["--digest", DIGEST, "--into", str(folder)]
    partial = folder / PARTIAL / listed(FILES).files[-1].sha256
    with subprocess.Popen(words, cwd=ROOT) as process:
        until(lambda: partial.is_file() and partial.stat().st_size > 0)
        process.send_signal(signal.SIGKILL)
    assert LARGE not in held(folder)
    assert not cache_of(server, folder).is_there()
    begun = partial.stat().st_size
    server.held.set()
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == f"{folder} holds {DIGEST}\n"
    assert held(folder) == FILES
    assert server.starts(LARGE) == [0, begun]


def test_a_folder_of_this_machine_is_listed_and_is_a_source(tmp_path: Path) -> None:
    for path, content in {**FILES, ".cache/x": b"hidden", LIST_NAME: b"old"}.items():
        (tmp_path / "from" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "from" / path).write_bytes(content)
    assert listed_folder(tmp_path / "from").digest == DIGEST
    source = WeightsFolder(url=(tmp_path / "from").as_uri())
    WeightsCache(source=source, folder=tmp_path / "to", digest=DIGEST).ensure()
    assert held(tmp_path / "to") == FILES


def test_a_folder_with_nothing_in_it_or_none_at_all_cannot_be_listed(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable, match="names no file"):
        listed_folder(tmp_path)
    with pytest.raises(WeightsUnusable, match="is no folder"):
        listed_folder(tmp_path / "none")


def test_an_object_store_is_read_with_the_environments_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {"ACCESS_KEY_ID": "id", "SECRET_ACCESS_KEY": "secret", "REGION": "eu-central-1"}
    with weights_server({f"models/qwen/{path}": content for path, content in FILES.items()}) as store:
        store.served[f"models/qwen/{LIST_NAME}"] = listed(FILES).text.encode()
        store.cut_after[f"models/qwen/{LARGE}"] = 5_000_000
        for name, value in {**facts, "ENDPOINT_URL": store.url}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        source = WeightsFolder(url="s3://models/qwen", silence_s=1.0)
        WeightsCache(source=source, folder=tmp_path, digest=DIGEST, pause_s=0.01).ensure()
    assert held(tmp_path) == FILES
    assert all(key is not None and "Credential=id/" in key for key in store.keys)


@pytest.mark.parametrize("url", ["ftp://host/x", "nonsense", "file:///nowhere/at/all", "s3://"])
def test_what_is_no_source_is_said(url: str, tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable):
        WeightsCache(source=WeightsFolder(url=url), folder=tmp_path, digest=DIGEST).ensure()
    assert os.listdir(tmp_path) in ([], [LOCK])
