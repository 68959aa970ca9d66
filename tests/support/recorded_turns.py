"""What turns of growing conversations took on real vLLM: their tokens, and the milliseconds to the first of a reply."""

import json
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parents[1] / "contract" / "simulator" / "recorded_ttft.json"


@dataclass(frozen=True, slots=True)
class Turn:
    prompt: int
    cached: int
    ttft_ms: float


RECORDED = {name: [Turn(**turn) for turn in turns] for name, turns in json.loads(_FILE.read_text()).items()}
