"""The servers are looked at while a drill runs, and what does not answer is seen not to."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from loadtests.conduct.watch import Watch, pids_of
from loadtests.run_files import read_processes, read_replicas
from loadtests.run_folder import RunFolder
from loadtests.target import Replica, Target
from tests.support.engine_process import free_port
from tests.support.pages import pages

METRICS = "vllm:num_requests_running 3\nvllm:kv_cache_usage_perc 0.5\n"


def clock() -> float:
    return time.monotonic()


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_replicas_are_seen_with_their_sessions_and_a_lost_one_as_lost(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    fleet = json.dumps({"replicas": [{"id": "replica-1", "url": "http://127.0.0.1:1", "sessions": 4}]})
    with pages({"/metrics": METRICS}) as replica, pages({"/v1/fleet": fleet}) as gateway:
        known = (Replica("replica-1", replica.url), Replica("replica-2", f"http://127.0.0.1:{free_port()}"))
        target = Target(base_urls=(gateway.url,), operator_key="dy_o", replicas=known)
        with Watch(target, folder, clock=clock):
            until(lambda: any(each.sessions == 4 for each in read_replicas(folder)))
        assert gateway.asked[0] == ("/v1/fleet", "Bearer dy_o")
    seen = read_replicas(folder)
    first = [each for each in seen if each.replica == "replica-1"]
    assert {(each.up, each.running, each.kv_usage) for each in first} == {(True, 3, 0.5)}
    second = [each for each in seen if each.replica == "replica-2"]
    assert {(each.up, each.running) for each in second} == {(False, None)}
    assert [each.at_s for each in first] == sorted(each.at_s for each in first)


def test_a_replica_that_comes_is_looked_at_too_but_none_that_is_elsewhere(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pages({"/metrics": METRICS}) as replica, pages({}) as gateway:
        told = [{"id": "new", "url": replica.url + "/"}, {"id": "far", "url": "http://192.0.2.1:8000"}, {}, 7]
        gateway.by_path["/v1/fleet"] = json.dumps({"replicas": told})
        with Watch(Target(base_urls=(gateway.url,), operator_key="dy_o"), folder, clock=clock):
            until(lambda: read_replicas(folder))
    assert {each.replica for each in read_replicas(folder)} == {"new"}


def test_a_fleet_that_does_not_answer_hides_no_replica(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pages({"/metrics": METRICS}) as replica:
        known = (Replica("replica-1", replica.url),)
        target = Target(base_urls=(f"http://127.0.0.1:{free_port()}",), operator_key="dy_o", replicas=known)
        with Watch(target, folder, clock=clock):
            until(lambda: read_replicas(folder))
    assert read_replicas(folder)[0].sessions is None


def test_processes_of_the_ready_file_and_others(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    ready = tmp_path / "ready.json"
    ready.write_text(json.dumps({"pids": {"gateway": os.getpid(), "gone": 2**22 + 1}}))
    watch = Watch(Target(base_urls=("http://127.0.0.1:1",), ready_file=ready), folder, clock=clock)
    watch.own = {"locust": os.getppid()}
    with watch:
        until(lambda: len(read_processes(folder)) >= 2)
    assert {each.name for each in read_processes(folder)} == {"gateway", "locust"}
    assert all(each.memory_mb > 1 for each in read_processes(folder))


def test_a_ready_file_that_says_nothing_names_no_process(tmp_path: Path) -> None:
    assert pids_of(None) == {}
    assert pids_of(tmp_path / "none.json") == {}
    for content in ("[]", "{", '{"pids": 7}', '{"pids": {"gateway": "x"}}'):
        (tmp_path / "ready.json").write_text(content)
        assert pids_of(tmp_path / "ready.json") == {}
