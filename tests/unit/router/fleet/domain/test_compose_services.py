import json

import pytest

from router.fleet.domain.compose_services import Container, ContainerState, UnusableCompose, containers, pool_services
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostPhase

POOL = PoolName("org/model")
ID = "3f2a9c1b7d20e5aa"
NEW = {
    "ID": ID[:12],
    "Service": "vllm-0",
    "State": "running",
    "ExitCode": 0,
    "CreatedAt": "2026-11-30 22:00:00 +0100 CET",
}
OLD = {"ID": ID, "Service": "vllm-0", "State": "exited", "ExitCode": 137, "Created": 1_796_072_400}


def lines(*told: object) -> str:
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in told)


def labelled(labels: object) -> object:
    return {"services": {"a": {"image": "x"}, "b": {"labels": labels}, "c": None}}


@pytest.mark.parametrize(
    "labels",
    [
        {"drillyard.pool": "org/model", "drillyard.url": "http://b:8000"},
        ["drillyard.pool=org/model", "drillyard.url=http://b:8000"],
    ],
)
def test_a_pools_services_are_those_that_bear_its_label(labels: object) -> None:
    assert pool_services(labelled(labels), label="drillyard.pool", pool=POOL) == {"b": "http://b:8000"}
    assert pool_services(labelled(labels), label="drillyard.pool", pool=PoolName("other")) == {}
    assert pool_services(labelled(labels), label="another.label", pool=POOL) == {}


def test_a_dollar_sign_is_read_as_compose_reads_it() -> None:
    labels = {"drillyard.pool": "a$$b", "drillyard.url": "http://b"}
    assert pool_services(labelled(labels), label="drillyard.pool", pool=PoolName("a$b")) == {"b": "http://b"}


def test_services_keep_the_order_of_the_file() -> None:
    labels = {"drillyard.pool": "org/model", "drillyard.url": "http://x"}
    file = {"services": {name: {"labels": labels} for name in ("z", "a", "m")}}
    assert list(pool_services(file, label="drillyard.pool", pool=POOL)) == ["z", "a", "m"]


@pytest.mark.parametrize("file", [None, [], "services", {}, {"services": None}, {"services": ["a"]}])
def test_a_file_without_services_is_refused(file: object) -> None:
    with pytest.raises(UnusableCompose, match="no services"):
        pool_services(file, label="drillyard.pool", pool=POOL)


@pytest.mark.parametrize("url", [None, "", "vllm-0:8000", "ftp://x"])
def test_a_service_that_does_not_say_where_it_answers_is_refused(url: object) -> None:
    labels = {"drillyard.pool": "org/model"} | ({} if url is None else {"drillyard.url": url})
    with pytest.raises(UnusableCompose, match=r"service b does not say .* where it answers"):
        pool_services(labelled(labels), label="drillyard.pool", pool=POOL)


def test_both_shapes_of_an_answer_tell_the_same() -> None:
    one = Container("vllm-0", ID[:12], ContainerState.RUNNING, 1_796_072_400.0, 0)
    assert containers(lines(NEW)) == [one]
    assert containers(f"\n {json.dumps([NEW])}\n") == [one]
    assert containers(lines(OLD)) == containers(json.dumps([OLD]))
    (old,) = containers(json.dumps([OLD]))
    assert old.replica == one.replica == "vllm-0-3f2a9c1b7d20"
    assert old.since == one.since


@pytest.mark.parametrize("answer", ["", "\n", "[]", " []\n"])
def test_nothing_is_no_container(answer: str) -> None:
    assert containers(answer) == []


def test_a_separator_inside_a_string_ends_no_line() -> None:
    assert len(containers(lines(NEW | {"Command": "a\u2028b"}, NEW))) == 2


def test_a_word_that_newer_versions_leave_out_is_not_asked_for() -> None:
    (one,) = containers(lines({key: value for key, value in NEW.items() if key != "ExitCode"}))
    assert one.exit_code == 0


@pytest.mark.parametrize(
    "answer",
    [
        "<html>",
        "[1]",
        "[{}",
        lines(NEW | {"State": "sleeping"}),
        lines({key: value for key, value in NEW.items() if key != "ID"}),
        lines({key: value for key, value in NEW.items() if key != "CreatedAt"}),
        lines(NEW | {"CreatedAt": "yesterday"}),
        lines(NEW | {"ExitCode": "x"}),
    ],
)
def test_an_answer_in_other_words_is_refused(answer: str) -> None:
    with pytest.raises(UnusableCompose):
        containers(answer)


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        ("created", HostPhase.PENDING),
        ("Running", HostPhase.RUNNING),
        ("paused", HostPhase.RUNNING),
        ("restarting", HostPhase.EXITED),
        ("removing", HostPhase.STOPPING),
        ("exited", HostPhase.EXITED),
        ("dead", HostPhase.EXITED),
    ],
)
def test_each_state_is_a_phase(state: str, phase: HostPhase) -> None:
    (one,) = containers(lines(NEW | {"State": state}))
    assert one.phase is phase


def test_one_that_could_not_be_started_has_ended() -> None:
    assert Container("vllm-0", ID, ContainerState.CREATED, 0.0, 128).phase is HostPhase.EXITED


@pytest.mark.parametrize(
    ("state", "code", "detail"),
    [
        (ContainerState.RUNNING, 0, ""),
        (ContainerState.PAUSED, 0, "its container is paused"),
        (ContainerState.CREATED, 0, ""),
        (ContainerState.CREATED, 128, "its container could not be started (exit code 128)"),
        (ContainerState.EXITED, 1, "its container ended with exit code 1"),
        (
            ContainerState.DEAD,
            137,
            "its container ended with exit code 137, as one that is killed, perhaps for its memory",
        ),
    ],
)
def test_one_that_ended_says_how(state: ContainerState, code: int, detail: str) -> None:
    assert Container("vllm-0", ID, state, 0.0, code).detail == detail
