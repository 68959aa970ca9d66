"""A fleet in a file that is written while it is read."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from router.adapters.file_fleet import FileFleet
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import FleetSourceUnavailable

A, B = {"id": "a", "url": "http://10.0.0.1:8000/"}, {"id": "b", "url": "http://b:8000", "models": ["m"]}


def listed(path: Path, *entries: object) -> FileFleet:
    path.write_text(json.dumps(entries))
    return FileFleet(path=path, poll_s=0.005)


async def test_the_file_is_the_fleet(tmp_path: Path) -> None:
    assert await listed(tmp_path / "fleet.json", A, B).replicas() == (
        ReplicaSpec(ReplicaId("a"), "http://10.0.0.1:8000"),
        ReplicaSpec(ReplicaId("b"), "http://b:8000", frozenset({"m"})),
    )


async def test_an_empty_list_is_an_empty_fleet(tmp_path: Path) -> None:
    assert await listed(tmp_path / "fleet.json").replicas() == ()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is not a list of replicas: it: Invalid JSON"),
        ('[{"id": "a", "url": "http://a"', "is not a list of replicas: it: Invalid JSON"),
        ('{"id": "a"}', "is not a list of replicas: it: Input should be a valid"),
        ('[{"id": "a"}]', "is not a list of replicas: 0.url: Field required"),
        ('[{"id": "a", "url": "a:80"}]', "0.url: "),
        ('[{"id": "", "url": "http://a"}]', "0.id: "),
        ('[{"id": "a b", "url": "http://a"}]', "0.id: "),
        ('[{"id": "a", "url": "http://a", "model": "m"}]', "0.model: Extra inputs are not permitted"),
        ('[{"id": "a", "url": "http://a"}, {"id": "a", "url": "http://b"}]', "names the replica a twice"),
        (json.dumps([{"id": f"r{n}", "url": "http://a"} for n in range(2001)]), "names more than 2000 replicas"),
    ],
)
async def test_what_is_no_list_of_replicas_is_refused_with_the_place(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "fleet.json"
    path.write_text(content)
    with pytest.raises(FleetSourceUnavailable) as refused:
        await FileFleet(path=path).replicas()
    assert str(refused.value).startswith(str(path))
    assert why in str(refused.value)


async def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FleetSourceUnavailable, match="No such file"):
        await FileFleet(path=tmp_path / "fleet.json").replicas()


async def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    path.write_bytes(b" " * ((4 << 20) + 1))
    with pytest.raises(FleetSourceUnavailable, match="more than 4 MiB"):
        await FileFleet(path=path).replicas()


async def test_a_file_that_nobody_touches_does_not_change(tmp_path: Path) -> None:
    fleet = listed(tmp_path / "fleet.json", A)
    await fleet.replicas()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await fleet.changed()


async def test_a_file_that_is_replaced_or_rewritten_or_appears_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    fleet = listed(path, A)
    await fleet.replicas()
    other = tmp_path / "next.json"
    other.write_text(json.dumps([A, B]))
    other.replace(path)
    await asyncio.wait_for(fleet.changed(), 5.0)
    assert len(await fleet.replicas()) == 2
    path.write_text("[{")
    await asyncio.wait_for(fleet.changed(), 5.0)
    with pytest.raises(FleetSourceUnavailable):
        await fleet.replicas()
    path.unlink()
    await asyncio.wait_for(fleet.changed(), 5.0)
    with pytest.raises(FleetSourceUnavailable):
        await fleet.replicas()
    path.write_text(json.dumps([B]))
    await asyncio.wait_for(fleet.changed(), 5.0)
    assert [spec.id for spec in await fleet.replicas()] == ["b"]


async def test_what_is_written_while_it_is_read_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fleet.json"
    fleet = listed(path, A)
    read = FileFleet._content

    def written_to_meanwhile(self: FileFleet) -> bytes:
        content = read(self)
        path.write_text(json.dumps([A, B]))
        os.utime(path, ns=(1, 1))
        return content

    monkeypatch.setattr(FileFleet, "_content", written_to_meanwhile)
    assert len(await fleet.replicas()) == 1
    await asyncio.wait_for(fleet.changed(), 5.0)
