"""A small installation as load drills find one: by its ready file."""

import json
from pathlib import Path

from tests.support.gateway_process import World


def write_ready(world: World, folder: Path) -> Path:
    """The folder, to be given as `--data`."""
    replicas = {name: each.url for name, each in world.engines.items()}
    replicas |= {name: each.url for name, each in world.simulators.items()}
    keys = world.seed.keys
    ready = {
        "base_url": world.gateway.url,
        "keys": {
            "trainees": list(keys.trainees),
            "operator": keys.operator,
            "instructor": keys.instructor,
            "service": keys.service,
        },
        "scenarios": [{"id": each.id, "locale": each.locale} for each in world.seed.scenarios],
        "replicas": [{"id": name, "url": url, "pid": 0, "kind": "sim"} for name, url in replicas.items()],
        "pids": {"gateway": world.gateway.pid},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ready.json").write_text(json.dumps(ready))
    return folder
