import os
import signal
import time
from collections.abc import Callable, Mapping

import pytest

from gateway.local.children import Children, Service
from gateway.local.errors import KeepsDying, StopAsked
from gateway.local.process import Child
from gateway.local.stop_signal import StopSignal
from gateway.local.watch import Watch
from tests.unit.gateway.local.conftest import Script

SLEEP = "import time; time.sleep(99)"


def watched(script: Script, children: Children, code: str, said: list[str], name: str = "redis") -> tuple[Watch, Child]:
    service = Service(command=script(code, name=name), waiting_for=lambda: None)
    watch = Watch(children=children, say=said.append)
    child = children.start(service.command)
    watch.add(service, child)
    return watch, child


def ask_to_stop(_: Mapping[str, int]) -> None:
    signal.raise_signal(signal.SIGTERM)


def test_a_server_that_was_killed_is_started_again(script: Script) -> None:
    said: list[str] = []
    with StopSignal() as stop:
        children = Children(stop=stop)
        watch, child = watched(script, children, SLEEP, said)
        os.kill(child.pid, signal.SIGKILL)
        seen: list[Mapping[str, int]] = []

        def changed(pids: Mapping[str, int]) -> None:
            seen.append(pids)
            ask_to_stop(pids)

        with pytest.raises(StopAsked):
            watch.run(changed)
    assert said == ["redis ended (signal 9); starting it again in 0.5 s"]
    assert seen == [{"redis": children.running[0].pid}]
    assert seen[0]["redis"] != child.pid
    children.stop_all()


def test_descendants_that_do_not_end_by_themselves_are_killed_before_the_restart(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.local.watch._REST_ENDS_WITHIN_S", 0.2)
    stubborn = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\n" + SLEEP
    with StopSignal() as stop:
        children = Children(stop=stop)
        code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-S', '-c', {stubborn!r}])\n" + SLEEP
        watch, child = watched(script, children, code, [])
        deadline = time.monotonic() + 10
        while not child.command.log.read_text():
            assert time.monotonic() < deadline
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(StopAsked):
            watch.run(ask_to_stop)
    assert not child.leaves_somebody()
    children.stop_all()


def test_a_server_is_said_to_be_up_again_once_it_is_ready(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.local.watch._ASK_EVERY_S", 0.05)
    said: list[str] = []
    asked = 0

    def missing() -> str | None:
        nonlocal asked
        asked += 1
        return None if asked == 3 else "not yet"

    def say(text: str) -> None:
        said.append(text)
        if text.endswith("up again"):
            ask_to_stop({})

    with StopSignal() as stop:
        children = Children(stop=stop)
        watch = Watch(children=children, say=say)
        child = children.start(script(SLEEP, name="redis"))
        watch.add(Service(command=child.command, waiting_for=missing), child)
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(StopAsked):
            watch.run(lambda _: None)
    assert said == ["redis ended (signal 9); starting it again in 0.5 s", "redis is up again"]
    assert asked == 3
    children.stop_all()


def test_a_server_that_keeps_dying_is_given_up_with_its_last_words(
    script: Script, children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.local.restart_policy.FIRST_DELAY_S", 0.0)
    said: list[str] = []
    watch, _ = watched(script, children, "import sys; sys.exit('FATAL: disk on fire')", said)
    with pytest.raises(KeepsDying, match=r"redis ended 6 times within 60 s.*disk on fire") as told:
        watch.run(lambda _: None)
    assert len(said) == 5
    assert told.value.log is not None
    assert children.running == ()


def test_the_record_is_kept_up_while_nothing_happens(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.local.watch._HOUSEKEEPING_EVERY_S", 0.05)
    noted: list[int] = []
    with StopSignal() as stop:
        children = Children(stop=stop, note=lambda running: noted.append(len(running)))
        watch, child = watched(script, children, SLEEP, [])
        before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGTERM))
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(StopAsked):
            watch.run(lambda _: pytest.fail("nothing changed"))
        signal.signal(signal.SIGALRM, before)
    assert watch.pids == {"redis": child.pid}
    assert len(noted) > 2
    children.stop_all()


def test_others_are_looked_after_while_one_waits_for_its_turn(script: Script) -> None:
    now = 0.0
    said: list[str] = []

    def clock() -> float:
        return now

    def both(children: Children) -> tuple[Watch, list[Child]]:
        watch = Watch(children=children, say=said.append, clock=clock)
        pairs: list[Child] = []
        for name in ("redis", "gateway"):
            service = Service(command=script(SLEEP, name=name), waiting_for=lambda: None)
            pairs.append(children.start(service.command))
            watch.add(service, pairs[-1])
        return watch, pairs

    with StopSignal() as stop:
        children = Children(stop=stop)
        watch, (redis, gateway) = both(children)
        os.kill(redis.pid, signal.SIGKILL)
        os.kill(gateway.pid, signal.SIGKILL)
        when_both_are_dead(redis, gateway)

        def advance(text: str) -> None:
            nonlocal now
            said.append(text)
            now += 1.0
            if len(said) == 2:
                ask_to_stop({})

        watch._say = advance
        with pytest.raises(StopAsked):
            watch.run(lambda _: None)
    assert [line.split()[0] for line in said] == ["redis", "gateway"]
    children.stop_all()


def when_both_are_dead(*children: Child) -> None:
    def all_dead() -> bool:
        return all(child.exit_code() is not None for child in children)

    wait: Callable[[], bool] = all_dead
    deadline = time.monotonic() + 10
    while not wait():
        assert time.monotonic() < deadline
