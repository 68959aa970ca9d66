"""What the public API answers operators about limits."""

from gateway.cli.wire import Answer


class LimitView(Answer):
    limit: int | str
    source: str


class LimitsView(Answer):
    limits: dict[str, LimitView]

    def set_by(self, source: str) -> dict[str, int | str]:
        """What this one has set itself."""
        return {name: found.limit for name, found in self.limits.items() if found.source == source}
