"""Leadership where there is one process only."""

from dataclasses import dataclass

from typing_extensions import override

from router.fleet.ports import Leadership


@dataclass(frozen=True, slots=True)
class AlwaysLeads(Leadership):
    process: str

    @property
    @override
    def name(self) -> str:
        return self.process

    @override
    async def held(self) -> bool:
        return True
