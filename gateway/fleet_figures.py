"""What the controller counts for Prometheus; only who leads tells of the pools, so that nothing is told twice."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import Round
from router.fleet.domain.scaling import Alert
from router.fleet.keeping import PoolReport

_START_SECONDS = (10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0, 450.0, 600.0, 900.0, 1800.0)


class FleetFigures:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=True)
        self._leading = Gauge("drillyard_fleet_leading", "1 while this process leads the fleet", registry=registry)
        self._rounds = Counter("drillyard_fleet_rounds", "Rounds as the leader", ["pool"], registry=registry)
        self._troubles = Counter(
            "drillyard_fleet_troubles", "What could not be read or done in a round", ["pool"], registry=registry
        )
        self._deeds = Counter(
            "drillyard_fleet_deeds", "What was done, by its outcome", ["pool", "deed", "outcome"], registry=registry
        )
        self._starts = Counter(
            "drillyard_fleet_starts", "Starts that came to their end", ["pool", "outcome"], registry=registry
        )
        self._start_s = Histogram(
            "drillyard_fleet_start_seconds",
            "From the order of a replica until it was warm",
            ["pool"],
            buckets=_START_SECONDS,
            registry=registry,
        )
        self._last = Gauge(
            "drillyard_fleet_last_round_timestamp_seconds", "When the last round was", ["pool"], registry=registry
        )
        self._wanted = Gauge("drillyard_fleet_wanted", "Replicas that there should be", ["pool"], registry=registry)
        self._ready = Gauge("drillyard_fleet_ready", "Replicas that are given sessions", ["pool"], registry=registry)
        self._present = Gauge(
            "drillyard_fleet_present", "Replicas that are given sessions or will be", ["pool"], registry=registry
        )
        self._short = Gauge(
            "drillyard_fleet_short", "Replicas that are missing for a bell that is near", ["pool"], registry=registry
        )

    def told(self, report: PoolReport) -> None:
        self._leading.set(report.leads)
        if not report.leads:
            self._forget(report.pool)
            return
        self._rounds.labels(report.pool).inc()
        self._troubles.labels(report.pool).inc(len(report.troubles))
        for deed in report.deeds:
            self._deeds.labels(report.pool, deed.what, "failed" if deed.trouble else "done").inc()
        for start in report.starts:
            self._starts.labels(report.pool, "warm" if start.went_warm else "failed").inc()
            if start.went_warm:
                self._start_s.labels(report.pool).observe(start.ended - start.began)
        if report.round is not None:
            self._show(report.round, report.alert)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def _show(self, seen: Round, alert: Alert | None) -> None:
        self._last.labels(seen.pool).set(seen.at)
        if seen.wanted is None:
            self._wanted.remove(seen.pool)
        else:
            self._wanted.labels(seen.pool).set(seen.wanted)
        self._ready.labels(seen.pool).set(seen.ready)
        self._present.labels(seen.pool).set(seen.present)
        self._short.labels(seen.pool).set(0 if alert is None else max(0, alert.needed - alert.ready))

    def _forget(self, pool: PoolName) -> None:
        for gauge in (self._last, self._wanted, self._ready, self._present, self._short):
            gauge.remove(pool)
