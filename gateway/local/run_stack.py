"""One `drillyard up` from its lock to its last stopped child, whatever happens in between."""

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.local import places as folders
from gateway.local.adoption import adopting_orphans
from gateway.local.children import Children
from gateway.local.errors import DiskFull, LocalStackError, StopAsked
from gateway.local.ledger import Ledger
from gateway.local.places import Places, owned
from gateway.local.preparation import Options
from gateway.local.progress import Progress
from gateway.local.ready_file import Ready, ReadyFiles
from gateway.local.seed import SeedDatabase
from gateway.local.stack import Stack
from gateway.local.stop_signal import StopSignal
from gateway.local.temporary_folder import temporary_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """`caller` is the environment the command was called with; `announce` tells a person that all is up."""

    options: Options
    data: Path
    ready_file: Path | None
    seed: SeedDatabase
    caller: Mapping[str, str]
    progress: Progress
    announce: Callable[[Ready], None]


def run_stack(run: Run) -> bool:
    """Runs until it is asked to stop; whether everything had been up by then."""
    try:
        places = folders.made(run.data)
        files = ReadyFiles((places.ready, *_writable(run.ready_file)))
        with StopSignal() as stop, owned(places), adopting_orphans():
            return _run_owned(run, places, files, stop)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFull(f"the disk is full: {error}", hint="free some space and start again") from error
        if error.filename is None:
            raise
        # A file of ours that somebody else owns, or one that was named on the command line: no use for a traceback.
        raise LocalStackError(
            f"{error.filename}: {error.strerror}", hint="check the path and who may use it"
        ) from error


def _run_owned(run: Run, places: Places, files: ReadyFiles, stop: StopSignal) -> bool:
    ledger = Ledger(places.pids)
    for name in ledger.end_leftovers():
        run.progress.note(f"ended {name}, which an earlier run had left behind")
    files.remove()
    with temporary_folder(places.temporary) as temporary:
        children = Children(stop=stop, note=ledger.note)
        stack = Stack(options=run.options, places=places, children=children, progress=run.progress, temporary=temporary)
        for name in stack.end_calendar_replicas():
            run.progress.note(f"ended {name}, which an earlier run had left behind")
        was_up = _run_to_the_end(run, stack, files)
    run.progress.note("stopped")
    return was_up


def _run_to_the_end(run: Run, stack: Stack, files: ReadyFiles) -> bool:
    was_up = False
    try:
        state = stack.start(run.seed, caller=run.caller)
        now = state(stack.pids)
        files.write(now)
        run.announce(now)
        was_up = True
        stack.watch(lambda pids: files.write(state(pids)))
    except StopAsked:
        run.progress.note("stopping; press Ctrl-C again to stop at once")
    finally:
        files.remove()
        stack.stop()
    return was_up


def _writable(file: Path | None) -> tuple[Path, ...]:
    """Asked before the minutes it takes to get ready, not after."""
    if file is None:
        return ()
    absolute = file.absolute()
    try:
        absolute.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalStackError(f"--ready-file: {absolute.parent} cannot be made: {error.strerror}") from error
    if absolute.is_dir():
        raise LocalStackError(f"--ready-file: {absolute} is a folder")
    if not os.access(absolute.parent, os.W_OK | os.X_OK):
        raise LocalStackError(f"--ready-file: {absolute.parent} cannot be written")
    return (absolute,)
