from loadtests.certify.worth import Played, is_simulated, scenario_of, valid_for
from loadtests.target import Target

FACTS = {
    "fleet": "sim:2:48gb-14b-after",
    "drill": "abcd",
    "bell_at": "2026-12-01T09:00:00.000+00:00",
    "replicas": [
        {"id": "replica-1", "version": "0.33.0", "profile": "48gb-14b-after", "speed_up": 4.0},
        {"id": "replica-2", "version": "0.32.0", "profile": "48gb-14b-after", "speed_up": 4.0},
    ],
    "code": {"revision": "0123456789abcdef", "is_changed": True, "drillyard": "0.9.0"},
    "machine": {"cpu": "Some CPU", "cpus": 2},
}


def test_it_says_on_what_a_certificate_rests() -> None:
    found = valid_for(FACTS, Played("Complaint", "3"), targets="ef01")
    assert found == {
        "fleet": "2 replicas, sim:2:48gb-14b-after",
        "profile": "48gb-14b-after",
        "engine": "0.32.0, 0.33.0",
        "speed of its time": "4.0",
        "scenario": "Complaint, version 3",
        "revision": "0123456789ab, with changes that are in no revision",
        "release": "0.9.0",
        "drill": "abcd",
        "targets": "ef01",
        "machine": "Some CPU, 2 CPUs",
        "played at": "2026-12-01T09:00:00.000+00:00",
    }


def test_what_is_not_known_is_left_out() -> None:
    assert valid_for({"replicas": "?", "code": None}, Played(), targets="ef01") == {"targets": "ef01"}


def test_replicas_with_a_profile_are_simulated() -> None:
    assert is_simulated(FACTS)
    assert not is_simulated({"replicas": [{"id": "replica-1", "version": "0.33.0"}]})
    assert not is_simulated({})


def test_a_server_that_does_not_answer_has_no_scenario() -> None:
    target = Target(base_urls=("http://127.0.0.1:1",), keys=("key",))
    assert scenario_of(target, {"target": {"scenario": "some"}}) == Played()
    assert scenario_of(target, {}) == Played()
