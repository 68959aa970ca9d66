"""Where `drillyard up` keeps the model that it brings along."""

import os
from pathlib import Path


def model_folder() -> Path | None:
    """The newest in the cache; None: there is none yet."""
    cache = Path(os.environ.get("DRILLYARD_CACHE") or Path.home() / ".cache" / "drillyard")
    found = sorted(cache.glob("models/*/tokenizer.json"), key=lambda file: file.stat().st_mtime)
    return found[-1].parent if found else None
