"""Which adapter stands behind which port; everything that lives longer than a request is made and closed here."""

from gateway.wiring.authoring import Administration, Authoring, administration, authoring
from gateway.wiring.clock import SystemClock
from gateway.wiring.router_alone import router_alone
from gateway.wiring.services import services

__all__ = ["Administration", "Authoring", "SystemClock", "administration", "authoring", "router_alone", "services"]
