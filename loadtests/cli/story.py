"""`drillyard load story`: the same class before and after each optimisation, and what each gave."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from loadtests.cli.refusing import refusals
from loadtests.conduct.order import Exit
from loadtests.report.chart import standalone
from loadtests.run_files import write_object
from loadtests.run_folder import RUNS
from loadtests.story.page import as_json, first_token_chart, markdown, stable_chart, story_page
from loadtests.story.playing import told
from loadtests.story.steps import STEPS, Step, Telling, quick

EXAMPLES = (
    "Examples:\n\n"
    "  drillyard load story --quick\n\n"
    "  drillyard load story --out story --price 1.10\n\n"
    "  drillyard load story --step before --step affinity\n\n"
    "All six steps take about twenty minutes, --quick three minutes. Leaves with 0 when all were played, 2 when one "
    "could not be, 3 when the client spoiled one, 130 after Ctrl-C."
)
_OUT = Path(".drillyard/story")


def story(
    *,
    step: Annotated[list[str] | None, typer.Option(help="Only these; may be repeated.")] = None,
    short: Annotated[
        bool, typer.Option("--quick", help="Three low stairs: whether it works, not what it gives.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="For story.html, .md, .json, and the charts.")] = _OUT,
    price: Annotated[float | None, typer.Option(min=0, help="Of an hour of a GPU.")] = None,
    speed_up: Annotated[
        float | None, typer.Option(min=0.1, max=1000, help="How much faster simulated cards are than real ones.")
    ] = None,
    runs: Annotated[Path, typer.Option("--folder", metavar="DIR", help="The ledger of the runs.")] = RUNS,
) -> None:
    """Play the same class before and after each optimisation, one at a time, and show what each gave.

    On simulated cards: what is measured and what is modelled is said with every figure.
    """
    telling = _telling(is_short=short, speed_up=speed_up)
    with refusals("load story"):
        chapters = told(_chosen(step), telling, runs=runs, say=typer.echo)
    out.mkdir(parents=True, exist_ok=True)
    given = [chapter.given for chapter in chapters]
    (out / "story.html").write_text(story_page(chapters, telling, price_per_hour=price), encoding="utf-8")
    (out / "story.md").write_text(markdown(chapters), encoding="utf-8")
    (out / "stable.svg").write_text(standalone(stable_chart(given)), encoding="utf-8")
    (out / "first-token.svg").write_text(standalone(first_token_chart(given)), encoding="utf-8")
    write_object(out / "story.json", as_json(chapters, telling, price_per_hour=price))
    typer.echo(f"\n{markdown(chapters)}\nall of it lies in {out / 'story.html'}")
    if spoiled := [f"{each.given.step}: {each.void}" for each in chapters if each.void]:
        typer.echo(f"drillyard load: nothing is proven by {json.dumps(spoiled, ensure_ascii=False)}", err=True)
        raise typer.Exit(int(Exit.VOID))


def _chosen(names: list[str] | None) -> list[Step]:
    known = {each.name: each for each in STEPS}
    if strange := sorted(set(names or ()) - set(known)):
        raise typer.BadParameter(f"{', '.join(strange)}: the steps are {', '.join(known)}", param_hint="--step")
    return [each for each in STEPS if not names or each.name in names]


def _telling(*, is_short: bool, speed_up: float | None) -> Telling:
    telling = quick(Telling()) if is_short else Telling()
    return telling if speed_up is None else replace(telling, speed_up=speed_up)
