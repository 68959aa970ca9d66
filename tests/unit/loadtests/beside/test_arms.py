"""What is compared, and that it is the same class each time."""

from dataclasses import replace

from loadtests.beside.arms import LATEST, Arm, Kills, Size, arms
from loadtests.domain.drill import Wire
from loadtests.domain.soundness import complaints
from loadtests.domain.timetable import timetable
from loadtests.overhead.peers import Peer

SIZE = Size(trainees=4, turns=16, reply_tokens=40)
ALL = arms([Peer.GATEWAY, Peer.MEMORY, Peer.VLLM, Peer.LITELLM], Kills.TOO)


def test_our_own_comes_first_and_rivals_are_tried_with_both_histories() -> None:
    assert [(each.peer, each.history) for each in ALL if not each.is_killed] == [
        (Peer.GATEWAY, None),
        (Peer.MEMORY, None),
        (Peer.VLLM, None),
        (Peer.VLLM, LATEST),
        (Peer.LITELLM, None),
        (Peer.LITELLM, LATEST),
    ]
    assert [each.peer for each in ALL if each.is_killed] == [Peer.GATEWAY, Peer.MEMORY, Peer.VLLM, Peer.LITELLM]
    assert not any(each.is_killed for each in arms([Peer.VLLM], Kills.NONE))
    assert arms([Peer.VLLM], Kills.ONLY) == (Arm(peer=Peer.VLLM, is_killed=True),)


def test_each_arm_has_a_name_and_a_folder_of_its_own() -> None:
    assert len({each.folder for each in ALL}) == len(ALL)
    assert [ALL[0].name, ALL[1].name, ALL[3].name] == [
        "drillyard, sessions",
        "drillyard router, all messages",
        "vllm-router, last 20 messages",
    ]


def test_everybody_plays_the_same_timetable() -> None:
    assert all(not complaints(each.drill(SIZE)) for each in ALL)
    plain = [replace(each.drill(SIZE), reply_tokens=None) for each in ALL]
    assert len({timetable(each) for each in plain if not each.faults}) == 1
    assert len({timetable(each) for each in plain if each.faults}) == 1


def test_only_clients_of_routers_keep_history_and_ask_for_a_length() -> None:
    gateway, router = ALL[0].drill(SIZE), ALL[3].drill(SIZE)
    assert (gateway.wire, gateway.reply_tokens) == (Wire.TURNS, None)
    assert (router.wire, router.history, router.reply_tokens) == (Wire.CHAT, LATEST, 40)


def test_a_replica_is_killed_in_the_middle() -> None:
    drill = Arm(peer=Peer.VLLM, is_killed=True).drill(SIZE)
    last = max(part.last_s for part in timetable(drill))
    ((at, what),) = (fault.removeprefix("kill@").split(":") for fault in drill.faults)
    assert drill.turns == (8, 8)
    assert (0.3 * last < float(at) < 0.7 * last, what) == (True, "busiest")
