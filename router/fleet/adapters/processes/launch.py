"""How a replica is started: a port of its own, the operator's command, and a shim that is detached from us."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes import replica_shim
from router.fleet.settings import ProcessHostSettings

HOST = "127.0.0.1"
_WITHIN_S = 10.0
_OURS = "DRILLYARD_"


class NotLaunched(Exception):
    """Why no shim runs."""


def launch(replica: ReplicaId, *, slot: str, place: Path, log: Path, told: ProcessHostSettings, weights: str) -> None:
    """Returns once its shim has written down that it runs. A second one for the same order ends by itself."""
    with socket.socket() as held:
        # Bound by the shim as well, and never listened on: so the kernel gives the port to nobody else while the engine
        # loads, and the engine, whose socket may reuse addresses as servers' do, can take it.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((HOST, 0))
        port = str(held.getsockname()[1])
        values = {"{id}": replica, "{port}": port, "{slot}": slot, "{weights}": weights}
        command = [_filled(word, values) for word in told.command]
        environment = {name: _filled(value, values) for name, value in told.environment.items()}
        shim = (sys.executable, "-I", "-S", replica_shim.__file__, str(place), str(log))
        try:
            done = subprocess.run(  # noqa: S603  the operator's own command
                [*shim, slot, port, str(told.grace_s), str(held.fileno()), *command],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                env={**_environment(os.environ), **environment},
                cwd=place.parent,
                pass_fds=[held.fileno()],
                timeout=_WITHIN_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise NotLaunched(f"it did not begin within {_WITHIN_S:.0f} s") from error
        except (OSError, ValueError) as error:
            raise NotLaunched(str(error)) from error
    if done.returncode != 0:
        raise NotLaunched(done.stderr.strip()[-300:] or f"its shim left with {done.returncode}")


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Not str.format(): a command may hold JSON."""
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """An engine needs none of our settings, and some of them are secrets."""
    return {name: value for name, value in own.items() if not name.startswith(_OURS)}
