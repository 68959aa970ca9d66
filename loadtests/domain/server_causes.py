"""Reasons in the servers: too few of them, faults, queues, full memory, one that is unlike the others."""

from collections import Counter
from collections.abc import Iterator

from loadtests.domain.causes import COLD_SHARE, NO_REPLICA
from loadtests.domain.figures import ColdReason
from loadtests.domain.looks import all_up_from, busy_spans, by_process, had_waiting, up_at
from loadtests.domain.reason import Aftermath, Cause, Reason, Seen, codes, refusal
from loadtests.domain.rows import Row

_BUSY_SHARE = 0.9
_STRANGE_SHARE, _STRANGE_TIMES, _STRANGE_TURNS = 0.1, 3.0, 5
_WORSE_TIMES = 1.5
_CROWDED_TIMES = 1.5


def replicas_short(seen: Seen) -> Iterator[Reason]:
    """There are fewer at the bell than later, or turns found none with room while nothing was broken."""
    at_bell, complete_s = up_at(seen.looks, 0.0), all_up_from(seen.looks)
    ever = sum(any(look.up for look in looks) for looks in seen.looks.values())
    calm = seen.outside_faults(seen.turns)
    refused = [row for row in calm if NO_REPLICA.intersection((*codes(row), refusal(row)))]
    early = [
        row
        for row in calm
        if complete_s is not None and len(at_bell) < ever and row.started_s < complete_s and seen.is_spoiled(row)
    ]
    touched = {*refused, *early}
    if not touched:
        return
    if len(at_bell) < ever:
        says = f"Only {len(at_bell)} of {ever} replicas were up at the bell; the last came {complete_s:.0f} s after it."
    else:
        says = "No replica had room for all who asked."
    failed = sum(row.failure is not None for row in refused)
    kinds = Counter(map(refusal, refused)).most_common()
    yield Reason(
        cause=Cause.REPLICAS_SHORT,
        says=says,
        evidence=(
            *((f"{len(early)} turns were late or failed before all were up",) if early else ()),
            *((f"{failed} turns failed, {len(refused) - failed} were refused at first",) if refused else ()),
            *(f"{count} times {code}" for code, count in kinds),
        ),
        share=seen.share(touched),
    )


def faults_felt(seen: Seen) -> Iterator[Reason]:
    """Each fault during which more turns were spoiled than when nothing was broken."""
    calm = seen.outside_faults(seen.turns)
    usual = _spoiled_share(seen, calm)
    for trouble in seen.troubles:
        inside = [row for row in seen.turns if seen.trouble_of(row) is trouble]
        spoiled = [row for row in inside if seen.is_spoiled(row)]
        if spoiled and _spoiled_share(seen, inside) > _WORSE_TIMES * usual:
            yield _fault(seen, trouble, spoiled)


def caches_lost(seen: Seen) -> Iterator[Reason]:
    """Nothing need have been late for that."""
    lost = seen.figures.cold.get(ColdReason.LOST, 0)
    if lost > COLD_SHARE * seen.figures.warm_turns:
        yield Reason(
            cause=Cause.FAULT,
            says="Replicas were broken, and came back without what they had computed of their sessions.",
            evidence=(f"{lost} of {seen.figures.warm_turns} later turns cold for this reason",),
            share=seen.share(lost),
        )


def one_replica_worse(seen: Seen) -> Iterator[Reason]:
    calm = [row for row in seen.outside_faults(seen.turns) if row.replica is not None]
    turns = Counter(str(row.replica) for row in calm)
    spoiled = Counter(str(row.replica) for row in calm if seen.is_spoiled(row))
    for replica, count in spoiled.items():
        others = turns.total() - turns[replica]
        share, usual = count / turns[replica], (spoiled.total() - count) / others if others else 1.0
        if count >= _STRANGE_TURNS and share >= _STRANGE_SHARE and share > _STRANGE_TIMES * usual:
            yield Reason(
                cause=Cause.ONE_REPLICA,
                says=f"{replica} is unlike the others: {share:.0%} of its turns failed or were late.",
                evidence=(f"{count} of {turns[replica]} turns at {replica}, {usual:.0%} elsewhere",),
                share=seen.share(count),
            )


