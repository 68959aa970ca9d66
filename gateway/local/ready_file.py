"""The JSON object by which other programs find a running stack: addresses, keys, process numbers."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gateway.local.private_file import write_private
from gateway.local.seed import Seed


@dataclass(frozen=True, slots=True)
class ReadyReplica:
    id: str
    url: str
    pid: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    base_url: str
    seed: Seed
    replicas: tuple[ReadyReplica, ...]
    redis_url: str
    database_url: str = field(repr=False)
    pids: Mapping[str, int]
    log_dir: Path

    def as_json(self) -> str:
        content = {
            "base_url": self.base_url,
            "tenant": self.seed.tenant,
            "keys": asdict(self.seed.keys),
            "scenarios": [asdict(scenario) for scenario in self.seed.scenarios],
            "replicas": [asdict(replica) for replica in self.replicas],
            "redis_url": self.redis_url,
            "database_url": self.database_url,
            "pids": dict(self.pids),
            "log_dir": str(self.log_dir),
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class ReadyFiles:
    """The same object in every place that was asked for."""

    files: tuple[Path, ...]

    def write(self, ready: Ready) -> None:
        for file in self.files:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_private(file, ready.as_json())

    def remove(self) -> None:
        for file in self.files:
            file.unlink(missing_ok=True)
