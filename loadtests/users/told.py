"""The figures of a run that was started by hand, in a few lines."""

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures
from loadtests.domain.figuring import figures_of
from loadtests.report.words import seconds, share
from loadtests.run_files import read_lag, read_rows
from loadtests.run_folder import RunFolder


def figures(folder: RunFolder, drill: Drill) -> Figures:
    return figures_of(read_rows(folder), drill=drill, lag=read_lag(folder))


def has_passed(found: Figures) -> bool:
    """The bare minimum: a run without a single turn proves nothing."""
    return found.turns > 0 and not found.failed


def told(found: Figures, *, speed_up: float) -> str:
    pace = f", in seconds of the replicas, which are {speed_up:g} times as fast as ours" if speed_up != 1 else ""
    lines = (
        f"{found.turns} turns, {found.failed} failed {dict(found.failures) or ''}".rstrip(),
        f"TTFT p50 {seconds(found.ttft.p50)}, p95 {seconds(found.ttft.p95)}; whole turn p50 {seconds(found.e2e.p50)}, "
        f"p95 {seconds(found.e2e.p95)}; per token p50 {seconds(found.tpot.p50)}{pace}",
        f"prompt tokens {found.prompt_tokens}, of which cached {share(found.cached_share)}",
        "no turn failed; `drillyard load run` would hold them to targets" if has_passed(found) else "failed",
    )
    return "\n".join(lines)
