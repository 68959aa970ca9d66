import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Command
from tests.support.weights_server import WeightsServer, listed, weights_server

FILES = {"config.json": b"{}", "sub/model.safetensors": b"weights " * 2**18}
DIGEST = listed(FILES).digest


@pytest.fixture
def server() -> Iterator[WeightsServer]:
    with weights_server(FILES) as served:
        yield served


def written(folder: Path) -> Path:
    for path, content in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def test_a_folder_is_listed_and_fetched_by_the_digest_that_was_printed(drillyard: Command, tmp_path: Path) -> None:
    origin = written(tmp_path / "from")
    told = drillyard("fleet", "weights", str(origin), "--list")
    assert (told.code, told.out) == (0, listed(FILES).text)
    assert told.err.splitlines() == ["2 files, 2.0 MiB", DIGEST]
    assert (origin / "SHA256SUMS").read_text() == told.out
    words = ("fleet", "weights", origin.as_uri(), "--digest", DIGEST, "--into", str(tmp_path / "to"))
    fetched = drillyard(*words)
    assert (fetched.code, fetched.out) == (0, f"{tmp_path / 'to'} holds {DIGEST}\n")
    assert all((tmp_path / "to" / path).read_bytes() == content for path, content in FILES.items())


def test_a_source_elsewhere_says_what_it_has_and_fetches_nothing(drillyard: Command, server: WeightsServer) -> None:
    told = drillyard("fleet", "weights", server.url, "--list")
    assert (told.code, told.out) == (0, listed(FILES).text)
    assert DIGEST in told.err
    assert [path for path, _ in server.asked] == ["SHA256SUMS"]


def test_bytes_that_were_changed_are_found_and_fetched_anew(
    drillyard: Command, server: WeightsServer, tmp_path: Path
) -> None:
    words = ("fleet", "weights", server.url, "--digest", DIGEST, "--into", str(tmp_path))
    assert drillyard(*words).code == 0
    (tmp_path / "config.json").write_bytes(b"[]")
    assert drillyard(*words).code == 0
    assert (tmp_path / "config.json").read_bytes() == b"[]", "sizes are all that is compared"
    assert drillyard(*words, "--verify").code == 0
    assert (tmp_path / "config.json").read_bytes() == b"{}"


def test_wrong_weights_end_with_1_and_the_file(drillyard: Command, server: WeightsServer, tmp_path: Path) -> None:
    server.served["config.json"] = b"[]"
    ended = drillyard("fleet", "weights", server.url, "--digest", DIGEST, "--into", str(tmp_path))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "drillyard: config.json has other bytes than its digest says\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("https://host/x",), "--digest and --into are missing; or give --list, to learn the digest"),
        (("https://host/x", "--digest", "abc", "--into", "x"), "--digest is written sha256: and 64 hexadecimal digits"),
        (("hub:a/b@c", "--digest", DIGEST, "--into", "x", "--hub", "x"), "--hub is an http:// or https:// address"),
        (("ftp://host/x", "--list"), "ftp is none of the places that weights come from"),
        (("hub:name@main", "--list"), "a source at the hub is written hub:owner/name@revision"),
        (("hub:owner/name@main", "--list"), "it is not said where the hub is; say so with --hub or HF_ENDPOINT"),
        (("/nowhere/at/all", "--list"), "/nowhere/at/all is no folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_said_in_one_line(
    drillyard: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], reason: str
) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    ended = drillyard("fleet", "weights", *words)
    assert ended.code == 1
    assert ended.err.startswith(f"drillyard: {reason}")
    assert len(ended.err.splitlines()) == 1


def test_a_hub_is_read_with_its_token(
    drillyard: Command, server: WeightsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("HF_TOKEN", "secret")
    server.served["api/models/owner/name/tree/main"] = b'[{"type": "file", "path": "config.json", "size": 2}]'
    server.served["owner/name/resolve/main/config.json"] = b"{}"
    told = drillyard("fleet", "weights", "hub:owner/name@main", "--list")
    assert (told.code, told.out) == (0, listed({"config.json": b"{}"}).text)
    assert set(server.keys) == {"Bearer secret"}
    assert "secret" not in told.out + told.err


def test_ctrl_c_waits_for_no_silent_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        source = f"http://127.0.0.1:{silent.getsockname()[1]}"
        words = ("fleet", "weights", source, "--digest", DIGEST, "--into", str(tmp_path))
        with subprocess.Popen([sys.executable, "-m", "gateway.cli.main", *words]) as running:
            try:
                with silent.accept()[0]:
                    running.send_signal(signal.SIGINT)
                    assert running.wait(10) == -signal.SIGINT, "of which a shell makes 130"
            finally:
                running.kill()
