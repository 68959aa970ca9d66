"""A fleet that is a Kubernetes service's endpoints, asked of a server over real HTTP."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from router.adapters.kubernetes_fleet import KubernetesFleet, kubernetes_client
from router.domain.fleet import ReplicaSpec
from router.errors import FleetSourceUnavailable
from tests.support.fake_kubernetes import NAMESPACE, SERVICE, FakeKubernetes, Pod, fake_kubernetes

A, B, C = Pod("vllm-a", "10.0.0.1"), Pod("vllm-b", "10.0.0.2"), Pod("vllm-c", "10.0.0.3")


@pytest.fixture
async def api() -> AsyncIterator[FakeKubernetes]:
    async with fake_kubernetes() as server:
        yield server


class Followed:
    """A fleet and what its follower sees of it."""

    def __init__(self, api: FakeKubernetes, *, port: str | int = "http", relist_s: float = 30.0) -> None:
        self.fleet = KubernetesFleet(
            client=api.client(), namespace=NAMESPACE, service=SERVICE, port=port, relist_s=relist_s, pause_s=0.01
        )

    async def names(self) -> list[str]:
        return [spec.id for spec in await self.fleet.replicas()]

    async def becomes(self, *names: str, within_s: float = 5.0) -> None:
        """Follow it as its keeper does, until these are in it."""
        async with asyncio.timeout(within_s):
            while await self._known() != list(names):
                await self.fleet.changed()

    async def _known(self) -> list[str] | None:
        try:
            return await self.names()
        except FleetSourceUnavailable:
            return None


@pytest.fixture
async def followed(api: FakeKubernetes) -> AsyncIterator[Followed]:
    followed = Followed(api)
    yield followed
    await followed.fleet.close()


async def specs_of(api: FakeKubernetes, *, port: str | int = "http") -> Sequence[ReplicaSpec]:
    followed = Followed(api, port=port)
    try:
        return await followed.fleet.replicas()
    finally:
        await followed.fleet.close()


async def test_the_endpoints_of_all_slices_are_the_fleet(api: FakeKubernetes) -> None:
    await api.put("vllm-2", C)
    await api.put("vllm-1", B, A)
    assert [(spec.id, spec.url, spec.is_closed) for spec in await specs_of(api)] == [
        ("vllm-a", "http://10.0.0.1:8000", False),
        ("vllm-b", "http://10.0.0.2:8000", False),
        ("vllm-c", "http://10.0.0.3:8000", False),
    ]


@pytest.mark.parametrize(
    ("ready", "terminating", "is_closed"),
    [
        (True, None, False),
        (None, None, False),
        (True, False, False),
        (False, False, True),
        (False, True, True),
        (True, True, True),
    ],
)
async def test_what_ends_or_is_not_ready_keeps_its_turns_and_gets_no_new_sessions(
    api: FakeKubernetes, ready: bool | None, terminating: bool | None, is_closed: bool
) -> None:
    await api.put("vllm-1", Pod("vllm-a", "10.0.0.1", ready=ready, terminating=terminating))
    assert [spec.is_closed for spec in await specs_of(api)] == [is_closed]


async def test_a_pod_with_both_addresses_is_one_replica(api: FakeKubernetes) -> None:
    await api.put("vllm-6", Pod("vllm-a", "fd00::1"), Pod("vllm-b", "fd00::2"), address_type="IPv6")
    await api.put("vllm-4", A)
    assert [spec.url for spec in await specs_of(api)] == ["http://10.0.0.1:8000", "http://[fd00::2]:8000"]


async def test_the_port_may_be_a_number(api: FakeKubernetes) -> None:
    await api.put("vllm-1", A)
    assert [spec.url for spec in await specs_of(api, port=9000)] == ["http://10.0.0.1:9000"]


async def test_a_port_has_its_own_number_in_each_slice(api: FakeKubernetes) -> None:
    await api.put("vllm-1", A, ports=[{"name": "metrics", "port": 1}, {"name": "http", "port": 8001}])
    await api.put("vllm-2", B, ports=[{"name": "http", "port": 8002}])
    assert [spec.url for spec in await specs_of(api)] == ["http://10.0.0.1:8001", "http://10.0.0.2:8002"]


async def test_a_port_that_no_slice_has_is_a_mistake_and_no_empty_fleet(api: FakeKubernetes) -> None:
    await api.put("vllm-1", A)
    with pytest.raises(FleetSourceUnavailable, match="no port named grpc"):
        await specs_of(api, port="grpc")


async def test_a_service_without_pods_is_an_empty_fleet_and_no_service_is_a_mistake(api: FakeKubernetes) -> None:
    with pytest.raises(FleetSourceUnavailable, match="there is no such service"):
        await specs_of(api)
    await api.put("vllm-1")
    assert await specs_of(api) == ()


async def test_who_comes_and_goes_is_followed_without_another_list(api: FakeKubernetes, followed: Followed) -> None:
    await api.put("vllm-1", A)
    await followed.becomes("vllm-a")
    await api.put("vllm-1", A, B)
    await followed.becomes("vllm-a", "vllm-b")
    await api.put("vllm-2", C)
    await followed.becomes("vllm-a", "vllm-b", "vllm-c")
    await api.bookmark()
    await api.delete("vllm-1")
    await followed.becomes("vllm-c")
    assert (api.lists, api.watches) == (1, 1)


async def test_a_cut_watch_leads_to_a_new_list(api: FakeKubernetes, followed: Followed) -> None:
    await api.put("vllm-1", A)
    await followed.becomes("vllm-a")
    await watched(api, followed)
    api.cut()
    await api.put("vllm-1", B)
    await followed.becomes("vllm-b")
    assert api.lists == 2


@pytest.mark.parametrize("is_watching", [True, False])
async def test_a_version_that_is_too_old_leads_to_a_new_list_in_silence(
    api: FakeKubernetes, followed: Followed, is_watching: bool
) -> None:
    await api.put("vllm-1", A)
    await followed.becomes("vllm-a")
    with capture_logs() as logs:
        if is_watching:
            await watched(api, followed)
        await api.forget()
        await api.put("vllm-1", B)
        await followed.becomes("vllm-b")
    assert (api.lists, logs) == (2, [])


async def test_while_the_server_is_away_it_cannot_be_read_and_afterwards_it_can(
    api: FakeKubernetes, followed: Followed
) -> None:
    await api.put("vllm-1", A)
    await followed.becomes("vllm-a")
    await watched(api, followed)
    await api.stop()
    await followed.fleet.changed()
    with pytest.raises(FleetSourceUnavailable, match="endpoints of vllm cannot be listed"):
        await followed.fleet.replicas()
    await api.start()
    await api.put("vllm-1", A, B)
    await followed.becomes("vllm-a", "vllm-b")


async def test_who_may_not_list_is_told_so(api: FakeKubernetes, followed: Followed) -> None:
    api.refuse = HTTPStatus.FORBIDDEN
    with pytest.raises(FleetSourceUnavailable, match="is forbidden"):
        await followed.fleet.replicas()


async def test_who_may_list_and_not_watch_lists_now_and_then_and_is_told_once(
    api: FakeKubernetes, followed: Followed
) -> None:
    api.refuse_watch = HTTPStatus.FORBIDDEN
    await api.put("vllm-1", A)
    with capture_logs() as logs:
        await followed.becomes("vllm-a")
        await followed.fleet.changed()
        await api.put("vllm-1", B)
        await followed.becomes("vllm-b")
        await followed.fleet.changed()
    assert [entry["event"] for entry in logs] == ["endpoints cannot be watched, only listed"]


async def test_a_server_that_is_no_kubernetes_cannot_be_read(api: FakeKubernetes, followed: Followed) -> None:
    api.nonsense = True
    with pytest.raises(FleetSourceUnavailable, match="cannot be listed"):
        await followed.fleet.replicas()


async def test_a_watch_of_which_nothing_is_heard_is_given_up_for_a_list(api: FakeKubernetes) -> None:
    followed = Followed(api, relist_s=0.02)
    await api.put("vllm-1", A)
    await followed.becomes("vllm-a")
    await followed.fleet.changed()
    assert await followed.names() == ["vllm-a"]
    assert api.lists == 2
    await followed.fleet.close()


def test_a_configuration_that_does_not_exist_is_said(tmp_path: Path) -> None:
    with pytest.raises(FleetSourceUnavailable, match="no usable Kubernetes configuration"):
        kubernetes_client(kubeconfig=tmp_path / "none")
    (tmp_path / "odd").write_text("a: b")
    with pytest.raises(FleetSourceUnavailable, match="no usable Kubernetes configuration"):
        kubernetes_client(kubeconfig=tmp_path / "odd")


async def test_a_configuration_file_is_used(tmp_path: Path, api: FakeKubernetes) -> None:
    (tmp_path / "config").write_text(
        f"""
        apiVersion: v1
        kind: Config
        current-context: here
        clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{api.port}"}}}}]
        users: [{{name: u, user: {{token: fake}}}}]
        contexts: [{{name: here, context: {{cluster: c, user: u}}}}]
        """
    )
    await api.put("vllm-1", A)
    client = kubernetes_client(kubeconfig=tmp_path / "config")
    fleet = KubernetesFleet(client=client, namespace=NAMESPACE, service=SERVICE, port="http")
    assert [spec.id for spec in await fleet.replicas()] == ["vllm-a"]
    await fleet.close()


async def watched(api: FakeKubernetes, followed: Followed) -> None:
    """Return once the server has the watch."""
    before = api.watches
    async with asyncio.timeout(5.0):
        while api.watches == before:
            follower = asyncio.ensure_future(followed.fleet.changed())
            await api.bookmark()
            await follower
