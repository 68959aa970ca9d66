"""`drillyard router`: the router alone, an OpenAI-compatible proxy in front of replicas that were started elsewhere."""

import asyncio
import gc
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import structlog
import typer
import uvicorn
import uvloop
from pydantic import ValidationError
from pydantic_settings import SettingsError
from structlog.typing import FilteringBoundLogger

from gateway.cli.failure import CommandFailed
from gateway.cli.key_files import KeyFiles, keys_in
from gateway.cli.router_http import RouterHttp
from gateway.cli.serving import StoppableServer, allow_many_files, listening
from gateway.log_setup import set_up
from gateway.router_settings import PoolReplicaSettings, RouterProcessSettings, load
from gateway.settings import reasons
from gateway.wiring.router_alone import router_alone
from router.domain.pin import PinMode
from router.errors import FleetSourceUnavailable
from router.http.app import RouterApp
from router.settings import EngineKind

# No line is longer than a terminal of 80 columns shows in one piece: a wrapped one cannot be pasted.
EXAMPLES = (
    "Examples:\n\n"
    "  drillyard router --replica a=http://gpu-1:8000 --replica b=http://gpu-2:8000\n\n"
    "  drillyard router --fleet-file fleet.json --redis-url redis://127.0.0.1:6379\n\n"
    "  drillyard router --kubernetes-service vllm --kubernetes-port http\n\n"
    "  drillyard router --fleet-file f.json --host 0.0.0.0 --operator-key-file keys\n\n"
    "  drillyard router --replica llama=http://127.0.0.1:8000 --engine openai\n\n"
    "  drillyard router --fleet-file fleet.json --set chunk_timeout_s=60\n\n"
    "Every flag is also a variable, such as DRILLYARD_REDIS_URL, and every setting of the router is one as well, such "
    "as DRILLYARD_ROUTER__CHUNK_TIMEOUT_S; a flag stands above its variable."
)
BAD_CONFIGURATION = 2
_AFTER_GRACE_S = 5

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def router(  # noqa: PLR0913  one parameter per option is how typer declares them
    *,
    replica: Annotated[
        list[str] | None, typer.Option(metavar="ID=URL", help="A replica; may be given again and again.")
    ] = None,
    fleet_file: Annotated[
        Path | None, typer.Option(help='A JSON list such as [{"id": "a", "url": "http://..."}], re-read at changes.')
    ] = None,
    kubernetes_service: Annotated[
        str | None, typer.Option(help="Take the endpoints of this service, as they come and go.")
    ] = None,
    kubernetes_namespace: Annotated[str | None, typer.Option(help="Where it is.", show_default="this pod's")] = None,
    kubernetes_port: Annotated[
        str | None, typer.Option(help="Name or number of the endpoints' port.", show_default="8000")
    ] = None,
    redis_url: Annotated[
        str | None, typer.Option(help="Shared by all router processes; without it pins live in this one alone.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65_535, help="Port; 0 takes any free one.", show_default="8090")
    ] = None,
    api_key_file: Annotated[Path | None, typer.Option(help="Keys of clients, one a line.")] = None,
    operator_key_file: Annotated[Path | None, typer.Option(help="Keys of operators, one a line.")] = None,
    engine_key_file: Annotated[Path | None, typer.Option(help="A bearer token that the replicas ask for.")] = None,
    engine: Annotated[EngineKind | None, typer.Option(help="What the replicas are.", show_default="vllm")] = None,
    pin_mode: Annotated[
        PinMode | None, typer.Option(help="What a pin is worth at a full replica.", show_default="soft")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any setting of docs/router.md.")
    ] = None,
    open_to_all: Annotated[
        bool, typer.Option("--open", help="Serve beyond this machine without an operator key.")
    ] = False,
    log_format: Annotated[str | None, typer.Option(help="json or console.", show_default="json")] = None,
) -> None:
    """Serve /v1/chat/completions, /v1/completions and /v1/models, each session (X-Session-ID) at one replica."""
    given: dict[str, object] = {
        "fleet_file": fleet_file,
        "kubernetes_service": kubernetes_service,
        "kubernetes_namespace": kubernetes_namespace,
        "kubernetes_port": kubernetes_port,
        "redis_url": redis_url,
        "host": host,
        "port": port,
        "open": open_to_all or None,
        "log_format": log_format,
    }
    with_parts = {
        "replicas": _replicas(replica or ()),
        "api_keys": _keys(api_key_file),
        "operator_keys": _keys(operator_key_file),
        "engine_key": next(iter(_keys(engine_key_file) or ()), None),
        "router": _settings(setting or (), {"engine": engine, "pin_mode": pin_mode}),
    }
    settings = _loaded({name: value for name, value in (given | with_parts).items() if value is not None})
    _run(settings, KeyFiles(api_key_file, operator_key_file))


def _run(settings: RouterProcessSettings, files: KeyFiles) -> None:
    set_up(level=settings.log_level, layout=settings.log_format)
    try:
        uvloop.run(_serve(settings, files))
    except FleetSourceUnavailable as error:
        _refuse([str(error)])
    except CommandFailed as failure:
        _refuse([str(failure)])


async def _serve(settings: RouterProcessSettings, files: KeyFiles) -> None:
    stopping = asyncio.Event()
    allow_many_files()
    with listening(settings.host, settings.port, advice="give another --port") as listener:
        async with router_alone(settings, stopping=stopping) as app:
            server = StoppableServer(_configuration(settings, app), stopping)
            _say_who_may_call(settings)
            _say_what_is_missing(settings)
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _read_keys_again, settings, files, app)
            # What is here now stays for good; the collector need not look at it again and again.
            gc.collect()
            gc.freeze()
            gc.set_threshold(20_000, 20, 20)
            _log.info("routing", host=settings.host, port=listener.getsockname()[1], router=settings.instance)
            await server.serve(sockets=[listener])


