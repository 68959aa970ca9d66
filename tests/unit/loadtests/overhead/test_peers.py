"""How each target is started."""

from pathlib import Path

import pytest

from loadtests.overhead.peers import RIVALS, Peer, Setting, command_of, header_of, ready_path_of

AT = Setting(9000, 9001, ("http://127.0.0.1:1", "http://127.0.0.1:2"), "redis://127.0.0.1:3", Path("/peers"))


@pytest.mark.parametrize("peer", list(Peer))
def test_each_listens_where_it_is_told_and_knows_every_replica(peer: Peer) -> None:
    command = " ".join(command_of(peer, AT))
    assert "--port 9000" in command
    assert peer is Peer.DIRECT or all(url in command for url in AT.replicas)
    assert ("redis://127.0.0.1:3" in command) == (peer is Peer.REDIS)
    assert ("/peers/bin/" in command) == (peer in RIVALS)


def test_sessions_are_named_as_each_wants_it() -> None:
    assert header_of(Peer.SGLANG) == "x-smg-routing-key"
    assert {header_of(peer) for peer in Peer if peer is not Peer.SGLANG} == {"x-session-id"}
    assert [ready_path_of(peer) for peer in (Peer.DIRECT, Peer.REDIS, Peer.VLLM)] == [
        "/health",
        "/readyz",
        "/readiness",
    ]
