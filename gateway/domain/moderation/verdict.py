"""Knows what is said about a text: which rules it met, where, and what of it may leave. It never repeats the words."""

from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from gateway.domain.moderation.phrases import STRICTNESS, Action, Rule, Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """A phrase of a rule, in the raw characters [start, end) of the text."""

    rule: str
    category: str
    severity: Severity
    action: Action
    list_name: str
    list_version: int
    start: int
    end: int
    digest: str
    """Of these characters: SHA-256 in hexadecimal digits."""


def finding(rule: Rule, start: int, end: int, words: str) -> Finding:
    """`words` are the raw characters that were met."""
    phrase = rule.phrase
    return Finding(
        rule=phrase.id,
        category=phrase.category,
        severity=phrase.severity,
        action=phrase.action,
        list_name=rule.list_name,
        list_version=rule.list_version,
        start=start,
        end=end,
        digest=sha256(words.encode("utf-8", "surrogatepass")).hexdigest(),
    )


class Released(NamedTuple):
    """What may leave now, and what was found meanwhile; `blocked`: it is the last of this text."""

    text: str
    findings: tuple[Finding, ...] = ()
    blocked: Finding | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of a whole text: what of it may leave, and all that was found up to a block."""

    text: str
    findings: tuple[Finding, ...]
    blocked: Finding | None

    @property
    def action(self) -> Action | None:
        """The strictest that was taken; none: nothing was found."""
        actions = (found.action for found in self.findings)
        return max(actions, key=STRICTNESS.__getitem__, default=None)
