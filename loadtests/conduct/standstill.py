"""Processes that stand still for a while, and go on afterwards even if whoever stopped them was killed meanwhile."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_GO_ON = 'read -r _; kill -CONT "-$1"'
"""Whoever runs this hears by the end of its line that we are gone."""


@contextmanager
def standing_still(group: int) -> Iterator[None]:
    """Raises `ProcessLookupError` for a group that is not there."""
    with subprocess.Popen(  # noqa: S603  a command of our own
        ["/bin/sh", "-c", _GO_ON, "sh", str(group)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # what ends us is not to end it
    ):
        os.killpg(group, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):  # who looks after it may have lost patience
                os.killpg(group, signal.SIGCONT)
