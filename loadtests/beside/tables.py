"""The results as two tables in Markdown: of a quiet class, and of one that loses a replica."""

from collections.abc import Sequence

from loadtests.beside.arms import LATEST
from loadtests.beside.result import Result


def tables(results: Sequence[Result], *, turns: int) -> str:
    steady = [each for each in results if not each.arm.is_killed]
    killed = [each for each in results if each.arm.is_killed]
    parts = (_steady(steady, _shown(turns)) if steady else "", _killed(killed) if killed else "")
    return "\n\n".join(part for part in parts if part)


def _shown(turns: int) -> Sequence[int]:
    """The first two, the last before a sliding window slides, the first after it, and the last."""
    last_whole = LATEST // 2 + 1
    return sorted({turn for turn in (1, 2, last_whole, last_whole + 1, turns) if turn <= turns})


def _steady(results: Sequence[Result], shown: Sequence[int]) -> str:
    turns = "".join(f" turn {turn} |" for turn in shown)
    head = f"| through | TTFT, medians:{turns} all p50 / p95 | prompt tokens | of them computed | turns failed |"
    return _table(head, [_steady_row(each, shown) for each in results])


def _steady_row(result: Result, shown: Sequence[int]) -> str:
    figures = result.figures
    turns = "".join(f" {_seconds(result.ttft_s(turn))} |" for turn in shown)
    computed = "-" if result.computed is None else f"{result.computed:,}"
    prompts = "-" if result.prompts is None else f"{result.prompts:,} ({_split(result)})"
    spread = f"{_seconds(figures.ttft.p50)} / {_seconds(figures.ttft.p95)}"
    return f"| {_name(result)} |{turns} {spread} | {prompts} | {computed} | {figures.failed} of {figures.turns} |"


def _killed(results: Sequence[Result]) -> str:
    head = "| through, a replica killed | turns | failed | how | taken over in mid-reply | TTFT p50 / p95 |"
    return _table(head, [_killed_row(each) for each in results])


def _killed_row(result: Result) -> str:
    figures = result.figures
    how = ", ".join(f"{name} {count}" for name, count in sorted(figures.failures.items())) or "-"
    spread = f"{_seconds(figures.ttft.p50)} / {_seconds(figures.ttft.p95)}"
    return f"| {_name(result)} | {figures.turns} | {figures.failed} | {how} | {result.continued} | {spread} |"


def _table(head: str, rows: Sequence[str]) -> str:
    return "\n".join((head, "|" + "---|" * (head.count("|") - 1), *rows))


def _name(result: Result) -> str:
    return f"{result.arm.name} (VOID: {result.void})" if result.void else result.arm.name


def _split(result: Result) -> str:
    """How evenly the class lay on the replicas."""
    whole = sum(result.by_replica.values())
    return " : ".join(f"{100 * tokens / whole:.0f}" for tokens in result.by_replica.values()) if whole else "-"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return "failed" if value == float("inf") else f"{value:.2f} s"
