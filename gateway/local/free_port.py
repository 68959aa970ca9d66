"""Which TCP ports of this machine are free."""

import errno
import random
import socket

# Below the range from which the kernel serves outgoing connections: such a connection could otherwise take the port
# in the seconds a server needs before it listens.
_FIRST, _LAST = 20_000, 32_700
_TRIES = 200
_NOT_OURS_TO_TAKE = {errno.EADDRINUSE, errno.EACCES}


def free_port(host: str = "127.0.0.1") -> int:
    """A port nobody uses at this moment; nothing holds it, so a starter must be ready to try another."""
    return free_ports(1, host)[0]


def free_ports(count: int, host: str = "127.0.0.1") -> tuple[int, ...]:
    """So many different ones."""
    found: set[int] = set()
    for _ in range(_TRIES + count):
        port = random.randint(_FIRST, _LAST)  # noqa: S311  two starters must differ, nothing is to be kept secret
        if port not in found and is_free(port, host):
            found.add(port)
        if len(found) == count:
            return tuple(found)
    raise OSError(errno.EADDRINUSE, f"no free port between {_FIRST} and {_LAST}")


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket(_family(host), socket.SOCK_STREAM) as probe:
        # Servers set this too: without it a port whose last connections still linger would look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno in _NOT_OURS_TO_TAKE:
                return False
            raise
        return True


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
