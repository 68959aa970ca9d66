"""One small installation that serves HTTPS, for all tests of the edge; it writes its log at the finest level."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.support.gateway_process import World, world
from tests.support.postgres_fixture import PostgresTemplate

PAGE = "https://drills.example"
"""The origin of the page that may call."""


@dataclass(frozen=True, slots=True)
class Edge:
    world: World
    authority: trustme.CA
    authority_file: Path
    certificate: Path
    key: Path

    @property
    def url(self) -> str:
        return self.world.gateway.url

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self.world.gateway.port

    def trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.authority.configure_trust(context)
        return context

    @contextmanager
    def connected(self, context: ssl.SSLContext | None = None) -> Iterator[ssl.SSLSocket]:
        with (
            socket.create_connection(("127.0.0.1", self.world.gateway.port), timeout=10) as plain,
            (context or self.trust()).wrap_socket(plain, server_hostname="localhost") as safe,
        ):
            yield safe

    def issue(self) -> None:
        """A new certificate, in the same files."""
        issued = self.authority.issue_cert("127.0.0.1", "localhost")
        self.key.write_bytes(issued.private_key_pem.bytes())
        self.certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))


@pytest.fixture(scope="session")
def edge(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[Edge]:
    folder, authority = tmp_path_factory.mktemp("edge"), trustme.CA()
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    authority_file = folder / "authority.pem"
    authority.cert_pem.write_to_path(authority_file)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    settings: dict[str, Any] = {
        "TLS__CERTIFICATE": str(certificate),
        "TLS__KEY": str(key),
        "TLS__RELOAD_S": "0.1",
        "EDGE__CORS_ORIGINS": json.dumps([PAGE]),
        "EDGE__TRUSTED_PROXIES": json.dumps(["127.0.0.0/8"]),
        "EDGE__HANDSHAKE_S": "1",
        "EDGE__REQUEST_S": "2",
        "LOG_LEVEL": "debug",
    }
    issuing = Edge(world=None, authority=authority, authority_file=authority_file, certificate=certificate, key=key)  # type: ignore[arg-type]  # it is made below
    issuing.issue()
    with (
        postgres_template.copy() as database_url,
        world(folder, database_url, engines=1, trust=context, **settings) as opened,
    ):
        yield Edge(opened, authority, authority_file, certificate, key)
