"""One pool's rounds: from a class in the calendar to replicas that serve, and back to none."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.simulated.machines import Fate
from router.fleet.domain.cold_starts import ColdStarts
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import Mark
from router.fleet.domain.pool_book import Floor
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.replica_record import Milestone
from router.fleet.domain.scaling import Wait
from router.fleet.domain.warmth import Prefix, Warming, WarmLook
from router.fleet.errors import HostUnavailable, LedgerUnavailable
from router.fleet.pool_keeper import GONE_AFTER_S
from tests.support.fleet_house import POOL, ROUND_S, START_S, FleetHouse, booking

BELL, END = 700.0, 1000.0
A = ReplicaId("qwen-1")


def house_with_a_class(expected: int = 5, *, starts: ColdStarts | None = None) -> FleetHouse:
    classes = [booking("class", BELL, END, expected), booking("another pool's", BELL, END, 500, pool=PoolName("x"))]
    return FleetHouse(classes) if starts is None else FleetHouse(classes, starts=starts)


async def serving(house: FleetHouse) -> ReplicaId:
    await house.until(BELL)
    (replica,) = house.routers.joined
    return replica


# ------------------------------------------------------------------ the way of a class


async def test_a_class_gets_its_replica_started_warmed_and_joined_before_its_bell() -> None:
    house = house_with_a_class()
    assert (await house.until(95.0)).deeds == ()
    assert [deed.what for deed in (await house.until(100.0)).deeds] == ["start"]
    await house.until(100.0 + START_S + 3 * ROUND_S)
    assert house.routers.joined[A].url == "http://qwen-1.simulated"
    assert house.routers.joined[A].models == {POOL}
    record = (await house.ledger.book(POOL)).records[A]
    assert list(record.reached.values()) == sorted(record.reached.values())
    assert set(record.reached) == set(Milestone) - {Milestone.DRAINING, Milestone.STOPPING}
    assert record.report is not None
    (start,) = (await house.ledger.book(POOL)).starts
    assert (start.began, start.went_warm) == (100.0, True)
    assert house.marked.marks == [(A, Mark.SERVING)]


async def test_its_warm_up_is_given_what_its_classes_begin_with() -> None:
    house = house_with_a_class()
    house.calendar.listed.insert(0, booking("later", BELL + 60.0, END, 1))
    await serving(house)
    assert set(house.prefixes.asked) == {("class", "later")}


async def test_after_the_class_it_is_drained_and_stopped_once_nobody_uses_it() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.routers.sessions[replica] = 5
    await house.until(END + 60.0)
    assert house.routers.draining == set(), "its sessions run on"
    house.routers.sessions[replica] = 0
    await house.until(END + 75.0)
    assert house.routers.draining == set()
    await house.until(END + 120.0)
    assert (house.routers.joined, house.machines.here(), house.stopped_under) == ({}, {}, [])
    assert house.deeds() == ["start", "join", "drain", "stop", "forget"]
    assert house.marked.marks == [(replica, Mark.SERVING), (replica, Mark.LEAVING)]


async def test_one_that_is_warm_as_its_class_is_cancelled_is_not_given_to_the_routers_first() -> None:
    other = house_with_a_class()
    replica = await serving(other)
    warm_at = (await other.ledger.book(POOL)).records[replica].reached[Milestone.JOINED]
    house = house_with_a_class()
    await house.until(warm_at - ROUND_S)
    house.calendar.listed.clear()
    report = await house.until(warm_at)
    assert [deed.what for deed in report.deeds] == ["stop"]
    assert house.routers.joined == {}


async def test_a_gap_is_filled_that_is_shorter_than_a_start_however_long_starts_take() -> None:
    hour = 3600.0
    rules = PoolRules(seats_per_replica=8, maximum=4, unmeasured_start_s=2 * hour, safety=1.5, spare_starts=0)
    house = FleetHouse([booking("over", 0.0, hour, 5), booking("next", 6.5 * hour, 7 * hour, 5)], rules=rules)
    house.clock.now = 3 * hour
    (report,) = await house.controller.take_round(house.clock.now)
    assert report.round is not None
    assert report.round.wanted == 1


async def test_what_it_made_of_the_pool_is_kept_for_whoever_asks() -> None:
    house = house_with_a_class()
    await house.until(100.0)
    await house.until(105.0)
    (shown,) = await house.ledger.rounds()
    assert (shown.pool, shown.at, shown.leader, shown.wanted, shown.ready, shown.present) == (
        POOL,
        105.0,
        "test",
        1,
        0,
        1,
    )
    assert shown.short.startswith("0 of 1")
    assert shown.short_at == BELL


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize(
    ("fate", "why"),
    [
        (Fate.ENDS, "it ended with code 1, as simulated"),
        (Fate.UNFIT, "its canary answer is not the pool's"),
        (Fate.HANGS, "it did not answer in time"),
    ],
)
async def test_a_start_that_fails_is_cleared_away_told_and_replaced(fate: Fate, why: str) -> None:
    starts = ColdStarts(
        fastest_s=START_S,
        slowest_s=START_S,
        failure_rate=1.0,
        hang_share=float(fate is Fate.HANGS),
        unfit_share=float(fate is Fate.UNFIT),
    )
    house = FleetHouse([booking("class", 3000.0, 4000.0, 5)], starts=starts, rules=RULES)
    await house.until(1300.0)
    stops = [deed for report in house.reports for deed in report.deeds if deed.what == "stop"]
    assert {deed.reason for deed in stops} == {why}
    assert house.machines.begun >= 2
    told = (await house.ledger.book(POOL)).starts
    assert told
    assert not any(start.went_warm for start in told)


RULES = PoolRules(seats_per_replica=8, maximum=4, lead_s=2900.0, spare_starts=0)


async def test_a_model_that_is_known_to_start_slowly_is_given_its_time() -> None:
    slow = ColdStarts(fastest_s=900.0, slowest_s=900.0, failure_rate=0.0)
    house = FleetHouse([booking("class", 3000.0, 4000.0, 5)], starts=slow, rules=replace(RULES, unmeasured_start_s=900))
    await house.until(1_100.0)
    assert (list(house.routers.joined), house.machines.begun) == ([A], 1)


async def test_one_that_serves_and_ends_is_replaced_and_its_failure_is_no_failed_start() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.machines.end(replica)
    await house.until(BELL + 100.0)
    assert list(house.routers.joined) == [ReplicaId("qwen-2")]
    assert all(start.went_warm for start in (await house.ledger.book(POOL)).starts)


async def test_one_that_is_frozen_is_replaced_after_a_minute() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.warmth.frozen.add(replica)
    await house.until(BELL + 55.0)
    assert list(house.routers.joined) == [replica]
    await house.until(BELL + 160.0)
    assert list(house.routers.joined) == [ReplicaId("qwen-2")]


async def test_when_none_answers_all_are_kept_until_another_one_does() -> None:
    house = house_with_a_class(expected=10)
    await house.until(BELL)
    house.warmth.frozen.update(house.routers.joined)
    assert (await house.until(BELL + 55.0)).troubles == ()
    (trouble,) = (await house.until(BELL + 100.0)).troubles
    assert trouble.startswith("none of the replicas that serve generates anything")
    frozen = set(house.routers.joined)
    assert len(frozen) == 2
    house.routers.draining.add(min(frozen))
    await house.until(END - 10.0)
    assert len(house.routers.joined) == 2
    assert not frozen & house.routers.joined.keys()


async def test_a_host_that_once_lists_nothing_costs_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.routers.sessions[replica] = 5
    with monkeypatch.context() as patched:
        patched.setattr(house.machines, "here", dict)
        await house.until(BELL + ROUND_S)
    await house.until(END)
    assert (list(house.routers.joined), house.machines.begun, house.stopped_under) == ([replica], 1, [])


async def test_one_that_its_host_lists_no_more_is_replaced() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    del house.machines.here()[replica]
    await house.until(BELL + ROUND_S + GONE_AFTER_S + START_S + 4 * ROUND_S)
    assert (list(house.routers.joined), house.machines.begun) == ([ReplicaId("qwen-2")], 2)


async def test_the_pod_that_comes_for_one_that_was_deleted_is_kept() -> None:
    house = FleetHouse([booking("class", BELL, END, 5)], names=True)
    replica = await serving(house)
    del house.machines.here()[replica]
    house.machines.start(ReplicaId("pod-9"))
    await house.until(BELL + START_S + 4 * ROUND_S)
    assert (list(house.routers.joined), house.machines.begun) == (["pod-9"], 2)


async def test_what_the_routers_forgot_is_told_them_again() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.routers.joined.clear()
    await house.until(BELL + ROUND_S)
    assert list(house.routers.joined) == [replica]
    assert len((await house.ledger.book(POOL)).starts) == 1


async def test_a_drain_that_an_operator_ordered_is_his() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.routers.draining.add(replica)
    house.routers.sessions[replica] = 2
    await house.until(BELL + 100.0)
    assert house.routers.draining == {replica}
    assert list(house.routers.joined) == [replica, ReplicaId("qwen-2")]
    house.routers.sessions[replica] = 0
    await house.until(BELL + 130.0)
    assert list(house.routers.joined) == [ReplicaId("qwen-2")]


async def test_a_lost_ledger_takes_in_what_runs_and_learns_nothing_of_its_start() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.ledger.__init__()  # type: ignore[misc]
    house.next_controller()
    await house.until(BELL + 30.0)
    assert list(house.routers.joined) == [replica]
    book = await house.ledger.book(POOL)
    assert list(book.records) == [replica]
    assert (book.starts, house.machines.begun) == ((), 1)


# ------------------------------------------------------------------ what cannot be read


async def test_without_the_host_nothing_is_done_and_it_is_shown() -> None:
    house = house_with_a_class()
    await serving(house)
    house.machines.is_cut = True
    report = await house.until(END + 30.0)
    assert report.deeds == ()
    assert report.troubles == ("the simulated host cannot be asked",)
    (shown,) = await house.ledger.rounds()
    assert (shown.wait, shown.wanted, shown.ready, shown.present) == (str(Wait.FLEET_UNKNOWN), None, 1, 1)


async def test_a_host_that_takes_no_order_for_a_while_gets_it_as_soon_as_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = house_with_a_class()

    async def refuses(replica: ReplicaId, *, among: int) -> None:
        raise HostUnavailable(f"{replica} is not taken, among {among}")

    with monkeypatch.context() as patched:
        patched.setattr(house.marked, "start", refuses)
        await house.until(BELL - 70.0)
    assert house.machines.begun == 0
    assert (await house.ledger.book(POOL)).starts == ()
    await house.until(BELL - 65.0)
    assert house.machines.begun == 1


async def test_without_the_calendar_what_runs_is_kept_up() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.calendar.is_away = True
    report = await house.until(END + 60.0)
    assert (report.troubles, list(house.routers.joined)) == (("the calendar is away",), [replica])
    house.calendar.is_away = False
    await house.until(END + 120.0)
    assert house.routers.joined == {}


async def test_without_the_routers_starts_go_on_and_nothing_is_let_go() -> None:
    house = house_with_a_class()
    replica = await serving(house)
    house.routers.is_away = True
    house.calendar.listed.append(booking("more", END, END + 300.0, 16))
    await house.until(END)
    report = await house.until(END + 200.0)
    assert report.round is not None
    assert (report.round.ready, report.round.present) == (1, 2)
    assert list(house.routers.joined) == [replica]
    house.routers.is_away = False
    await house.until(END + 205.0)
    assert list(house.routers.joined) == [replica, ReplicaId("qwen-2")]


async def test_without_the_ledger_nothing_is_done_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    house = house_with_a_class()
    house.clock.now = 200.0

    async def away(_: object) -> None:
        raise LedgerUnavailable("the ledger is away")

    monkeypatch.setattr(house.ledger, "read", away)
    report = await house.round()
    assert (report.leads, report.round, report.troubles) == (True, None, ("the ledger is away",))
    assert house.machines.begun == 0


async def test_whoever_loses_the_lead_in_the_middle_stops_there() -> None:
    house = FleetHouse([booking("class", BELL, END, 30)])
    house.clock.now = 200.0
    asked = 0

    def leads() -> bool:
        nonlocal asked
        asked += 1
        return asked <= 2

    house.ledger._leads = leads
    report = await house.round()
    assert (report.leads, house.machines.begun) == (False, 2)


# ------------------------------------------------------------------ wishes and alarms


async def test_an_operator_s_floor_holds_until_its_end_and_never_above_the_maximum() -> None:
    house = FleetHouse()
    await house.ledger.set_floor(POOL, Floor(9, until=300.0, set_by="op"))
    report = await house.until(10.0)
    assert report.round is not None
    assert report.round.wanted == house.rules.maximum
    await house.until(300.0)
    report = await house.until(600.0)
    assert report.round is not None
    assert (report.round.wanted, house.routers.joined) == (0, {})


async def test_an_alarm_is_told_once_when_it_begins_and_once_when_it_is_over() -> None:
    house = FleetHouse([booking("class", BELL, END, 5)], rules=PoolRules(seats_per_replica=8, maximum=4, lead_s=600.0))
    await house.until(300.0)
    assert house.alarm.heard == ["short: 0 of 1 replicas are ready", "over"]


async def test_a_host_that_cannot_be_asked_is_no_reason_to_keep_quiet() -> None:
    house = house_with_a_class()
    house.machines.is_cut = True
    await house.until(BELL - house.rules.alert_s + ROUND_S)
    assert house.alarm.heard == ["short: 0 of 1 replicas are ready"]
    house.machines.is_cut = False
    replica = await serving(house)
    assert (await house.ledger.book(POOL)).records[replica].has(Milestone.JOINED)
    assert house.alarm.heard == ["short: 0 of 1 replicas are ready", "over"]


async def test_what_runs_as_far_as_is_known_is_not_missed_while_the_host_is_away() -> None:
    house = house_with_a_class()
    await serving(house)
    house.alarm.heard.clear()
    house.machines.is_cut = True
    house.calendar.listed.append(booking("more", BELL + 700.0, BELL + 800.0, 12))
    report = await house.until(BELL + 90.0)
    assert (report.alert, house.alarm.heard) == (None, [])
    await house.until(BELL + 110.0)
    assert house.alarm.heard == ["short: 1 of 2 replicas are ready"]
    house.calendar.listed.pop()
    await house.until(BELL + 120.0)
    assert house.alarm.heard == ["short: 1 of 2 replicas are ready"], "it may have ended meanwhile"


async def test_one_that_is_to_go_is_warmed_no_further_though_its_host_does_not_stop_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house, asked = house_with_a_class(), list[ReplicaId]()
    await house.until(105.0)
    house.calendar.listed.clear()

    async def refuses(replica: ReplicaId, *, among: int) -> None:
        raise HostUnavailable(f"{replica} is not stopped, among {among}")

    async def looks(replica: ReplicaSpec, _: Sequence[Prefix]) -> WarmLook:
        asked.append(replica.id)
        return Warming()

    monkeypatch.setattr(house.host, "stop", refuses)
    await house.until(115.0)
    monkeypatch.setattr(house.warmth, "look", looks)
    report = await house.until(130.0)
    assert [deed.what for deed in report.deeds] == ["stop again"]
    assert asked == []


async def test_an_alarm_that_was_not_heard_is_told_again() -> None:
    house = FleetHouse([booking("class", BELL, END, 5)])
    house.alarm.is_away = True
    report = await house.until(105.0)
    assert report.troubles == ("nobody hears it",)
    house.alarm.is_away = False
    await house.until(110.0)
    assert house.alarm.heard == ["short: 0 of 1 replicas are ready"]
