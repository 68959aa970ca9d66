"""What nobody means well: other ways to write a path, other methods, and connections that ask nothing."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.integration.edge.conftest import Edge


@pytest.mark.parametrize(
    "path",
    [
        "/v1/sessions/",
        "//v1/sessions",
        "/v1//sessions",
        "/v1/sessions;x=y",
        "/V1/sessions",
        "/v1/./sessions",
        "/v1/fleet/../sessions",
        "/v1/%2e%2e/v1/sessions",
        "/v1/sessions%00",
        "/v1/sessions%20",
        "/v1/sessions%0d%0a",
        "/v1/sessions\\",
        "/v1/%c0%ae%c0%ae/sessions",
        "/v1/sessions/..%2f..%2fmetrics",
        "/%",
        "*",
    ],
)
def test_other_ways_of_writing_a_path_lead_nowhere(edge: Edge, path: str) -> None:
    assert status_of(edge, "GET", path) in (400, 404)


@pytest.mark.parametrize("path", ["/v1%2fsessions", "/v1/%73essions", "http://elsewhere.example/v1/sessions"])
def test_what_means_the_same_path_is_guarded_in_the_same_way(edge: Edge, path: str) -> None:
    assert status_of(edge, "GET", path) == 401
    assert status_of(edge, "GET", path, edge.world.seed.keys.trainees[0]) == 200


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "TRACE", "PUT", "PURGE", "PROPFIND"])
def test_a_path_takes_the_methods_that_it_says(edge: Edge, method: str) -> None:
    with httpx.Client(base_url=edge.url, verify=edge.trust(), trust_env=False) as client:
        answer = client.request(method, "/v1/sessions")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, POST"


def test_ids_of_any_shape_are_of_nothing(edge: Edge) -> None:
    names = (
        "%00",
        "%2e%2e",
        "a%2fb",
        "%ff%fe",
        "%F0%9F%98%80",
        "-1",
        "1e9",
        "0x10",
        "%EF%BC%91",
        "a" * 4000,
        "{}",
        "'--",
        "%25",
    )
    with edge.world.client() as trainee, edge.world.client(edge.world.seed.keys.operator) as operator:
        session = edge.world.open_session(trainee)
        for name in names:
            for client, path in (
                (trainee, f"/v1/sessions/{name}"),
                (trainee, f"/v1/sessions/{session}/turns/{name}"),
                (trainee, f"/v1/sessions/{session}/turns/{name}/events"),
                (trainee, f"/v1/scenarios/{name}"),
                (operator, f"/v1/fleet/replicas/{name}"),
                (operator, f"/v1/fleet/decisions/{name}"),
            ):
                assert client.get(path).status_code in (404, 406), (path, client.get(path).text)


def status_of(edge: Edge, method: str, target: str, key: str | None = None) -> int:
    """Of a request whose target is sent as it is written."""
    authorization = "" if key is None else f"Authorization: Bearer {key}\r\n"
    with edge.connected() as safe:
        safe.sendall(f"{method} {target} HTTP/1.1\r\nHost: x\r\n{authorization}Connection: close\r\n\r\n".encode())
        return int(safe.recv(65_536).split()[1])


def resident_kib(pid: int) -> int:
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1])


@contextmanager
def idle(edge: Edge, count: int) -> Iterator[None]:
    """Connections that have greeted and ask nothing; who is sent away is let go."""
    context = edge.trust()
    with ExitStack() as stack:
        for _ in range(count):
            plain = stack.enter_context(socket.create_connection(edge.address, timeout=20))
            stack.enter_context(context.wrap_socket(plain, server_hostname="localhost"))
        yield


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="memory is read from /proc")
def test_connections_that_ask_nothing_cost_little_and_are_not_kept(edge: Edge) -> None:
    """A few hundred here; what 5,000 cost is told in docs/https.md."""
    count, pid = 300, edge.world.gateway.pid
    before = resident_kib(pid)
    with idle(edge, count):
        assert (resident_kib(pid) - before) / count < 200
        with edge.world.client() as client:
            session = edge.world.open_session(client)
            assert client.post(f"/v1/sessions/{session}/turns", json={"text": "Hello"}).status_code == 200
        deadline = time.monotonic() + 20
        while open_sockets(pid) > 100:
            assert time.monotonic() < deadline, "they are kept"
            time.sleep(0.1)


def open_sockets(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))
