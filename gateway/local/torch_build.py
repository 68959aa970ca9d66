"""Which build of torch pip would install here, and what it costs: the one with CUDA is ten times as large."""

import json
from enum import Enum
from pathlib import Path

from gateway.local.errors import LocalStackError


class Build(Enum):
    """With the room an environment for CPU takes with it, and what pip's temporary folder holds meanwhile."""

    CPU = (3.0, 1.0)
    CUDA = (8.0, 3.5)

    @property
    def kept_gib(self) -> float:
        return self.value[0]

    @property
    def passing_gib(self) -> float:
        return self.value[1]


NOTE_ON_CUDA = (
    "note: pip finds torch here only as the build with CUDA (2.7 GB to fetch, 6.1 GB on disk instead of 0.2 and 0.7); "
    "it works on a CPU too, but setting DRILLYARD_TORCH_INDEX to an index with CPU builds is quicker"
)


def build_in(report: Path) -> Build:
    """Read what `pip install --dry-run --report` wrote of torch alone."""
    try:
        (torch,) = json.loads(report.read_text())["install"]
        facts = torch["metadata"]
        needs = [str(line) for line in facts.get("requires_dist", [])]
        version = str(facts["version"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LocalStackError(f"pip did not say which torch it would install: {report} cannot be read") from error
    if version.endswith("+cpu"):
        return Build.CPU
    return Build.CUDA if any(line.startswith(("nvidia-", "cuda-")) for line in needs) else Build.CPU
