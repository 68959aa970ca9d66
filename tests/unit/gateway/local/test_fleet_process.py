import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typing_extensions import override

from gateway.local.fleet_process import fleet_service, missing
from gateway.local.free_port import free_port


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[int]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_it_is_run_with_the_gateways_settings_on_a_port_of_its_own(tmp_path: Path) -> None:
    environment = {"DRILLYARD_INSTANCE": "abc", "DRILLYARD_HOST": "::", "DRILLYARD_FLEET__POOLS": "[]"}
    command = fleet_service("gateway.cli.main", environment, port=7, log=tmp_path / "fleet.log").command
    assert command.argv[1:] == ("-m", "gateway.cli.main", "fleet", "run")
    assert command.env is not None
    assert command.env["DRILLYARD_FLEET__METRICS_PORT"] == "7"
    assert command.env["DRILLYARD_HOST"] == "127.0.0.1"
    assert command.env["DRILLYARD_FLEET__POOLS"] == "[]"


@pytest.mark.parametrize(
    ("told", "lacks"),
    [
        ({"instance": "abc", "leads": True}, None),
        ({"instance": "abc", "leads": False}, "another process looks after the fleet"),
        ({"instance": "abc", "leads": None}, "another process looks after the fleet"),
        ({"instance": "other", "leads": True}, "another server answers on port"),
        ([], "another server answers on port"),
    ],
)
def test_it_is_ready_once_it_leads(told: object, lacks: str | None) -> None:
    with answering(json.dumps(told).encode()) as port:
        found = missing(port, "abc")
    assert found == lacks if lacks is None else str(found).startswith(lacks)


def test_one_that_is_stuck_or_not_there_is_not_ready() -> None:
    with answering(b"{}", status=503) as port:
        assert missing(port, "abc") == "/livez says 503"
    assert "refused" in str(missing(free_port(), "abc"))
