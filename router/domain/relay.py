"""One streamed reply, over as many answers of replicas as it takes: bytes in, whole events out.

Theory. Nearly every event of a stream is an ordinary one: it says text and goes on. It is known by the bytes
`"finish_reason":null`, which nobody can forge, since inside a JSON string the quotes are escaped. Such events pass as
they are, unread, and are remembered as they came; they are read only when the replica is lost. All others are read: the
first ones, until something was said (and none is handed out before, so that a replica lost earlier leaves no trace),
and the end, which is held back until it is complete. After a failure `resume` says how the reply goes on, and the
events of the next answer are all read and written anew under the id of the first.
"""

from typing import assert_never

from router.domain.asked import (
    Asked,
    can_take_token_ids,
    may_have_several_choices,
    may_want_usage,
    read_asked,
    says_token_ids,
    with_token_ids,
)
from router.domain.chunk import Chunk, Counts, read_chunk
from router.domain.continuation import Continuation, Exhausted, Impossible, Plan, Planner
from router.domain.delivered import Delivered, Footing, Heard
from router.domain.doubt import Doubt
from router.domain.ending import Ending
from router.domain.envelope import Envelope, envelope_of, joint_comment
from router.domain.exchange import Call, CallPath
from router.domain.joint import Before, Joint
from router.domain.prompt_ids import cut_prompt_ids
from router.domain.resume import AskAgain, Complete, Continue, Resume, Stuck
from router.domain.sse import DONE, MAX_EVENT_BYTES, SEPARATOR, event_data
from router.domain.stop_watch import StopWatch
from router.domain.told_ids import ToldIds
from router.domain.untold import Untold
from router.errors import StreamBroken

_ORDINARY = b'"finish_reason":null'
_FINISH = b'"finish_reason":"'
_NAMED_ERROR = (b"event: error", b"event:error")
_MAX_FIRST_EVENT_BYTES = 4 * MAX_EVENT_BYTES  # with the tokens of a prompt that fills a large window


