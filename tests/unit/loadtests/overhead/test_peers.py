"""How each target is started."""

import json
from pathlib import Path

import pytest

from loadtests.overhead.peers import (
    RIVALS,
    Peer,
    Setting,
    command_of,
    files_of,
    header_of,
    is_installed,
    ready_path_of,
)

AT = Setting(
    port=9000,
    metrics_port=9001,
    replicas=("http://127.0.0.1:1", "http://127.0.0.1:2"),
    redis_url="redis://127.0.0.1:3",
    peers_venv=Path("/peers"),
    folder=Path("/run-of-this"),
    model="lamp",
)


@pytest.mark.parametrize("peer", [peer for peer in Peer if peer is not Peer.GATEWAY])
def test_each_listens_where_it_is_told_and_knows_every_replica(peer: Peer) -> None:
    command = " ".join(command_of(peer, AT))
    told = command + "".join(files_of(peer, AT).values())
    assert "--port 9000" in command
    assert peer is Peer.DIRECT or all(url in told for url in AT.replicas)
    assert ("redis://127.0.0.1:3" in command) == (peer is Peer.REDIS)
    assert ("/peers/bin/" in command) == (peer in RIVALS)


def test_sessions_are_named_as_each_wants_it() -> None:
    assert header_of(Peer.SGLANG) == "x-smg-routing-key"
    assert header_of(Peer.LITELLM) == "x-litellm-session-id"
    assert {header_of(peer) for peer in Peer if peer not in {Peer.SGLANG, Peer.LITELLM}} == {"x-session-id"}
    assert [ready_path_of(peer) for peer in (Peer.DIRECT, Peer.REDIS, Peer.VLLM, Peer.LITELLM)] == [
        "/health",
        "/readyz",
        "/readiness",
        "/health/liveliness",
    ]


def test_litellm_is_told_to_keep_sessions_where_they_are() -> None:
    ((name, content),) = files_of(Peer.LITELLM, AT).items()
    config = json.loads(content)
    assert f"--config /run-of-this/{name}" in " ".join(command_of(Peer.LITELLM, AT))
    assert {each["model_name"] for each in config["model_list"]} == {"lamp"}
    assert config["router_settings"]["optional_pre_call_checks"] == ["session_affinity"]


def test_the_whole_gateway_is_not_one_command() -> None:
    with pytest.raises(ValueError, match="more than one process"):
        command_of(Peer.GATEWAY, AT)


def test_a_rival_is_there_when_its_program_is(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "litellm").touch()
    assert [rival for rival in RIVALS if is_installed(rival, tmp_path)] == [Peer.LITELLM]
