"""Replicas that tell nothing but their model and their metrics, as vLLM writes these."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from typing_extensions import override

from loadtests.target import Replica

MODELS = '{"data":[{"id":"smollm2"}]}'


def metrics_page(*, running: int = 0, prompts: int = 500, hits: int = 320) -> str:
    labels = '{engine="0",model_name="smollm2"}'
    return (
        f"vllm:num_requests_running{labels} {running}.0\nvllm:num_requests_waiting{labels} 0.0\n"
        f"vllm:prompt_tokens_total{labels} {prompts}.0\nvllm:prefix_cache_hits_total{labels} {hits}.0\n"
    )


@contextmanager
def telling_replica(name: str, pages: list[str]) -> Iterator[Replica]:
    """Tells one page of metrics after the other, and then the last again and again."""

    class Door(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = {"/health": "", "/v1/models": MODELS}.get(self.path)
            body = (told if told is not None else pages.pop(0) if len(pages) > 1 else pages[0]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = HTTPServer(("127.0.0.1", 0), Door)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield Replica(name, f"http://127.0.0.1:{server.server_address[1]}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
