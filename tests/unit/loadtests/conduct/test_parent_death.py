"""A child does not outlive whoever started it."""

import os
import select
import signal
import subprocess
import sys

import pytest

from loadtests.conduct.parent_death import ending_with

_STARTS_A_CHILD = """
import os, subprocess, sys
from loadtests.conduct.parent_death import ending_with
subprocess.Popen(["sleep", "60"], preexec_fn=ending_with(os.getpid()))
print(flush=True)
sys.stdin.read()
"""
_AT_MOST_S = 20.0


def test_a_child_ends_when_its_parent_is_killed() -> None:
    """The child holds the other end of a pipe for as long as it lives."""
    ends, held = os.pipe()
    with os.fdopen(ends) as gone:
        starter = subprocess.Popen(
            [sys.executable, "-c", _STARTS_A_CHILD.replace('"60"]', f'"60"], pass_fds=({held},)')],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(held,),
        )
        os.close(held)
        assert starter.stdout is not None
        assert starter.stdin is not None
        with starter.stdout, starter.stdin:
            starter.stdout.readline()
            assert not select.select([gone], [], [], 0)[0]
            starter.kill()
            assert starter.wait() == -signal.SIGKILL
            assert select.select([gone], [], [], _AT_MOST_S)[0]


def test_a_child_whose_parent_is_gone_already_does_not_begin() -> None:
    with pytest.raises(subprocess.CalledProcessError) as ended:
        subprocess.run(["true"], check=True, preexec_fn=ending_with(os.getpid() + 1))
    assert ended.value.returncode == 1
