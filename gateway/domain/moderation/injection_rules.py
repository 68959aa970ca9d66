"""The signals of injections as a table: which notions in which order mean what, how much, and when they do not."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import NamedTuple

from gateway.domain.moderation import injection_concepts as c
from gateway.domain.moderation.injection_marks import Mark

_REACH = 48
"""Characters from one notion to the next; what is further away is about something else."""
_HAN_REACH = 14
_FAR_REACH = 240
_FAR_NEIGHBOURS = 40
_AFTER = 34
_HAN_AFTER = 8
_EXCUSED_SHARE = 0.5
_LAST_LATIN = "\u2e80"
_NEIGHBOURS = 12
"""Notions to look through for the next one: bounds the work in a text that consists of nothing but them."""


class SignalKind(StrEnum):
    OVERRIDE = "override"
    FORGED_ROLE = "forged_role"
    EXTRACTION = "extraction"
    SCORE = "score"
    DELIMITER = "delimiter"
    ENCODED = "encoded"
    TO_MACHINES = "to_machines"
    UNBOUND = "unbound"
    HARM = "harm"
    LEAVES_ROLE = "leaves_role"
    LIKENESS = "likeness"
    """No order was found, but it is worded like injections."""


class Rule(NamedTuple):
    """Notions that follow each other in one sentence.

    With one of `unless` between them or right behind it holds by half: "ignore the instructions on the box" is
    harmless, and "ignore the price and all of your instructions" is not.
    """

    name: str
    kind: SignalKind
    weight: float
    slots: tuple[int, ...]
    unless: int = 0
    unless_before: int = 0
    """Nor does it hold if one of these stands before, in the same sentence."""
    is_far: bool = False
    """Whether the notions may stand some sentences apart: a character that is drawn up, and what it need not heed."""
    in_knowledge: bool = False
    """Whether it holds in reference text only, where nobody has a reason to write so."""


class Hit(NamedTuple):
    rule: Rule
    weight: float
    start: int
    end: int


_OWN = c.PRIOR | c.YOURS | c.ALL | c.TOLD
_CLAUSE = c.COMMA | c.REVEAL | c.GIVE | c.OBEY
_ORDERS = c.RULES | c.PROMPT | c.SCRIPT
_K = SignalKind

RULES: tuple[Rule, ...] = (
    Rule("dismiss_own_orders", _K.OVERRIDE, 0.75, (c.DISMISS, _OWN, _ORDERS), c.WORLD),
    Rule("dismiss_prompt", _K.OVERRIDE, 0.7, (c.DISMISS, c.PROMPT), c.WORLD),
    Rule("dismiss_script", _K.OVERRIDE, 0.55, (c.DISMISS, c.SCRIPT), c.WORLD),
    Rule("dismiss_rules", _K.OVERRIDE, 0.4, (c.DISMISS, c.RULES), c.WORLD),
    Rule("dismiss_told", _K.OVERRIDE, 0.6, (c.DISMISS, c.TOLD), c.WORLD),
    Rule(
        "orders_dismissed",
        _K.OVERRIDE,
        0.6,
        (c.PRIOR | c.YOURS | c.PROMPT | c.ALL, _ORDERS, c.DISMISS | c.VOID),
        c.WORLD,
    ),
    Rule("script_dismissed", _K.OVERRIDE, 0.45, (c.SCRIPT | c.PROMPT, c.DISMISS | c.VOID), c.WORLD),
    Rule("told_dismissed", _K.OVERRIDE, 0.55, (c.TOLD, c.VOID | c.DISMISS), c.WORLD),
    Rule("orders_before_dismissed", _K.OVERRIDE, 0.5, (c.RULES, c.PRIOR, c.VOID), c.WORLD),
    Rule("new_orders", _K.OVERRIDE, 0.4, (c.NEW, c.RULES | c.PROMPT), c.WORLD),
    Rule("obey_me", _K.OVERRIDE, 0.25, (c.OBEY,), c.WORLD),
    Rule("dismiss_aim", _K.OVERRIDE, 0.45, (c.DISMISS, c.AIM), c.WORLD),
    Rule("outranks", _K.OVERRIDE, 0.4, (c.OUTRANK,), c.WORLD, c.WORLD),
    Rule("leave_role", _K.LEAVES_ROLE, 0.5, (c.EXIT,), c.WORLD),
    Rule("claimed_authority", _K.FORGED_ROLE, 0.3, (c.IAM, c.AUTHORITY), c.WORLD),
    Rule("authority_grants", _K.FORGED_ROLE, 0.45, (c.AUTHORITY | c.IAM, c.GRANT), c.WORLD),
    Rule(
        "granted_freedom", _K.FORGED_ROLE, 0.45, (c.GRANT, c.SAFETY | c.EXIT | c.SCRIPT | c.OBEY | c.AUTHORITY), c.WORLD
    ),
    Rule("mode", _K.FORGED_ROLE, 0.35, (c.MODE,), c.WORLD, c.WORLD),
    Rule("enter_mode", _K.FORGED_ROLE, 0.5, (c.ENTER, c.MODE), c.WORLD, c.WORLD),
    Rule("now_a_model", _K.FORGED_ROLE, 0.4, (c.NOW_YOU, c.MODEL | c.AUTHORITY), c.WORLD),
    Rule("safety_off", _K.UNBOUND, 0.45, (c.SAFETY, c.OFF | c.VOID), c.WORLD),
    Rule("off_safety", _K.UNBOUND, 0.4, (c.OFF | c.DISMISS, c.SAFETY), c.WORLD),
    Rule("reveal_own_prompt", _K.EXTRACTION, 0.75, (c.REVEAL, c.YOURS | c.HIDDEN | c.PRIOR, c.PROMPT), c.WORLD),
    Rule("reveal_prompt", _K.EXTRACTION, 0.55, (c.REVEAL, c.PROMPT), c.WORLD),
    Rule("what_is_your_prompt", _K.EXTRACTION, 0.6, (c.WHAT, c.YOURS | c.HIDDEN | c.PRIOR, c.PROMPT), c.WORLD),
    Rule("prompt_revealed", _K.EXTRACTION, 0.55, (c.PROMPT, c.REVEAL | c.WHAT), c.WORLD),
    Rule("reveal_own_orders", _K.EXTRACTION, 0.55, (c.REVEAL, c.YOURS | c.HIDDEN, c.RULES | c.SCRIPT), c.WORLD),
    Rule("what_are_your_orders", _K.EXTRACTION, 0.4, (c.WHAT, c.YOURS | c.HIDDEN, c.RULES), c.WORLD),
    Rule("script_revealed", _K.EXTRACTION, 0.45, (c.SCRIPT, c.WHAT | c.REVEAL | c.TOLD), c.WORLD),
    Rule("what_script", _K.EXTRACTION, 0.4, (c.WHAT | c.REVEAL, c.SCRIPT, c.HIDDEN | c.TOLD | c.YOURS), c.WORLD),
    Rule("hidden_in_script", _K.EXTRACTION, 0.4, (c.WHAT | c.REVEAL, c.HIDDEN | c.SECRET, c.SCRIPT), c.WORLD),
    Rule("reveal_told", _K.EXTRACTION, 0.55, (c.REVEAL | c.WHAT, c.TOLD), c.WORLD),
    Rule("told_revealed", _K.EXTRACTION, 0.5, (c.TOLD, c.REVEAL | c.WHAT), c.WORLD),
    Rule("reveal_rubric", _K.EXTRACTION, 0.5, (c.REVEAL | c.WHAT, c.RUBRIC), c.WORLD),
    Rule("rubric_revealed", _K.EXTRACTION, 0.5, (c.RUBRIC, c.REVEAL | c.WHAT), c.WORLD),
    Rule("reveal_secret", _K.EXTRACTION, 0.4, (c.REVEAL | c.WHAT, c.SECRET), c.WORLD),
    Rule("secret_revealed", _K.EXTRACTION, 0.4, (c.SECRET, c.REVEAL), c.WORLD),
    Rule("names_your_prompt", _K.EXTRACTION, 0.2, (c.YOURS | c.HIDDEN, c.PROMPT), c.WORLD),
    Rule("named_and_shown", _K.EXTRACTION, 0.4, (c.SCRIPT | c.PROMPT | c.TOLD, c.SHOW_IT), c.WORLD, is_far=True),
    Rule("guarded_secret", _K.EXTRACTION, 0.4, (c.SECRET, c.GUARDED), c.WORLD),
    Rule("game_about_secret", _K.EXTRACTION, 0.35, (c.GUARDED, c.SECRET), c.WORLD),
    Rule("names_the_prompt", _K.EXTRACTION, 0.2, (c.PROMPT,), c.WORLD),
    Rule("give_me_top", _K.SCORE, 0.6, (c.GIVE, c.ME, c.TOP), c.WORLD),
    Rule("give_top", _K.SCORE, 0.4, (c.GIVE, c.TOP), c.WORLD),
    Rule("hand_me_top", _K.SCORE, 0.5, (c.HAND_ME, c.MARKS), c.WORLD),
    Rule("set_my_score", _K.SCORE, 0.55, (c.GIVE | c.DISMISS, c.ME, c.SCORE | c.RUBRIC), c.WORLD),
    Rule("set_score", _K.SCORE, 0.4, (c.SETS, c.SCORE), c.WORLD),
    Rule("rate_full", _K.SCORE, 0.4, (c.RATE, c.FULL), c.WORLD),
    Rule("top_for_me", _K.SCORE, 0.45, (c.TOP, c.ME, c.SCORE), c.WORLD),
    Rule("score_is_top", _K.SCORE, 0.4, (c.SCORE | c.RUBRIC, c.TOP), c.WORLD),
    Rule("my_score_set", _K.SCORE, 0.45, (c.ME, c.SCORE, c.SETS), c.WORLD, c.WHAT),
    Rule("i_am_top", _K.SCORE, 0.4, (c.ME, c.TOP), c.WORLD | c.HOW),
    Rule("grader_told", _K.SCORE, 0.45, (c.GRADER, c.TOP | c.GIVE | c.DISMISS | c.REGARDLESS), c.WORLD),
    Rule("regardless", _K.SCORE, 0.35, (c.REGARDLESS, c.SCORE | c.TOP | c.GIVE | c.JUDGE | c.ME), c.WORLD),
    Rule("deeds_regardless", _K.SCORE, 0.35, (c.SCORE | c.TOP | c.JUDGE, c.REGARDLESS), c.WORLD),
    Rule("judged_as_told", _K.SCORE, 0.4, (c.JUDGE, c.GIVE | c.TOP | c.ME), c.WORLD),
    Rule("judged_but_for", _K.SCORE, 0.4, (c.JUDGE, c.DISMISS), c.WORLD),
    Rule("change_rubric", _K.SCORE, 0.55, (c.GIVE | c.DISMISS, c.RUBRIC), c.WORLD),
    Rule("unbound_model", _K.UNBOUND, 0.5, (c.PRETEND | c.MODEL | c.NOW_YOU, c.UNBOUND), c.WORLD),
    Rule("drawn_up_unbound", _K.UNBOUND, 0.35, (c.PRETEND | c.NOW_YOU, c.UNBOUND), c.WORLD, is_far=True),
    Rule("drawn_up_loose", _K.UNBOUND, 0.2, (c.PRETEND | c.NOW_YOU, c.LOOSE), c.WORLD, is_far=True),
    Rule("drawn_up_obliged", _K.UNBOUND, 0.25, (c.PRETEND | c.NOW_YOU, c.OBLIGED), c.WORLD, is_far=True),
    Rule("unbound", _K.UNBOUND, 0.3, (c.UNBOUND,), c.WORLD),
    Rule("loose_model", _K.UNBOUND, 0.45, (c.PRETEND | c.MODEL, c.LOOSE), c.WORLD),
    Rule("obliged", _K.UNBOUND, 0.45, (c.OBLIGED,), c.WORLD),
    Rule("no_refusal", _K.UNBOUND, 0.4, (c.PREFIX,), c.WORLD),
    Rule("asks_for_harm", _K.HARM, 0.35, (c.HOW, c.HARM), c.WORLD | c.PREVENT, c.PREVENT),
    Rule("true_self", _K.UNBOUND, 0.45, (c.TRUE_SELF,)),
    Rule("told_at_bedtime", _K.UNBOUND, 0.4, (c.PRETEND, c.LULLABY), c.WORLD, is_far=True),
    Rule("bedtime_told", _K.UNBOUND, 0.4, (c.LULLABY, c.PRETEND), c.WORLD, is_far=True),
    Rule("pretend_harm", _K.UNBOUND, 0.3, (c.PRETEND, c.HARM), c.WORLD),
    Rule("no_ethics", _K.UNBOUND, 0.45, (c.DISMISS | c.OFF, c.ETHICS), c.WORLD),
    Rule("address", _K.TO_MACHINES, 0.35, (c.ADDRESS,)),
    Rule("decode_and_obey", _K.ENCODED, 0.5, (c.DECODE, c.OBEY)),
    Rule("reference_addresses", _K.TO_MACHINES, 0.5, (c.ADDRESS,), in_knowledge=True),
    Rule("robot_that_reads", _K.TO_MACHINES, 0.4, (c.ROBOT, c.READER)),
    Rule("reading_robot", _K.TO_MACHINES, 0.4, (c.READER, c.ROBOT)),
    Rule("reference_sends", _K.TO_MACHINES, 0.6, (c.EXFILTRATE,), in_knowledge=True),
    Rule("reference_dictates", _K.TO_MACHINES, 0.45, (c.REPLY_ONLY,), in_knowledge=True),
    Rule("reference_conceals", _K.TO_MACHINES, 0.5, (c.CONCEAL,), in_knowledge=True),
    Rule("reference_tells_the_user", _K.TO_MACHINES, 0.45, (c.TO_USER,), in_knowledge=True),
    Rule("conceals", _K.TO_MACHINES, 0.3, (c.CONCEAL,)),
)


class RuleBook:
    """The rules that hold for one kind of text."""

    def __init__(self, *, in_knowledge: bool) -> None:
        self._rules = tuple(rule for rule in RULES if in_knowledge or not rule.in_knowledge)

    def hits(self, text: str, marks: Sequence[Mark]) -> list[Hit]:
        """The first place where each rule holds."""
        present = reduce(or_, (mark.bits for mark in marks), 0)
        possible = [rule for rule in self._rules if rule.slots[0] & present and rule.slots[-1] & present]
        return [hit for rule in possible if (hit := _first_hit(rule, text, marks)) is not None]


def _first_hit(rule: Rule, text: str, marks: Sequence[Mark]) -> Hit | None:
    """The first place where nothing excuses it, or else the first place."""
    first, excused = rule.slots[0], None
    for at, mark in enumerate(marks):
        if rule.unless_before and _stands_before(rule.unless_before, marks, at):
            continue
        if mark.bits & first and (last := _last(rule, text, marks, at)) is not None:
            end = max(mark.end, marks[last].end)
            if not _is_excused(rule, text, marks, at, last):
                return Hit(rule, rule.weight, mark.start, end)
            excused = excused or Hit(rule, rule.weight * _EXCUSED_SHARE, mark.start, end)
    return excused


def _last(rule: Rule, text: str, marks: Sequence[Mark], at: int) -> int | None:
    """Which mark the rule's last notion is, if all follow in reach of each other."""
    for slot in rule.slots[1:]:
        near = _far(marks, at) if rule.is_far else _near(text, marks, at, _REACH, _HAN_REACH)
        steps = _steps_to(slot, 0, near)
        if steps is None:
            return None
        at += steps
    return at


