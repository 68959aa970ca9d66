"""Puts the sample tenant, its accounts and its scenarios into the database, once.

The keys are kept beside the data, in a file that only its owner may read, since the database holds their hashes alone.
"""

import json
import secrets
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from uuid import UUID

import uvloop
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from gateway.api.requests import ScenarioBody
from gateway.domain.access import Role, new_key, presented, principal
from gateway.errors import GatewayError, TooManyKeys, Unauthenticated
from gateway.local.errors import LocalStackError
from gateway.local.our_python import our_module
from gateway.local.private_file import write_private
from gateway.local.seed import Keys, Seed, SeedScenario
from gateway.log_setup import set_up
from gateway.ports import Account
from gateway.settings import Settings, load, reasons
from gateway.wiring.authoring import Authoring, authoring
from sessions.domain.scenario import ScenarioContent
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import SessionsError

TENANT = "sample"
TRAINEES = 8
SAMPLES = ("en.json", "zh.json")
MOST_SCENARIOS = 200

_SEED = TypeAdapter(Seed)


class _KeptKeys(BaseModel):
    """The file of keys, by the name of the account each belongs to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: dict[str, str]


def seed(environment: Mapping[str, str], *, keys_file: Path) -> Seed:
    """What the database holds for trying things out, made where it is missing; repeating it changes nothing.

    It is done by a process of its own, which reads its settings from this environment as the gateway will.
    """
    command = our_module("gateway.local.sample", str(keys_file), name="seed", log=keys_file, environment=environment)
    done = subprocess.run(command.argv, env=command.env, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise LocalStackError(f"the sample data cannot be written: {last_line(done.stderr)}")
    return _SEED.validate_json(done.stdout)


def main(keys_file: Path) -> int:
    """Print the seed as JSON, for the process that asked."""
    try:
        settings = load()
        set_up(level=settings.log_level, layout=settings.log_format)  # standard output is for the seed alone
        sown = uvloop.run(_seed(settings, keys_file))
    except ValidationError as error:
        return _failed("; ".join(reasons(error)))
    except (SessionsError, GatewayError) as error:
        return _failed(str(error))
    sys.stdout.write(_SEED.dump_json(sown).decode())
    return 0


def _failed(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 1


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no reason was given")


async def _seed(settings: Settings, keys_file: Path) -> Seed:
    kept = _kept(keys_file)
    async with authoring(settings) as tools:
        tenant = await tools.accounts.tenant(TENANT, name="Sample company", at=tools.clock.now())
        instructor = await tools.accounts.account(tenant, "instructor", Role.INSTRUCTOR, at=tools.clock.now())
        keys = {name: await _key(tools, tenant, name, role, kept.get(name)) for name, role in _cast().items()}
        write_private(keys_file, json.dumps({"keys": keys}, indent=2) + "\n")
        scenarios = [await _scenario(tools, instructor, _sample(name)) for name in SAMPLES]
    trainees = tuple(key for name, key in keys.items() if _cast()[name] is Role.TRAINEE)
    return Seed(
        tenant=TENANT,
        keys=Keys(operator=keys["operator"], instructor=keys["instructor"], service=keys["service"], trainees=trainees),
        scenarios=tuple(scenarios),
    )


def _cast() -> dict[str, Role]:
    staff = {"operator": Role.OPERATOR, "instructor": Role.INSTRUCTOR, "service": Role.SERVICE}
    return staff | {f"trainee-{number}": Role.TRAINEE for number in range(1, TRAINEES + 1)}


def _kept(keys_file: Path) -> dict[str, str]:
    try:
        return _KeptKeys.model_validate_json(keys_file.read_bytes()).keys
    except (FileNotFoundError, ValidationError):
        return {}  # none yet, or a file somebody spoiled: the keys are made anew


async def _key(tools: Authoring, tenant: UUID, name: str, role: Role, kept: str | None) -> str:
    """The key kept for this account while it still opens the door, else a new one."""
    account = await tools.accounts.account(tenant, name, role, at=tools.clock.now())
    if kept is not None and await _opens(tools, account, kept):
        return kept
    made = new_key(account.principal, dice=secrets.token_bytes)
    try:
        await tools.keys.add(made.stored, at=tools.clock.now())
    except TooManyKeys:  # those whose file is lost
        for key, owner in await tools.keys.of_tenant(tenant):
            if owner == account:
                await tools.keys.revoke(tenant, key.id, at=tools.clock.now())
        await tools.keys.add(made.stored, at=tools.clock.now())
    return made.written


async def _opens(tools: Authoring, account: Account, kept: str) -> bool:
    try:
        shown = presented(f"Bearer {kept}")
        return principal(shown, await tools.keys.find(shown.id), now=tools.clock.now()) == account.principal
    except Unauthenticated:
        return False


async def _scenario(tools: Authoring, instructor: Account, content: ScenarioContent) -> SeedScenario:
    author = Viewer(TenantId(instructor.tenant), AccountId(instructor.id), sees_all=True)
    page = await tools.list_scenarios(author, MOST_SCENARIOS)
    there = next((each for each in page.items if each.content.title == content.title), None)
    scenario = there or await tools.create_scenario(author, content)
    return SeedScenario(id=str(scenario.id), locale=scenario.content.locale)


def _sample(name: str) -> ScenarioContent:
    text = files("gateway.local").joinpath("samples", name).read_text(encoding="utf-8")
    return ScenarioBody.model_validate_json(text).content()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
