"""A stand-in for the gateway's command line: `db migrate` touches the database, `serve` answers the probes.

Variables steer it: FAKE_MIGRATE=fail|hang|until-told (it prints the port and waits for the file FAKE_GO),
FAKE_SERVE=die|hang|unready. `serve` leaves a child of its own in its group.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NoReturn

import psycopg
from typing_extensions import override


class Probes(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        unready = self.path == "/readyz" and os.environ.get("FAKE_SERVE") == "unready"
        alive = json.dumps({"status": "ok", "instance": os.environ["DRILLYARD_INSTANCE"]}).encode()
        body = b'{"reasons": ["no replica answers"]}' if unready else alive
        self.send_response(503 if unready else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


def migrate() -> None:
    if os.environ.get("FAKE_MIGRATE") == "fail":
        sys.exit("ERROR: the schema is from the future")
    while os.environ.get("FAKE_MIGRATE") == "hang":
        time.sleep(1)
    if os.environ.get("FAKE_MIGRATE") == "until-told":
        print(f"the gateway's port will be {os.environ['DRILLYARD_PORT']}.", flush=True)  # noqa: T201
        while not Path(os.environ["FAKE_GO"]).exists():
            time.sleep(0.01)
    url = os.environ["DRILLYARD_DATABASE_URL"].replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table if not exists starts (at timestamptz default now())")
        connection.execute("insert into starts default values")


def serve() -> NoReturn:
    if os.environ.get("FAKE_SERVE") == "die":
        sys.exit("ERROR: DRILLYARD_X: not a colour")
    # Left behind on purpose when a signal ends us: whoever stops us has to end our whole group.
    subprocess.Popen([sys.executable, "-c", "import time\nwhile True: time.sleep(60)"])
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    while os.environ.get("FAKE_SERVE") == "hang":
        time.sleep(1)
    address = (os.environ["DRILLYARD_HOST"], int(os.environ["DRILLYARD_PORT"]))
    with ThreadingHTTPServer(address, Probes) as server:
        server.serve_forever()
    raise AssertionError("serves until a signal ends it")


if __name__ == "__main__":
    migrate() if sys.argv[1:] == ["db", "migrate"] else serve()
