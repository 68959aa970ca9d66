import errno
import socket

import pytest

from gateway.local.free_port import free_port, free_ports, is_free


def test_a_free_port_can_be_listened_on() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))


def test_several_are_all_different() -> None:
    assert len(set(free_ports(50))) == 50


def test_a_port_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not is_free(listener.getsockname()[1])


def test_an_address_of_another_machine_is_an_error_and_not_a_taken_port() -> None:
    with pytest.raises(OSError) as told:  # noqa: PT011  the number below is what is looked for
        is_free(1, "203.0.113.7")
    assert told.value.errno == errno.EADDRNOTAVAIL


def test_no_free_port_at_all_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.local.free_port.is_free", lambda *_: False)
    with pytest.raises(OSError, match="no free port"):
        free_port()
