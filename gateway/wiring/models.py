"""What each served model needs on our side: its tokenizer, its prompts, how it is asked, and when it serves."""

from collections.abc import Callable, Mapping

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.typing import FilteringBoundLogger

from gateway.model_tiers import ModelTiers
from gateway.ports import TurnRouter
from gateway.router_tutor import RouterTutor, ServedModel
from gateway.settings import ModelSettings, Settings
from gateway.wiring.clock import SystemClock
from router.domain.fleet import Fleet
from sessions.adapters.postgres.tenant_tiers import PostgresTenantTiers
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.prompt_writer import PromptWriter

Counters = Mapping[str, ModelTokenizer]
"""The tokenizer of each served model, by its name; the default one first."""

_log: FilteringBoundLogger = structlog.get_logger(__name__)


def model_counters(settings: Settings) -> Counters:
    """Raises `TokenizerUnusable`."""
    return {model.name: ModelTokenizer(folder=model.folder) for model in settings.all_models}


def tell_counters(counters: Counters) -> None:
    """Into the log of a process that serves; commands print what they have to say."""
    for model, counter in counters.items():
        _log.info("tokens are counted", model=model, by=counter.counted_by)
        if counter.writes_today:
            _log.warning("the chat template writes each day's date into prompts", model=model)


def counted_by(counters: Counters) -> str:
    """What counts, in words; of several models for each."""
    if len(counters) == 1:
        return next(iter(counters.values())).counted_by
    return "; ".join(f"{model}: {counter.counted_by}" for model, counter in counters.items())


def prompt_writers(settings: Settings, counters: Counters) -> Mapping[str, PromptWriter]:
    return {model.name: _writer(settings, model, counters[model.name]) for model in settings.all_models}


def router_tutor(settings: Settings, counters: Counters, router: TurnRouter) -> RouterTutor:
    return RouterTutor(
        router=router, models=served_models(settings, counters), retry_after_s=settings.router.retry_after_s
    )


def served_models(settings: Settings, counters: Counters) -> tuple[ServedModel, ...]:
    return tuple(
        ServedModel(model.name, model.temperature, tuple(counters[model.name].template_arguments.items()))
        for model in settings.all_models
    )


def model_tiers(settings: Settings, engine: AsyncEngine, *, fleet: Callable[[], Fleet]) -> ModelTiers:
    return ModelTiers(
        offer=settings.offer,
        tenants=PostgresTenantTiers(engine=engine),
        fleet=fleet,
        clock=SystemClock().ticks,
        ttl_s=settings.tier_cache_s,
        retry_after_s=settings.router.retry_after_s,
    )


def _writer(settings: Settings, model: ModelSettings, counter: ModelTokenizer) -> PromptWriter:
    shares = settings.sessions.shares(model.window_tokens)
    return PromptWriter(model=model.name, counter=counter, shares=shares, marks=settings.sessions.marks)
