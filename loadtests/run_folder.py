"""Where a run lies on disk: one folder, whose files are written once and read by everything that comes after.

drill.json            the `Drill`
facts.json            revision, machine, versions, target, fleet, when; never a key
rows-<worker>.jsonl   a `Row` each
lag-<worker>.jsonl    a `LagSample` each
hdr-<worker>.json     HDR histograms by measure, in microseconds, as HdrHistogram's own base64
replicas.jsonl        a `ReplicaSample` each
processes.jsonl       a `ProcessSample` each
events.jsonl          an `Event` each
trouble-<worker>.json what went wrong with the client itself, counted; there when the worker came to its end
locust.log            what Locust said
figures.json          `Figures`
verdict.json          what the targets say
report.html           all of it, to look at
run.json              what the ledger says of it
"""

from dataclasses import dataclass
from pathlib import Path

RUNS = Path(".drillyard/loads")
"""Where runs lie unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    path: Path

    @property
    def drill(self) -> Path:
        return self.path / "drill.json"

    @property
    def facts(self) -> Path:
        return self.path / "facts.json"

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def replicas(self) -> Path:
        return self.path / "replicas.jsonl"

    @property
    def processes(self) -> Path:
        return self.path / "processes.jsonl"

    @property
    def figures(self) -> Path:
        return self.path / "figures.json"

    @property
    def verdict(self) -> Path:
        return self.path / "verdict.json"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def index(self) -> Path:
        return self.path / "run.json"

    def rows_of(self, worker: int) -> Path:
        return self.path / f"rows-{worker}.jsonl"

    def lag_of(self, worker: int) -> Path:
        return self.path / f"lag-{worker}.jsonl"

    def histograms_of(self, worker: int) -> Path:
        return self.path / f"hdr-{worker}.json"

    def all_rows(self) -> list[Path]:
        return sorted(self.path.glob("rows-*.jsonl"))

    def all_lag(self) -> list[Path]:
        return sorted(self.path.glob("lag-*.jsonl"))
