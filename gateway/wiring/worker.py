"""What a process holds that only answers the questions of jobs."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from gateway.settings import Settings
from gateway.wiring.jobs import Answering, JobWork, job_work
from gateway.wiring.knowledge import knowledge_finding
from gateway.wiring.models import model_counters, model_tiers, router_tutor
from gateway.wiring.moderation import moderating
from gateway.wiring.postgres import database
from gateway.wiring.redis import shared_redis
from gateway.wiring.turn_routing import turn_routing


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[JobWork]:
    """Raises `TokenizerUnusable` or `FleetUnfit` when the model and its replicas cannot be used together."""
    counters = model_counters(settings)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(database(str(settings.database_url)))
        redis = await stack.enter_async_context(shared_redis(str(settings.redis_url)))
        routed = await stack.enter_async_context(turn_routing(settings, redis=redis, counters=counters, tracing=None))
        stack.callback(routed.stop)
        finding = await stack.enter_async_context(knowledge_finding(settings, engine, counters))
        tutor = router_tutor(settings, counters, routed.router)
        tiers = model_tiers(settings, engine, fleet=routed.router.fleet)
        moderated = await stack.enter_async_context(moderating(settings, engine))
        answering = Answering(tutor, tiers, finding, moderated.desk)
        yield await stack.enter_async_context(job_work(settings, engine, counters, answering))