def queued(seen: Seen) -> Iterator[Reason]:
    late = [
        row
        for row in seen.spoiled
        if row.failure is None and had_waiting(seen.looks, row.replica, row.started_s, row.first_s or row.ended_s)
    ]
    if not late:
        return
    waiting = max(look.waiting or 0 for look in seen.replicas)
    running = max(look.running or 0 for look in seen.replicas)
    most = seen.figures.kv_usage_most
    yield Reason(
        cause=Cause.QUEUE,
        says=f"{len(late)} late turns queued at a replica that was busy with others.",
        evidence=(
            f"up to {waiting} waiting and {running} running at once at one replica",
            *(() if most is None else (f"KV memory {most:.0%} full at most",)),
        ),
        share=seen.share(late),
    )


def memory_full(seen: Seen) -> Iterator[Reason]:
    figures = seen.figures
    evicted, preempted = figures.cold.get(ColdReason.EVICTED, 0), figures.preemptions or 0
    evicted = evicted if evicted > COLD_SHARE * figures.warm_turns else 0
    if not evicted and not preempted:
        return
    most = figures.kv_usage_most
    yield Reason(
        cause=Cause.MEMORY,
        says="The replicas' KV memory did not hold what the sessions needed.",
        evidence=(
            f"{preempted} preemptions, {evicted} turns computed anew because the cache had let go of them",
            *(() if most is None else (f"KV memory {most:.0%} full at most",)),
        ),
        share=seen.share(evicted + preempted),
    )


def gateway_busy(seen: Seen) -> Iterator[Reason]:
    spans = [
        span
        for name, samples in by_process(seen.processes).items()
        if name.startswith("gateway")
        for span in busy_spans(samples, speed_up=seen.drill.speed_up, from_share=_BUSY_SHARE)
    ]
    touched = [row for row in seen.spoiled if _within(row, spans)]
    if touched:
        busy = sum(end - begin for begin, end in spans)
        yield Reason(
            cause=Cause.GATEWAY,
            says=f"{len(touched)} turns were late or failed while a gateway process used up its core.",
            evidence=(f"{busy:.0f} s at {_BUSY_SHARE:.0%} of a core or more",),
            share=seen.share(touched),
        )


def machine_busy(seen: Seen) -> Iterator[Reason]:
    """More wanted to run than there are processors, and whatever runs on them here was late for that."""
    load, cpus = seen.load_average, seen.cpus
    if load is None or cpus is None or load <= _CROWDED_TIMES * cpus or not seen.processes or not seen.spoiled:
        return
    yield Reason(
        cause=Cause.MACHINE,
        says="More wanted to run on this machine than its processors can carry.",
        evidence=(f"load average {load:.1f} on {cpus} processors",),
        share=seen.share(seen.spoiled),
    )


def written_slowly(seen: Seen) -> Iterator[Reason]:
    limit, tpot = seen.limits.ttft_s, seen.figures.tpot.p95
    slow = [
        row
        for row in seen.spoiled
        if row.failure is None and row.ttft_s is not None and (limit is None or row.ttft_s <= limit)
    ]
    if slow:
        yield Reason(
            cause=Cause.WRITING,
            says=f"{len(slow)} replies began in time and took too long to write.",
            evidence=(
                *(() if tpot is None else (f"time per token p95 {1000 * tpot:.0f} ms",)),
                f"up to {max(row.completion_tokens for row in slow)} tokens in one of them",
            ),
            share=seen.share(slow),
        )


def _fault(seen: Seen, trouble: Aftermath, spoiled: list[Row]) -> Reason:
    fault, mended = trouble.event, trouble.mended_s
    over = "it did not answer again" if mended is None else f"it answered again after {mended - fault.at_s:.0f} s"
    failed = sum(row.failure is not None for row in spoiled)
    return Reason(
        cause=Cause.FAULT,
        says=f"The fault caused at {fault.at_s:.0f} s ({trouble.name}) was felt: {over}.",
        evidence=(f"{failed} turns failed meanwhile, {len(spoiled) - failed} were late",),
        share=seen.share(spoiled),
    )


def _spoiled_share(seen: Seen, rows: list[Row]) -> float:
    return sum(map(seen.is_spoiled, rows)) / len(rows) if rows else 0.0


def _within(row: Row, spans: list[tuple[float, float]]) -> bool:
    return any(row.started_s <= end and row.ended_s >= begin for begin, end in spans)