def _configuration(settings: RouterProcessSettings, app: RouterApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=RouterHttp,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=round(settings.shutdown_grace_s) + _AFTER_GRACE_S,
    )


def _read_keys_again(settings: RouterProcessSettings, files: KeyFiles, app: RouterApp) -> None:
    files.again(
        app.admit,
        clients=[key.get_secret_value() for key in settings.api_keys],
        operators=[key.get_secret_value() for key in settings.operator_keys],
    )


def _say_who_may_call(settings: RouterProcessSettings) -> None:
    if not settings.api_keys:
        _log.warning("every client that reaches this port may generate", host=settings.host)
    if not settings.operator_keys:
        _log.warning("everybody who reaches this port may change the fleet", host=settings.host)


def _say_what_is_missing(settings: RouterProcessSettings) -> None:
    if not (settings.replicas or settings.fleet_file or settings.kubernetes_service):
        _log.warning("no list of replicas was given; there are those alone that POST /replicas adds")


def _loaded(given: Mapping[str, object]) -> RouterProcessSettings:
    try:
        return load(given)
    except (ValidationError, SettingsError) as error:
        _refuse(reasons(error))


def _replicas(words: Sequence[str]) -> list[dict[str, str]] | None:
    found = []
    for word in words:
        name, equals, url = word.partition("=")
        if not equals:
            _refuse([f"--replica {word}: write it as ID=URL"])
        try:
            PoolReplicaSettings.model_validate({"id": name, "url": url})
        except ValidationError as error:  # its URL may hold a password
            _refuse([f"--replica {name}=...: the {item['loc'][0]} is wrong: {item['msg']}" for item in error.errors()])
        found.append({"id": name, "url": url})
    return found or None


def _settings(words: Sequence[str], named: Mapping[str, str | None]) -> dict[str, str] | None:
    found = {name: value for name, value in named.items() if value is not None}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            _refuse([f"--set {word}: write it as NAME=VALUE"])
        found[name] = value
    return found or None


def _keys(file: Path | None) -> list[str] | None:
    try:
        return keys_in(file)
    except CommandFailed as failure:
        _refuse([str(failure)])


def _refuse(lines: Sequence[str]) -> NoReturn:
    for line in lines:
        sys.stderr.write(f"drillyard router: {line}\n")
    raise SystemExit(BAD_CONFIGURATION)
