"""Whether the targets are met: each is one comparison, told with what was measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from loadtests.overhead.figures import Figures
from loadtests.overhead.load import SILENCE
from loadtests.overhead.peers import RIVALS, Peer

ONE, MANY, CHUNKS, STREAMS_200, STREAMS_500 = "one", "many", "chunks", "streams-200", "streams-500"
TURN_ONE, TURNS = "turn-one", "turns"
TURN_STREAMS_200, TURN_STREAMS_500 = "turn-streams-200", "turn-streams-500"
"""The courses, by name. The last four are of whole turns, as people take them."""

REQUESTS_RATIO = 1.2
CHUNKS_RATIO = 1.5
MOST_ADDED_TTFT_MS = 5.0
MOST_MEMORY_MB = 120.0
MOST_ADDED_TURN_P50_MS = 4.0
MOST_ADDED_TURN_P99_MS = 10.0
MOST_LATENESS_MS = 10.0

Table = Mapping[tuple[Peer, str], Figures]


@dataclass(frozen=True, slots=True)
class Judged:
    """One target and what was measured. `is_met` None: it could not be judged."""

    peer: Peer
    target: str
    measured: str
    is_met: bool | None


def judge(table: Table, peer: Peer) -> Sequence[Judged]:
    return (
        _faster(table, peer, MANY, REQUESTS_RATIO, "requests/s"),
        _faster(table, peer, CHUNKS, CHUNKS_RATIO, "chunks/s"),
        _sooner(table, peer),
        _added(table, peer),
        _memory(table, peer),
        _faultless(table, peer),
    )


def judge_gateway(table: Table) -> Sequence[Judged]:
    """Of a whole turn against the engine itself, asked the same way."""
    return (
        _added_turn(table, "p50", MOST_ADDED_TURN_P50_MS, lambda found: found.wait_p50),
        _added_turn(table, "p99", MOST_ADDED_TURN_P99_MS, lambda found: found.wait_p99),
        _late(table),
        _faultless(table, Peer.GATEWAY),
    )


def ratio(table: Table, peer: Peer, course: str) -> float | None:
    """How many times what the better rival carries on one core."""
    own = table.get((peer, course))
    rivals = [found.per_core for rival in RIVALS if (found := table.get((rival, course))) is not None]
    return own.per_core / max(rivals) if own is not None and rivals and max(rivals) else None


def _faster(table: Table, peer: Peer, course: str, least: float, unit: str) -> Judged:
    target = f"at least {least:g} times the better rival's {unit} of one core"
    found = ratio(table, peer, course)
    if found is None:
        return Judged(peer, target, "not measured", None)
    return Judged(peer, target, f"{found:.2f} times", found >= least)


def _sooner(table: Table, peer: Peer) -> Judged:
    target = "median of one client below every rival's"
    own = table.get((peer, ONE))
    rivals = [found.wait_p50 for rival in RIVALS if (found := table.get((rival, ONE))) is not None]
    if own is None or not rivals:
        return Judged(peer, target, "not measured", None)
    return Judged(peer, target, f"{own.wait_p50:.3f} ms, rivals from {min(rivals):.3f}", own.wait_p50 < min(rivals))


def _added(table: Table, peer: Peer) -> Judged:
    target = f"less than {MOST_ADDED_TTFT_MS:g} ms added to the p99 of the first token at 500 streams"
    own, direct = table.get((peer, STREAMS_500)), table.get((Peer.DIRECT, STREAMS_500))
    if own is None or direct is None:
        return Judged(peer, target, "not measured", None)
    added = own.wait_p99 - direct.wait_p99
    return Judged(
        peer, target, f"{added:.2f} ms ({own.wait_p99:.2f}, direct {direct.wait_p99:.2f})", added < MOST_ADDED_TTFT_MS
    )


def _added_turn(table: Table, name: str, most: float, figure: Callable[[Figures], float]) -> Judged:
    target = f"at most {most:g} ms added to the {name} of a turn's first token"
    own, direct = table.get((Peer.GATEWAY, TURN_ONE)), table.get((Peer.DIRECT, TURN_ONE))
    if own is None or direct is None:
        return Judged(Peer.GATEWAY, target, "not measured", None)
    added = figure(own) - figure(direct)
    told = f"{added:.2f} ms ({figure(own):.2f}, direct {figure(direct):.2f})"
    return Judged(Peer.GATEWAY, target, told, added <= most)


def _late(table: Table) -> Judged:
    target = f"chunks of 500 streams less than {MOST_LATENESS_MS:g} ms late at p99"
    own = table.get((Peer.GATEWAY, TURN_STREAMS_500))
    if own is None:
        return Judged(Peer.GATEWAY, target, "not measured", None)
    return Judged(Peer.GATEWAY, target, f"{own.lateness_p99:.1f} ms", own.lateness_p99 < MOST_LATENESS_MS)


def _memory(table: Table, peer: Peer) -> Judged:
    target = f"under {MOST_MEMORY_MB:g} MB of memory"
    most = max((found.memory_mb for (each, _), found in table.items() if each is peer), default=None)
    if most is None:
        return Judged(peer, target, "not measured", None)
    return Judged(peer, target, f"{most:.0f} MB", most < MOST_MEMORY_MB)


def _faultless(table: Table, peer: Peer) -> Judged:
    """A run with wrong answers proves nothing, whoever gave them. Others that fall silent only show what they carry."""
    faults = sum(
        count
        for (each, _), found in table.items()
        for fault, count in found.faults.items()
        if each is peer or fault != SILENCE
    )
    return Judged(peer, "every answer right, of every target", f"{faults} wrong", faults == 0)
