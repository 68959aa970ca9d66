"""Each deed is logged once with its reason, and trouble when it begins and when it is over."""

from dataclasses import replace

from structlog.testing import capture_logs

from gateway.fleet_log import FleetLog
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.scaling import Alert
from router.fleet.keeping import Deed, PoolReport

POOL, OTHER = PoolName("m"), PoolName("n")
START = Deed("start", ReplicaId("m-1"), "6 are wanted")
FAILED = replace(START, trouble="no place on the host")
QUIET = PoolReport(POOL, leads=True)


def told(*reports: PoolReport) -> list[list[tuple[object, ...]]]:
    """What each of them adds to the log."""
    log, found = FleetLog(), []
    for report in reports:
        with capture_logs() as entries:
            log.told(report)
        found.append([tuple(value for key, value in entry.items() if key != "pool") for entry in entries])
    return found


def test_a_deed_is_told_with_its_reason() -> None:
    with capture_logs() as entries:
        FleetLog().told(replace(QUIET, deeds=(START,)))
    assert entries == [
        {
            "event": "fleet: done",
            "log_level": "info",
            "pool": POOL,
            "deed": "start",
            "replica": "m-1",
            "reason": "6 are wanted",
        }
    ]


def test_what_cannot_be_done_is_told_once_and_again_after_it_could() -> None:
    failing, done = replace(QUIET, deeds=(FAILED,)), replace(QUIET, deeds=(START,))
    lengths = [len(each) for each in told(failing, failing, done, QUIET, failing)]
    assert lengths == [1, 0, 1, 0, 1]


def test_pools_do_not_hide_each_others_deeds() -> None:
    one = replace(QUIET, deeds=(FAILED,))
    assert [len(each) for each in told(one, replace(one, pool=OTHER), one)] == [1, 1, 0]


def test_trouble_is_told_when_it_begins_and_when_all_is_well_again() -> None:
    one, both = replace(QUIET, troubles=("a",)), replace(QUIET, troubles=("a", "b"))
    begins, same, more, less, over, quiet = told(one, one, both, one, QUIET, QUIET)
    assert [entry[0] for entry in begins] == ["a"]
    assert [entry[0] for entry in more] == ["b"]
    assert same == less == quiet == []
    assert len(over) == 1


def test_missing_replicas_are_told_when_they_are_missed_and_when_their_number_changes() -> None:
    short = replace(QUIET, alert=Alert(bell=9.0, ready=2, needed=6))
    nearer = replace(QUIET, alert=Alert(bell=9.0, ready=4, needed=6))
    lengths = [len(each) for each in told(short, short, nearer, QUIET, QUIET)]
    assert lengths == [1, 0, 1, 1, 0]


def test_who_no_longer_leads_does_not_say_that_replicas_are_there() -> None:
    short = replace(QUIET, alert=Alert(bell=9.0, ready=2, needed=6))
    waits = [("fleet: this process does not lead, and waits", "info")]
    other = PoolReport(POOL, leads=False)
    assert told(short, other, other, QUIET, other)[1:] == [waits, [], [], waits]
