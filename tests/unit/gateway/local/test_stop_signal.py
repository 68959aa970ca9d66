import signal
import time

import pytest

from gateway.local.errors import StopAsked
from gateway.local.stop_signal import StopSignal


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_a_fact_until_it_is_looked_at(which: signal.Signals) -> None:
    with StopSignal() as stop:
        stop.check()
        signal.raise_signal(which)
        assert stop.asked
        with pytest.raises(StopAsked):
            stop.check()


def test_the_second_signal_means_at_once() -> None:
    with StopSignal() as stop:
        signal.raise_signal(signal.SIGINT)
        assert not stop.at_once()
        signal.raise_signal(signal.SIGTERM)
        assert stop.at_once()


def interrupted(stop: StopSignal) -> None:
    with stop.interrupting():
        signal.raise_signal(signal.SIGINT)
        time.sleep(30)


def interrupted_while_cleaning_up(stop: StopSignal, cleaned: list[str]) -> None:
    with stop.interrupting():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            cleaned.append("all of it")


def test_a_signal_breaks_into_work_that_cannot_look_up() -> None:
    began = time.monotonic()
    with StopSignal() as stop, pytest.raises(StopAsked):
        interrupted(stop)
    assert time.monotonic() - began < 5


def test_clean_up_is_not_broken_into_a_second_time() -> None:
    cleaned: list[str] = []
    with StopSignal() as stop:
        with pytest.raises(StopAsked):
            interrupted_while_cleaning_up(stop, cleaned)
        assert stop.at_once()
    assert cleaned


def test_outside_of_such_work_a_signal_does_not_break_in() -> None:
    with StopSignal() as stop:
        with stop.interrupting():
            pass
        signal.raise_signal(signal.SIGINT)
        assert stop.asked


def test_work_is_not_begun_after_a_stop() -> None:
    with StopSignal() as stop:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(StopAsked), stop.interrupting():
            pytest.fail("it was begun")


def test_the_handlers_before_are_put_back() -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with StopSignal():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_a_hang_up_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignal() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert not stop.asked
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
