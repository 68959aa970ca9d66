"""A Kubernetes API server that knows EndpointSlices and nothing else: list, watch, versions, bookmarks, and faults."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from lightkube import AsyncClient
from lightkube.config.kubeconfig import KubeConfig
from lightkube.config.models import Cluster, User

NAMESPACE, SERVICE, TOKEN = "drills", "vllm", "fake"
PATH = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
_JSON_HEAD = "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
_WATCH_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Pod:
    name: str
    address: str
    ready: bool | None = True
    terminating: bool | None = None

    def shown(self) -> dict[str, Any]:
        """As the endpoint slice controller writes it."""
        conditions = {"ready": self.ready, "serving": self.ready, "terminating": self.terminating}
        return {
            "addresses": [self.address],
            "conditions": {name: value for name, value in conditions.items() if value is not None},
            "nodeName": "gpu-1",
            "targetRef": {"kind": "Pod", "name": self.name, "namespace": NAMESPACE, "uid": f"uid-{self.name}"},
        }


class FakeKubernetes:
    """`refuse` answers everything, or only watches, with a status; `nonsense` answers 200 with something else."""

    def __init__(self) -> None:
        self.port = 0
        self.lists = 0
        self.watches = 0
        self.refuse: HTTPStatus | None = None
        self.refuse_watch: HTTPStatus | None = None
        self.nonsense = False
        self._version = 100
        self._oldest = 0
        self._slices: dict[str, dict[str, Any]] = {}
        self._events: list[tuple[int, dict[str, Any]]] = []
        self._connections: set[asyncio.StreamWriter] = set()
        self._watchers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    def client(self, *, timeout_s: float = 10.0) -> AsyncClient:
        cluster = Cluster(server=f"http://127.0.0.1:{self.port}")
        config = KubeConfig.from_one(cluster=cluster, user=User(token=TOKEN))
        return AsyncClient(config=config, timeout=httpx2.Timeout(timeout_s), trust_env=False)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def is_up(self) -> bool:
        return self._server is not None and self._server.is_serving()

    async def stop(self) -> None:
        """Refuse connections and cut those there are."""
        assert self._server is not None
        self._server.close()
        self.cut()
        while self._connections:
            self._connections.pop().transport.abort()
        await self._server.wait_closed()

    def cut(self) -> None:
        while self._watchers:
            self._watchers.pop().transport.abort()

    async def put(
        self,
        name: str,
        *pods: Pod,
        ports: Sequence[Mapping[str, object]] = ({"name": "http", "port": 8000, "protocol": "TCP"},),
        address_type: str = "IPv4",
    ) -> None:
        kind = "MODIFIED" if name in self._slices else "ADDED"
        self._version += 1
        self._slices[name] = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "labels": {"kubernetes.io/service-name": SERVICE},
                "resourceVersion": str(self._version),
            },
            "addressType": address_type,
            "endpoints": [pod.shown() for pod in pods] or None,
            "ports": list(ports),
        }
        await self._tell(kind, self._slices[name])

    async def delete(self, name: str) -> None:
        self._version += 1
        gone = self._slices.pop(name)
        gone["metadata"]["resourceVersion"] = str(self._version)
        await self._tell("DELETED", gone)

    async def bookmark(self) -> None:
        self._version += 1
        empty = {"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": ""}
        await self._tell("BOOKMARK", {**empty, "metadata": {"resourceVersion": str(self._version)}, "endpoints": None})

    async def forget(self) -> None:
        """What was is no longer known: watches from before are told so and ended."""
        self._version += 1
        self._oldest = self._version
        self._events.clear()
        for writer in list(self._watchers):
            await _send_event(writer, "ERROR", status_of(HTTPStatus.GONE, "too old resource version"))
            await _end(writer)
            self._watchers.discard(writer)

    async def _tell(self, kind: str, thing: dict[str, Any]) -> None:
        self._events.append((self._version, {"type": kind, "object": thing}))
        for writer in list(self._watchers):
            await _send_event(writer, kind, thing)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = re.search(r"^content-length: (\d+)\r$", head, re.IGNORECASE | re.MULTILINE)
                await self.answer(head, await reader.readexactly(int(length[1]) if length else 0), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._watchers.discard(writer)
            self._connections.discard(writer)
            writer.close()

    async def answer(self, head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        assert not body
        target = urlsplit(head.split(" ", 2)[1])
        asked = {name: values[0] for name, values in parse_qs(target.query).items()}
        assert target.path == PATH, target.path
        assert asked["labelSelector"] == f"kubernetes.io/service-name={SERVICE}"
        assert f"authorization: bearer {TOKEN}" in head.lower()
        is_watch = asked.get("watch") == "true"
        refused = self.refuse or (self.refuse_watch if is_watch else None)
        if refused is not None:
            send_json(writer, status_of(refused, f"{SERVICE} is forbidden"), refused)
        elif self.nonsense:
            send_json(writer, {"hello": "world"})
        elif is_watch:
            await self._watch(int(asked["resourceVersion"]), writer)
        else:
            self.lists += 1
            items = list(self._slices.values())
            send_json(
                writer,
                {"kind": "EndpointSliceList", "metadata": {"resourceVersion": str(self._version)}, "items": items},
            )

    async def _watch(self, since: int, writer: asyncio.StreamWriter) -> None:
        self.watches += 1
        if since < self._oldest:
            send_json(writer, status_of(HTTPStatus.GONE, "too old resource version"), HTTPStatus.GONE)
            return
        writer.write(_WATCH_HEAD.encode())
        self._watchers.add(writer)
        for version, event in self._events:
            if version > since:
                await _send_event(writer, event["type"], event["object"])


async def _send_event(writer: asyncio.StreamWriter, kind: str, thing: Mapping[str, object]) -> None:
    line = json.dumps({"type": kind, "object": thing}).encode() + b"\n"
    writer.write(b"%x\r\n%s\r\n" % (len(line), line))
    await writer.drain()


async def _end(writer: asyncio.StreamWriter) -> None:
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def send_json(writer: asyncio.StreamWriter, body: object, status: HTTPStatus = HTTPStatus.OK) -> None:
    content = json.dumps(body).encode()
    writer.write(_JSON_HEAD.format(status=int(status), length=len(content)).encode() + content)


def status_of(code: HTTPStatus, message: str) -> dict[str, object]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": code.phrase,
        "code": int(code),
    }


@asynccontextmanager
async def fake_kubernetes() -> AsyncIterator[FakeKubernetes]:
    server = FakeKubernetes()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
