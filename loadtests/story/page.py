"""The story told: as a table for terminals and documents, as charts, as a page of its own, and as JSON."""

from collections.abc import Iterator, Mapping, Sequence

from loadtests.report.chart import Axis, Bars, Markup, Series, bar_chart, line_chart
from loadtests.report.page import figure, footer, page, paragraph, section
from loadtests.report.table import bars_table, lines_table, table
from loadtests.report.words import number, seconds, share
from loadtests.story.measured import TTFT_LIMIT_S, Given
from loadtests.story.playing import Chapter
from loadtests.story.steps import Telling

HEAD = (
    "step",
    "what it changes",
    "sessions a card, stable",
    "TTFT p50",
    "TTFT p95",
    "per token",
    "cached",
    "prompt tokens, computed",
    "KV a session",
    "GPU-minutes a drill",
    "the next stair",
    "figures are",
)
PUBLISHED = (
    ("stable sessions on a card", "10", "35"),
    ("TTFT", "850 ms", "420 ms"),
    ("time per token", "38 ms", "16 ms"),
    ("KV", "8.6 GB", "2.7 GB"),
    ("cost of a drill", "1.2 CNY", "0.35 CNY"),
)
"""As one deployment reported it for a 48 GB card, before and after."""
_TITLE = "One card, from the first class to the last: what each step gives"
_SESSIONS = Axis(label="sessions on each card", is_count=True)


def rows_of(given: Sequence[Given]) -> list[tuple[str, ...]]:
    return [_row(each) for each in given]


def markdown(chapters: Sequence[Chapter]) -> str:
    given = [chapter.given for chapter in chapters]
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row) + " |" for row in rows_of(given)]
    return "\n".join(lines) + "\n"


def first_token_chart(given: Sequence[Given]) -> Markup:
    return line_chart(_FIRST_TOKENS, _first_tokens(given), x=_SESSIONS, y=_TTFT)


def stable_chart(given: Sequence[Given]) -> Markup:
    return bar_chart(
        "Sessions on a card that are stable", [each.step for each in given], [_stable(given)], x=_STEP, y=_STABLE
    )


def story_page(chapters: Sequence[Chapter], telling: Telling, *, price_per_hour: float | None) -> str:
    given = [chapter.given for chapter in chapters]
    return page(
        _TITLE,
        [
            paragraph(said_first(telling)),
            *(
                paragraph(f"Not to be used: {chapter.given.step}: {chapter.void}")
                for chapter in chapters
                if chapter.void
            ),
            section(
                "Step by step",
                figure(
                    stable_chart(given), bars_table([each.step for each in given], [_stable(given)], x=_STEP, y=_STABLE)
                ),
                table(HEAD, rows_of(given)),
                figure(first_token_chart(given), lines_table(_first_tokens(given), x=_SESSIONS, y=_TTFT)),
                *_priced(given, price_per_hour),
            ),
            section("Beside what was reported", table(("", "before", "after"), PUBLISHED)),
            footer(tuple(meanings()), "Every run behind this page can be read again: `drillyard load show RUN`."),
        ],
    )


def said_first(telling: Telling) -> str:
    stairs = ", ".join(str(count) for count in telling.per_card)
    pause_s = telling.think_s + telling.allowance_s
    return (
        f"The same trainees on {telling.cards} simulated cards of 48 GB with a 14B model, {stairs} of them on each "
        f"card, {telling.stair_s:.0f} s to a stair; a message about every {pause_s:.0f} s, replies of "
        f"{telling.reply_tokens} tokens. Cards run {telling.speed_up:g} times as fast as real ones; a millisecond of "
        f"the gateway, which does not, counts {telling.speed_up:g} times."
    )


def meanings() -> Iterator[tuple[str, str]]:
    yield (
        "Stable",
        f"The highest stair up to which on every stair each turn was answered and 95 % of the first tokens came within "
        f"{TTFT_LIMIT_S:g} s. The other figures of a step are those of that stair, or of the lowest where none held.",
    )
    yield (
        "Measured",
        "Which replica a turn goes to, what the prompt holds, how much of it is cached and what fails is done by the "
        "real gateway, router, Redis and Postgres. The seconds of the engine are modelled, here as in "
        "every step.",
    )
    yield (
        "Partly modelled",
        "Prompts and what is cached of them are measured; the memory that smaller steps leave free, and how long they "
        "take, are figures in the profile of the simulated card.",
    )
    yield (
        "Modelled",
        "The step is nothing but other figures in the profile of the simulated card, which says where each is from.",
    )
    yield "Computed", "Prompt tokens of a turn that were not in the cache, on average."
    yield "KV a session", "Tokens of the latest prompts and replies, times the bytes of KV that the model keeps of one."
    yield "GPU-minutes a drill", "Of a drill of half an hour, on cards as full as is stable."


def as_json(chapters: Sequence[Chapter], telling: Telling, *, price_per_hour: float | None) -> Mapping[str, object]:
    return {
        "telling": said_first(telling),
        "steps": [
            {
                **chapter.given.as_json(),
                "price_per_drill": None if price_per_hour is None else chapter.given.price_per_drill(price_per_hour),
                "void": chapter.void,
                "client_lag_p99_s": chapter.client_lag_p99_s,
                "run": chapter.run.name,
            }
            for chapter in chapters
        ],
        "published": [{"what": what, "before": before, "after": after} for what, before, after in PUBLISHED],
    }


_FIRST_TOKENS = "First token, 95 of 100 turns"
_TTFT = Axis(label="first token p95", unit="s", logarithmic=True)
_STEP = Axis(label="step")
_STABLE = Axis(label="sessions a card", is_count=True)


def _row(given: Given) -> tuple[str, ...]:
    return (
        given.step,
        given.change,
        f"{given.stable_per_card:g}",
        seconds(given.ttft_p50_s),
        seconds(given.ttft_p95_s),
        seconds(given.tpot_p50_s),
        share(given.cached_share),
        f"{number(given.prompt_tokens)}, {number(given.computed_tokens)}",
        number(given.session_gb, "GB"),
        number(given.gpu_minutes_per_drill),
        given.fails_with or "not played",
        given.basis.value,
    )


def _first_tokens(given: Sequence[Given]) -> list[Series]:
    return [Series(each.step, [(stair.per_card, stair.ttft_p95_s) for stair in each.stairs]) for each in given]


def _stable(given: Sequence[Given]) -> Bars:
    return Bars("stable", [each.stable_per_card for each in given])


def _priced(given: Sequence[Given], price_per_hour: float | None) -> Iterator[Markup]:
    if price_per_hour is not None:
        rows = [(each.step, number(each.price_per_drill(price_per_hour))) for each in given]
        yield table(("step", f"price of a drill, at {price_per_hour:g} an hour"), rows)
