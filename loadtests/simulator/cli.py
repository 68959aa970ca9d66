"""`drillyard sim`: replicas without a GPU."""

import typer

from loadtests.simulator.cli_fleet import serve_fleet
from loadtests.simulator.cli_profiles import calibrate_live, show_profiles
from loadtests.simulator.cli_serve import serve

_EXAMPLES = (
    "Examples:\n\n"
    "  drillyard sim serve --port 8001 --profile 48gb-14b-after --speed-up 20\n\n"
    "  drillyard sim serve --port 8002 --script scenario.json --admin-port 9002"
)


def _application() -> typer.Typer:
    application = typer.Typer(
        help="Replicas without a GPU that speak vLLM's HTTP API.",
        epilog=_EXAMPLES,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    application.command("serve")(serve)
    application.command("fleet")(serve_fleet)
    application.command("profiles")(show_profiles)
    application.command("calibrate")(calibrate_live)
    return application


app = _application()
