"""Figures in words for people: few digits, units, and what is not known said so."""

from math import isfinite, isnan, log10

NOTHING = "-"
ENDLESS = "no answer"
_MINUTE_S, _HOUR_S = 60, 3600


def number(value: float | None, unit: str = "") -> str:
    """Three digits that count; thousands are grouped."""
    if value is None or isnan(value):
        return NOTHING
    if not isfinite(value):
        return ENDLESS if value > 0 else NOTHING
    return f"{_digits(value)} {unit}".rstrip()


def seconds(value: float | None) -> str:
    if value is not None and 0 < abs(value) < 1:
        return number(value * 1000, "ms")
    return number(value, "s")


def share(value: float | None) -> str:
    """Per cent."""
    return number(None if value is None else 100 * value, "%")


def clock(value: float) -> str:
    """Seconds as m:ss or h:mm:ss, with a sign before the bell."""
    whole = round(abs(value))
    sign = "-" if value < 0 and whole else ""
    hours, rest = divmod(whole, _HOUR_S)
    minutes, left = divmod(rest, _MINUTE_S)
    return f"{sign}{hours}:{minutes:02}:{left:02}" if hours else f"{sign}{minutes}:{left:02}"


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _digits(value: float) -> str:
    if value == 0:
        return "0"
    places = max(0, 2 - int(log10(abs(value)) // 1))
    told = f"{value:,.{places}f}"
    return told.rstrip("0").rstrip(".") if "." in told else told
