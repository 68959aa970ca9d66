import fcntl
import gc
import sys
from pathlib import Path

import pytest

from router.fleet.adapters.compose_command import ComposeCommand
from router.fleet.errors import HostUnavailable
from tests.support.eventually import eventually

FILE = Path("compose file; rm -rf x.yml")


def command(code: str) -> ComposeCommand:
    return ComposeCommand(program=(sys.executable, "-I", "-S", "-c", code), file=FILE, project="drill")


async def test_words_arrive_as_they_are_and_no_shell_reads_them() -> None:
    words = ("ps", "$HOME", "a b", "`id`")
    told = await command("import sys; print(sys.argv[1:])").answer(*words, within_s=10)
    assert told.strip() == str(["-f", str(FILE), "-p", "drill", *words])


async def test_a_failure_is_told_by_the_last_line_that_says_something() -> None:
    code = "import sys; sys.stderr.write('Creating\\n\\x1b[31mno such image\\x1b[0m\\n \\n'); sys.exit(3)"
    with pytest.raises(HostUnavailable, match=r" ps: \[31mno such image\[0m$"):
        await command(code).answer("ps", within_s=10)


async def test_a_failure_without_words_is_told_by_its_code() -> None:
    with pytest.raises(HostUnavailable, match=r" ps: exit code 3$"):
        await command("import sys; sys.exit(3)").answer("ps", within_s=10)


async def test_what_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    held = tmp_path / "held"
    code = (
        "import fcntl, os, signal\n"
        f"file = open({str(held)!r}, 'w')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
        "file.write(str(os.fork()))\nfile.flush()\nsignal.pause()"
    )
    with pytest.raises(HostUnavailable, match=r" ps took longer than 0\.5 s$"):
        await command(code).answer("ps", within_s=0.5)
    assert held.read_text()

    def is_free() -> bool:
        with held.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    await eventually(is_free)


async def test_a_job_goes_on_until_it_is_waited_for(tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    code = f"import os, time\nwhile os.path.exists({str(hold)!r}): time.sleep(0.005)\nprint('done')"
    job = command(code).begin("up", within_s=10)
    assert not await job.ends(within_s=0.0)
    assert job.goes_on()
    hold.unlink()
    assert await job.ends(within_s=10)
    assert (job.answer, job.failure, job.goes_on()) == ("done\n", "", False)
    job.end()
    assert job.failure == ""


async def test_a_job_that_nobody_waits_for_leaves_no_file_open() -> None:
    job = command("pass").begin("up", within_s=10)
    job._process.wait()
    del job
    gc.collect()