class Relay:
    """`window_tokens` is the model's window, if it is known: with it a chat that set no limit continues exactly too.

    `must_tell_usage`: a usage that was asked for and does not come means that the reply is cut. Engines that ignore
    `include_usage` end without.
    """

    def __init__(
        self, call: Call, *, token_ids: bool, must_tell_usage: bool = True, window_tokens: int | None = None
    ) -> None:
        self._asks_for_ids = token_ids and can_take_token_ids(call)
        self._first_call = with_token_ids(call) if self._asks_for_ids else call
        self._ids_are_told = self._asks_for_ids or says_token_ids(call)
        self._told_ids = ToldIds() if says_token_ids(call) else None
        self._call = self._first_call
        self._must_tell_usage = must_tell_usage
        self.window_tokens = window_tokens
        self._asked: Asked | None = None
        self._choices = self._read_asked().choices if may_have_several_choices(call) else 1
        self._envelope: Envelope | None = None
        self._before = ""  # handed out by earlier answers
        self._start = Footing()
        self._prompt_tokens: int | None = None
        self._had_reasoning = False
        self._has_begun = False
        self._has_diverged = False
        self._is_complete = False
        self._continued = 0
        self._joint: Joint | None = None
        self._tail = b""
        self._heard = Heard()
        self._settled: int | None = None
        self._untold = Untold()
        self._ending = Ending(choices=self._choices)
        self._broken: StreamBroken | None = None
        self._passes_unread = False

    @property
    def call(self) -> Call:
        """What to send to the next replica."""
        return self._call

    @property
    def is_complete(self) -> bool:
        return self._is_complete

    @property
    def has_begun(self) -> bool:
        """Whether something of the reply has been handed out."""
        return self._has_begun

    @property
    def continued(self) -> int:
        """How often another replica has taken over the reply after it had begun."""
        return self._continued

    def feed(self, data: bytes) -> bytes:
        """Bytes of the current answer, cut anywhere; returns the whole events to hand out now.

        Raises `StreamBroken`.
        """
        if self._tail:
            data = self._tail + data
            self._tail = b""
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if not data.endswith(SEPARATOR):
            data = self._without_tail(data)
        if self._passes_unread and data.count(_ORDINARY) == data.count(SEPARATOR):
            self._heard.add(data)
            return data
        return self._read(data)

    def is_ordinary(self, data: bytes) -> bool:
        """Whether these are whole events that go out as they are; whoever hands them out calls `passed`, not `feed`."""
        return (
            self._passes_unread
            and not self._tail
            and data.endswith(SEPARATOR)
            and b"\r" not in data
            and data.count(_ORDINARY) == data.count(SEPARATOR)
        )

    def passed(self, data: bytes) -> None:
        self._heard.add(data)

    def end(self) -> bytes:
        """The body has ended properly; returns what is still to be handed out.

        Raises `StreamBroken` if the reply is not complete.
        """
        # Anything else without its blank line is half an event.
        rest = self.feed(SEPARATOR) if event_data(self._tail.strip()) == DONE else b""
        if not self._is_complete:
            raise self._broken or StreamBroken("the stream was cut off")
        return rest

    def doubt(self) -> Doubt | None:
        """What a replica can be asked before `resume`, and `settle` be told; None: nothing. It need not be."""
        if not self._has_begun or self._ending.has_finish:
            return None
        return self._delivered().doubt(held_chars=self._read_asked().held_chars)

    def settle(self, tokens: int) -> None:
        """So many tokens of the doubt have its text."""
        self._settled = tokens

    def resume(self, *, replica: str) -> Resume:
        """After a failure: how the reply goes on, at this replica."""
        if not self._has_begun:
            self._envelope = None
            self._expect(None)
            return AskAgain(self._first_call)
        asked, envelope, told = self._read_asked(), self._envelope, self._delivered()
        if envelope is None or not self._heard.is_readable:
            return Stuck("what was told is not understood")
        usage = self._usage_so_far(told, envelope) if asked.wants_usage else b""
        if self._ending.has_finish and usage is not None:
            return self._completed(self._ending.completed(usage))
        plan = self._plan(asked, told)
        match plan:
            case Impossible(why):
                return Stuck(why)
            case Exhausted(stop):
                if usage is None:
                    return Stuck("the reply has all its tokens, but nobody has told how many were its prompt's")
                return self._completed(envelope.finish(stop=stop) + Ending().completed(usage))
            case Continuation():
                self._go_on(plan, told, envelope, replica)
                return Continue(plan.call)
            case never:
                assert_never(never)

    def _plan(self, asked: Asked, told: Delivered) -> Plan:
        if self._joint is not None:
            self._has_diverged = self._has_diverged or self._joint.has_diverged
            if self._joint.stopped_at is not None:
                return Exhausted(self._joint.stopped_at)
        return Planner(self._first_call, asked, self.window_tokens).plan(told, has_diverged=self._has_diverged)

    def _expect(self, joint: Joint | None) -> None:
        """Make ready for an answer."""
        self._joint = joint
        self._tail = b""
        self._heard = Heard()
        self._settled = None
        self._untold = Untold()
        self._ending = Ending(choices=self._choices)
        self._broken = None
        self._passes_unread = False

    def _without_tail(self, data: bytes) -> bytes:
        """The whole events; what follows them is kept."""
        end = data.rfind(SEPARATOR) + 2 if SEPARATOR in data else 0
        self._tail = data[end:]
        most = MAX_EVENT_BYTES if self._has_begun else _MAX_FIRST_EVENT_BYTES
        if len(self._tail) > most:
            self._broken = StreamBroken(f"an event is longer than {most} bytes")
            raise self._broken
        return data[:end]

    def _read(self, data: bytes) -> bytes:
        if self._is_complete:
            return b""
        head = self._ordinary_head(data) if self._passes_unread else b""
        told: list[bytes] = [head]
        for block in data[len(head) :].split(SEPARATOR)[:-1]:
            if self._broken is not None or self._is_complete:
                break
            if self._passes_unread and _ORDINARY in block:
                event = block + SEPARATOR
                self.passed(event)
                told.append(event)
                continue
            try:
                told.append(self._block(block) if block else b"")
            except StreamBroken as broken:
                self._broken = broken
                self._passes_unread = False
        out = b"".join(told)
        if self._broken is not None and not out:
            # What came before it is handed out first; then it is raised.
            raise self._broken
        return out

    def _ordinary_head(self, data: bytes) -> bytes:
        """What comes before the end of the reply, all at once, if it is ordinary."""
        finish = data.find(_FINISH)
        head = data[: data.rfind(SEPARATOR, 0, finish) + len(SEPARATOR)] if finish > 0 else b""
        if len(head) < len(SEPARATOR) or head.count(_ORDINARY) != head.count(SEPARATOR):
            return b""
        self.passed(head)
        return head

    def _block(self, block: bytes) -> bytes:
        data = event_data(block)
        if data is None:
            return self._comment(block + SEPARATOR)
        if data == DONE:
            end = self._ending.whole(wants_usage=self._ending.counts is None and self._needs_usage())
            self._is_complete = True
            return self._released() + end
        if self._ids_are_told and not self._heard.has_prompt_ids:
            block = self._without_prompt_ids(block)
            data = event_data(block) or b""
        chunk = read_chunk(data)
        if block.startswith(_NAMED_ERROR):
            raise StreamBroken("the engine reported an error")
        event = block + SEPARATOR if self._joint is None else self._joint.told(chunk)
        if self._ending.is_at(chunk):
            self._passes_unread = False
            self._ending.hold(chunk, event)
            return b""
        self._heard.add_read(chunk)
        return self._ordinary(chunk, event)

    def _comment(self, block: bytes) -> bytes:
        if self._ending.has_finish:
            self._ending.hold_comment(block)
            return b""
        return block

    def _ordinary(self, chunk: Chunk, event: bytes) -> bytes:
        if self._has_begun:
            return self._released() + event if event else b""
        if self._envelope is None:
            self._envelope = envelope_of(chunk.document, is_chat=self._first_call.path is CallPath.CHAT)
        self._untold.add(event)
        if not chunk.says_something:
            return b""
        self._has_begun = True
        self._passes_unread = self._joint is None and self._choices == 1
        return self._released()

    def _released(self) -> bytes:
        """What has been waiting for the first word of the answer."""
        untold = self._untold.taken()
        if untold and self._joint is not None:
            self._continued += 1
        return untold

    def _without_prompt_ids(self, block: bytes) -> bytes:
        """A long prompt's tokens are a long list, which goes to the caller only if the caller asked for it."""
        ids, rest = cut_prompt_ids(block)
        if ids:
            self._heard.keep_prompt_ids(ids)
        return rest if self._asks_for_ids else block

    def _delivered(self) -> Delivered:
        heard, joint = self._heard, self._joint
        swallowed = 0 if joint is None else joint.swallowed
        text = self._before + heard.text()[swallowed:]
        prompt_tokens = heard.prompt_tokens if joint is None else self._prompt_tokens
        return Delivered(
            text=text,
            start=self._start,
            heard=heard,
            is_exact=text.startswith(self._start.text + heard.text()),
            prompt_tokens=prompt_tokens,
            has_reasoning=self._had_reasoning or heard.has_reasoning,
            settled=self._settled,
        )

    def _usage_so_far(self, told: Delivered, envelope: Envelope) -> bytes | None:
        """The usage if the reply ends here; None: it is missing."""
        counts, finish = self._ending.counts, self._ending.finish
        if counts is not None:
            return envelope.usage(counts if self._joint is None else self._joint.counts(counts))
        ids = () if finish is None else finish.token_ids
        if told.prompt_tokens is None or not told.is_counted or ids is None:
            return None if self._must_tell_usage else b""
        return envelope.usage(Counts(told.prompt_tokens, told.tokens(per_event=1) + len(ids)))

    def _go_on(self, plan: Continuation, told: Delivered, envelope: Envelope, replica: str) -> None:
        asked = self._read_asked()
        before = Before(
            prompt_tokens=told.prompt_tokens,
            start_tokens=plan.start.tokens,
            start_text=plan.start.text,
            told_tokens=told.tokens(per_event=1),
        )
        joint = Joint(
            envelope=envelope,
            overlap=plan.overlap,
            must_overlap=plan.must_overlap,
            before=before,
            stop_watch=StopWatch(asked.watched_stops, told.text, is_told_itself=asked.tells_stops),
            told_ids=self._ids_behind(plan.start.tokens),
        )
        self._before, self._start, self._prompt_tokens = told.text, plan.start, told.prompt_tokens
        self._had_reasoning = told.has_reasoning
        self._call = plan.call
        self._expect(joint)
        self._untold.add(joint_comment(continued=self._continued + 1, replica=replica))

    def _ids_behind(self, tokens: int) -> ToldIds | None:
        if self._told_ids is not None:
            if self._joint is None:
                self._told_ids.feed(self._heard.ids)
            self._told_ids.go_on(tokens)
        return self._told_ids

    def _completed(self, data: bytes) -> Complete:
        self._is_complete = True
        return Complete(data)

    def _needs_usage(self) -> bool:
        return self._must_tell_usage and may_want_usage(self._first_call) and self._read_asked().wants_usage

    def _read_asked(self) -> Asked:
        if self._asked is None:
            self._asked = read_asked(self._first_call)
        return self._asked
