"""Phrase lists in files: JSON as the API has it, CSV with a header, or text with a phrase a line.

What cannot be read is told with its line; what the phrases themselves may be, the server says.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

COLUMNS = ("text", "id", "category", "severity", "action", "spelling")
ALLOW = "allow"
"""The action of a row that is no banned phrase but one that those may stand in."""
SUFFIXES = (".json", ".csv", ".txt")
_SEVERITIES = {"1": 1, "2": 2, "3": 3, "4": 4}

Entry = dict[str, object]


class PhraseFileFaulty(Exception):
    """A file that cannot be read; each fault with its line, or 0 where it has none."""

    def __init__(self, faults: Sequence[tuple[int, str]]) -> None:
        super().__init__(f"{len(faults)} faults")
        self.faults = tuple(faults)


@dataclass(slots=True)
class PhraseFile:
    """What a file says, and the lines on which its phrases and its allowed phrases stand."""

    phrases: list[Entry] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    lines: dict[str, list[int]] = field(default_factory=lambda: {"phrases": [], "allowed": []})

    def body(self) -> dict[str, object]:
        return {"phrases": self.phrases, "allowed": self.allowed}

    def line_of(self, place: str) -> int:
        """Of a fault's place, such as `phrases.17.text`; 0: it has none."""
        among, _, rest = place.partition(".")
        number, known = rest.partition(".")[0], self.lines.get(among, [])
        return known[int(number)] if number.isdecimal() and int(number) < len(known) else 0


def read_file(path: Path) -> PhraseFile:
    """Raises `PhraseFileFaulty` or `OSError`."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PhraseFileFaulty([(0, f"its name ends on none of {', '.join(SUFFIXES)}")])
    text = _decoded(path.read_bytes())
    if suffix == ".json":
        return _of_json(text)
    return _of_csv(text) if suffix == ".csv" else _of_lines(text)


def csv_of(phrases: Iterable[Entry], allowed: Iterable[str]) -> str:
    """What `read_file` reads as the same."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(phrases)
    writer.writerows({"text": text, "action": ALLOW} for text in allowed)
    return out.getvalue()


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PhraseFileFaulty([(raw[: error.start].count(b"\n") + 1, "it is not UTF-8")]) from None


def _of_lines(text: str) -> PhraseFile:
    found = PhraseFile()
    for number, line in enumerate(text.split("\n"), start=1):
        phrase = line.strip()
        if phrase and not phrase.startswith("#"):
            found.phrases.append({"text": phrase})
            found.lines["phrases"].append(number)
    return found


def _of_json(text: str) -> PhraseFile:
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # as it is sent
    except json.JSONDecodeError as error:
        raise PhraseFileFaulty([(error.lineno, f"it is no JSON: {error.msg}")]) from None
    except ValueError:
        raise PhraseFileFaulty([(0, "it holds a number or half a character that cannot be sent")]) from None
    except RecursionError:
        raise PhraseFileFaulty([(0, "it is nested too deeply")]) from None
    said = {"phrases": value} if isinstance(value, list) else value
    if not isinstance(said, dict) or not isinstance(said.get("phrases"), list):
        raise PhraseFileFaulty([(0, "it is neither a list of phrases nor an object with one in `phrases`")])
    allowed = said.get("allowed", [])
    if not isinstance(allowed, list):
        raise PhraseFileFaulty([(0, "`allowed` is no list of phrases")])
    return PhraseFile(said["phrases"], allowed)


def _of_csv(text: str) -> PhraseFile:
    found, faults = PhraseFile(), list[tuple[int, str]]()
    rows = _rows(text)
    at, header = next(rows, (1, []))
    columns = [name.strip().lower() for name in header]
    if "text" not in columns or len(set(columns)) < len(columns) or not set(columns) <= set(COLUMNS):
        raise PhraseFileFaulty([(at, f"the first line names columns: text, and any of {', '.join(COLUMNS[1:])}")])
    for line, cells in rows:
        named = {name: cell.strip() for name, cell in zip(columns, cells, strict=False) if cell.strip()}
        if fault := _fault(named, len(cells) - len(columns)):
            faults.append((line, fault))
        else:
            _add(found, line, named)
    if faults:
        raise PhraseFileFaulty(faults)
    return found


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Those that are not empty, each with the line on which it begins."""
    reader, begins = csv.reader(io.StringIO(text, newline=""), strict=True), 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise PhraseFileFaulty([(begins, f"it is no CSV: {error}")]) from None


def _fault(named: dict[str, str], surplus: int) -> str:
    if surplus > 0:
        return "it has more cells than the first line; text with a comma stands in quotes"
    if "text" not in named:
        return "it has no text"
    if named.get("severity", "1") not in _SEVERITIES:
        return "a severity is 1, 2, 3 or 4"
    return ""


def _add(found: PhraseFile, line: int, named: dict[str, str]) -> None:
    if named.get("action", "").lower() == ALLOW:
        found.allowed.append(named["text"])
        found.lines["allowed"].append(line)
        return
    entry: Entry = {**named}
    for name in ("action", "spelling"):
        if name in named:
            entry[name] = named[name].lower()
    if "severity" in named:
        entry["severity"] = _SEVERITIES[named["severity"]]
    found.phrases.append(entry)
    found.lines["phrases"].append(line)
