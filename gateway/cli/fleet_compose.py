"""`drillyard fleet compose`: a Compose file with one service for each replica that fits."""

from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.cli.engine_facts import bundled_facts
from gateway.cli.failure import CommandFailed
from gateway.cli.profile_file import read_profile
from router.fleet.domain.compose_file import IMAGE, LAST_PORT, SPARE_S, ComposePlan, compose_text
from router.fleet.domain.vllm_advice import Surroundings, check
from router.fleet.domain.vllm_flags import Flags, Weight
from router.fleet.domain.vllm_options import SchedulingPolicy, VllmOptions, flags_of
from router.fleet.domain.vllm_profile import SHUTDOWN_S

EXAMPLES: Final = (
    "Examples:\n\n"
    "  drillyard fleet compose --gpus 0,1,2,3 --model Qwen/Qwen2.5-7B-Instruct --weights /srv/models/qwen2.5-7b "
    "--profile deploy/vllm/qwen2.5-7b-l40s.yaml > compose.fleet.yml\n\n"
    "  drillyard fleet compose --gpus 0+1,2+3 --model mine --weights /srv/models/mine --network drillyard_replicas "
    "> compose.fleet.yml\n\n"
    'The pool\'s host is then {"kind": "compose", "file": "compose.fleet.yml"} in DRILLYARD_FLEET__POOLS.'
)
LONGEST_GRACE_S: Final = 86_400.0


def compose(  # noqa: PLR0913 - one argument for each option of the command line
    *,
    gpus: Annotated[
        str, typer.Option(metavar="LIST", help="GPUs, one replica to each; 0+1 gives a replica two of them.")
    ],
    model: Annotated[str, typer.Option(help="As the replicas list it, and the pool is named.")],
    weights: Annotated[str, typer.Option(metavar="FOLDER", help="Where the weights lie on this host.")],
    profile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The flags, as `drillyard capacity --profile` writes them.")
    ] = None,
    window: Annotated[int, typer.Option(min=1, help="Tokens of a session, where there is no profile.")] = 4096,
    name: Annotated[str, typer.Option(help="What the services' names begin with.")] = "vllm",
    image: Annotated[str, typer.Option(help="vLLM's image.")] = IMAGE,
    address: Annotated[str, typer.Option(help="The address on which the replicas are published.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=1, max=LAST_PORT, help="The first replica's; the next have the next.")
    ] = 8100,
    network: Annotated[
        str | None,
        typer.Option(help="Publish nothing, and join this network, where the gateway is: drillyard_replicas."),
    ] = None,
) -> None:
    """Write a Compose file with a service for each replica, to the standard output. It asks no Docker."""
    try:
        plan = ComposePlan(
            model=model,
            weights=weights,
            gpus=[tuple(one.split("+")) for one in gpus.split(",")],
            flags=_default_flags(window) if profile is None else _profile_flags(profile),
            name=name,
            image=image,
            address=address,
            port=port,
            network=network,
        )
    except ValueError as error:
        raise CommandFailed(str(error)) from error
    typer.echo(compose_text(plan), nl=False)


def _default_flags(window: int) -> Flags:
    return flags_of(
        VllmOptions(
            max_model_len=window,
            enable_prefix_caching=True,
            enable_prompt_tokens_details=True,
            scheduling_policy=SchedulingPolicy.PRIORITY,
            shutdown_timeout=SHUTDOWN_S,
            gpu_memory_utilization=0.90,
        )
    )


def _profile_flags(file: Path) -> Flags:
    """The grace is written to suit the profile, whatever it says."""
    checked = check(read_profile(file), bundled_facts(), Surroundings(grace_s=LONGEST_GRACE_S + SPARE_S))
    wrong = next((one for one in checked.findings if one.weight is Weight.ERROR), None)
    if wrong is not None:
        raise CommandFailed(f"{file}: {wrong.flag} {wrong.what}", advice="see `drillyard fleet profile check`")
    return checked.flags
