"""Spans that a test can look at."""

from dataclasses import dataclass, field

from typing_extensions import override

from router.ports import Span, Tracing


@dataclass
class RecordedSpan(Span):
    name: str
    parent: str
    own: str
    facts: dict[str, str | float] = field(default_factory=dict)
    failed: str | None = None
    """None while it runs."""

    @property
    @override
    def parent_header(self) -> str:
        return self.own

    @override
    def note(self, name: str, value: str | float) -> None:
        self.facts[name] = value

    @override
    def end(self, *, failed: str = "") -> None:
        assert self.failed is None, "a span ends once"
        self.failed = failed


@dataclass
class RecordedTracing(Tracing):
    spans: list[RecordedSpan] = field(default_factory=list)

    @override
    def start(self, name: str, *, parent_header: str = "") -> Span:
        number = len(self.spans) + 1
        self.spans.append(RecordedSpan(name, parent_header, f"00-{1:032x}-{number:016x}-01"))
        return self.spans[-1]
