"""What to do with a pool now: which replicas to start, to drain, to keep and to stop, and why.

The decision is made anew each time from what is seen, and remembers nothing: a controller may be killed at any step,
and the next one goes on from whatever there is. Once what was decided has come about, the same question has the answer
"nothing". What is not known never makes a pool smaller: without a calendar only what runs is kept up, without sessions
nothing that serves or may serve is let go, and without a list of replicas nothing is done at all.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import inf

from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.domain.past_starts import measured_start_s, next_start_at
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.pool_view import PoolView, Ranks, ReplicaSeen, ranked
from router.fleet.domain.steps import Block, Steps, summed
from router.fleet.domain.timeline import Lead, lead, need, replicas_for, wanted


class Move(StrEnum):
    START = "start"
    DRAIN = "drain"
    KEEP = "keep"
    """Take a drain back."""
    STOP = "stop"


class Wait(StrEnum):
    """Why a pool that is not as it should be is left as it is for now."""

    FLEET_UNKNOWN = "the host cannot be asked what runs"
    CALENDAR_UNKNOWN = "the calendar cannot be read"
    SESSIONS_UNKNOWN = "it is not known what sessions run"
    POOL_FULL = "the pool may not have more replicas"
    STARTS_FULL = "the backend carries no more starts at once"
    BACK_OFF = "the last start failed a moment ago"
    DRAINING = "another replica is being drained"
    SESSIONS_RUN = "sessions run on every replica"


@dataclass(frozen=True, slots=True)
class Action:
    move: Move
    reason: str
    replica: ReplicaId | None = None
    """None: the one that is to be started."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A bell is near, or has rung, and replicas are missing."""

    bell: float
    ready: int
    needed: int

    @override
    def __str__(self) -> str:
        return f"{self.ready} of {self.needed} replicas are ready"


@dataclass(frozen=True, slots=True)
class Decision:
    wanted: int | None
    """Replicas the pool should have now; None: it cannot be told."""
    actions: tuple[Action, ...] = ()
    wait: Wait | None = None
    """Why more is not done; None: nothing else is to be done."""
    alert: Alert | None = None


def decide(view: PoolView, rules: PoolRules, *, now: float) -> Decision:
    if view.replicas is None:
        return Decision(wanted=None, wait=Wait.FLEET_UNKNOWN)
    measured = measured_start_s(view.starts)
    ahead = lead(rules, measured)
    # Before anything was measured a slow start tells nothing, and doubting all of them would start as many again.
    start_s = inf if measured is None else ahead.start_s
    ranks = ranked(view.replicas, start_s=start_s, now=now, longest_s=rules.longest_start_s)
    plan = target(view, rules, ahead, now=now)
    least = max(plan or rules.minimum, replicas_for(ranks.sessions or 0, rules))
    removals = [Action(Move.STOP, why, replica.id) for replica, why in ranks.lost]
    if ranks.present < least:
        actions, wait = _grow(ranks, view, rules, least=least, now=now)
    else:
        actions, wait = _shrink(ranks, view, rules, least=least)
    if wait is None and plan is None:
        wait = Wait.CALENDAR_UNKNOWN
    return Decision(
        wanted=None if plan is None else least,
        actions=(*removals, *actions),
        wait=wait,
        alert=alert_of(view.seats, rules, ready=len(ranks.ready), now=now),
    )


def target(view: PoolView, rules: PoolRules, ahead: Lead, *, now: float) -> int | None:
    """Replicas that the calendar wants now, and the sessions that run beside it; None without a calendar.

    Sessions past their end count for as long as starts take: whoever still sits there when the next bell is that near
    takes seats that its class was promised.
    """
    if view.seats is None:
        return None
    stay = Block(now, now + ahead.last_s, view.strays or 0)
    return wanted(need(summed([*view.seats.blocks(), stay]), rules), rules, ahead).at(now)


def _grow(
    ranks: Ranks, view: PoolView, rules: PoolRules, *, least: int, now: float
) -> tuple[list[Action], Wait | None]:
    """Take drains back first, those with the most sessions before others; then start what is missing."""
    missing = least - ranks.present
    ours = sorted(ranks.draining, key=lambda replica: -(replica.sessions or 0))
    drained = [replica for replica in ours if replica.may_return][:missing]
    kept = [Action(Move.KEEP, "it is wanted again", replica.id) for replica in drained]
    missing -= len(kept)
    # Before a clock was put back a start may have ended that is still to come; nobody waits for that.
    past = [start for start in view.starts if start.ended <= now]
    places = {
        Wait.POOL_FULL: max(0, rules.maximum - ranks.occupied),
        Wait.STARTS_FULL: max(0, rules.starts_at_once - len(ranks.coming) - len(ranks.late)),
        Wait.BACK_OFF: missing if now >= next_start_at(past, rules) else 0,
    }
    wait = min(places, key=lambda reason: places[reason])
    count = min(missing, places[wait])
    reason = f"{least} are wanted, {ranks.present} are there"
    return [*kept, *[Action(Move.START, reason)] * count], None if count == missing else wait


def _shrink(ranks: Ranks, view: PoolView, rules: PoolRules, *, least: int) -> tuple[list[Action], Wait | None]:
    """One replica at a time: one that nobody has used yet, else the one with the fewest sessions."""
    if view.seats is None:
        return [], Wait.CALENDAR_UNKNOWN
    finished = [replica for replica in ranks.draining if replica.may_stop]
    emptied = [Action(Move.STOP, "nobody uses it any more", replica.id) for replica in finished]
    is_known = ranks.sessions is not None and view.strays is not None
    if is_known and len(ranks.ready) >= least:
        emptied += [Action(Move.STOP, "another one came before it", replica.id) for replica in ranks.late]
    if ranks.present == least:
        return emptied, None
    if not is_known:
        return emptied, Wait.SESSIONS_UNKNOWN
    if ranks.coming:
        return [*emptied, _spare(Move.STOP, ranks.coming[-1], ranks.present, least)], None
    if len(finished) < len(ranks.draining):
        return emptied, Wait.DRAINING
    if not rules.moves_sessions and all(replica.sessions for replica in ranks.ready):
        return emptied, Wait.SESSIONS_RUN
    victim = min(ranks.ready, key=lambda replica: replica.sessions or 0)
    return [*emptied, _spare(Move.DRAIN, victim, ranks.present, least)], None


def _spare(move: Move, replica: ReplicaSeen, present: int, least: int) -> Action:
    return Action(move, f"{least} are wanted, {present} are there", replica.id)


def alert_of(seats: Steps | None, rules: PoolRules, *, ready: int, now: float) -> Alert | None:
    """The reserve is not missed: what counts are the seats."""
    if seats is None:
        return None
    needs = seats.mapped(lambda count: replicas_for(count, rules))
    worst = needs.peak(now, now + rules.alert_s)
    if ready >= worst.height:
        return None
    rises = (right.begins for left, right in pairwise(needs.blocks()) if left.height < right.height)
    bell = max((rise for rise in rises if rise <= worst.begins), default=worst.begins)
    return Alert(bell, ready, worst.height)
