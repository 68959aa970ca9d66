"""Which TCP ports of this machine are free."""

import errno
import socket

_NOT_OURS_TO_TAKE = {errno.EADDRINUSE, errno.EACCES}


def free_port(host: str = "127.0.0.1") -> int:
    """A port the kernel has just called free; nothing holds it, so a starter must be ready to try another."""
    with socket.socket(_family(host), socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


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
