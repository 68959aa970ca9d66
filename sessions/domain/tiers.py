"""Which model serves which kind of work: what was asked for, and what stands in for a pool that is away."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Tier(StrEnum):
    """A kind of work that a model pool is chosen for."""

    ROLE_PLAY = "role_play"
    FAQ = "faq"
    SCORING = "scoring"
    SUMMARY = "summary"
    SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The pool that serves a piece of work. `fell_back` when the pool that was wanted has no replica."""

    tier: Tier
    model: str
    fell_back: bool = False


@dataclass(frozen=True, slots=True)
class NoPool:
    """The wanted pool is away, and nothing may stand in for it."""

    tier: Tier
    model: str


class WishSource(StrEnum):
    """Who asked for a model; the first that did is heard."""

    SCENARIO = "scenario"
    TENANT = "tenant"
    INSTALLATION = "installation"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Wish:
    model: str
    source: WishSource


@dataclass(frozen=True, slots=True)
class Offer:
    """What an installation serves. `fallbacks` name models; a tier that is not in them has none of its own."""

    default: str
    models: tuple[str, ...]
    """Every model that is served, the default one among them."""
    tiers: Mapping[Tier, str] = field(default_factory=dict)
    fallbacks: Mapping[Tier, tuple[str, ...]] = field(default_factory=dict)

    def stand_ins(self, tier: Tier) -> tuple[str, ...]:
        """Whom to ask in turn while the wanted pool is away.

        The default model is the last of them, except for sensitive work and for a tier whose fallbacks are expressly
        none: those go where they were sent, or nowhere.
        """
        named = self.fallbacks.get(tier)
        if tier is Tier.SENSITIVE or named == ():
            return named or ()
        return tuple(dict.fromkeys((*(named or ()), self.default)))


def offer_of(
    default: str, models: Sequence[str], tiers: Mapping[Tier, str], fallbacks: Mapping[Tier, Sequence[str]]
) -> Offer:
    """Fallbacks may name a model, or a tier for the model that the installation gives it."""

    def resolved(names: Iterable[str]) -> tuple[str, ...]:
        of_tiers = {tier.value: tiers.get(tier, default) for tier in Tier if tier not in models}
        return tuple(dict.fromkeys(of_tiers.get(name, name) for name in names))

    return Offer(default, tuple(models), dict(tiers), {tier: resolved(names) for tier, names in fallbacks.items()})


def wish(tier: Tier, scenario: Mapping[Tier, str], tenant: Mapping[Tier, str], offer: Offer) -> Wish:
    """The model that is to serve it. It may be one that the installation no longer has: that is a pool that is away."""
    asked = (
        (scenario, WishSource.SCENARIO),
        (tenant, WishSource.TENANT),
        (offer.tiers, WishSource.INSTALLATION),
    )
    for wishes, source in asked:
        if tier in wishes:
            return Wish(wishes[tier], source)
    return Wish(offer.default, WishSource.DEFAULT)


def choose(
    tier: Tier, wanted: Wish, offer: Offer, present: Collection[str] | None, *, leaving: Collection[str] = ()
) -> Chosen | NoPool:
    """The pool that serves it now. `present` are the models with a replica that takes work; None: nobody can tell.

    `leaving` are those whose replicas serve the sessions they have and take no others: work that may go nowhere else
    stays with them. Where neither the wanted pool nor a stand-in is present, the wanted one is asked all the same, and
    the router says what it lacks.
    """
    served = set(offer.models)
    here = served if present is None else served & set(present)
    if wanted.model in here:
        return Chosen(tier, wanted.model)
    for model in offer.stand_ins(tier):
        if model in here:
            return Chosen(tier, model, fell_back=True)
    possible = candidates(tier, wanted, offer)
    if not offer.stand_ins(tier) or not possible:
        return (
            Chosen(tier, wanted.model) if wanted.model in served.intersection(leaving) else NoPool(tier, wanted.model)
        )
    return Chosen(tier, possible[0], fell_back=possible[0] != wanted.model)


def candidates(tier: Tier, wanted: Wish, offer: Offer) -> tuple[str, ...]:
    """Every model that may come to serve it as things are set, the wanted one first."""
    chain = dict.fromkeys((wanted.model, *offer.stand_ins(tier)))
    return tuple(model for model in chain if model in offer.models)
