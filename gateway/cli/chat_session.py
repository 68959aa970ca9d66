"""One session as a person plays it on a terminal."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import assert_never
from uuid import uuid4

from rich.console import Console

from gateway.cli.api_client import ApiClient, TimedEvent
from gateway.cli.api_faults import ApiFault, ApiRefused, ApiUnreachable
from gateway.cli.drill_call import scenario_of
from gateway.cli.drill_plan import chosen
from gateway.cli.drill_view import seconds, share
from gateway.cli.heard_turn import HeardTurn
from gateway.cli.printable import printable
from gateway.cli.wire import Accepted, Blocked, Cancelled, Delta, Done, Failed, SessionView

OVER = ("session_closed", "turn_limit_reached")


class Said(Enum):
    ON = "on"
    LAST = "last"
    """The session takes no further turn."""


class ChatSession:
    """`reader` holds the key that shows how prompts are built; a trainee's own key may not."""

    def __init__(self, *, client: ApiClient, reader: ApiClient, screen: Console) -> None:
        self._client = client
        self._reader = reader
        self._screen = screen
        self._session = ""
        self._next_turn = 1

    async def begin(
        self, *, scenario: str | None, session: str | None, default: str | None, drill: str | None = None
    ) -> SessionView:
        if session is not None:
            found = await self._client.session(session)
            self.note(f"session {found.id} goes on after turn {found.turn_count}")
        else:
            asked = scenario if drill is None else await scenario_of(self._client, drill)
            meant = chosen(await self._client.scenarios(), asked, default=default)
            found = await self._client.start_session(
                meant.id, metadata={"source": "drillyard chat"}, idempotency=str(uuid4()), drill=drill
            )
            self.note(f"{meant.title} ({meant.locale}), session {found.id}; /help tells what else you can write")
        self._session = found.id
        self._next_turn = found.turn_count + 1
        if found.turn_count == 0:
            self._write(found.opening + "\n")
        return found

    async def say(self, text: str) -> Said:
        """One turn, shown as it comes. Ctrl-C cancels the running task, and with it the turn."""
        heard = HeardTurn()
        asked_at = self._client.now()
        try:
            with _cancelled_by_ctrl_c():
                async with self._client.take_turn(self._session, text, idempotency=str(uuid4())) as stream:
                    heard.replica, heard.pin = stream.replica, stream.pin
                    async for timed in stream.events():
                        self._show(heard, timed)
        except asyncio.CancelledError:
            await self._stop(heard)
            return Said.ON
        except ApiUnreachable:
            raise
        except ApiFault as fault:
            return self._refused(fault)
        self._tell(heard, asked_at)
        return Said.ON

    async def show_context(self) -> None:
        try:
            context = await self._reader.context(self._session)
        except ApiFault as fault:
            self.note(str(fault))
            return
        for block in context.blocks:
            turns = f" (turns {block.from_turn} to {block.to_turn})" if block.from_turn is not None else ""
            self.note(f"{block.tokens:6d} tokens: {block.kind}{turns}")
        self.note(f"{context.prompt_tokens:6d} tokens of a window of {context.window_tokens}")

    async def change_scene(self, scene: str) -> None:
        try:
            await self._client.write(f"/v1/sessions/{self._session}/scene", SessionView, {"scene": scene})
        except ApiFault as fault:
            self.note(str(fault))
        else:
            self.note(f"the next message begins the scene {scene}")

    async def close(self) -> None:
        await self._client.close_session(self._session)

    def note(self, text: str) -> None:
        self._screen.print(printable(text), style="dim", markup=False, soft_wrap=True)

    def _show(self, heard: HeardTurn, timed: TimedEvent) -> None:
        heard.take(timed)
        if isinstance(timed.event, Accepted):
            self._next_turn = timed.event.turn + 1
        if isinstance(timed.event, Delta):
            self._write(timed.event.text)

    def _write(self, text: str) -> None:
        self._screen.print(printable(text), end="", markup=False, soft_wrap=True)

    async def _stop(self, heard: HeardTurn) -> None:
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()  # Ctrl-C was for the reply, not for the chat
        # Before its acceptance is heard the turn may run already, under the number that comes next.
        try:
            await self._client.cancel_turn(self._session, heard.number or self._next_turn)
        except ApiRefused as refusal:
            self.note(f"\n{refusal}")
        else:
            self.note("\nthe reply was stopped")

    def _refused(self, fault: ApiFault) -> Said:
        self.note(f"\n{fault}{_when_again(fault)}")
        return Said.LAST if fault.code in OVER else Said.ON

    def _tell(self, heard: HeardTurn, asked_at: float) -> None:
        match heard.end:
            case Done() as done:
                first = heard.first_text_at
                self.note(
                    f"\nturn {done.turn}, {heard.replica or 'replica not named'} ({heard.pin or '-'}), "
                    f"first text after {seconds(first - asked_at if first is not None else None)}, "
                    f"{share(done.usage.cached_tokens, done.usage.prompt_tokens)} "
                    f"of {done.usage.prompt_tokens} tokens cached"
                )
            case Failed() as failed:
                self.note(f"\nthe turn failed: {failed.code}: {failed.message}")
            case Blocked() as blocked:
                self.note(f"\nthe turn was blocked: {blocked.reason}")
            case Cancelled():
                self.note("\nthe turn was cancelled")
            case None:
                self.note("\nthe stream ended without the end of the turn")
            case never:
                assert_never(never)


@contextmanager
def _cancelled_by_ctrl_c() -> Iterator[None]:
    """The runner's own handler cannot wake a loop that is falling asleep at that very moment: a reply that stands still
    would stop at its next event only."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine that runs has a task
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _when_again(fault: ApiFault) -> str:
    if isinstance(fault, ApiRefused) and fault.retry_after_s is not None:
        return f" (try again in {fault.retry_after_s:g} s)"
    return ""
