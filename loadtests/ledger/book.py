"""The ledger itself: a folder of runs, newest first; which run a word means, and which may go."""

import re
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from loadtests.ledger.entry import Damaged, Entry, read_entry
from loadtests.run_files import RunDamaged, read_drill
from loadtests.run_folder import RunFolder

_LAST = re.compile(r"last(?:~(\d{1,6}))?")
_MOST_NAMED = 6


class NoSuchRun(Exception):
    """A word that names no run, or several; says what there is."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """`folder` need not exist: then there is no run yet."""

    folder: Path

    def runs(self) -> list[Entry | Damaged]:
        """Every run, newest first; what is no run is left out."""
        dated = [(_when(folder, entry), entry) for folder in self._folders() for entry in [read_entry(folder)]]
        return [entry for _, entry in sorted(dated, key=lambda each: (each[0], each[1].run), reverse=True)]

    def find(self, word: str) -> RunFolder:
        """A run by its path, by the begin of its name, or as `last`, `last~1`, ...; raises `NoSuchRun`."""
        if _is_run(Path(word)):
            return RunFolder(Path(word))
        if counted := _LAST.fullmatch(word):
            return self._last(int(counted[1] or 0))
        names = [each.run for each in self.runs() if word and each.run.startswith(word)]
        chosen = [name for name in names if name == word] or names
        if len(chosen) != 1:
            raise NoSuchRun(self._ambiguous(word, chosen))
        return RunFolder(self.folder / chosen[0])

    def removable(self, *, keep: int, kept: Collection[str]) -> list[Entry]:
        """All that are finished, except the newest `keep` and those named."""
        finished = [each for each in self.runs() if isinstance(each, Entry) and each.whole is not None]
        return [each for each in finished[keep:] if each.run not in kept]

    def remove(self, run: str) -> None:
        """Raises `NoSuchRun` for what is not a run of this ledger."""
        path = self.folder / run
        if Path(run).name != run or path.is_symlink() or not _is_run(path):
            raise NoSuchRun(f"{path} is not a run of this ledger")
        shutil.rmtree(path)

    def _last(self, back: int) -> RunFolder:
        sound = [each for each in self.runs() if isinstance(each, Entry)]
        if back >= len(sound):
            raise NoSuchRun(f"there are only {len(sound)} runs in {self.folder}" if sound else self._nothing())
        return RunFolder(self.folder / sound[back].run)

    def _ambiguous(self, word: str, names: Iterable[str]) -> str:
        found = list(names)
        if found:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            return f"{word} may be any of {', '.join(found[:_MOST_NAMED])}{more}"
        there = [each.run for each in self.runs()]
        return f"no run begins with {word!r}; the latest is {there[0]}" if there else self._nothing()

    def _nothing(self) -> str:
        return f"there is no run in {self.folder} yet"

    def _folders(self) -> list[RunFolder]:
        try:
            below = [each for each in self.folder.iterdir() if not each.name.startswith(".")]
        except OSError:
            return []
        return [RunFolder(each) for each in below if not each.is_symlink() and _looks_like_run(each)]


def _looks_like_run(path: Path) -> bool:
    """Also when it is damaged."""
    folder = RunFolder(path)
    return any(file.is_file() for file in (folder.drill, folder.facts, folder.index))


def _is_run(path: Path) -> bool:
    try:
        read_drill(RunFolder(path))
    except RunDamaged:
        return False
    return True


def _when(folder: RunFolder, entry: Entry | Damaged) -> str:
    """Digits of a moment, by the bell, or else by when the folder was last touched."""
    digits = re.sub(r"\D", "", entry.bell_at)[:17] if isinstance(entry, Entry) else ""
    if digits:
        return digits
    return datetime.fromtimestamp(folder.path.stat().st_mtime, UTC).strftime("%Y%m%d%H%M%S")
