"""Reasons in what the trainees met: refusals, wrong replicas, moderation, the record, and their own client."""

from collections import Counter
from collections.abc import Iterator

from loadtests.domain.drill import Affinity
from loadtests.domain.figures import ColdReason
from loadtests.domain.reason import Cause, Reason, Seen, codes, refusal

NO_REPLICA = frozenset({"no_replica", "no_room", "engine_busy", "pool_unavailable", "drill_watermark", "http_503"})
TOO_LONG = frozenset({"context_length_exceeded", "http_400"})
MODERATED = frozenset({"moderated", "content_blocked", "blocked"})
COLD_SHARE = 0.05


def client_late(seen: Seen) -> Iterator[Reason]:
    lag = seen.figures.client_lag
    if lag.p99 is not None and lag.p99 > seen.client_lag_s:
        yield Reason(
            cause=Cause.CLIENT,
            says="The client itself was late, so its times are not those of the servers.",
            evidence=(f"client lag p99 {1000 * lag.p99:.0f} ms, at most {1000 * seen.client_lag_s:.0f} ms",),
            share=1.0,
        )


def window_overflowed(seen: Seen) -> Iterator[Reason]:
    refused = [row for row in seen.turns if row.failure and refusal(row) in TOO_LONG]
    if not refused:
        return
    first = min((row.turn for row in refused if row.turn is not None), default=None)
    longest = max((row.prompt_tokens for row in seen.turns), default=0)
    yield Reason(
        cause=Cause.WINDOW,
        says=f"{len(refused)} turns were refused because their history no longer fits the model's window.",
        evidence=(
            *((f"from turn {first} on",) if first else ()),
            *((f"the longest prompt that was taken had {longest:,} tokens",) if longest else ()),
        ),
        share=seen.share(refused),
    )


def affinity_missing(seen: Seen) -> Iterator[Reason]:
    figures = seen.figures
    by_chance = seen.drill.affinity is Affinity.NONE
    anew = sum(count for reason, count in figures.cold.items() if reason in _elsewhere(by_chance=by_chance))
    if not figures.affinity_broken and not (by_chance and anew > COLD_SHARE * figures.warm_turns):
        return
    cached = figures.cached_share
    yield Reason(
        cause=Cause.AFFINITY,
        says="Each turn was sent to a replica chosen by chance, which did not know its history."
        if by_chance
        else "Turns ran at another replica than the one before, for no reason that is known.",
        evidence=(
            f"{figures.affinity_broken} turns at another replica than the turn before",
            f"{anew} of {figures.warm_turns} later turns computed anew",
            *(() if cached is None else (f"{cached:.0%} of prompt tokens cached",)),
        ),
        share=seen.share(max(figures.affinity_broken, anew)),
    )


def history_folded(seen: Seen) -> Iterator[Reason]:
    folded = seen.figures.cold.get(ColdReason.FOLDED, 0)
    if folded > COLD_SHARE * seen.figures.warm_turns:
        yield Reason(
            cause=Cause.FOLDED,
            says="History was folded, and the new beginning had not been computed before its next turn.",
            evidence=(f"{folded} of {seen.figures.warm_turns} later turns cold for this reason",),
            share=seen.share(folded),
        )


def wrongly_blocked(seen: Seen) -> Iterator[Reason]:
    if blocks := seen.figures.false_blocks:
        yield Reason(
            cause=Cause.BLOCKED, says=f"Moderation stopped {blocks} turns that are harmless.", share=seen.share(blocks)
        )


def record_differs(seen: Seen) -> Iterator[Reason]:
    figures = seen.figures
    if wrong := figures.lost_turns + figures.doubled_turns + figures.altered_turns:
        yield Reason(
            cause=Cause.RECORD,
            says="The record is not what the trainees were told.",
            evidence=(
                f"{figures.lost_turns} turns lost, {figures.doubled_turns} doubled, {figures.altered_turns} altered",
            ),
            share=seen.share(wrong),
        )


def let_in(seen: Seen) -> Iterator[Reason]:
    if admitted := seen.figures.let_in:
        says = f"{admitted} requests were answered that should have been refused."
        yield Reason(cause=Cause.LET_IN, says=says, share=seen.share(admitted))


def refused_at_first(seen: Seen) -> Iterator[Reason]:
    """Late because they were sent away and had to come again, for another reason than that there was no replica."""
    late = [row for row in seen.outside_faults(seen.spoiled) if row.failure is None and set(codes(row)) - NO_REPLICA]
    if late:
        kinds = Counter(code for row in late for code in codes(row)).most_common()
        yield Reason(
            cause=Cause.REFUSED,
            says=f"{len(late)} late turns had been refused at first, most of them with {kinds[0][0]}.",
            evidence=tuple(f"{count} with {kind}" for kind, count in kinds),
            share=seen.share(late),
        )


def failed_otherwise(seen: Seen) -> Iterator[Reason]:
    """What no other reason speaks of."""
    known = NO_REPLICA | TOO_LONG | MODERATED
    failed = [row for row in seen.outside_faults(seen.turns) if row.failure and refusal(row) not in known]
    if failed:
        kinds = Counter(map(refusal, failed)).most_common()
        yield Reason(
            cause=Cause.FAILURES,
            says=f"{len(failed)} turns failed, most of them with {kinds[0][0]}.",
            evidence=tuple(f"{count} with {kind}" for kind, count in kinds),
            share=seen.share(failed),
        )


def _elsewhere(*, by_chance: bool) -> frozenset[str]:
    """Where it is not told which replica answered, a turn that moved looks like one whose cache was let go."""
    return frozenset({ColdReason.MOVED, ColdReason.EVICTED} if by_chance else {ColdReason.MOVED})
