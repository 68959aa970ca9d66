"""What is compared: who stands before the replicas, and how much of its history a client sends each turn."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.overhead.peers import Peer

LATEST = 20
"""Messages of a sliding window, as many clients keep it: the oldest is dropped each turn once there are more."""
_KILLED = "busiest"
_SECONDS_OF_TURN = 2.5
"""From one planned message to the next: a short reply at the pace of a small model on one core, and a short thought."""
_THINKS_S = 0.5


class Kills(StrEnum):
    """Which classes are played: quiet ones, ones that lose a replica, or both."""

    TOO = "too"
    NONE = "none"
    ONLY = "only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Of the class; the same for every arm."""

    trainees: int
    turns: int
    reply_tokens: int
    seed: int = 1

    def turns_in(self, arm: "Arm") -> int:
        """Of each trainee. Half as many where a replica is killed: to load it again takes longer than the class."""
        return max(1, self.turns // 2) if arm.is_killed else self.turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """`history` None: all of it. Sessions of the whole gateway keep it themselves."""

    peer: Peer
    history: int | None = None
    is_killed: bool = False
    """In the middle of the class one of the two replicas is killed."""

    @property
    def name(self) -> str:
        if self.peer is Peer.GATEWAY:
            return "drillyard, sessions"
        who = "drillyard router" if self.peer is Peer.MEMORY else self.peer.value
        return f"{who}, {'all' if self.history is None else f'last {self.history}'} messages"

    @property
    def folder(self) -> str:
        kept = "all" if self.history is None else str(self.history)
        return f"{self.peer}-{kept}{'-killed' if self.is_killed else ''}"

    def length_s(self, size: Size) -> float:
        """By its timetable."""
        return size.turns_in(self) * _SECONDS_OF_TURN

    def drill(self, size: Size) -> Drill:
        """Everybody comes at nearly the same time, so that the replicas are used as in a class."""
        is_chat = self.peer is not Peer.GATEWAY
        turns = size.turns_in(self)
        return Drill(
            shape=Shape.RECOVERY if self.is_killed else Shape.CLASS,
            wire=Wire.CHAT if is_chat else Wire.TURNS,
            history=self.history,
            trainees=size.trainees,
            turns=(turns, turns),
            think_s=_THINKS_S,
            allowance_s=_SECONDS_OF_TURN - _THINKS_S,
            lobby_s=2.0,
            reaction_s=1.0,
            reply_tokens=size.reply_tokens if is_chat else None,
            faults=(f"kill@{self.length_s(size) / 2:g}:{_KILLED}",) if self.is_killed else (),
            timeout_s=60.0,
            seed=size.seed,
        )


def arms(peers: Collection[Peer], kills: Kills) -> Sequence[Arm]:
    """Our own first. With kills the same once more with a replica lost; each then has to load again."""
    steady = [Arm(peer=peer, history=kept) for peer in peers for kept in _ways(peer)]
    killed = [Arm(peer=peer, is_killed=True) for peer in peers]
    return (*(() if kills is Kills.ONLY else steady), *(() if kills is Kills.NONE else killed))


def _ways(peer: Peer) -> Sequence[int | None]:
    return (None,) if peer in {Peer.GATEWAY, Peer.MEMORY} else (None, LATEST)
