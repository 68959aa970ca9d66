import signal
import time
from collections.abc import Sequence

import pytest

from gateway.local.children import Children, Service, ending
from gateway.local.errors import DiskFull, ProgramFailed, ServiceDied, ServiceNotReady, StopAsked
from gateway.local.process import Child
from gateway.local.stop_signal import StopSignal
from tests.unit.gateway.local.conftest import Script

SLEEP = "import time; time.sleep(99)"


def test_a_program_that_succeeds_is_run_to_its_end(children: Children, script: Script) -> None:
    ticks: list[float] = []
    children.run(script("import time; time.sleep(0.2)"), tick=lambda: ticks.append(time.monotonic()))
    assert ticks
    assert children.running == ()


def test_a_program_that_fails_is_told_with_its_last_words(children: Children, script: Script) -> None:
    with pytest.raises(ProgramFailed, match="pip failed: ERROR: no such thing") as told:
        children.run(script("import sys; sys.exit('ERROR: no such thing')", name="pip"), hint="try again")
    assert told.value.hint == "try again"
    assert told.value.log is not None


def test_a_full_disk_is_called_that_even_when_the_last_words_are_others(children: Children, script: Script) -> None:
    code = "import sys; print('FATAL: No space left on device', flush=True); sys.exit('PANIC: cannot abort')"
    with pytest.raises(DiskFull, match="initdb failed: the disk is full") as told:
        children.run(script(code, name="initdb"))
    assert "free some disk space" in told.value.hint


def test_the_words_of_an_earlier_run_are_not_repeated(children: Children, script: Script) -> None:
    with pytest.raises(ProgramFailed, match="ERROR: old"):
        children.run(script("import sys; sys.exit('ERROR: old')", name="pip"))
    with pytest.raises(ProgramFailed, match="pip failed: it wrote nothing"):
        children.run(script("raise SystemExit(1)", name="pip"))


def test_waiting_ends_when_all_are_ready(children: Children, script: Script) -> None:
    asked = {"a": 0, "b": 0}

    def service(name: str, answers: int) -> tuple[Service, Child]:
        def missing() -> str | None:
            asked[name] += 1
            return None if asked[name] >= answers else "not yet"

        made = Service(command=script(SLEEP, name=name), waiting_for=missing)
        return made, children.start(made.command)

    children.await_ready([service("a", 1), service("b", 3)])
    assert asked == {"a": 1, "b": 3}


def test_a_server_that_dies_is_not_waited_for(children: Children, script: Script) -> None:
    command = script("import sys; sys.exit('FATAL: cannot bind')", name="postgres")
    service = Service(command=command, waiting_for=lambda: "no answer")
    with pytest.raises(ServiceDied, match=r"postgres ended \(exit code 1\) before it was ready: FATAL: cannot bind"):
        children.await_ready([(service, children.start(command))])


def test_a_server_that_is_late_is_told_with_what_it_lacks(children: Children, script: Script) -> None:
    service = Service(command=script(SLEEP, name="redis"), waiting_for=lambda: "no answer", deadline_s=0.1)
    with pytest.raises(ServiceNotReady, match="redis was not ready after 0 s: no answer"):
        children.await_ready([(service, children.start(service.command))])


def test_a_server_is_stopped_when_its_block_ends(children: Children, script: Script) -> None:
    command = script(SLEEP)
    with children.serving(lambda _: Service(command=command, waiting_for=lambda: None), port=1) as (child, port):
        assert (child.exit_code(), port) == (None, 1)
    assert child.exit_code() == -signal.SIGTERM
    assert children.running == ()


def test_a_port_that_somebody_else_took_meanwhile_is_replaced(
    children: Children, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def service(port: int) -> Service:
        taken.append(port)
        code = "raise SystemExit(1)" if len(taken) == 1 else SLEEP
        return Service(command=script(code), waiting_for=lambda: "no answer" if len(taken) == 1 else None)

    monkeypatch.setattr("gateway.local.children.is_free", lambda port, _: port != taken[0])
    _, child, port = children.serve(service, first=7)
    assert (taken[0], port, child.exit_code()) == (7, taken[1], None)


def test_an_answer_in_the_name_of_a_dead_child_makes_it_not_ready(children: Children, script: Script) -> None:
    command = script("import sys; sys.exit('ERROR: the port is taken')", name="gateway")
    child = children.start(command)

    def somebody_else_answers() -> None:
        while child.exit_code() is None:
            pass

    with pytest.raises(ServiceDied, match="the port is taken"):
        children.await_ready([(Service(command=command, waiting_for=somebody_else_answers), child)])


def test_a_server_that_fails_on_a_free_port_is_not_tried_again(children: Children, script: Script) -> None:
    tries: list[int] = []

    def service(port: int) -> Service:
        tries.append(port)
        return Service(command=script("raise SystemExit(1)"), waiting_for=lambda: "no answer")

    with pytest.raises(ServiceDied):
        children.serve(service)
    assert len(tries) == 1
    assert children.running == ()


def test_children_stop_in_reverse_order_and_each_step_is_noted(script: Script) -> None:
    noted: list[list[str]] = []

    def note(running: Sequence[Child]) -> None:
        noted.append([child.command.name for child in running])

    children = Children(note=note)
    children.start(script(SLEEP, name="a"))
    children.start(script(SLEEP, name="b"))
    children.stop_all()
    assert noted == [["a"], ["a", "b"], ["a"], []]


def test_nothing_is_started_after_a_stop_was_asked_for(script: Script) -> None:
    with StopSignal() as stop:
        children = Children(stop=stop)
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(StopAsked):
            children.start(script(SLEEP))
    assert children.running == ()


def test_a_stop_ends_a_running_program(script: Script) -> None:
    with StopSignal() as stop:
        children = Children(stop=stop)
        with pytest.raises(StopAsked):
            children.run(script(SLEEP), tick=lambda: signal.raise_signal(signal.SIGTERM))
    assert children.running == ()


@pytest.mark.parametrize(("code", "words"), [(0, "exit code 0"), (1, "exit code 1"), (-9, "signal 9")])
def test_an_ending_is_said_in_words(code: int, words: str) -> None:
    assert ending(code) == words
