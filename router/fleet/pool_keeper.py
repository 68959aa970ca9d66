"""One pool's rounds: what is there is read, what is to be done is decided by pure functions, and it is done."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TypeVar

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import Booking, PoolName, current, demand
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.domain.matching import Matched, matched
from router.fleet.domain.past_starts import measured_start_s
from router.fleet.domain.pool_book import PoolBook, Round
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.pool_view import PoolView
from router.fleet.domain.reconcile import Reconciled, reconcile
from router.fleet.domain.replica_lifecycle import ON_THEIR_WAY, ReplicaState
from router.fleet.domain.replica_record import Milestone, ReplicaRecord
from router.fleet.domain.scaling import Alert, Decision, Move, alert_of, decide
from router.fleet.domain.sight import Sight, Watch, guessed
from router.fleet.domain.silence import Silence
from router.fleet.domain.steps import Steps
from router.fleet.domain.timeline import lead, reach_s
from router.fleet.domain.warmth import WarmLook
from router.fleet.errors import (
    AlarmNotHeard,
    CalendarUnavailable,
    HostUnavailable,
    LedgerUnavailable,
    NotLeading,
    RoutersUnavailable,
)
from router.fleet.keeping import Around, Pool, PoolReport
from router.fleet.pool_hands import PoolHands, spec_of
from router.fleet.ports import RoutersState

HOUR_S = 3600.0
GONE_AFTER_S = 15.0
"""One that its host has not listed for so long, in two looks at least, is gone."""
UNWATCHED_S = 90.0
"""After so long without a look the pool was not watched."""
_UNKNOWN = (CalendarUnavailable, HostUnavailable, RoutersUnavailable)
_UNHEARD = "none of the replicas that serve generates anything: they hang, or are not heard from here; all are kept"
_Read = TypeVar("_Read")


class PoolKeeper:
    """Remembers only what may be forgotten: marks that were set, alarms that were told, who has been silent so far."""

    def __init__(
        self, *, pool: Pool, around: Around, new_id: Callable[[PoolName], ReplicaId], dead_after_s: float
    ) -> None:
        self._pool = pool
        self._around = around
        self._new_id = new_id
        self._dead_after_s = dead_after_s
        self._marks: dict[ReplicaId, Mark] = {}
        self._silence = self._absence = Silence()
        self._looked_at = self._watched_since = -inf
        self._told: Alert | None = None
        self._troubles: list[str] = []

    async def take(self, now: float) -> PoolReport:
        self._troubles = []
        report = PoolReport(self._pool.name, leads=await self._around.leadership.held())
        if not report.leads:
            self._marks, self._silence, self._absence, self._told = {}, Silence(), Silence(), None
            return report
        hands = PoolHands(pool=self._pool, around=self._around, now=now, new_id=self._new_id)
        try:
            report = await self._round(hands, report, now)
        except NotLeading as error:
            report = replace(report, leads=False)
            self._troubles.append(str(error))
        except LedgerUnavailable as error:
            self._troubles.append(str(error))
        return replace(report, deeds=tuple(hands.deeds), starts=tuple(hands.starts), troubles=tuple(self._troubles))

    async def _round(self, hands: PoolHands, report: PoolReport, now: float) -> PoolReport:
        book = await self._around.ledger.read(self._pool.name)
        rules = _rules(self._pool.rules, book, now)
        bookings = await self._known(self._bookings(book, rules, now))
        seats = None if bookings is None else demand(bookings, self._pool.name)
        hosted = await self._known(self._pool.host.list())
        if hosted is None:
            states = guessed(book.records.values())
            alert = alert_of(seats, rules, ready=_ready(states), now=now)
            decision = replace(decide(PoolView(None, seats), rules, now=now), alert=alert)
            round_ = self._as_round(decision, states, now)
        else:
            whole, live = await self._whole(book, hosted, bookings or (), now)
            view = PoolView(whole.seen, seats, _strays(live, seats, now), (*book.starts, *whole.failed))
            decision = decide(view, rules, now=now)
            await self._carry_out(hands, whole, decision)
            round_ = self._as_round(decision, [replica.state for replica in whole.seen], now)
        await self._around.ledger.show(round_)
        is_known = hosted is not None and seats is not None
        if is_known or decision.alert is not None:  # that nothing is missing cannot be guessed
            await self._sound(decision.alert)
        return replace(report, round=round_, alert=decision.alert)

    async def _carry_out(self, hands: PoolHands, whole: Reconciled, decision: Decision) -> None:
        await hands.take_over(whole.records, whole.changes)
        to_stop = {action.replica for action in decision.actions if action.move is Move.STOP}
        for replica, mend in whole.mends:
            if replica not in to_stop:  # given to the routers now, it would be taken from them without a drain
                await hands.mend(replica, mend)
        for action in decision.actions:
            await hands.act(action)
        await hands.mark(self._marks)

    def _bookings(self, book: PoolBook, rules: PoolRules, now: float) -> Awaitable[Sequence[Booking]]:
        """As far ahead as anything has to be begun now, and as far back as gaps are filled."""
        ahead = lead(rules, measured_start_s(book.starts))
        until = now + max(reach_s(rules, ahead), rules.alert_s) + HOUR_S
        return self._around.calendar.bookings(since=now - max(HOUR_S, ahead.start_s), until=until)

    async def _whole(
        self, book: PoolBook, hosted: Sequence[HostedReplica], bookings: Sequence[Booking], now: float
    ) -> tuple[Reconciled, int | None]:
        names = self._pool.host.names_replicas
        found = matched(book.records, hosted, pool=self._pool.name, names_replicas=names, now=now)
        state = await self._known(self._around.routers.state(tuple(found.records)))
        here = {replica.id: replica for replica in hosted}
        self._absence = self._absence.after({replica: replica in here for replica in found.records}, now=now)
        gone = self._absence.lasting(GONE_AFTER_S, now=now)
        first = {
            replica: replace(_sight(replica, here.get(replica), state), is_gone=replica in gone)
            for replica in found.records
        }
        warming = await self._warming(found, first, bookings, now)
        sights = await self._speaking(found, warming, now)
        live = None if state is None or state.live_sessions is None else sum(state.live_sessions.values())
        return reconcile(found, sights, self._watch(now)), live

    def _watch(self, now: float) -> Watch:
        if now - self._looked_at > UNWATCHED_S:
            self._watched_since = now
        self._looked_at = now
        start_s = self._pool.rules.longest_start_s
        return Watch(self._pool.host.names_replicas, since=self._watched_since, now=now, start_s=start_s)

    async def _warming(
        self, found: Matched, sights: Mapping[ReplicaId, Sight], bookings: Sequence[Booking], now: float
    ) -> Mapping[ReplicaId, Sight]:
        cold = [record for record in found.records.values() if _is_cold(record, sights[record.id])]
        if not cold:
            return sights
        coming = [b for b in current(bookings) if b.pool == self._pool.name and b.ends > now]
        coming.sort(key=lambda booking: booking.begins)
        prefixes = await self._around.prefixes.of(self._pool.name, coming)
        looks: dict[ReplicaId, WarmLook] = {}
        for record in cold:
            hosted = sights[record.id].hosted
            if hosted is not None and hosted.url:
                spec = spec_of(replace(record, url=hosted.url))
                looks[record.id] = await self._around.warmth.look(spec, prefixes)
        return {replica: replace(sight, look=looks.get(replica)) for replica, sight in sights.items()}

    async def _speaking(
        self, found: Matched, sights: Mapping[ReplicaId, Sight], now: float
    ) -> Mapping[ReplicaId, Sight]:
        answers = {
            record.id: await self._around.warmth.still_answers(spec_of(record))
            for record in found.records.values()
            if _serves(record, sights[record.id])
        }
        self._silence = self._silence.after(answers, now=now)
        mute = self._silence.mute(answers, dead_after_s=self._dead_after_s, now=now)
        if self._silence.lasting(self._dead_after_s, now=now) - mute:
            self._troubles.append(_UNHEARD)
        return {replica: replace(sight, is_mute=replica in mute) for replica, sight in sights.items()}

    async def _known(self, reading: Awaitable[_Read]) -> _Read | None:
        try:
            return await reading
        except _UNKNOWN as error:
            self._troubles.append(str(error))
            return None

    async def _sound(self, alert: Alert | None) -> None:
        """Once when replicas are missing, and once when they are there; what was not heard is told again."""
        try:
            if alert is not None and self._told is None:
                await self._around.alarm.short(self._pool.name, alert)
                self._told = alert
            elif alert is None and self._told is not None:
                await self._around.alarm.over(self._pool.name, self._told)
                self._told = None
        except AlarmNotHeard as error:
            self._troubles.append(str(error))

    def _as_round(self, decision: Decision, states: Sequence[ReplicaState], now: float) -> Round:
        ready = _ready(states)
        return Round(
            pool=self._pool.name,
            at=now,
            leader=self._around.leadership.name,
            wanted=decision.wanted,
            ready=ready,
            present=ready + sum(state in ON_THEIR_WAY for state in states),
            wait="" if decision.wait is None else str(decision.wait),
            short="" if decision.alert is None else str(decision.alert),
            short_at=None if decision.alert is None else decision.alert.bell,
        )


def _rules(rules: PoolRules, book: PoolBook, now: float) -> PoolRules:
    floor = 0 if book.floor is None else book.floor.at(now)
    return replace(rules, minimum=min(rules.maximum, max(rules.minimum, floor)))


def _ready(states: Sequence[ReplicaState]) -> int:
    return sum(state is ReplicaState.READY for state in states)


def _sight(replica: ReplicaId, hosted: HostedReplica | None, state: RoutersState | None) -> Sight:
    if state is None:
        return Sight(hosted, is_known=None, sessions=None)
    live = state.live_sessions
    return Sight(
        hosted,
        is_known=replica in state.joined,
        drain=state.drains.get(replica),
        sessions=None if live is None else live.get(replica, 0),
    )


def _strays(live: int | None, seats: Steps | None, now: float) -> int | None:
    """Sessions that no running class accounts for."""
    return None if live is None or seats is None else max(0, live - seats.at(now))


def _is_cold(record: ReplicaRecord, sight: Sight) -> bool:
    return _runs(record, sight) and not (record.has(Milestone.PREFIXES_WARM) or _is_in(record, sight))


def _serves(record: ReplicaRecord, sight: Sight) -> bool:
    return _runs(record, sight) and _is_in(record, sight)


def _is_in(record: ReplicaRecord, sight: Sight) -> bool:
    return record.has(Milestone.JOINED) or bool(sight.is_known)


def _runs(record: ReplicaRecord, sight: Sight) -> bool:
    is_up = sight.hosted is not None and sight.hosted.phase is HostPhase.RUNNING
    return is_up and not (record.failure or record.has(Milestone.STOPPING))
