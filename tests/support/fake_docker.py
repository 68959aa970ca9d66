"""A `docker compose` without an engine: as strict about its words as the real one, with its state in a folder.

Run as a program with the folder in `FAKE_DOCKER`. Files in it steer what happens: `away` (the engine is down), `array`
(answers as until Compose 2.20), `fails` (what `up` says and then ends with 1), `broken` (the same, once the container
is made), `hangs` (such a verb waits until the file is gone).
"""

import fcntl
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

VARIABLE = "FAKE_DOCKER"
State = dict[str, Any]


def main(words: list[str]) -> None:
    home = Path(os.environ[VARIABLE])
    if words[:2] != ["compose", "-f"] or words[3] != "-p":
        ends(16, f"unknown shorthand flag in {words[:4]}")
    with (home / "calls").open("a") as calls:
        calls.write(f"{json.dumps(words[5:])}\n")
    wait_while_it_hangs(home, words[5])
    if (home / "away").exists():
        ends(1, "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
    services = re.findall(r"^  ([\w.-]+):$", Path(words[2]).read_text().partition("services:")[2], re.MULTILINE)
    match words[5:]:
        case ["ps", "-a", "--format", "json"]:
            with kept(home) as containers:
                tell(home, containers, project=words[4])
        case ["up", "-d", "--no-deps", "--force-recreate", service]:
            up(home, known(service, services))
        case ["rm", "-s", "-f", service]:
            remove(home, known(service, services))
        case ["logs", "--no-log-prefix", "--no-color", "--tail", _, service]:
            with kept(home) as containers:
                answer(*(one["log"] for one in containers if one["service"] == service))
        case _:
            ends(16, f"unknown flag: {' '.join(words[5:])}")


def up(home: Path, service: str) -> None:
    if (home / "fails").exists():
        ends(1, f" Container {service}  Creating\n{(home / 'fails').read_text()}")
    broken = home / "broken"
    outcome = {"state": "created", "exit": 128} if broken.exists() else {"state": "running", "exit": 0}
    with kept(home) as containers:
        containers[:] = [one for one in containers if one["service"] != service]
        new = {"id": os.urandom(32).hex(), "service": service, "created": time.time(), "log": ""}
        containers.append(new | outcome)
    if broken.exists():
        ends(1, f" Container {service}  Starting\n{broken.read_text()}")
    sys.stderr.write(f" Container {service}  Started\n")


def remove(home: Path, service: str) -> None:
    with kept(home) as containers:
        if not any(one["service"] == service for one in containers):
            sys.stderr.write("No stopped containers\n")
        containers[:] = [one for one in containers if one["service"] != service]


def tell(home: Path, containers: Sequence[Mapping[str, Any]], *, project: str) -> None:
    if (home / "array").exists():
        answer(json.dumps([old_shape(one, project) for one in containers]))
    else:
        answer(*(json.dumps(new_shape(one, project)) for one in containers))


def old_shape(one: Mapping[str, Any], project: str) -> State:
    """Recorded from Compose 2.20."""
    return {
        "ID": one["id"],
        "Name": f"{project}-{one['service']}-1",
        "Image": "vllm/vllm-openai:v0.33.0",
        "Command": "vllm serve",
        "Project": project,
        "Service": one["service"],
        "Created": int(one["created"]),
        "State": one["state"],
        "Status": status(one),
        "Health": "",
        "ExitCode": one["exit"],
        "Publishers": [{"URL": "127.0.0.1", "TargetPort": 8000, "PublishedPort": 8100, "Protocol": "tcp"}],
    }


def new_shape(one: Mapping[str, Any], project: str) -> State:
    """Recorded from Compose 2.21 and newer."""
    created = time.strftime("%Y-%m-%d %H:%M:%S +0000 UTC", time.gmtime(one["created"]))
    return {
        "Command": '"vllm serve /models/c…"',
        "CreatedAt": created,
        "ExitCode": one["exit"],
        "Health": "",
        "ID": one["id"][:12],
        "Image": "vllm/vllm-openai:v0.33.0",
        "Labels": "",
        "LocalVolumes": "1",
        "Mounts": "",
        "Name": f"{project}-{one['service']}-1",
        "Names": f"{project}-{one['service']}-1",
        "Networks": f"{project}_default",
        "Ports": "127.0.0.1:8100->8000/tcp",
        "Project": project,
        "Publishers": [{"URL": "127.0.0.1", "TargetPort": 8000, "PublishedPort": 8100, "Protocol": "tcp"}],
        "RunningFor": "2 hours ago",
        "Service": one["service"],
        "Size": "0B",
        "State": one["state"],
        "Status": status(one),
    }


def status(one: Mapping[str, Any]) -> str:
    return "Up 2 hours" if one["state"] == "running" else f"Exited ({one['exit']}) 2 minutes ago"


def known(service: str, services: Sequence[str]) -> str:
    if service not in services:
        ends(1, f"no such service: {service}")
    return service


def wait_while_it_hangs(home: Path, verb: str) -> None:
    while (home / "hangs").exists() and verb in (home / "hangs").read_text().split():
        time.sleep(0.01)


@contextmanager
def kept(home: Path) -> Iterator[list[State]]:
    """Its containers, one process at a time."""
    with (home / "state.json").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        containers = json.loads(file.read() or "[]")
        yield containers
        file.seek(0)
        file.truncate()
        file.write(json.dumps(containers))


def answer(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def ends(code: int, said: str) -> NoReturn:
    sys.stderr.write(f"{said}\n")
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