def _is_excused(rule: Rule, text: str, marks: Sequence[Mark], at: int, last: int) -> bool:
    """Whether it is about something else: said between its notions, or right behind, before another clause begins."""
    if not rule.unless:
        return False
    if not rule.is_far and any(mark.bits & rule.unless for mark in marks[at + 1 : last]):
        return True
    return _steps_to(rule.unless, _CLAUSE, _near(text, marks, last, _AFTER, _HAN_AFTER)) is not None


def _stands_before(bits: int, marks: Sequence[Mark], at: int) -> bool:
    for mark in reversed(marks[max(0, at - _NEIGHBOURS) : at]):
        if mark.bits & (bits | c.BREAK):
            return bool(mark.bits & bits)
    return False


def _near(text: str, marks: Sequence[Mark], at: int, reach: int, han_reach: int) -> list[Mark]:
    """The marks behind one that are in its sentence and not too far away."""
    end = marks[at].end
    limit = end + (han_reach if text[end - 1] > _LAST_LATIN else reach)
    near: list[Mark] = []
    for mark in marks[at + 1 : at + 1 + _NEIGHBOURS]:
        if mark.bits & c.BREAK or mark.start > limit:
            break
        near.append(mark)
    return near


def _far(marks: Sequence[Mark], at: int) -> list[Mark]:
    limit = marks[at].end + _FAR_REACH
    return [mark for mark in marks[at + 1 : at + 1 + _FAR_NEIGHBOURS] if mark.start <= limit]


def _steps_to(slot: int, unless: int, following: Iterable[Mark]) -> int | None:
    """How many marks further on the slot is filled; None: it is not, or not before something that speaks against it."""
    for steps, mark in enumerate(following, start=1):
        if mark.bits & slot:
            return steps
        if mark.bits & unless:
            return None
    return None
