"""HTTPS directly by certificate files, over real sockets."""

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.integration.edge.conftest import Edge


def shown(edge: Edge) -> object:
    """The serial number of the certificate that a new connection is shown."""
    with edge.connected() as safe:
        certificate = safe.getpeercert()
        assert certificate is not None
        return certificate["serialNumber"]


def until_shown(edge: Edge, *, other_than: object) -> None:
    deadline = time.monotonic() + 10
    while shown(edge) == other_than:
        assert time.monotonic() < deadline, "the new certificate is not shown"
        time.sleep(0.05)


def test_answers_come_with_a_demand_to_stay_with_https(edge: Edge) -> None:
    with edge.world.client() as client:
        answer = client.get("/v1/scenarios")
    assert answer.status_code == 200
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_whoever_does_not_know_the_authority_does_not_connect(edge: Edge) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(f"{edge.url}/livez", trust_env=False)


def test_plain_http_gets_no_answer(edge: Edge) -> None:
    with socket.create_connection(edge.address, timeout=10) as plain:
        plain.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" not in plain.recv(1000)


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"])
def test_whoever_does_not_finish_greeting_is_not_waited_for(edge: Edge, said: bytes) -> None:
    with socket.create_connection(edge.address, timeout=10) as plain:
        plain.sendall(said)
        began = time.monotonic()
        try:
            while plain.recv(1000):
                pass
        except ConnectionResetError:
            pass
    assert time.monotonic() - began < 8


def test_a_slow_head_and_a_slow_body_are_not_waited_for_either(edge: Edge) -> None:
    for half in (b"GET /livez HTTP/1.1\r\nHo", b"POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"):
        with edge.connected() as safe:
            safe.sendall(half)
            assert safe.recv(1000).startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 401 "))


def test_a_new_certificate_is_shown_while_streams_go_on(edge: Edge) -> None:
    """By the files alone, and at once on a signal."""
    with edge.world.client() as client:
        session = edge.world.open_session(client)
        before = shown(edge)
        events = []
        path = f"/v1/sessions/{session}/turns"
        with client.stream("POST", path, json={"text": "Hello"}, headers={"Accept": "text/event-stream"}) as response:
            lines = response.iter_lines()
            events.append(next(lines))
            edge.issue()
            until_shown(edge, other_than=before)
            events.extend(lines)
        assert "event: done" in events
    after = shown(edge)
    edge.issue()
    os.kill(edge.world.gateway.pid, signal.SIGHUP)
    until_shown(edge, other_than=after)


def test_files_that_do_not_fit_are_not_taken(edge: Edge) -> None:
    before = shown(edge)
    whole = edge.key.read_bytes()
    edge.key.write_bytes(edge.authority.issue_cert("localhost").private_key_pem.bytes())
    deadline = time.monotonic() + 10
    while "certificate not taken" not in edge.world.gateway.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert shown(edge) == before
    edge.key.write_bytes(whole)


def test_old_versions_of_tls_are_not_spoken(edge: Edge) -> None:
    context = edge.trust()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with edge.connected(context) as safe:
        assert safe.version() == "TLSv1.2"
        cipher = safe.cipher()
        assert cipher is not None
        assert cipher[0].startswith("ECDHE")


def test_the_image_asks_for_its_health_over_https_where_that_is_spoken(edge: Edge) -> None:
    dockerfile = (Path(__file__).parents[3] / "deploy/Dockerfile").read_text()
    (command,) = re.findall(r"HEALTHCHECK [^\[]+CMD (\[.+\])$", dockerfile, re.MULTILINE)
    python, *arguments = json.loads(command)
    assert python == "python"
    port = {"DRILLYARD_PORT": str(edge.world.gateway.port)}
    for tls, code in (({"DRILLYARD_TLS__CERTIFICATE": str(edge.certificate)}, 0), ({}, 1)):
        done = subprocess.run(
            [sys.executable, *arguments], env={**port, **tls}, capture_output=True, check=False, timeout=30
        )
        assert done.returncode == code, done.stderr


def test_commands_talk_to_it_where_they_are_told_whom_to_trust(edge: Edge) -> None:
    command = [sys.executable, "-m", "gateway.cli.main", "fleet", "list", "--base-url", edge.url]
    known = {
        **os.environ,
        "DRILLYARD_API_KEY": edge.world.seed.keys.operator,
        "SSL_CERT_FILE": str(edge.authority_file),
    }
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "replica-1" in done.stdout
