"""The figures as a table for people, and as JSON for whoever compares runs."""

import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace

from loadtests.overhead.figures import Figures
from loadtests.overhead.peers import OWN, Peer
from loadtests.overhead.verdict import (
    CHUNKS,
    MANY,
    ONE,
    STREAMS_200,
    STREAMS_500,
    TURN_ONE,
    TURN_STREAMS_200,
    TURN_STREAMS_500,
    TURNS,
    Judged,
    Table,
    ratio,
)

_HEAD = (
    "| target | one client p50 / p99 "
    "| requests/s at 64 clients, of a whole core | chunks/s of 32 streams, of a whole core "
    "| 200 streams: first token p50 / p99, chunk p99 | 500 streams: first token p50 / p99, chunk p99, CPU | memory |"
)
_TURN_HEAD = (
    "| target | a turn of one client: first token p50 / p99, added "
    "| turns/s at 64 clients, of a whole core | one chunk costs "
    "| 200 replies at 25 chunks/s: first token p50 / p99, chunk p50 / p99 | 500 replies: the same, CPU | memory |"
)
_STARVED = 0.05
_ROUTED = (ONE, MANY, CHUNKS, STREAMS_200, STREAMS_500)
_TAKEN = (TURN_ONE, TURNS, TURN_STREAMS_200, TURN_STREAMS_500)
_MARKS = {True: "met", False: "MISSED", None: "not judged"}


def as_table(table: Table, peers: Sequence[Peer]) -> str:
    """Of requests as they reach a router."""
    return _lines(_HEAD, [_row(table, peer) for peer in peers if _ran(table, peer, _ROUTED)])


def as_turns(table: Table, peers: Sequence[Peer]) -> str:
    """Of whole turns. Empty where none was taken."""
    return _lines(_TURN_HEAD, [_turn_row(table, peer) for peer in peers if _ran(table, peer, _TAKEN)])


def as_ratios(table: Table) -> str:
    own = [peer for peer in OWN if (peer, MANY) in table or (peer, CHUNKS) in table]
    return "\n".join(
        f"{peer} against the better rival, per core: {_times(ratio(table, peer, MANY))} requests/s, "
        f"{_times(ratio(table, peer, CHUNKS))} chunks/s"
        for peer in own
    )


def as_caution(table: Table) -> str:
    """Empty where the machine had nothing else to do."""
    most = max((found.starved_share for found in table.values()), default=0.0)
    if most < _STARVED:
        return ""
    return (
        f"Caution: others used the core under test, and a target waited up to {100 * most:.0f} % of the time for it. "
        "Times and rates are worth nothing then; what a whole core carries can still be compared."
    )


def as_verdict(judged: Sequence[Judged]) -> str:
    return "\n".join(f"{_MARKS[each.is_met]:<10} {each.peer}: {each.target} - {each.measured}" for each in judged)


def as_json(table: Table, judged: Sequence[Judged], made_with: Mapping[str, object]) -> str:
    found = {
        "machine": {"cores": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version()},
        "load_average": os.getloadavg(),
        "made_with": made_with,
        "figures": [_plain(peer, course, each) for (peer, course), each in table.items()],
        "targets": [asdict(each) for each in judged],
    }
    return json.dumps(found, indent=1)


def _plain(peer: Peer, course: str, figures: Figures) -> Mapping[str, object]:
    numbers = asdict(replace(figures, faults=Counter()))
    return {"target": peer, "course": course, **numbers, "per_core": figures.per_core, "faults": dict(figures.faults)}


def _ran(table: Table, peer: Peer, courses: Sequence[str]) -> bool:
    return any((peer, course) in table for course in courses)


def _lines(head: str, rows: Sequence[str]) -> str:
    return "\n".join((head, "|" + "---|" * (head.count("|") - 1), *rows)) if rows else ""


def _turn_row(table: Table, peer: Peer) -> str:
    cells = (
        _cell(table.get((peer, TURN_ONE)), lambda f: _against(f, table.get((Peer.DIRECT, TURN_ONE)))),
        _cell(table.get((peer, TURNS)), lambda f: f"{f.answers:,.0f}, {f.answers_per_core:,.0f}"),
        _cell(table.get((peer, TURN_STREAMS_200)), lambda f: f"{f.cpu_us:,.0f} us"),
        _cell(table.get((peer, TURN_STREAMS_200)), _replies),
        _cell(table.get((peer, TURN_STREAMS_500)), lambda f: f"{_replies(f)}, {100 * f.cpu_share:.0f} %"),
        _memory(table, peer),
    )
    return f"| {peer} | {' | '.join(cells)} |"


def _against(figures: Figures, direct: Figures | None) -> str:
    told = f"{figures.wait_p50:.2f} / {figures.wait_p99:.2f} ms"
    if direct is None or direct is figures:
        return told
    return f"{told}, +{figures.wait_p50 - direct.wait_p50:.2f} / +{figures.wait_p99 - direct.wait_p99:.2f} ms"


def _replies(figures: Figures) -> str:
    return (
        f"{figures.wait_p50:.0f} / {figures.wait_p99:.0f}, {figures.lateness_p50:.1f} / {figures.lateness_p99:.1f} ms"
    )


def _row(table: Table, peer: Peer) -> str:
    cells = (
        _cell(table.get((peer, ONE)), lambda f: f"{f.wait_p50:.3f} / {f.wait_p99:.3f} ms"),
        _cell(table.get((peer, MANY)), lambda f: f"{f.rate:,.0f}, {f.per_core:,.0f}"),
        _cell(table.get((peer, CHUNKS)), lambda f: f"{f.rate:,.0f}, {f.per_core:,.0f}"),
        _cell(table.get((peer, STREAMS_200)), _streams),
        _cell(table.get((peer, STREAMS_500)), lambda f: f"{_streams(f)}, {100 * f.cpu_share:.0f} %"),
        _memory(table, peer),
    )
    return f"| {peer} | {' | '.join(cells)} |"


def _streams(figures: Figures) -> str:
    return f"{figures.wait_p50:.2f} / {figures.wait_p99:.2f}, {figures.lateness_p99:.2f} ms"


def _cell(figures: Figures | None, told: Callable[[Figures], str]) -> str:
    if figures is None:
        return "-"
    return told(figures) + (" (VOID)" if figures.faults else "")


def _memory(table: Table, peer: Peer) -> str:
    most = max((found.memory_mb for (each, _), found in table.items() if each is peer), default=0.0)
    return f"{most:.0f} MB"


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} x"
